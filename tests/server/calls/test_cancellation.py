"""Cancelling a call: the browser's work ends at once, and the session remains usable."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from footlight.browser.context.state_store import StateStore
from footlight.browser.sessions.engine import Engine
from footlight.caller import LOCAL
from footlight.config import PoolSettings, SecuritySettings, Settings
from footlight.server.calls.dispatcher import Dispatcher
from tests.conftest import Browser, SessionBrowser, connect_browser
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 20.0
FREE_SECONDS = 10.0
"""The session takes the next call about a second after the cancellation, and later on a busy machine.

The cancelled calls themselves would have had 20.
"""


class Pending:
    """A URL without an answer: `asked` when it is requested, `left` when the request ends."""

    def __init__(self, site: Site) -> None:
        self.asked, self.left = anyio.Event(), anyio.Event()
        self.url = site.route(self.answer)

    async def answer(self, request: Request) -> Response:
        self.asked.set()
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self.left.set()
        return Response()


class Beacon:
    """A URL that a page requests to report an event. `queries` has the query of each request."""

    def __init__(self, site: Site) -> None:
        self.queries: list[str] = []
        self._news = anyio.Event()
        self.url = site.route(self._handle)

    async def _handle(self, request: Request) -> Response:
        self.queries.append(request.url.query)
        self._news.set()
        return Response(headers={"access-control-allow-origin": "*"})

    async def wait_for(self, word: str) -> None:
        with anyio.fail_after(LIMIT_SECONDS):
            while word not in self.queries:
                self._news = anyio.Event()
                await self._news.wait()


class Stages:
    """A progress callback: `is_at` waits for a stage."""

    def __init__(self) -> None:
        self._stages: list[str | None] = []
        self._news = anyio.Event()

    async def __call__(self, _: float, __: float | None, message: str | None) -> None:
        self._stages.append(message)
        self._news.set()

    async def is_at(self, stage: str) -> None:
        with anyio.fail_after(LIMIT_SECONDS):
            while stage not in self._stages:
                self._news = anyio.Event()
                await self._news.wait()


@pytest.fixture(scope="module", params=sample_parameters(["auto", "legacy"], "auto"))
async def shared_browser(
    request: pytest.FixtureRequest, site: Site, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Browser]:
    """A server for each era of the protocol, with a log."""
    root = tmp_path_factory.mktemp("server")
    (root / "uploads").mkdir()
    flags = (
        *("--enable-script-evaluation", "--timeout", "20000", "--state-directory", str(root / "state")),
        *("--upload-root", str(root / "uploads"), "--download-path", str(root / "downloads")),
        *("--log-level", "info", "--log-file", str(root / "log")),
    )
    async with connect_browser(site, *flags, mode=request.param) as browser:
        browser.root = root
        yield browser


@asynccontextmanager
async def start_and_cancel(browser: SessionBrowser, tool: str, **arguments: Any) -> AsyncGenerator[Stages]:
    """Yield the stages of a call that is cancelled at the end of the block."""
    stages = Stages()
    call = functools.partial(
        browser.client.call_tool,
        tool,
        {"sessionId": browser.session_id, **arguments},
        progress_callback=stages,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        with anyio.fail_after(LIMIT_SECONDS):
            yield stages
        tasks.cancel_scope.cancel()


async def call_next(browser: SessionBrowser, script: str = "0") -> dict[str, Any]:
    """Return the result of the next call, which comes soon."""
    began = time.monotonic()
    answer = await browser.call("evaluate", script=script)
    assert time.monotonic() - began < FREE_SECONDS
    return answer


# Going somewhere


async def test_a_cancelled_navigation_ends_its_request(browser: SessionBrowser) -> None:
    await browser.show("<p>here</p>")
    pending = Pending(browser.site)

    async with start_and_cancel(browser, "navigate", url=pending.url):
        await pending.asked.wait()

    assert await call_next(browser, "document.body.innerText") == {"result": "here"}
    with anyio.fail_after(LIMIT_SECONDS):
        await pending.left.wait()


async def test_cancelled_navigation_stops_loading(browser: SessionBrowser) -> None:
    """What a page needs besides its document is not waited for any more."""
    pending, script = Pending(browser.site), Beacon(browser.site)
    url = browser.site.page(
        f"<p>half</p><script src={pending.url}></script><script src={script.url}></script>"
    )

    async with start_and_cancel(browser, "navigate", url=url):
        await pending.asked.wait()

    with anyio.fail_after(LIMIT_SECONDS):
        await pending.left.wait()
    await call_next(browser)
    assert (await browser.show("<p>again</p>"))["status"] == 200
    assert await browser.call("get_text", selector="p") == {"text": "again"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("tool", ["go_back", "go_forward", "reload"])
async def test_cancelled_history_navigation_ends_its_request(browser: SessionBrowser, tool: str) -> None:
    pending = Pending(browser.site)
    visits = 0

    async def answer_first(request: Request) -> Response:
        nonlocal visits
        visits += 1
        if visits == 1:
            return HTMLResponse("<p>first</p>", headers={"cache-control": "no-store"})
        return await pending.answer(request)

    url = browser.site.route(answer_first)
    if tool == "go_forward":
        await browser.show("<p>other</p>")
    await browser.call("navigate", url=url)
    if tool == "go_back":
        await browser.call("evaluate", script="void addEventListener('unload', () => {})")
        await browser.show("<p>other</p>")
    if tool == "go_forward":
        await browser.call("evaluate", script="void addEventListener('unload', () => {})")
        await browser.call("go_back")

    async with start_and_cancel(browser, tool):
        await pending.asked.wait()

    text = "first" if tool == "reload" else "other"
    assert await call_next(browser, "document.body.innerText") == {"result": text}
    with anyio.fail_after(LIMIT_SECONDS):
        await pending.left.wait()


async def test_cancelled_reload_leaves_the_cache_enabled(browser: SessionBrowser) -> None:
    """`ignoreCache` intercepts requests, which switches the cache off as long as it lasts."""
    style, pending = 0, Pending(browser.site)
    holding = False

    async def styles(_: Request) -> Response:
        nonlocal style
        style += 1
        return Response("p {}", media_type="text/css", headers={"cache-control": "max-age=999"})

    async def page(request: Request) -> Response:
        if holding:
            return await pending.answer(request)
        return HTMLResponse(f"<link rel=stylesheet href={styles_url}><p>x</p>")

    styles_url = browser.site.route(styles)
    url = browser.site.route(page)
    await browser.call("navigate", url=url)
    holding = True

    async with start_and_cancel(browser, "reload", ignoreCache=True):
        await pending.asked.wait()

    holding = False
    for _ in range(3):
        await browser.show("<p>elsewhere</p>")
        await browser.call("navigate", url=url)
    assert style == 1


@pytest.mark.slow
async def test_cancelled_wait_does_not_stop_the_page_load(browser: SessionBrowser) -> None:
    """It is not the wait that loads the page."""
    asked, release = anyio.Event(), anyio.Event()

    async def slow(_: Request) -> Response:
        asked.set()
        await release.wait()
        return Response("window.arrived = true", media_type="text/javascript")

    script = browser.site.route(slow)
    await browser.show(f"<p>x</p><script async src={script}></script>", waitUntil="domcontentloaded")
    await asked.wait()

    async with start_and_cancel(browser, "wait_for_load") as stages:
        await stages.is_at("waiting for the page to reach the state load")
    await call_next(browser)
    release.set()

    await browser.call("wait_for_load")
    assert await browser.call("evaluate", script="window.arrived") == {"result": True}


async def test_a_cancelled_restore_leaves_no_route(browser: SessionBrowser) -> None:
    pending = Pending(browser.site)
    state = {"url": pending.url, "sessionStorage": {browser.site.url: {"a": "b"}}}

    async with start_and_cancel(browser, "restore_state", state=state):
        await pending.asked.wait()

    with anyio.fail_after(LIMIT_SECONDS):
        await pending.left.wait()
    await browser.show("<p>the site's own</p>")
    assert await browser.call("get_text", selector="p") == {"text": "the site's own"}


# Doing something


WAIT_LONGER = "new Promise(done => setTimeout(done, 800))"
"""In the page: the driver tries again every half second."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "html",
    [
        "<main></main>",
        "<main><button onclick='clicks += 1' disabled>late</button></main>",
        "<main><button onclick='clicks += 1' style='visibility: hidden'>late</button></main>",
    ],
)
async def test_cancelled_click_does_not_click_a_later_element(browser: SessionBrowser, html: str) -> None:
    await browser.show(f"<script>clicks = 0</script>{html}")

    async with start_and_cancel(browser, "click", selector="button", timeout=15_000) as stages:
        await stages.is_at("clicking button")
        # Told on another connection to the page than the click's, so the click has come to the driver.
        await browser.client.list_tools()

    await call_next(browser)
    await browser.call(
        "evaluate",
        script="document.querySelector('main').innerHTML = `<button onclick='clicks += 1'>late</button>`",
    )
    await browser.call("evaluate", script=WAIT_LONGER)
    assert await browser.call("evaluate", script="clicks") == {"result": 0}
    await browser.call("click", selector="button")
    assert await browser.call("evaluate", script="clicks") == {"result": 1}


async def test_cancelling_an_executed_key_press_stops_its_navigation(browser: SessionBrowser) -> None:
    """A press of a key waits for the navigation it begins."""
    pending = Pending(browser.site)
    await browser.show(f"<form action={pending.url}><input name=q autofocus></form>")

    async with start_and_cancel(browser, "press", key="Enter"):
        await pending.asked.wait()

    assert await call_next(browser, "document.forms.length") == {"result": 1}
    with anyio.fail_after(LIMIT_SECONDS):
        await pending.left.wait()


KEYS = """<input autofocus><script>
held = new Set();
const tell = what => fetch(`TOLD?${what}`, {mode: 'no-cors'});
addEventListener('keydown', event => { held.add(event.code); tell('down-' + event.key); }, true);
addEventListener('keyup', event => { held.delete(event.code); tell('up-' + event.key); }, true);
</script>"""


async def test_cancelled_typing_stops_and_releases_keys(browser: SessionBrowser) -> None:
    beacon = Beacon(browser.site)
    await browser.show(KEYS.replace("TOLD", beacon.url))

    async with start_and_cancel(browser, "type", selector="input", text="abcdefghij" * 20, delay=20):
        await beacon.wait_for("down-c")

    seen = await call_next(browser, "[document.querySelector('input').value, [...held]]")
    [typed, held] = seen["result"]
    assert 2 <= len(typed) < 100
    assert held == []
    await browser.call("evaluate", script=WAIT_LONGER)
    assert await browser.call("get_value", selector="input") == {"value": typed}


async def test_key_held_down_is_released_on_cancellation(browser: SessionBrowser) -> None:
    beacon = Beacon(browser.site)
    await browser.show(KEYS.replace("TOLD", beacon.url))

    async with start_and_cancel(browser, "type", selector="input", text="abc", delay=9_000):
        await beacon.wait_for("down-a")

    await beacon.wait_for("up-a")
    seen = await call_next(browser, "[document.querySelector('input').value, [...held]]")
    assert seen == {"result": ["a", []]}


async def test_cancelled_fast_typing_stops_between_keys(browser: SessionBrowser) -> None:
    beacon = Beacon(browser.site)
    await browser.show(KEYS.replace("TOLD", beacon.url))
    text = "abcdefghijklmnopqrstuvwxy" * 400

    async with start_and_cancel(browser, "type", selector="input", text=text):
        await beacon.wait_for("down-y")

    seen = await call_next(browser, "[document.querySelector('input').value, [...held]]")
    [typed, held] = seen["result"]
    assert 20 <= len(typed) < len(text)
    assert text.startswith(typed)
    assert held == []


async def test_modifier_keys_are_released_on_cancellation(browser: SessionBrowser) -> None:
    """The page is busy with the key that went down when the call is cancelled, and then goes on."""
    asked, release = anyio.Event(), anyio.Event()

    async def slow(_: Request) -> Response:
        asked.set()
        await release.wait()
        return Response()

    beacon, url = Beacon(browser.site), browser.site.route(slow)
    await browser.show(
        KEYS.replace("TOLD", beacon.url)
        + f"""<script>addEventListener('keydown', event => {{
            if (event.code !== 'KeyK') return;
            const request = new XMLHttpRequest();
            request.open('GET', '{url}', false);
            request.send();
        }})</script>"""
    )

    async with start_and_cancel(browser, "press", key="k", modifiers=["Control", "Shift"]):
        await asked.wait()
    release.set()

    assert await call_next(browser, "[...held]") == {"result": []}
    await browser.call("type", selector="input", text="plain")
    assert await browser.call("get_value", selector="input") == {"value": "plain"}


DRAG = """<style>div { width: 90px; height: 90px; background: silver }</style>
<div id=from>from</div><div id=to>to</div><script>
clicked = [];
const tell = event => fetch(`TOLD?${event.type}`, {mode: 'no-cors'});
addEventListener('mouseup', tell, true);
addEventListener('click', event => clicked.push(event.target.id));
addEventListener('mousedown', event => { to.remove(); tell(event); }, {once: true});
</script>"""


async def test_cancelled_drag_releases_the_mouse_button(browser: SessionBrowser) -> None:
    beacon = Beacon(browser.site)
    await browser.show(DRAG.replace("TOLD", beacon.url))

    async with start_and_cancel(browser, "drag_and_drop", source="#from", target="#to"):
        await beacon.wait_for("mousedown")

    await beacon.wait_for("mouseup")
    await call_next(browser)
    await browser.call("click", selector="#from")
    assert beacon.queries.count("mouseup") == 2


@pytest.mark.slow
async def test_cancelled_drag_releases_the_mouse_in_a_slow_page(browser: SessionBrowser) -> None:
    """Slower than one step of taking back may be."""
    beacon = Beacon(browser.site)
    slow = "addEventListener('keydown', () => { const end = Date.now() + 1500; while (Date.now() < end); });"
    await browser.show(DRAG.replace("TOLD", beacon.url).replace("clicked = [];", f"clicked = []; {slow}"))

    async with start_and_cancel(browser, "drag_and_drop", source="#from", target="#to"):
        await beacon.wait_for("mousedown")

    await beacon.wait_for("mouseup")


async def test_timed_out_drag_releases_the_mouse_button(browser: SessionBrowser) -> None:
    beacon = Beacon(browser.site)
    await browser.show(DRAG.replace("TOLD", beacon.url))

    for timeout in (700, 3_000, 20_000):  # On a busy machine the short one ends before the button is pressed.
        await browser.refused("drag_and_drop", source="#from", target="#to", timeout=timeout)
        if (await browser.call("evaluate", script="!document.getElementById('to')"))["result"]:
            break

    await beacon.wait_for("mouseup")


@pytest.mark.slow
async def test_cancelled_upload_attaches_no_file(browser: SessionBrowser) -> None:
    """The button opens no file chooser, so the call waits for one."""
    file = browser.uploads / "file.txt"
    file.write_text("content")
    beacon = Beacon(browser.site)
    await browser.show(
        f"<button onclick=\"fetch('{beacon.url}?clicked')\">choose</button><input type=file hidden>"
    )

    async with start_and_cancel(browser, "upload_file", selector="button", files=[str(file)]):
        await beacon.wait_for("clicked")

    names = "[...document.querySelector('input').files].map(file => file.name)"
    assert await call_next(browser, names) == {"result": []}
    await browser.call(
        "evaluate", script="void (document.querySelector('button').onclick = () => input.click())"
    )
    await browser.call("evaluate", script="void (window.input = document.querySelector('input'))")
    await browser.call("upload_file", selector="button", files=[str(file)])
    assert await browser.call("evaluate", script=names) == {"result": ["file.txt"]}


async def test_a_cancelled_wait_for_an_element_ends(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")

    async with start_and_cancel(browser, "wait_for_selector", selector="#late") as stages:
        await stages.is_at("waiting for #late to be visible")

    await call_next(browser)


# What hangs


ENDLESS = """const request = new XMLHttpRequest();
request.open('GET', 'TOLD?hangs', false);
request.send();
while (true);"""


@pytest.mark.slow
async def test_page_hung_by_a_cancelled_script_is_closed_and_reported(browser: SessionBrowser) -> None:
    beacon = Beacon(browser.site)
    await browser.show("<p>x</p>")

    async with start_and_cancel(browser, "evaluate", script=ENDLESS.replace("TOLD", beacon.url)):
        await beacon.wait_for("hangs")

    assert await call_next(browser) == {"result": 0, "closedPages": ["page-1"]}
    assert await call_next(browser) == {"result": 0}


@pytest.mark.slow
async def test_page_hung_by_a_cancelled_click_is_closed_and_reported(browser: SessionBrowser) -> None:
    beacon = Beacon(browser.site)
    hang = ENDLESS.replace("TOLD", beacon.url).replace("'", "&quot;")
    await browser.show(f"<button onclick='{hang}'>hang</button>")

    async with start_and_cancel(browser, "click", selector="button"):
        await beacon.wait_for("hangs")

    began = time.monotonic()
    error = await browser.refused("get_text", selector="p", pageId="page-1")
    assert time.monotonic() - began < FREE_SECONDS
    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["closedPages"] == ["page-1"]


# Waiting


async def test_call_cancelled_in_the_queue_is_never_executed(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    beacon = Beacon(browser.site)
    busy = f"fetch('{beacon.url}?busy').then(() => new Promise(go => {{ window.go = go }}))"
    waiting = functools.partial(browser.call, "evaluate", script="window.after = true")

    async with start_and_cancel(browser, "evaluate", script=busy):
        await beacon.wait_for("busy")
        async with start_and_cancel(browser, "evaluate", script="window.late = true") as stages:
            await stages.is_at("waiting for the session")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(waiting)
            await browser.client.list_tools()
            tasks.cancel_scope.cancel()

    assert await call_next(browser, "[window.late, window.after]") == {"result": [None, None]}


async def test_cancellation_does_not_affect_other_sessions(browser: SessionBrowser) -> None:
    other = (await browser.call("create_session"))["sessionId"]
    pending = Pending(browser.site)

    async with start_and_cancel(browser, "navigate", url=pending.url):
        await pending.asked.wait()
        await browser.call("navigate", url=browser.site.page("<p>other</p>"), sessionId=other)
    assert await browser.call("get_text", selector="p", sessionId=other) == {"text": "other"}

    await browser.call("close_session", sessionId=other)


async def test_client_timeout_cancels_the_call(browser: SessionBrowser) -> None:
    """The client's own time limit."""
    await browser.show("<p>here</p>")
    pending = Pending(browser.site)

    with pytest.raises(MCPError, match=r"[Tt]imed out"):
        await browser.client.call_tool(
            "navigate", {"url": pending.url, "sessionId": browser.session_id}, read_timeout_seconds=0.5
        )

    with anyio.fail_after(LIMIT_SECONDS):
        await pending.left.wait()
    assert await call_next(browser, "document.body.innerText") == {"result": "here"}


# What is told afterwards


async def test_events_of_a_cancelled_call_reach_the_next_call(
    browser: SessionBrowser,
) -> None:
    """The page it opened, the dialog, and the download once it is there."""
    sending, release = anyio.Event(), anyio.Event()

    async def slow_file(_: Request) -> Response:
        async def parts() -> AsyncGenerator[bytes]:
            yield b"first "
            sending.set()
            await release.wait()
            yield b"second"

        return StreamingResponse(parts(), headers={"content-disposition": "attachment; filename=slow.txt"})

    file, popup = browser.site.route(slow_file), browser.site.page("<p>popup</p>")
    await browser.show(
        f"<a href={file} download onclick=\"alert('hello'); window.open('{popup}')\">get it</a>"
    )

    async with start_and_cancel(browser, "click", selector="a"):
        await sending.wait()

    answer = await call_next(browser)
    assert answer == {
        "result": 0,
        "newPages": [{"pageId": "page-2", "url": popup}],
        "dialogs": [{"pageId": "page-1", "type": "alert", "message": "hello", "handled": "accepted"}],
    }
    release.set()
    later: dict[str, Any] = {}
    with anyio.fail_after(LIMIT_SECONDS):
        while "downloads" not in later:  # The file arrives when it does, and the next answer tells of it.
            later = await browser.call("hover", selector="a")
    [download] = later["downloads"]
    assert download["suggestedFilename"] == "slow.txt"
    assert await anyio.Path(download["path"]).read_bytes() == b"first second"


async def test_cancelled_call_is_logged_as_cancelled(browser: SessionBrowser) -> None:
    pending = Pending(browser.site)

    async with start_and_cancel(browser, "navigate", url=pending.url):
        await pending.asked.wait()
    await call_next(browser)

    root: Path = browser.uploads.parent
    lines = [json.loads(line) for line in (root / "log").read_text().splitlines()]
    calls = [line for line in lines if line.get("session") == browser.session_id]
    assert [(call["tool"], call["outcome"]) for call in calls] == [
        ("navigate", "cancelled"),
        ("evaluate", "ok"),
    ]


# In the dispatcher, where a call can be cancelled at any step


@pytest.fixture
async def engine() -> AsyncGenerator[Engine]:
    engine = Engine(SETTINGS)
    await engine.sessions()
    yield engine
    await engine.close()


SETTINGS = Settings(
    pool=PoolSettings(minBrowsers=1, maxBrowsers=1), security=SecuritySettings(enableScriptEvaluation=True)
)


@pytest.fixture
def dispatcher(engine: Engine, tmp_path: Path) -> Dispatcher:
    return dispatcher_on(engine.sessions, tmp_path)


def dispatcher_on(sessions: Any, folder: Path) -> Dispatcher:
    from footlight.toolsets.browser import load_tools

    tools = {tool.name: tool for tool in load_tools()}
    return Dispatcher(tools, SETTINGS, sessions=sessions, states=StateStore(folder))


async def cancel_after(steps: int, dispatcher: Dispatcher, tool: str, **arguments: Any) -> None:
    """Cancel a call after so many turns of the loop; it may be over by then."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.call, tool, arguments)
        for _ in range(steps):
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


def sample_steps(counts: Sequence[int], *fast: int) -> list[Any]:
    """Return two parameters: the counts that are fast, and all others, which are slow."""
    others = [count for count in counts if count not in fast]
    return sample_parameters([fast, others], fast)


@pytest.mark.slow
async def test_call_cancelled_during_browser_start_does_nothing(
    engine: Engine, tmp_path: Path, site: Site
) -> None:
    started, asked = anyio.Event(), anyio.Event()

    async def sessions() -> Any:
        asked.set()
        await started.wait()
        return await engine.sessions()

    dispatcher = dispatcher_on(sessions, tmp_path)
    url = site.page("<p>never</p>")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.call, "navigate", {"url": url})
        tasks.start_soon(dispatcher.call, "create_session", {})
        await asked.wait()
        tasks.cancel_scope.cancel()
    started.set()

    listed = await dispatcher.call("list_sessions", {})
    assert listed.content == {"success": True, "data": {"sessions": [], "savedStates": []}}
    assert ("GET", url.removeprefix(site.url)) not in site.requests


@pytest.mark.parametrize("steps", sample_steps([*range(0, 40, 3), 60, 100, 200], 0, 36))
async def test_cancelled_session_creation_leaves_no_session(
    engine: Engine, dispatcher: Dispatcher, steps: Sequence[int]
) -> None:
    """Neither a context nor a place in a browser."""
    await dispatcher.call("get_cookies", {})
    table = await engine.sessions()
    [kept] = table.list(caller=LOCAL)

    for count in steps:
        await cancel_after(count, dispatcher, "create_session")

        with anyio.fail_after(LIMIT_SECONDS):
            while len(kept.browser.browser.contexts) > 1 or kept.browser.sessions > 1:
                await dispatcher.call("list_sessions", {})
        assert table.list(caller=LOCAL) == [kept], count


async def test_session_is_closed_if_its_creation_result_is_not_sent(
    engine: Engine, dispatcher: Dispatcher
) -> None:
    """It was made, and its call is cancelled before the answer is out: here, by a report that is stuck."""
    await dispatcher.call("get_cookies", {})
    table = await engine.sessions()
    [kept] = table.list(caller=LOCAL)

    async def sleep_forever(*_: object) -> None:
        await anyio.sleep_forever()

    with anyio.fail_after(LIMIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(functools.partial(dispatcher.call, "create_session", {}, report=sleep_forever))
            while table.list(caller=LOCAL) == [kept]:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        while table.list(caller=LOCAL) != [kept]:
            await anyio.lowlevel.checkpoint()


@pytest.mark.slow
@pytest.mark.parametrize("steps", sample_steps([*range(0, 40, 3), 60, 100, 200, 400, 800], 18, 100))
async def test_cancelled_first_call_leaves_the_session_usable(
    dispatcher: Dispatcher, steps: Sequence[int], site: Site
) -> None:
    """There is one session and one page, and a page that opens later is still told."""
    url = site.page("<p>x</p>")
    for count in steps:
        await cancel_after(count, dispatcher, "navigate", url=url)

        answer = await dispatcher.call("navigate", {"url": url})
        opened = await dispatcher.call("evaluate", {"script": "void window.open('about:blank')"})
        with anyio.fail_after(LIMIT_SECONDS):
            while "newPages" not in opened.content["data"]:
                opened = await dispatcher.call("evaluate", {"script": "0"})
        listed = (await dispatcher.call("list_sessions", {})).content["data"]["sessions"]

        assert answer.content["data"]["status"] == 200, count
        assert opened.content["data"]["newPages"] == [{"pageId": "page-2", "url": "about:blank"}], count
        assert [[page["pageId"] for page in each["pages"]] for each in listed] == [["page-1", "page-2"]]
        await dispatcher.call("close_session", {"sessionId": listed[0]["sessionId"]})


@pytest.mark.slow
@pytest.mark.parametrize("steps", sample_steps([30, 40, 50, 60, 80, 100, 150], 60))
async def test_restore_cancelled_at_any_step_leaves_no_route(
    dispatcher: Dispatcher, steps: Sequence[int], site: Site
) -> None:
    url = site.page("<p>the site's own</p>")
    state = {"url": url, "sessionStorage": {site.url: {"a": "b"}}}
    for count in steps:
        await dispatcher.call("navigate", {"url": "about:blank"})

        await cancel_after(count, dispatcher, "restore_state", sessionId="default", state=state)

        await dispatcher.call("navigate", {"url": url})
        text = await dispatcher.call("get_text", {"selector": "p"})
        assert text.content == {"success": True, "data": {"text": "the site's own"}}, count


@pytest.mark.slow
async def test_repeated_cancellation_does_not_interrupt_closing_a_hung_page(
    dispatcher: Dispatcher, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """The page hangs; its closing takes a while, and is not cut short."""
    beacon = Beacon(site)
    await dispatcher.call("navigate", {"url": site.page("<p>x</p>")})
    script = ENDLESS.replace("TOLD", beacon.url)
    with caplog.at_level(logging.INFO, "footlight.server.calls.dispatcher"):
        call = asyncio.create_task(dispatcher.call("evaluate", {"script": script}))
        await beacon.wait_for("hangs")
        following = asyncio.create_task(dispatcher.call("evaluate", {"script": "1", "observe": "none"}))
        while not call.done():
            call.cancel()
            await anyio.lowlevel.checkpoint()
        with anyio.fail_after(LIMIT_SECONDS):
            answer = await following

    assert call.cancelled()
    data = {"result": 1, "closedPages": ["page-1"]}
    assert answer.content == {"success": True, "data": data, "effect": "none"}
    calls = [record.__dict__["outcome"] for record in caplog.records if record.getMessage() == "call"]
    assert calls == ["cancelled", "ok"]


@pytest.mark.slow
@pytest.mark.parametrize("steps", sample_steps([1, 4, 8, 12, 16, 20, 30, 40], 8, 16))
async def test_cancelled_rule_change_is_applied_completely_or_not_at_all(
    dispatcher: Dispatcher, site: Site, steps: Sequence[int]
) -> None:
    """A rule that a cancelled call sets works as it is listed, and can be taken away."""
    for count in steps:
        picture = Beacon(site)
        url = site.page(f"<img src={picture.url}?shown>")
        await dispatcher.call("navigate", {"url": "about:blank"})

        await cancel_after(count, dispatcher, "block_resource", resourceType="image")

        rules = await dispatcher.call("block_resource", {"resourceType": "image", "action": "list"})
        await dispatcher.call("navigate", {"url": url})
        assert (picture.queries == []) == (rules.content["data"]["blocked"] == ["image"]), count
        await dispatcher.call("block_resource", {"resourceType": "image", "action": "remove"})
        await dispatcher.call("navigate", {"url": url})
        assert picture.queries[-1:] == ["shown"], count
