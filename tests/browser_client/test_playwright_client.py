"""The typed Playwright client with a real browser on both servers, and with broken servers."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp_types import CallToolResult
from PIL import Image

from footlight.browser_client.accessibility_tree import AccessibilityNode
from footlight.browser_client.mcp_config import MCPConfig
from footlight.browser_client.playwright_client import PlaywrightClient
from footlight.browser_client.results import MAX_SNAPSHOT_BYTES, NavigateResult
from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError, ToolInvocationError
from tests.client.browser_servers import FAMILIES, config_of
from tests.client.scripted_server import FOOTLIGHT, PLAYWRIGHT, Answer, says, serve_script, wait_forever
from tests.network import listening
from tests.processes import descendants_of
from tests.site import Site

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0

FORM = """<title>Form</title><form>
<label>Name <input id=name value=old></label> <textarea id=about></textarea> <input id=born type=date>
<input id=volume type=range min=0 max=10> <div id=note contenteditable>old</div>
<input id=news type=checkbox> <input id=terms type=checkbox checked>
<input type=radio name=size id=small> <input type=radio name=size id=large>
<select id=city><option value=v>Vienna<option value=r>Rome</select>
<select id=land><option value=a>Austria<option value=i>Italy</select></form>"""

HELD = """() => {
  const it = id => document.getElementById(id);
  return {
    name: it('name').value, about: it('about').value, born: it('born').value, volume: it('volume').value,
    note: it('note').innerText, news: it('news').checked, terms: it('terms').checked,
    large: it('large').checked, city: it('city').value, land: it('land').value,
  };
}"""

FIELDS = {
    "#name": "Ada",
    "#about": "one\ntwo",
    "#born": "1815-12-10",
    "#volume": "7",
    "#note": "new",
    "#news": "true",
    "#terms": "false",
    "#large": "true",
    "#city": "Rome",
    "#land": "i",
}


@pytest.fixture(scope="module", params=FAMILIES)
async def family(
    anyio_backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[tuple[str, PlaywrightClient]]:
    """One server of each family for the tests of this file."""
    config = config_of(request.param)
    async with PlaywrightClient.launch(config, cwd=str(tmp_path_factory.mktemp("server"))) as client:
        yield request.param, client


@pytest.fixture
def client(family: tuple[str, PlaywrightClient]) -> PlaywrightClient:
    return family[1]


async def check_refused(work: Awaitable[object]) -> MCPError:
    with pytest.raises(MCPError) as caught:
        async with asyncio.timeout(LIMIT_SECONDS):
            await work
    return caught.value


def remove_refs(node: AccessibilityNode) -> dict[str, Any]:
    bare: dict[str, Any] = {key: value for key, value in node.items() if key not in ("ref", "children")}
    children = [remove_refs(child) for child in node.get("children", [])]
    return {**bare, "children": children} if children else bare


def find_node(node: AccessibilityNode, role: str, name: str) -> AccessibilityNode | None:
    if (node["role"], node.get("name")) == (role, name):
        return node
    return next(filter(None, (find_node(child, role, name) for child in node.get("children", []))), None)


# With a real browser


async def test_navigation_returns_the_final_url(family: tuple[str, PlaywrightClient], site: Site) -> None:
    """@playwright/mcp does not say the status of a success."""
    name, client = family
    page = site.page("<title>Act: 'one' &amp; \"two\"</title><h1>One</h1>")

    result = await client.navigate(site.redirect(page))
    again = await client.navigate(page)

    assert (
        result
        == again
        == NavigateResult(
            success=True,
            url=page,
            title="Act: 'one' & \"two\"",
            status=200 if name == "footlight" else None,
        )
    )


async def test_http_error_page_is_returned_with_its_status(client: PlaywrightClient, site: Site) -> None:
    page = site.page("gone", status=410)

    assert (await client.navigate(page)).to_dict() == {"success": True, "url": page, "status": 410}


async def test_failed_navigation_raises_a_tool_error(client: PlaywrightClient) -> None:
    error = await check_refused(client.navigate("http://no-such-host.invalid/"))

    assert isinstance(error, ToolInvocationError)
    assert (error.reason, error.tool_name.removeprefix("browser_")) == ("tool", "navigate")
    assert "net::ERR_NAME_NOT_RESOLVED" in error.message
    assert "###" not in error.message
    assert "{" not in error.message


async def test_failed_navigation_does_not_affect_the_next(client: PlaywrightClient, site: Site) -> None:
    """The browser's own page about it comes late."""
    titles = ["One", "Two", "Three", "Four", "Five"]
    seen: list[str | None] = []
    for title in titles:
        await check_refused(client.navigate("http://no-such-host.invalid/"))
        seen.append((await client.navigate(site.page(f"<title>{title}</title>"))).title)

    assert seen == titles


@pytest.mark.parametrize("format", ["png", "jpeg"])
async def test_screenshot_size_and_format_match_the_image(
    client: PlaywrightClient, site: Site, format: Any
) -> None:
    """An earlier implementation said 0 by 0."""
    await client.navigate(site.page("<body style='margin: 0; background: #f00; height: 3000px'>"))

    shot = await client.screenshot(format=format)

    image = Image.open(io.BytesIO(shot.image))
    assert (shot.format, image.format, (shot.width, shot.height)) == (format, format.upper(), image.size)
    assert shot.width > shot.height > 500


async def test_full_page_screenshot_has_the_page_height(client: PlaywrightClient, site: Site) -> None:
    await client.navigate(site.page("<body style='margin: 0'><div style='height: 3000px'>"))

    shot = await client.screenshot(full_page=True)

    assert shot.height == 3000


@pytest.mark.slow
async def test_a_large_screenshot_is_fetched_by_its_link(site: Site) -> None:
    env = {**os.environ, "FOOTLIGHT_RESOURCES_MAX_INLINE_IMAGE": "100"}
    async with PlaywrightClient.launch(config_of("footlight"), env=env) as client:
        await client.navigate(site.page("<p>here"))

        shot = await client.screenshot()

    assert Image.open(io.BytesIO(shot.image)).size == (shot.width, shot.height)


async def test_both_servers_give_the_same_snapshot_tree(client: PlaywrightClient, site: Site) -> None:
    page = site.page(
        "<title>Cast</title><main><h1>Cast: 'all'</h1><a href='/x?a=b#c'>Link</a><p>- <b>not</b> an item</p>"
        "<button disabled>a: \"b\"</button><input aria-label=Name value='5: x'></main>"
    )
    await client.navigate(page)

    snapshot = await client.get_snapshot()

    assert remove_refs(snapshot.tree) == {
        "role": "document",
        "name": "Cast",
        "url": page,
        "children": [
            {
                "role": "main",
                "children": [
                    {"role": "heading", "name": "Cast: 'all'", "states": ["level=1"]},
                    {"role": "link", "name": "Link", "url": "/x?a=b#c"},
                    {"role": "paragraph", "text": "- not an item"},
                    {"role": "button", "name": 'a: "b"', "states": ["disabled"]},
                    {"role": "textbox", "name": "Name", "value": "5: x"},
                ],
            }
        ],
    }


async def test_snapshot_of_a_large_page_is_complete(client: PlaywrightClient, site: Site) -> None:
    await client.navigate(site.page("".join(f"<button>{'word ' * 20}{n}</button>" for n in range(3000))))

    tree = (await client.get_snapshot()).tree

    assert find_node(tree, "button", f"{'word ' * 20}2999") is not None


async def test_blank_page_has_an_empty_tree(client: PlaywrightClient) -> None:
    """After `close` another page is opened, by whatever comes."""
    await client.close()

    assert (await client.get_snapshot()).tree == {"role": "document", "url": "about:blank", "children": []}


async def test_click_accepts_selector_and_ref(client: PlaywrightClient, site: Site) -> None:
    """An earlier implementation gave the server a selector where it wanted a ref."""
    page = "<title>0</title><button id=b onclick='document.title++'>Press</button><button>Other</button>"
    await client.navigate(site.page(page))
    button = find_node((await client.get_snapshot()).tree, "button", "Press")
    assert button is not None

    await client.click("button:is(#b, .x):not(:disabled)")
    await client.click(button["ref"])

    assert await client.evaluate("document.title") == "2"


@pytest.mark.slow
async def test_click_on_a_missing_element_names_the_selector(client: PlaywrightClient, site: Site) -> None:
    await client.navigate(site.page("<p>nothing"))

    error = await check_refused(client.click("#nothing", timeout_ms=5_000))

    assert isinstance(error, ToolInvocationError)
    assert (error.reason, '"#nothing"' in error.message) == ("tool", True)


async def test_every_kind_of_field_is_filled(client: PlaywrightClient, site: Site) -> None:
    """An earlier implementation sent what the server's schema does not know."""
    await client.navigate(site.page(FORM))

    await client.fill_form(FIELDS)

    assert await client.evaluate(HELD) == {
        "name": "Ada",
        "about": "one\ntwo",
        "born": "1815-12-10",
        "volume": "7",
        "note": "new",
        "news": True,
        "terms": False,
        "large": True,
        "city": "r",
        "land": "i",
    }


async def test_fill_error_does_not_reveal_the_value(client: PlaywrightClient, site: Site) -> None:
    await client.navigate(site.page("<button id=b>No field</button>"))

    error = await check_refused(client.fill_form({"#b": "hunter2"}, timeout_ms=5_000))

    assert isinstance(error, ToolInvocationError)
    assert "hunter2" not in error.to_json()
    fields = error.to_dict()["toolArgs"]["fields"]
    assert fields == {"#b": "***"} or fields[0]["value"] == "***"


async def test_fields_are_filled_by_ref(client: PlaywrightClient, site: Site) -> None:
    await client.navigate(site.page("<label>Name <input></label><label><input type=checkbox> News</label>"))
    tree = (await client.get_snapshot()).tree
    name, news = find_node(tree, "textbox", "Name"), find_node(tree, "checkbox", "News")
    assert name is not None
    assert news is not None

    await client.fill_form({name["ref"]: "Ada", news["ref"]: "true"})

    held = await client.evaluate("[...document.querySelectorAll('input')].map(it => [it.value, it.checked])")
    assert held == [["Ada", False], ["on", True]]


async def test_form_is_filled_despite_content_security_policy(client: PlaywrightClient, site: Site) -> None:
    headers = {"Content-Security-Policy": "default-src 'self'"}
    await client.navigate(site.page("<input id=a>", headers=headers))

    await client.fill_form({"#a": "b"})

    tree = (await client.get_snapshot()).tree
    assert next(each for each in list_nodes(tree) if each["role"] == "textbox").get("value") == "b"


def list_nodes(node: AccessibilityNode) -> list[AccessibilityNode]:
    return [node, *(inside for child in node.get("children", []) for inside in list_nodes(child))]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("1 + 1", 2),
        ("document.title;", "Title"),
        ("document.title // with a comment", "Title"),
        ("() => ({a: [1, null, 'x\\n### Result']})", {"a": [1, None, "x\n### Result"]}),
        ("function () { return 5 }", 5),
        ("async () => 'later'", "later"),
        ("undefined", None),
        ("'important retrieval'", "important retrieval"),
        ("'x'.repeat(300000).length", 300_000),
        ("'x'.repeat(300000)", "x" * 300_000),
    ],
)
async def test_script_value_is_returned(
    client: PlaywrightClient, site: Site, script: str, value: Any
) -> None:
    """An earlier implementation wrapped the script twice."""
    await client.navigate(site.page("<title>Title</title>"))

    assert await client.evaluate(script) == value


async def test_script_error_omits_the_stack_trace(client: PlaywrightClient, site: Site) -> None:
    await client.navigate(site.page(""))

    error = await check_refused(client.evaluate("() => { throw new Error('boom') }"))

    assert ("boom" in error.message, "    at " in error.message) == (True, False)


async def test_timeout_raises_a_timeout_error(family: tuple[str, PlaywrightClient], site: Site) -> None:
    name, client = family

    error = await check_refused(client.navigate(site.never(), timeout_ms=1_000))

    tool = "navigate" if name == "footlight" else "browser_navigate"
    assert isinstance(error, MCPTimeoutError)
    assert (error.tool_name, error.timeout_ms, error.code) == (tool, 1_000, "TIMEOUT_ERROR")
    assert error.message.startswith(f"{tool} took longer than 1000ms")


async def test_the_browser_can_be_closed_twice_and_opened_again(client: PlaywrightClient, site: Site) -> None:
    page = site.page("<title>Again</title>")
    await client.navigate(page)

    await client.close()
    await client.close()

    assert (await client.navigate(page)).title == "Again"


async def test_blocked_navigation_reports_the_open_dialog(site: Site, tmp_path: Path) -> None:
    """@playwright/mcp says that it went, and stays."""
    asking = site.page("<script>alert('Wait')</script>")
    other = site.page("<title>Other</title>")

    async with PlaywrightClient.launch(config_of("@playwright/mcp"), cwd=str(tmp_path)) as client:
        opened = await client.navigate(asking)
        error = await check_refused(client.navigate(other))
        await client.mcp_client.call_tool("browser_handle_dialog", {"accept": True})
        after = await client.navigate(other)

    assert (opened.url, after.url, error.reason) == (asking, other, "tool")
    assert error.message.startswith(
        f"The page did not leave {asking}: a dialog is open, which browser_handle_dialog answers: "
        '"alert" dialog with message "Wait"'
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
async def test_closed_client_leaves_no_process(name: str, site: Site, tmp_path: Path) -> None:
    me = psutil.Process()
    before = set(descendants_of(me))

    async with PlaywrightClient.launch(config_of(name), cwd=str(tmp_path)) as client:
        await client.navigate(site.page("<p>here"))
        started = set(descendants_of(me)) - before

    gone, alive = psutil.wait_procs(started, timeout=LIMIT_SECONDS)
    assert (len(gone) >= 2, alive, client.mcp_client.connected) == (True, [], False)


@pytest.mark.slow
async def test_stateless_connection_gets_its_own_session(site: Site) -> None:
    """Requests of the stateless protocol stand alone."""
    page = site.page("<title>Alone</title><button id=b onclick='document.title = 1'>b</button>")
    async with (
        listening("http", "--enable-script-evaluation") as url,
        MCPClient(f"{url}/mcp", protocol_version="2026-07-28") as mcp_client,
    ):
        client = PlaywrightClient(mcp_client)

        opened = await client.navigate(page)
        await client.click("#b")
        title = await client.evaluate("document.title")
        await client.close()
        sessions = (await mcp_client.call_tool("list_sessions")).structured_content["data"]

    assert (opened.title, title, sessions["sessions"]) == ("Alone", "1", [])


# With a server in this process


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda it: it.navigate("ftp://x"), "browser_navigate: url must start with http:// or https://"),
        (lambda it: it.click(""), "browser_click: selector must not be empty"),
        (
            lambda it: it.fill_form({}),
            "browser_fill_form: fields must map at least one selector to its value",
        ),
        (
            lambda it: it.evaluate("eval(1)"),
            "browser_evaluate: script must not use eval; write what it does in",
        ),
        (
            lambda it: it.navigate("http://x", timeout_ms=999),
            "browser_navigate: timeout_ms must be a whole number from 1000 to 300000",
        ),
        (
            lambda it: it.screenshot(format="webp"),
            "browser_take_screenshot: format must be png or jpeg",
        ),
        (
            lambda it: it.screenshot(timeout_ms=300_001),
            "browser_take_screenshot: timeout_ms must be a whole number from 1000 to 300000",
        ),
    ],
)
async def test_refused_parameter_sends_no_request(
    call: Callable[[PlaywrightClient], Awaitable[object]], message: str
) -> None:
    async with serve_script(PLAYWRIGHT) as (mcp_client, script):
        error = await check_refused(call(PlaywrightClient(mcp_client)))

        assert (error.reason, error.message[: len(message)], script.calls, script.listed) == (
            "invalid",
            message,
            [],
            0,
        )


async def test_unresolvable_host_sends_no_request() -> None:
    async with serve_script(PLAYWRIGHT) as (mcp_client, script):
        client = PlaywrightClient(mcp_client, resolve_hosts=True)

        error = await check_refused(client.navigate("http://no-such-host.invalid/"))

        assert (error.reason, script.calls, script.listed) == ("invalid", [], 0)


async def test_unconnected_client_is_refused() -> None:
    with pytest.raises(MCPConnectionError) as caught:
        PlaywrightClient(MCPClient("npx x"))

    assert (caught.value.reason, caught.value.message) == (
        "not_connected",
        "PlaywrightClient needs a connected MCPClient: connect() it first",
    )


@pytest.mark.parametrize("timeout_ms", [999, 300_001])
async def test_invalid_default_timeout_is_refused(timeout_ms: int) -> None:
    async with serve_script(PLAYWRIGHT) as (mcp_client, _):
        with pytest.raises(
            ToolInvocationError, match="timeout_ms must be a whole number from 1000 to 300000"
        ):
            PlaywrightClient(mcp_client, timeout_ms=timeout_ms)


async def test_server_without_browser_tools_is_refused() -> None:
    async with serve_script(("echo", "navigate")) as (mcp_client, script):
        error = await check_refused(PlaywrightClient(mcp_client).navigate("http://x"))

        assert (error.reason, error.message, script.calls) == (
            "unknown_tool",
            "The server has no browser tools known here: connect to @playwright/mcp or footlight serve",
            [],
        )


@pytest.mark.parametrize(
    ("tools", "hint"),
    [
        (FOOTLIGHT, "The server has no tool evaluate: start it with --enable-script-evaluation"),
        (
            tuple(tool for tool in PLAYWRIGHT if tool != "browser_evaluate"),
            "The server has no tool browser_evaluate: allow it in the server's capabilities",
        ),
    ],
)
async def test_disabled_tool_error_names_the_switch(tools: tuple[str, ...], hint: str) -> None:
    async with serve_script(tools) as (mcp_client, _):
        error = await check_refused(PlaywrightClient(mcp_client).evaluate("1"))

        assert (error.reason, error.message) == ("unknown_tool", hint)


async def test_server_without_selector_support_is_refused() -> None:
    async with serve_script(PLAYWRIGHT) as (mcp_client, script):
        script.forget_parameters()

        error = await check_refused(PlaywrightClient(mcp_client).click("#a"))

        assert (error.message, script.calls) == (
            "This @playwright/mcp takes no selectors; use 0.0.83 or newer",
            [],
        )


PIXEL = base64.b64encode(b"GIF89a").decode()
SNAPSHOT = "### Page\n- Page URL: http://x/\n### Snapshot\n```yaml\n{}\n```"


@pytest.mark.parametrize(
    ("tools", "answers", "call", "message"),
    [
        (
            PLAYWRIGHT,
            {"browser_navigate": says("done"), "browser_snapshot": says("")},
            lambda it: it.navigate("http://x"),
            "browser_snapshot: the answer does not say which page it is",
        ),
        (
            PLAYWRIGHT,
            {"browser_navigate": says("### Page\n- Page URL: nowhere\n")},
            lambda it: it.navigate("http://x"),
            "browser_navigate: url is not a URL: nowhere",
        ),
        (
            PLAYWRIGHT,
            {"browser_take_screenshot": says("### Result\nsaved")},
            lambda it: it.screenshot(),
            "browser_take_screenshot: the answer has no image; start it without --image-responses omit",
        ),
        (
            PLAYWRIGHT,
            {"browser_take_screenshot": says(image=PIXEL)},
            lambda it: it.screenshot(),
            "browser_take_screenshot: screenshot is not an image: it is neither a PNG nor a JPEG",
        ),
        (
            PLAYWRIGHT,
            {"browser_snapshot": says("### Page\n- Page URL: http://x/\n")},
            lambda it: it.get_snapshot(),
            "browser_snapshot: the answer has no snapshot",
        ),
        (
            PLAYWRIGHT,
            {"browser_snapshot": says(SNAPSHOT.format("no list"))},
            lambda it: it.get_snapshot(),
            "browser_snapshot: this is not a line of an aria snapshot: no list",
        ),
        (
            PLAYWRIGHT,
            {"browser_snapshot": says(SNAPSHOT.format(f"- text: {'x' * MAX_SNAPSHOT_BYTES}"))},
            lambda it: it.get_snapshot(),
            "browser_snapshot: snapshot has 5242956 bytes; the limit is 5242880",
        ),
        (
            PLAYWRIGHT,
            {"browser_evaluate": says("### Result\n{")},
            lambda it: it.evaluate("1"),
            "browser_evaluate: the script's value cannot be read: Expecting property name enclosed in double",
        ),
        (
            FOOTLIGHT,
            {"navigate": says("{}")},
            lambda it: it.navigate("http://x"),
            "navigate: the answer has no data",
        ),
        (
            FOOTLIGHT,
            {"navigate": says(data={"status": 1000, "url": "http://x/"}), "snapshot": says(data={})},
            lambda it: it.navigate("http://x"),
            "snapshot: status is not an HTTP status: 1000",
        ),
        (
            FOOTLIGHT,
            {"snapshot": says(data={"url": "http://x/", "nodes": [{"name": "no role"}]})},
            lambda it: it.get_snapshot(),
            "snapshot: snapshot is not an accessibility tree: a child of document in the root has no role",
        ),
        (
            FOOTLIGHT,
            {"snapshot": says(data={"url": "http://x/", "nodes": [], "cut": True})},
            lambda it: it.get_snapshot(),
            "snapshot: snapshot has more than 5242880 bytes",
        ),
        (
            FOOTLIGHT,
            {"screenshot": says(data={"width": 1})},
            lambda it: it.screenshot(),
            "screenshot: the answer has no image",
        ),
    ],
)
async def test_malformed_answer_is_a_protocol_error(
    tools: tuple[str, ...],
    answers: Mapping[str, Answer],
    call: Callable[[PlaywrightClient], Awaitable[object]],
    message: str,
) -> None:
    """A result is whole or it is an error."""
    async with serve_script(tools, answers) as (mcp_client, _):
        error = await check_refused(call(PlaywrightClient(mcp_client)))

        assert isinstance(error, ToolInvocationError)
        assert (error.reason, error.message[: len(message)]) == ("protocol", message)
        assert error.result is not None


async def test_failed_tool_without_a_message_is_an_error() -> None:
    """An earlier implementation did not look at isError."""
    async with serve_script(PLAYWRIGHT, {"browser_click": says(error=True)}) as (mcp_client, _):
        error = await check_refused(PlaywrightClient(mcp_client).click("#a"))

        assert (type(error), error.reason, error.message) == (
            ToolInvocationError,
            "tool",
            "The tool browser_click failed without a message",
        )


async def test_operations_run_one_after_the_other() -> None:
    running, most = 0, 0
    page = says("### Page\n- Page URL: http://x/\n")
    go_on = asyncio.Event()

    async def navigate(_: Mapping[str, Any]) -> CallToolResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await go_on.wait()
        running -= 1
        return page

    async with serve_script(PLAYWRIGHT, {"browser_navigate": navigate}) as (mcp_client, script):
        client = PlaywrightClient(mcp_client)
        tasks = [asyncio.create_task(client.navigate(f"http://x/{n}")) for n in range(3)]
        await script.wait_for_call()
        go_on.set()
        async with asyncio.timeout(LIMIT_SECONDS):
            await asyncio.gather(*tasks)

        assert (most, script.calls) == (
            1,
            [("browser_navigate", {"url": f"http://x/{n}"}) for n in range(3)],
        )


async def test_cancelled_operation_lets_the_next_run() -> None:
    answers: dict[str, Answer] = {
        "browser_navigate": wait_forever,
        "browser_evaluate": says("### Result\n7"),
    }
    async with serve_script(PLAYWRIGHT, answers) as (mcp_client, script):
        client = PlaywrightClient(mcp_client)
        task = asyncio.create_task(client.navigate("http://x/"))
        await script.wait_for_call()
        task.cancel()

        value = await client.evaluate("7")

        assert (value, task.cancelled()) == (7, True)


async def test_unanswered_call_times_out() -> None:
    async with serve_script(PLAYWRIGHT, {"browser_take_screenshot": wait_forever}) as (mcp_client, _):
        error = await check_refused(PlaywrightClient(mcp_client, timeout_ms=1_000).screenshot())

        assert error.to_dict() == {
            "name": "TimeoutError",
            "code": "TIMEOUT_ERROR",
            "message": "browser_take_screenshot took longer than 1000ms",
            "reason": "timeout",
            "rpcCode": -32000,
            "toolName": "browser_take_screenshot",
            "timeout": 1_000,
        }


async def test_lost_connection_raises_a_connection_error() -> None:
    async with serve_script(PLAYWRIGHT) as (mcp_client, _):
        client = PlaywrightClient(mcp_client)
        await mcp_client.close()

        error = await check_refused(client.click("#a"))
        await client.close()

        assert isinstance(error, MCPConnectionError)


async def test_heavy_modules_are_not_imported_at_start() -> None:
    script = """
import sys
from footlight.browser_client import controllers, mcp_config, playwright_client
slow = {"PIL", "ada_url", "cssselect2", "tinycss2", "httpx2", "websockets", "mcp", "pydantic", "playwright"}
print(sorted(slow & sys.modules.keys()))
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(LIMIT_SECONDS):
        out, _ = await process.communicate()

    assert out.decode().strip() == "[]"


async def test_missing_command_starts_no_process() -> None:
    with pytest.raises(MCPError) as caught:
        async with PlaywrightClient.launch(MCPConfig("no-such-command", ())):
            raise AssertionError

    assert (caught.value.code, caught.value.reason) == ("SERVER_NOT_AVAILABLE", "spawn")
