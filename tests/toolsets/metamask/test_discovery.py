"""Describing a page: nodes with refs, test ids, and no text that was typed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from footlight.apps.metamask.fixtures import PASSWORD
from tests.toolsets.metamask.conftest import Server

pytestmark = pytest.mark.anyio


def brief(nodes: list[dict[str, Any]]) -> list[str]:
    return [f"{node['ref']} {node['role']}:{node['name']}" for node in nodes]


async def test_only_interactive_or_important_nodes_are_reported(app: Server) -> None:
    """Children of what is dropped are lifted, in the order of the page."""
    await app.show("""
        <main><nav><ul><li><a href="#x">Link</a></li></ul></nav>
        <h2>Heading</h2><p>Text</p><img alt="Image" width=9 height=9>
        <table><tr><td><button>Button</button></td></tr></table>
        <input aria-label="Text field"><textarea aria-label="Text area"></textarea>
        <input type=search aria-label=Search>
        <select aria-label="Choice"><option>One</option></select>
        <input type=checkbox aria-label="Check"><input type=radio aria-label="Radio">
        <button role=switch aria-checked=false>Switch</button>
        <div role=menu><div role=menuitem tabindex=0>Item</div></div>
        <div role=tab tabindex=0>Tab</div><input type=range aria-label="Range"><div role=option>Option</div>
        <div role=alert>Alert!</div><div role=status>Status!</div>
        <div role=dialog aria-label="Dialog"><button>Inside</button></div>
        <div role=alertdialog aria-label="Sure?">Really</div>
        <button hidden>Hidden</button><button style="visibility:hidden">Invisible</button></main>""")

    assert brief(await app.nodes()) == [
        "e1 link:Link",
        "e2 heading:Heading",
        "e3 button:Button",
        "e4 textbox:Text field",
        "e5 textbox:Text area",
        "e6 combobox:Choice",
        "e7 checkbox:Check",
        "e8 radio:Radio",
        "e9 switch:Switch",
        "e10 menuitem:Item",
        "e11 alert:Alert!",
        "e12 status:Status!",
        "e13 dialog:Dialog",
        "e14 button:Inside",
        "e15 dialog:Sure?",
    ]


async def test_node_has_its_states_and_its_path(app: Server) -> None:
    """The path is that of the document's example; what is mixed is neither yes nor no."""
    await app.show("""
        <button disabled>Early</button>
        <h1>Send</h1>
        <input type=checkbox aria-label="On" checked><input type=checkbox aria-label="Mixed" id=mixed>
        <button aria-expanded=true>Open</button><button aria-expanded=false>Closed</button>
        <div role=dialog aria-label="Confirm"><button>Yes</button><h2>Fees</h2><button>Edit</button></div>
        <button>After</button>
        <script>mixed.indeterminate = true</script>""")

    def node(ref: str, role: str, name: str, *path: str, **states: bool) -> dict[str, Any]:
        return {"ref": ref, "role": role, "name": name, "disabled": False, **states, "path": [*path]}

    dialog = "dialog:Confirm"
    assert await app.nodes() == [
        node("e1", "button", "Early", disabled=True),
        node("e2", "heading", "Send"),
        node("e3", "checkbox", "On", "heading:Send", checked=True),
        node("e4", "checkbox", "Mixed", "heading:Send"),
        node("e5", "button", "Open", "heading:Send", expanded=True),
        node("e6", "button", "Closed", "heading:Send", expanded=False),
        node("e7", "dialog", "Confirm", dialog),
        node("e8", "button", "Yes", dialog),
        node("e9", "heading", "Fees", dialog),
        node("e10", "button", "Edit", dialog, "heading:Fees"),
        node("e11", "button", "After", "heading:Send"),
    ]


async def test_unchanged_page_keeps_its_refs(app: Server) -> None:
    await app.show("<button>One</button><button>Two</button>")
    first = await app.nodes()

    assert await app.nodes() == first
    assert (await app.call("mm_describe_screen"))["a11y"]["nodes"] == first


@pytest.mark.slow
async def test_ref_of_a_repeated_button_clicks_that_button(app: Server) -> None:
    buttons = "".join(f"<button onclick='log.textContent += {n}'>Remove</button>" for n in range(3))
    await app.show(
        f"<output data-testid=log id=log></output><div hidden><button>Remove</button></div>{buttons}"
    )
    displayed = [node["ref"] for node in await app.nodes() if node["name"] == "Remove"]

    for ref in (displayed[2], displayed[0], displayed[1]):
        await app.call("mm_click", a11yRef=ref)

    assert await app.text("log") == "201"


async def test_ref_of_a_repeated_wallet_button_clicks_that_button(app: Server) -> None:
    """Its settings have many that are named Remove."""
    await app.call("mm_navigate", screen="settings", observe="none")
    await app.call("mm_wait_for", selector="[data-mounted=settings]")
    contacts = await removable_contacts(app)
    displayed = [node for node in await app.nodes() if node["name"] == "Remove"]

    await app.call("mm_click", a11yRef=displayed[-1]["ref"], observe="none")

    async with asyncio.timeout(20):  # The wallet's worker removes it.
        while (left := await removable_contacts(app)) == contacts:
            pass
    assert contacts > 1
    assert left == contacts - 1


async def removable_contacts(app: Server) -> int:
    items = (await app.call("mm_list_testids"))["items"]
    return len([each for each in items if each["testId"] == "contact-remove"])


@pytest.mark.slow
async def test_snapshot_below_a_root_contains_only_its_content(app: Server) -> None:
    await app.show("<button>Out</button><section id=in><h2>Title</h2><button>In</button></section>")

    found = (await app.call("mm_accessibility_snapshot", rootSelector="#in"))["nodes"]

    assert brief(found) == ["e1 heading:Title", "e2 button:In"]
    await app.call("mm_click", a11yRef="e2")
    assert await app.code("mm_click", a11yRef="e3", timeoutMs=0) == "MM_TARGET_NOT_FOUND"
    assert await app.code("mm_accessibility_snapshot", rootSelector="#nowhere") == "MM_TARGET_NOT_FOUND"
    assert await app.code("mm_accessibility_snapshot", rootSelector="<<") == "MM_INVALID_INPUT"


async def test_limit_counts_only_visible_test_ids(app: Server) -> None:
    hidden = "".join(f"<p hidden data-testid=hidden-{n}>x</p>" for n in range(20))
    await app.show(f"{hidden}<p data-testid=a>A</p><p data-testid=b>B</p><i data-testid=c>C</i>")

    assert await app.call("mm_list_testids", limit=2) == {
        "items": [
            {"testId": "a", "tag": "p", "text": "A", "visible": True},
            {"testId": "b", "tag": "p", "text": "B", "visible": True},
        ]
    }
    assert len((await app.call("mm_list_testids"))["items"]) == 3


async def test_shadow_roots_and_frames_are_part_of_the_page(app: Server) -> None:
    inner = app.site.page("<button data-testid=framed onclick='this.textContent=\"Done\"'>Framed</button>")
    await app.show(f"""<div id=host></div><iframe src="{inner}"></iframe>
        <script>host.attachShadow({{mode: "open"}}).innerHTML =
          "<button data-testid=shadow>Shadow</button>"</script>""")
    await app.call("mm_wait_for", selector="iframe")

    refs = await app.refs()

    assert refs == {"button:Shadow": "e1", "button:Framed": "e2"}
    assert [each["testId"] for each in (await app.call("mm_list_testids"))["items"]] == ["shadow", "framed"]
    await app.call("mm_click", a11yRef="e1")
    await app.call("mm_click", a11yRef="e2")
    assert await app.refs() == {"button:Shadow": "e1", "button:Done": "e2"}
    await app.call("mm_click", testId="shadow", timeoutMs=0)


async def test_field_values_are_not_reported(app: Server) -> None:
    await app.show("""<input data-testid=a aria-label=A value=first-value>
        <input type=password data-testid=b aria-label=B value=second-value>
        <textarea data-testid=c aria-label=C>third-value</textarea>""")

    answer = str(await app.call("mm_describe_screen"))

    assert [word for word in ("first", "second", "third") if f"{word}-value" in answer] == []


@pytest.mark.slow
async def test_constantly_redrawn_page_can_be_described_and_clicked(app: Server) -> None:
    """The snapshot is whole, and what it shows can be clicked."""
    await app.show("""<main id=root></main><p data-testid=log id=log>-</p><script>
        const draw = () => { root.innerHTML = "<h1>Live</h1><button data-testid=go>Go</button>";
          root.querySelector("button").onmousedown = () => log.textContent = "went"; };
        draw(); setInterval(draw, 100);</script>""")

    for _ in range(5):
        described = await app.call("mm_describe_screen")
        assert brief(described["a11y"]["nodes"]) == ["e1 heading:Live", "e2 button:Go"]
        assert [each["testId"] for each in described["testIds"]["items"]] == ["go", "log"]
    await app.call("mm_click", testId="go", observe="none")
    assert await app.text("log") == "went"
    await app.call("mm_navigate", screen="url", url="about:blank", observe="none")


@pytest.mark.slow
async def test_wallet_screens_are_recognized(app: Server) -> None:
    """This holds after its pages are drawn again."""
    screens: list[str] = []
    for screen in ("home", "settings", "home"):
        await app.call("mm_navigate", screen=screen, observe="none")
        screens.append((await app.call("mm_describe_screen"))["state"]["currentScreen"])
    await app.call("mm_click", testId="account-options-menu-button", observe="none")
    await app.call("mm_click", testId="global-menu-lock", observe="none")
    await app.call("mm_wait_for", testId="unlock-password")
    screens.append((await app.call("mm_get_state"))["state"]["currentScreen"])

    assert screens == ["home", "settings", "home", "unlock"]


async def test_site_is_not_recognized_as_a_wallet_screen(app: Server) -> None:
    """It may use the same test ids. The wallet's account is told all the same."""
    url = await app.show("<input data-testid=unlock-password><b data-testid=account-menu-icon>x</b>")

    state = (await app.call("mm_get_state"))["state"]

    assert (state["currentScreen"], state["currentUrl"]) == ("unknown", url)
    assert (state["isUnlocked"], state["chainId"], state["balance"]) == (True, 1337, "25 ETH")


# Refs, from one look to the next


async def test_click_keeps_refs_and_a_new_snapshot_renumbers_them(app: Server) -> None:
    await app.show("""<button id=first>First</button><button onclick="first.remove();
        this.insertAdjacentHTML('afterend', '<button>New</button>')">Swap</button>""")
    assert await app.refs() == {"button:First": "e1", "button:Swap": "e2"}

    observation = (await app.call("mm_click", a11yRef="e2"))["observation"]

    assert (observation["kind"], observation["removed"]) == ("diff", [{"role": "button", "name": "First"}])
    assert brief(observation["added"]) == ["e3 button:New"]
    await app.call("mm_click", a11yRef="e3")
    assert await app.code("mm_click", a11yRef="e1", timeoutMs=0) == "MM_TARGET_NOT_FOUND"
    assert await app.refs() == {"button:Swap": "e1", "button:New": "e2"}
    assert await app.code("mm_click", a11yRef="e3", timeoutMs=0) == "MM_TARGET_NOT_FOUND"


async def test_outdated_ref_or_ref_of_another_page_is_not_found(app: Server) -> None:
    home = await app.refs()
    ref = home[next(key for key in home if key.startswith("button:"))]
    await app.show("<button>One</button>")

    error = await app.refused("mm_click", a11yRef=ref, timeoutMs=0)
    assert (error["code"], "chrome-extension:" in error["message"]) == ("MM_TARGET_NOT_FOUND", True)

    one = (await app.refs())["button:One"]
    await app.show("<button>Two</button>")
    assert await app.code("mm_click", a11yRef=one, timeoutMs=0) == "MM_TARGET_NOT_FOUND"
    assert await app.code("mm_type", a11yRef="e99", text="x", timeoutMs=0) == "MM_TARGET_NOT_FOUND"


async def test_observation_contains_no_typed_text(app: Server) -> None:
    await app.call("mm_click", testId="account-options-menu-button", observe="none")
    await app.call("mm_click", testId="global-menu-lock", observe="none")
    await app.call("mm_wait_for", testId="unlock-password")

    reported = str(await app.envelope("mm_type", testId="unlock-password", text=PASSWORD))

    assert PASSWORD not in reported
