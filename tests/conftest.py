"""Fixtures for tests through the public interface: a server over stdio, a Chromium, a site on loopback."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import playwright.async_api
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult
from playwright.async_api import async_playwright, expect

from tests.chromium import launch_chromium
from tests.evidence import ServerLog, keep_evidence, server_log
from tests.side_by_side import run_all
from tests.site import Site, serve_site
from tests.tiers import mark_sampled, register_profiles

register_profiles()
expect.set_options(timeout=60_000)  # On a busy machine, the default of 5 seconds is too short.

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background has its commands ignore interrupts, and so would each
    # process that a test starts and interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A server would otherwise start a second browser after two seconds, which hardly any test uses. The variable
# takes precedence over the settings in a file.
os.environ["FOOTLIGHT_POOL_MIN_BROWSERS"] = "1"

T = TypeVar("T")

ENGINE = os.environ.get("FOOTLIGHT_TEST_BROWSER", "chromium")
"""The browser engine of the suite; firefox and webkit need Playwright's own builds."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


FLEET = os.environ.get("FOOTLIGHT_TEST_FLEET")
"""If set, the shared server runs its browsers in a cluster, and of the tests that use it one in this many
runs."""
ONLY_HERE = frozenset({"test_downloads", "test_files", "test_quota"})
"""Modules of tests that read files of the server, which are on other machines in a cluster."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what is not in the sample of a test. With `FLEET`, keep what a cluster can run."""
    mark_sampled(items)
    if FLEET is None:
        return
    in_fleet = [
        each
        for each in items
        if "shared_browser" in getattr(each, "fixturenames", ())
        and each.path.stem not in ONLY_HERE
        and not each.get_closest_marker("one_machine")
    ]
    kept = in_fleet[:: int(FLEET)]
    config.hook.pytest_deselected(items=[each for each in items if each not in set(kept)])
    items[:] = kept


def pytest_collection() -> None:
    """Collect garbage neither while tests are collected nor, later, in what they consist of."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Keep a picture, a snapshot and the log of a failed test that uses a browser."""
    # The fixture of the narrowest scope is last.
    browsers = [each for each in pyfuncitem.funcargs.values() if isinstance(each, Browser)]
    test = pyfuncitem.obj
    if browsers and inspect.iscoroutinefunction(test):
        pyfuncitem.obj = keep_evidence(test, browsers[-1])
    try:
        return (yield)
    finally:
        pyfuncitem.obj = test  # Where it runs again, it has another browser.


class Browser:
    """A connected client: `call` returns the data of an answer, `refused` its error."""

    root = Path()
    """The folder of the server, if the test gave it one."""

    def __init__(self, client: Client, site: Site, log: ServerLog) -> None:
        self.client = client
        self.site = site
        self.log = log

    async def answer(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """Return the whole result of a call, whether it succeeded or failed."""
        return await self.client.call_tool(tool, arguments)

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        content = (await self.answer(tool, **arguments)).structured_content
        assert content is not None
        assert content["success"], content["error"]
        return content["data"]

    async def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await self.answer(tool, **arguments)
        assert result.structured_content is not None
        assert not result.structured_content["success"], result.structured_content["data"]
        assert result.is_error
        return result.structured_content["error"]

    async def evaluate(self, script: str) -> Any:
        """Return the value of a script in the page."""
        return (await self.call("evaluate", script=script))["result"]

    async def show(self, html: str, **arguments: Any) -> dict[str, Any]:
        """Put a page on the site and navigate to it."""
        return await self.call("navigate", url=self.site.page(html), **arguments)


def server_command(*flags: str) -> list[str]:
    return [sys.executable, "-m", "footlight", "serve", "--browser", ENGINE, "--log-level", "warn", *flags]


@asynccontextmanager
async def connect_browser(
    site: Site, *flags: str, cwd: Path | None = None, mode: str = "auto", **environment: str
) -> AsyncGenerator[Browser]:
    """Start a server with these flags, and connect to it. It lists the full schemas of tools."""
    command, *arguments = server_command(*flags)
    parameters = StdioServerParameters(
        command=command,
        args=arguments,
        env={**os.environ, "FOOTLIGHT_TOOLS_SCHEMAS": "full", **environment},
        cwd=cwd,
    )
    with server_log() as log:
        connection = Client(stdio_client(parameters, errlog=log.file), mode=mode)
        async with hold_in_own_task(connection) as client:
            yield Browser(client, site, log)


@asynccontextmanager
async def hold_in_own_task(context: AbstractAsyncContextManager[T]) -> AsyncGenerator[T]:
    """Enter a context in a task of its own.

    Contexts with cancel scopes must end in the reverse order, but a server for all tests of a worker may
    start after, and ends after, the server of a module.
    """
    entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    leave = asyncio.Event()

    async def hold() -> None:
        async with context as value:
            entered.set_result(value)
            await leave.wait()

    holding = asyncio.create_task(hold())
    try:
        await asyncio.wait([holding, entered], return_when=asyncio.FIRST_COMPLETED)
        if holding.done():
            holding.result()
        yield entered.result()
    finally:
        leave.set()
        if not entered.done():
            holding.cancel()
        await asyncio.wait([holding])
    holding.result()


@pytest.fixture(scope="session")
async def site(anyio_backend: str) -> AsyncGenerator[Site]:
    async with serve_site() as site:
        yield site


@pytest.fixture(scope="session")
async def shared_browser(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Browser]:
    """One server for all tests of a worker: script evaluation on, uploads from `upload_root`.

    Its answers do not tell of the page, which is what tests/toolsets/browser/test_observation.py is about.
    """
    root = tmp_path_factory.mktemp("server")
    (root / "uploads").mkdir()
    flags = (
        *("--enable-script-evaluation", "--timeout", "10000", "--observe", "none", "--tools", "all"),
        *("--upload-root", str(root / "uploads"), "--download-path", str(root / "downloads")),
        *("--state-directory", str(root / "state")),
    )
    async with connect_fleet(site, root, *flags) if FLEET else connect_browser(site, *flags) as browser:
        browser.root = root
        yield browser


@asynccontextmanager
async def connect_fleet(site: Site, folder: Path, *flags: str) -> AsyncGenerator[Browser]:
    """Start a server whose browsers run on two workers of a Ray cluster, and connect to it."""
    from tests.cluster import ray_cluster as fleet

    variables = {
        "FOOTLIGHT_TOOLS_SCHEMAS": "full",
        "FOOTLIGHT_SESSION_MAX_SESSIONS": "50",
        "FOOTLIGHT_LISTEN_MAX_MESSAGE_SIZE": str(64 << 20),  # As on stdio.
    }
    async with (
        fleet.ray_cluster() as cluster,
        fleet.front(cluster, folder, *flags, secret="", **variables) as url,
        fleet.connect_browser(url, site, mode="legacy") as browser,
    ):
        yield browser


@pytest.fixture(scope="session")
async def chromium(anyio_backend: str) -> AsyncGenerator[playwright.async_api.Browser]:
    """A browser without a server. A test closes the pages and contexts that it opens in it."""
    async with async_playwright() as driver, launch_chromium(driver) as browser:
        yield browser


class SessionBrowser(Browser):
    """Makes every call in one session, unless the call names another."""

    def __init__(self, shared: Browser, session_id: str) -> None:
        super().__init__(shared.client, shared.site, shared.log)
        self.session_id = session_id
        self.root = root = shared.root
        self.uploads = root / "uploads"
        self.downloads = root / "downloads"
        self.states = root / "state"

    async def answer(self, tool: str, /, **arguments: Any) -> CallToolResult:
        if tool not in ("create_session", "list_sessions"):
            arguments = {"sessionId": self.session_id, **arguments}
        return await super().answer(tool, **arguments)


@asynccontextmanager
async def new_session(shared_browser: Browser) -> AsyncGenerator[SessionBrowser]:
    """Create a session, and close it at the end."""
    session_id = (await shared_browser.call("create_session"))["sessionId"]
    yield SessionBrowser(shared_browser, session_id)
    closed = await shared_browser.answer("close_session", sessionId=session_id)
    # A test may have closed its session itself, or let its browser crash.
    ended = ("SESSION_NOT_FOUND", "BROWSER_CRASHED")
    assert not closed.is_error or (closed.structured_content or {})["error"]["code"] in ended, closed.content


@pytest.fixture
async def browser(shared_browser: Browser) -> AsyncGenerator[SessionBrowser]:
    """A new session for each test, in the shared server."""
    async with new_session(shared_browser) as browser:
        yield browser


Case = TypeVar("Case")


async def run_in_sessions(
    shared_browser: Browser, test: Callable[[SessionBrowser, Case], Awaitable[None]], cases: Iterable[Case]
) -> None:
    """Run the test for all cases side by side, each in a session of its own, and report all that fail."""

    async def run(case: Case) -> None:
        async with new_session(shared_browser) as browser:
            await test(browser, case)

    await run_all(*map(run, cases))


Connect = Callable[..., Awaitable[Browser]]
Flags = Sequence[str]
