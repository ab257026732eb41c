"""The current page among the app, its windows, and sites."""

from __future__ import annotations

from typing import Any

import pytest

from footlight.apps.metamask.fixtures import ACCOUNT
from tests.toolsets.metamask.conftest import Server

pytestmark = pytest.mark.anyio


async def url_of(app: Server) -> str:
    return (await app.call("mm_get_state"))["state"]["currentUrl"]


async def disconnect(app: Server) -> None:
    await app.call("mm_navigate", screen="settings", observe="none")
    items = (await app.call("mm_list_testids"))["items"]
    for item in items:
        if item["testId"] == "connected-site-remove":
            await app.call("mm_click", testId="connected-site-remove", observe="none")
    await app.call("mm_navigate", screen="home", observe="none")


async def test_window_opened_by_a_site_is_used_until_it_closes(app: Server) -> None:
    """Calls stay in the site until the window is asked for."""
    await disconnect(app)
    dapp = await app.open_dapp()
    await app.call("mm_click", testId="dapp-connect", observe="none")
    assert await url_of(app) == dapp
    assert await app.text("dapp-result") == "connect: waiting"

    answer = await app.call("mm_wait_for_notification")
    assert answer == {"found": True, "pageUrl": await url_of(app)}
    assert "/notification.html" in answer["pageUrl"]
    described = await app.call("mm_describe_screen")
    assert {"connect-page", "confirm-btn"} <= {each["testId"] for each in described["testIds"]["items"]}
    assert (described["state"]["isUnlocked"], described["state"]["accountAddress"]) == (True, ACCOUNT)

    clicked = await app.call("mm_click", testId="confirm-btn")
    if not clicked.get("pageClosed"):
        await app.call("mm_wait_for", testId="dapp-result")
    assert await url_of(app) == dapp
    await app.call("mm_wait_for", selector=f'[data-testid="dapp-account"]:text-is("{ACCOUNT.lower()}")')
    await app.call("mm_wait_for", selector='[data-testid="dapp-result"]:text("connect: 0x")')
    await disconnect(app)


@pytest.mark.slow
async def test_tabs_can_be_selected_and_closed_by_role(app: Server) -> None:
    """Beyond the document: mm_switch_tab and mm_close_tab; closing the window is a refusal."""
    await disconnect(app)
    dapp = await app.open_dapp()
    await app.call("mm_click", testId="dapp-connect", observe="none")
    await app.call("mm_wait_for_notification")
    assert (await app.call("mm_switch_tab", role="dapp"))["currentUrl"] == dapp
    answer = await app.call("mm_switch_tab", role="notification")
    roles = sorted((tab["role"], tab["current"]) for tab in answer["tabs"])
    assert roles == [("dapp", False), ("extension", False), ("notification", True)]

    assert (await app.call("mm_close_tab", role="notification"))["currentUrl"] == dapp

    await app.call("mm_wait_for", selector='[data-testid="dapp-result"]:text("4001")')
    error = await app.refused("mm_switch_tab", role="notification")
    assert (error["code"], len(error["details"]["tabs"])) == ("MM_INVALID_INPUT", 2)


@pytest.mark.slow
async def test_notification_wait_without_a_window_times_out(app: Server) -> None:
    reported = await app.envelope("mm_wait_for_notification", timeoutMs=1000)

    assert reported["error"]["code"] == "MM_NOTIFICATION_TIMEOUT"
    assert 1000 <= reported["meta"]["durationMs"] < 8000


@pytest.mark.slow
async def test_navigable_screens_are_home_settings_notification_and_url(app: Server) -> None:
    """The screens are home, settings, notifications and an address; a site has its own tab."""
    extension = (await app.call("mm_get_state"))["state"]["extensionId"]
    origin = f"chrome-extension://{extension}"
    site = app.site.page("<h1>Site</h1>")
    other = app.site.page("<h1>Other</h1>")
    asked: list[dict[str, Any]] = [
        {"screen": "settings"},
        {"screen": "url", "url": site},
        {"screen": "url", "url": other},
        {"screen": "home"},
        {"screen": "url", "url": f"{origin}/home.html#settings"},
        {"screen": "notification"},
    ]

    urls = [(await app.call("mm_navigate", **each))["currentUrl"] for each in asked]

    assert urls[:5] == [
        f"{origin}/home.html#settings",
        site,
        other,
        f"{origin}/home.html#",
        f"{origin}/home.html#settings",
    ]
    tabs = (await app.call("mm_switch_tab", role="extension"))["tabs"]
    assert [tab["url"] for tab in tabs if tab["role"] == "dapp"] == [other]
    assert len([tab for tab in tabs if tab["role"] == "extension"]) == 1


async def test_navigation_returns_an_observation_with_refs(app: Server) -> None:
    """Beyond the document: the observation of `mm_navigate` has refs that can be used at once."""
    url = app.site.page("<button data-testid=a onclick='this.textContent=1'>A</button>")

    answer = await app.call("mm_navigate", screen="url", url=url)

    assert answer["observation"]["testIds"] == {"added": ["a"]}
    (node,) = answer["observation"]["added"]
    assert (node["role"], node["name"]) == ("button", "A")
    await app.call("mm_click", a11yRef=node["ref"], timeoutMs=0)
    assert await app.text("a") == "1"


async def test_the_only_page_of_the_app_stays_open(app: Server) -> None:
    assert await app.code("mm_close_tab", role="extension") == "MM_INVALID_INPUT"
    assert await app.code("mm_close_tab") == "MM_INVALID_INPUT"
    assert await app.code("mm_switch_tab", url="no such address") == "MM_INVALID_INPUT"


async def test_long_text_is_truncated_and_marked(app: Server) -> None:
    await app.show(f"<p data-testid=long>{'x' * 20_001}</p><p data-testid=short>a<br>b<i hidden>c</i></p>")

    long = await app.call("mm_get_text", testId="long")

    assert (len(long["text"]), long["cut"]) == (20_000, True)
    assert await app.call("mm_get_text", testId="short") == {"text": "a\nb", "target": "testId:short"}
    assert await app.code("mm_get_text", testId="nowhere", timeoutMs=0) == "MM_TARGET_NOT_FOUND"


async def test_mocks_answer_requests_of_pages_and_service_workers(app: Server) -> None:
    """Beyond the document: mm_mock_network."""
    here = app.site.url
    await app.show(f"""<p data-testid=out>-</p><script>
        const ask = () => fetch("{here}/api/x").then(answer => out(answer.status), () => out("failed"));
        const out = text => document.querySelector("p").textContent = text;
        </script><button data-testid=ask onclick="ask()">Ask</button>""")

    mocked = await app.call("mm_mock_network", url=f"{here}/api/*", status=418, body='{{"tea": 1}}')
    assert mocked == {"mocks": [f"{here}/api/*"]}
    await app.call("mm_click", testId="ask", observe="none")
    await app.call("mm_wait_for", selector="p:text('418')")

    assert await app.call("mm_mock_network", url=f"{here}/api/*", remove=True) == {"mocks": []}
    await app.call("mm_click", testId="ask", observe="none")
    await app.call("mm_wait_for", selector="p:text('404')")


async def test_chain_mock_reaches_the_service_worker_of_the_wallet(app: Server) -> None:
    """Beyond the document: what the extension's service worker asks is answered too."""
    chain = f"http://localhost:{app.ports['anvil']}*"
    await app.call("mm_mock_network", url=chain, status=500, body="no")
    await app.call("mm_navigate", screen="settings", observe="none")
    await app.call("mm_navigate", screen="home", observe="none")
    await app.call("mm_wait_for", selector='[role=status]:text("Balance not available")')

    await app.call("mm_mock_network", url=chain, remove=True)
    await app.call("mm_navigate", screen="settings", observe="none")
    await app.call("mm_navigate", screen="home", observe="none")
    await app.call("mm_wait_for", testId="eth-overview__primary-currency")


async def test_refused_url_leaves_no_tab(app: Server) -> None:
    before = (await app.call("mm_switch_tab", role="extension"))["tabs"]

    codes = [
        await app.code("mm_navigate", screen="url", url=url) for url in ("file:///etc", "http://127.0.0.1:1/")
    ]

    assert codes == ["MM_INVALID_INPUT", "MM_NAVIGATION_FAILED"]
    assert (await app.call("mm_switch_tab", role="extension"))["tabs"] == before


async def test_navigating_home_closes_open_dialogs(app: Server) -> None:
    """Home is another hash of the document that is there, or the same: neither closes anything by itself."""
    for test_id in ("account-menu-icon", "network-display"):
        await app.call("mm_click", testId=test_id, observe="none")
        await app.call("mm_wait_for", testId="picker-close")

        answer = await app.call("mm_navigate", screen="home", observe="none")

        assert answer == {"navigated": True, "currentUrl": answer["currentUrl"]}
        assert "dialog" not in {node["role"] for node in await app.nodes()}
        assert (await app.call("mm_get_state"))["state"]["currentScreen"] == "home"
