"""The progress that is reported to a client during a long call."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from footlight.browser.context.state_store import StateStore
from footlight.browser.sessions.engine import Engine
from footlight.config import PoolSettings, Settings
from footlight.server.calls.dispatcher import Dispatcher
from tests.conftest import Browser, SessionBrowser, connect_browser
from tests.site import Site
from tests.wire import MODERN_META, Wire, wired

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0

AFTERWARDS = ("answered 200, loading", "the document has loaded, loading the rest", "loaded")
"""The stages of a navigation after its request."""


class Heard:
    """A progress callback that can be waited on."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, float | None, str | None]] = []
        self._news = anyio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.reports.append((progress, total, message))
        self._news.set()

    @property
    def stages(self) -> list[str | None]:
        """Return the messages, without consecutive repetitions."""
        messages = [message for _, _, message in self.reports]
        return [message for at, message in enumerate(messages) if messages[:at][-1:] != [message]]

    async def wait_until(self, enough: Callable[[], bool]) -> None:
        with anyio.fail_after(LIMIT_SECONDS):
            while not enough():
                self._news = anyio.Event()
                await self._news.wait()

    async def hears(self, message: str) -> None:
        await self.wait_until(lambda: any(said == message for _, _, said in self.reports))


class Held:
    """A URL that waits for `release` before it answers."""

    def __init__(self, site: Site, html: str = "") -> None:
        self.asked, self.release = anyio.Event(), anyio.Event()

        async def handler(_: Request) -> Response:
            self.asked.set()
            await self.release.wait()
            return HTMLResponse(html)

        self.url = site.route(handler)


@pytest.fixture(scope="module", params=["auto", "legacy"])
async def shared_browser(
    request: pytest.FixtureRequest, site: Site, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Browser]:
    """A server for each era of the protocol."""
    root = tmp_path_factory.mktemp("server")
    (root / "uploads").mkdir()
    flags = ("--enable-script-evaluation", "--timeout", "10000", "--upload-root", str(root / "uploads"))
    async with connect_browser(
        site, *flags, "--state-directory", str(root / "state"), mode=request.param
    ) as browser:
        browser.root = root
        yield browser


def make_progress_call(
    browser: SessionBrowser, heard: Heard, tool: str, **arguments: Any
) -> Callable[[], Awaitable[Any]]:
    """Return a call that asks for progress."""
    arguments = {"sessionId": browser.session_id, **arguments}
    return functools.partial(browser.client.call_tool, tool, arguments, progress_callback=heard)


@pytest.mark.sampled(2)
async def test_navigation_reports_its_stages(browser: SessionBrowser) -> None:
    """Progress strictly increases, its total is the call's deadline, and nothing comes after the answer."""
    await browser.show("<p>before</p>")
    rest = Held(browser.site)
    document = Held(browser.site, f"<p>there</p><img src={rest.url}>")
    heard = Heard()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(make_progress_call(browser, heard, "navigate", url=document.url, timeout=9000))
        await heard.hears(f"requesting {document.url}")
        document.release.set()
        await heard.hears("the document has loaded, loading the rest")
        rest.release.set()
    reported = list(heard.reports)
    await browser.call("element_exists", selector="p")

    assert heard.reports == reported
    # A stage that is over before it could be told is not told.
    stages = (f"requesting {document.url}", *AFTERWARDS)
    assert heard.stages == [stage for stage in stages if stage in heard.stages]
    assert {total for _, total, _ in reported} == {9000}
    times = [progress for progress, _, _ in reported]
    assert times == sorted(set(times))
    assert 0 < times[0] <= times[-1] < 9000


async def test_document_response_is_reported_as_a_stage(browser: SessionBrowser) -> None:
    script = Held(browser.site)
    url = browser.site.page(f"<script src={script.url}></script>")
    heard = Heard()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(make_progress_call(browser, heard, "navigate", url=url))
        await heard.hears("answered 200, loading")
        script.release.set()

    assert heard.stages == [stage for stage in (f"requesting {url}", *AFTERWARDS) if stage in heard.stages]


@pytest.mark.sampled(3)
async def test_elapsed_time_is_reported_when_nothing_changes(browser: SessionBrowser) -> None:
    """Where nothing else changes, the time does."""
    await browser.show("<p>x</p>")
    heard = Heard()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            make_progress_call(browser, heard, "evaluate", script="new Promise(go => { window.go = go })")
        )
        await heard.wait_until(lambda: len(heard.reports) >= 2)
        tasks.cancel_scope.cancel()

    (first, _, message), (second, _, again) = heard.reports[:2]
    assert message == again == "evaluate is running"
    assert 900 < first < second - 900


async def test_progress_of_a_wait_names_its_target(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    heard, waiting = Heard(), Heard()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            make_progress_call(browser, heard, "wait_for_selector", selector="#late", state="attached")
        )
        await heard.hears("waiting for #late to be attached")
        tasks.start_soon(make_progress_call(browser, waiting, "get_text", selector="p"))
        await waiting.hears("waiting for the session")
        tasks.cancel_scope.cancel()


async def test_progress_after_a_wait_for_the_session_names_the_tool(browser: SessionBrowser) -> None:
    held, waiting = Held(browser.site), Heard()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(make_progress_call(browser, Heard(), "navigate", url=held.url))
        await held.asked.wait()
        tasks.start_soon(make_progress_call(browser, waiting, "evaluate", script="new Promise(() => {})"))
        await waiting.hears("waiting for the session")
        held.release.set()
        await waiting.hears("evaluate is running")
        tasks.cancel_scope.cancel()


@pytest.mark.sampled(2)
async def test_upload_progress_reports_the_number_of_files(browser: SessionBrowser) -> None:
    for name in ("a.txt", "b.txt"):
        (browser.uploads / name).write_text(name)
    await browser.show("<input type=file multiple>")
    heard = Heard()
    files = [str(browser.uploads / name) for name in ("a.txt", "b.txt")]

    result = await make_progress_call(browser, heard, "upload_file", selector="input", files=files)()

    assert not result.is_error
    assert heard.stages == ["uploading 2 files into input"]


async def test_short_call_sends_no_progress(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    heard = Heard()

    await make_progress_call(browser, heard, "get_text", selector="p")()

    assert heard.reports == []


@pytest.mark.slow
@pytest.mark.parametrize("token", [None, "mine", 7])
@pytest.mark.parametrize("modern", [True, False])
async def test_progress_is_sent_only_with_a_progress_token(
    site: Site, tmp_path: Path, token: str | int | None, modern: bool
) -> None:
    """On the wire: without a token there is only the answer, with one the answer is the last message."""
    async with wired("--state-directory", str(tmp_path)) as wire:
        if not modern:
            await wire.initialize()
        meta = {**(MODERN_META if modern else {}), **({} if token is None else {"progressToken": token})}
        url = site.page("<p>x</p>")
        first = await _call_until_answered(wire, 71, meta, "navigate", url=url)
        second = await _call_until_answered(wire, 72, meta, "get_text", selector="p")

    tokens = set() if token is None else {token}
    assert {message["params"]["progressToken"] for message in first} == tokens
    assert {message["params"]["progressToken"] for message in second} <= tokens


async def _call_until_answered(
    wire: Wire, id: int, meta: dict[str, Any], tool: str, **arguments: Any
) -> list[dict[str, Any]]:
    """Return the messages before the answer."""
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    request = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    await wire.send(json.dumps(request).encode() + b"\n")
    before: list[dict[str, Any]] = []
    while (message := await wire.message()).get("id") != id:
        assert message["method"] == "notifications/progress"
        before.append(message)
    return before


# Whoever hears it


@pytest.fixture
async def dispatcher(tmp_path: Path) -> AsyncGenerator[Dispatcher]:
    """A dispatcher of one's own, on a real engine."""
    from footlight.toolsets.browser import load_tools

    settings = Settings(pool=PoolSettings(minBrowsers=1, maxBrowsers=1))
    engine = Engine(settings)
    await engine.sessions()
    tools = {tool.name: tool for tool in load_tools()}
    yield Dispatcher(tools, settings, sessions=engine.sessions, states=StateStore(tmp_path))
    await engine.close()


async def test_failing_progress_listener_does_not_block_the_call(dispatcher: Dispatcher, site: Site) -> None:
    """One that fails and one that takes for ever: the call is the same."""
    reports: list[float] = []

    async def fail(progress: float, total: float | None, message: str | None) -> None:
        reports.append(progress)
        raise ConnectionError("nobody is there")

    async def hang(progress: float, total: float | None, message: str | None) -> None:
        reports.append(progress)
        await anyio.sleep_forever()

    async def deaf(progress: float, total: float | None, message: str | None) -> None:
        """Does not even let go when it is cancelled."""
        reports.append(progress)
        with anyio.CancelScope(shield=True):
            await released.wait()

    released = anyio.Event()
    url = site.page("<p>x</p>")
    for report in (fail, hang, deaf):
        reports.clear()
        with anyio.fail_after(20):
            answer = await dispatcher.call("navigate", {"url": url}, report=report)

        assert answer.success
        assert len(reports) == 1
    released.set()


async def test_browser_start_is_reported_as_a_stage(tmp_path: Path) -> None:
    from footlight.toolsets.browser import load_tools

    engine = Engine(Settings())
    started = anyio.Event()
    heard = Heard()

    async def sessions() -> Any:
        await started.wait()
        return await engine.sessions()

    tools = {tool.name: tool for tool in load_tools()}
    dispatcher = Dispatcher(tools, Settings(), sessions=sessions, states=StateStore(tmp_path))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(functools.partial(dispatcher.call, "get_cookies", {}, report=heard))
        await heard.hears("starting the browser")
        started.set()
    await engine.close()

    assert heard.stages == ["starting the browser", "opening the session"]
