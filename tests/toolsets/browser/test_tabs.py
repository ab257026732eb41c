"""Listing, opening, selecting and closing the pages of a session."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.conftest import SessionBrowser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio

AT_ONCE = 6.0


async def active(browser: SessionBrowser) -> str | None:
    return (await browser.call("tabs", action="list"))["active"]


async def open_tabs(browser: SessionBrowser, count: int) -> list[str]:
    """Open so many tabs and return their URLs. The first is page-1."""
    urls = [browser.site.page(f"<title>{number}</title>") for number in range(1, count + 1)]
    for url in urls:
        await browser.call("tabs", action="new", url=url)
    return urls


async def test_pages_are_listed_with_url_title_and_active_flag(browser: SessionBrowser) -> None:
    there = browser.site.page("<title>There</title>")
    html = f"<title>Here</title><button onclick=\"window.open('{there}')\">open</button>"
    here = (await browser.show(html))["url"]
    await browser.call("click", selector="button")

    assert await browser.call("tabs", action="list") == {
        "active": "page-1",
        "url": here,
        "tabs": [
            {"pageId": "page-1", "url": here, "title": "Here", "active": True},
            {"pageId": "page-2", "url": there, "title": "There", "active": False, "opener": "page-1"},
        ],
    }


async def test_no_tab_is_active_without_a_page(browser: SessionBrowser) -> None:
    assert await browser.call("tabs", action="list") == {"active": None, "tabs": []}


async def test_calls_use_a_new_tab(browser: SessionBrowser) -> None:
    await browser.show("<h1>First</h1>")
    url = browser.site.page("<h1>Second</h1>")

    assert await browser.call("tabs", action="new", url=url) == {"active": "page-2", "url": url}

    assert await browser.call("get_text", selector="h1") == {"text": "Second"}
    assert await browser.call("get_text", selector="h1", pageId="page-1") == {"text": "First"}


async def test_new_tab_may_be_blank(browser: SessionBrowser) -> None:
    assert await browser.call("tabs", action="new") == {"active": "page-1", "url": "about:blank"}


async def test_calls_use_the_selected_tab(browser: SessionBrowser) -> None:
    first, *_ = await open_tabs(browser, 3)

    assert await browser.call("tabs", action="select", pageId="page-1") == {"active": "page-1", "url": first}

    assert await browser.call("evaluate", script="document.title") == {"result": "1"}


async def test_page_opened_by_a_script_is_not_selected(browser: SessionBrowser) -> None:
    await browser.show("<button onclick='window.open()'>open</button>")
    await browser.call("click", selector="button")

    assert await active(browser) == "page-1"


async def test_closing_a_tab_selects_the_previously_selected_tab(browser: SessionBrowser) -> None:
    urls = await open_tabs(browser, 3)
    for page in ("page-2", "page-1", "page-3"):
        await browser.call("tabs", action="select", pageId=page)

    closed = [await browser.call("tabs", action="close") for _ in range(3)]

    assert closed == [
        {"active": "page-1", "url": urls[0], "closed": True},
        {"active": "page-2", "url": urls[1], "closed": True},
        {"active": None, "closed": True},
    ]


async def test_closing_the_only_selected_tab_selects_its_opener(browser: SessionBrowser) -> None:
    await browser.show("<button onclick='window.open()'>open</button>")
    await browser.call("click", selector="button")
    await browser.show("<button onclick='window.open()'>open</button>", pageId="page-2")
    await browser.call("click", selector="button", pageId="page-2")
    await browser.call("tabs", action="select", pageId="page-3")

    assert (await browser.call("tabs", action="close"))["active"] == "page-2"


async def test_inactive_tab_can_be_closed(browser: SessionBrowser) -> None:
    urls = await open_tabs(browser, 2)

    closed = await browser.call("tabs", action="close", pageId="page-1")

    assert closed == {"active": "page-2", "url": urls[1], "closed": True}


async def test_closing_a_tab_skips_beforeunload_by_default(browser: SessionBrowser) -> None:
    await browser.show("<input><script>onbeforeunload = event => event.preventDefault()</script>")
    await browser.call("click", selector="input")

    assert await browser.call("tabs", action="close") == {"active": None, "closed": True}


@pytest.mark.parametrize("answer", ["accept", "dismiss"])
async def test_closing_with_beforeunload_follows_the_dialog_policy(
    browser: SessionBrowser, answer: str
) -> None:
    session = await browser.call("create_session", dialogs={"beforeunload": answer})
    html = "<input><script>onbeforeunload = event => event.preventDefault()</script>"
    here = (await browser.show(html, **session))["url"]
    await browser.call("click", selector="input", **session)

    closed = await browser.call("tabs", action="close", beforeUnload=True, **session)

    reported = {"pageId": "page-1", "type": "beforeunload", "message": "", "handled": f"{answer}ed"}
    left = {"active": None} if answer == "accept" else {"active": "page-1", "url": here}
    assert closed == {**left, "closed": answer == "accept", "dialogs": [reported]}
    await browser.call("close_session", **session)


@pytest.mark.slow
async def test_a_page_that_hangs_is_listed_without_a_title(browser: SessionBrowser) -> None:
    await browser.call("tabs", action="new", url=browser.site.page("<title>Fine</title>"))
    url = browser.site.page(
        "<title>Hangs</title><script>onload = () => setTimeout(() => { for (;;); })</script>"
    )
    await browser.call("tabs", action="new", url=url)

    async with asyncio.timeout(AT_ONCE):
        tabs = (await browser.call("tabs", action="list"))["tabs"]

    assert [(tab["title"], tab["url"]) for tab in tabs] == [("Fine", tabs[0]["url"]), (None, url)]
    async with asyncio.timeout(AT_ONCE):
        await browser.call("tabs", action="close")


async def test_tab_that_cannot_be_opened_is_removed(browser: SessionBrowser) -> None:
    await browser.show("<h1>First</h1>")

    error = await browser.refused("tabs", action="new", url="http://127.0.0.1:1/")

    assert error["code"] == "NAVIGATION_FAILED"
    assert [tab["pageId"] for tab in (await browser.call("tabs", action="list"))["tabs"]] == ["page-1"]
    assert await browser.call("get_text", selector="h1") == {"text": "First"}


@pytest.mark.slow
async def test_new_tab_obeys_the_navigation_policy(site: Site) -> None:
    async with connect_browser(site, "--block-domain", "localhost") as browser:
        error = await browser.refused("tabs", action="new", url=site.at("localhost"))
        local = await browser.refused("tabs", action="new", url="file:///etc/passwd")
        listed = await browser.call("tabs", action="list")

    assert (error["code"], local["code"]) == ("PERMISSION_DENIED", "PERMISSION_DENIED")
    assert listed["tabs"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "parameter", "message"),
    [
        (
            {"action": "open"},
            "INVALID_PARAMETER",
            "action",
            "action: must be 'list', 'new', 'select' or 'close'",
        ),
        ({"action": "select"}, "MISSING_PARAMETER", "pageId", "tabs: select needs pageId"),
        (
            {"action": "select", "pageId": "page-9"},
            "INVALID_PARAMETER",
            "pageId",
            "pageId: no page page-9 is open in this session; open pages: none",
        ),
        ({"action": "close"}, "INVALID_PARAMETER", "action", "action: there is no open tab to close"),
        (
            {"action": "list", "url": "http://a.test"},
            "INVALID_PARAMETER",
            "url",
            "url: not used by list; leave it out",
        ),
        (
            {"action": "new", "pageId": "page-1"},
            "INVALID_PARAMETER",
            "pageId",
            "pageId: not used by new; leave it out",
        ),
        (
            {"action": "select", "beforeUnload": True},
            "INVALID_PARAMETER",
            "beforeUnload",
            "beforeUnload: not used by select; leave it out",
        ),
        ({"action": "new", "url": "gopher"}, "INVALID_URL", None, None),
    ],
)
async def test_invalid_tabs_arguments_are_refused_by_name(
    browser: SessionBrowser, arguments: dict[str, Any], code: str, parameter: str | None, message: str | None
) -> None:
    error = await browser.refused("tabs", **arguments)

    assert error["code"] == code
    assert error["details"].get("parameter") == parameter
    if message:
        assert error["message"].startswith(message)
