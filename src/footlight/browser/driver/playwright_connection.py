"""Start Playwright, and do what its public API does not offer, such as noticing the end of its driver."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from playwright._impl.out_of_process import PlaywrightClient
from playwright.async_api import Browser, CDPSession, Download, Page, Playwright, async_playwright
from playwright.async_api._context_manager import PlaywrightContextManager

from footlight.browser.driver.early_driver import driver_environment

if TYPE_CHECKING:
    import psutil

__all__ = [
    "SilentPart",
    "ask_driver",
    "download_files",
    "on_disconnected",
    "on_driver_end",
    "send",
    "start_playwright",
    "stop_events",
]

logger = logging.getLogger(__name__)

ORPHAN_SECONDS = 1.0
"""The time for a browser to end after its driver, and to save its profile."""
MAX_PARSED_LENGTH = 1_000
"""The maximum length of a URL that Playwright parses in Python, which takes 10 µs for each character."""


@asynccontextmanager
async def start_playwright(
    temporary: Path, process: subprocess.Popen[bytes] | None = None
) -> AsyncGenerator[Playwright]:
    """Start the driver process, or use `process`, which has been started with the same environment.

    Its browser profiles are created below `temporary`. If this version of Playwright cannot connect to a
    running process, the process is ended and another one is started.
    """
    _skip_slow_checks()
    async with AsyncExitStack() as stack:
        if process is not None:
            try:
                connected = await stack.enter_async_context(connect_driver(process))
            except (AttributeError, TypeError):
                logger.warning("Playwright cannot use the driver that was started early", exc_info=True)
                with process:  # Close its pipes, and wait for its end.
                    process.kill()
            else:
                try:
                    yield connected
                finally:
                    await _end_orphans(process.pid, temporary)
                return
    # The driver copies our environment when it starts and has no option for these variables.
    with _environment(driver_environment(temporary)):
        starter = async_playwright()
        playwright = await starter.start()
    try:
        yield playwright
    finally:
        await stop_driver(starter, temporary)


def _skip_slow_checks() -> None:
    """Make Playwright accept values and URLs of pages from its driver without checks.

    Its check of a value's structure takes 3 µs for each number in it, 25 times as long as reading it. Before
    it calls a function to match a URL, it parses the URL, although the browser has already done so.
    """
    try:
        from playwright._impl.isomorphic import url_match
        from playwright._impl.protocol.validator_primitives import scheme, t_any

        if "SerializedValue" in scheme:
            scheme["SerializedValue"] = t_any
        matching: Any = url_match
        parse_url = matching.parse_url
    except (ImportError, AttributeError):
        logger.warning("Playwright checks each value of a page, which takes long", exc_info=True)
        return

    def parse_shortened(url: str, *base: str | None) -> object:
        # Without a base, the call only checks whether the URL is valid.
        return parse_url(url if base else url[:MAX_PARSED_LENGTH], *base)

    if parse_url.__name__ != parse_shortened.__name__:  # Another server in this process may have done it.
        matching.parse_url = parse_shortened


@contextmanager
def _environment(variables: Mapping[str, str]) -> Generator[None]:
    """Set environment variables in this block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def on_driver_end(playwright: Playwright, callback: Callable[[], object]) -> None:
    """Call `callback` when the driver process ends, which Playwright does not report."""

    def end(*_: object) -> None:
        callback()

    _connection(playwright).on("close", end)


def on_disconnected(browser: Browser, callback: Callable[[], object]) -> None:
    """Call `callback` once when the browser is gone, also if the driver has ended."""
    connection = _connection(browser)

    def end(*_: object) -> None:
        browser.remove_listener("disconnected", end)
        connection.remove_listener("close", end)
        callback()

    browser.on("disconnected", end)
    connection.on("close", end)


SilentPart = Literal["driver", "browser"]
"""A process between the server and its pages that does not respond."""


async def send(cdp: CDPSession, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the reply to a command of the DevTools protocol."""
    return cast("dict[str, Any]", await cdp.send(method, parameters))


def stop_events(page: Page, event: str) -> None:
    """Stop the driver's events of one kind. Nothing may listen to them.

    With Playwright's public API, this takes two messages.
    """
    page._impl_obj._update_subscription(event, enabled=False)  # pyright: ignore[reportPrivateUsage]


async def ask_driver(of: Playwright | Browser) -> None:
    """Return when the driver process responds, regardless of its browsers."""
    # This request needs no browser. Playwright has no public request of this kind.
    await _connection(of)._local_utils._channel.globToRegex(glob="*", baseURL=None, webSocketUrl=None)


def download_files(download: Download) -> tuple[Path, Path]:
    """Return the files to which the browser writes a download: while it runs, and when it is complete.

    Playwright has no public API for the current size of a download.
    """
    done = Path(download._impl_obj._artifact._initializer["absolutePath"])  # pyright: ignore
    return done.with_name(f"{done.name}.crdownload"), done


def _connection(of: Playwright | Browser) -> Any:
    return of._impl_obj._connection  # pyright: ignore


# A driver that was started before Playwright was imported


@asynccontextmanager
async def connect_driver(process: subprocess.Popen[bytes]) -> AsyncGenerator[Playwright]:
    """Use the process as Playwright's driver in this block. The process has ended when the block ends."""
    try:
        client = PlaywrightClient()
        # Playwright starts the process in `connect`, which runs in a task that has not begun yet.
        transport: Any = client._transport  # pyright: ignore[reportPrivateUsage]

        async def connect() -> None:
            transport._stopped_future = asyncio.get_running_loop().create_future()
            transport._proc = await _ConnectedProcess.connect(process)
            transport._output = transport._proc.stdin

        transport.connect = connect
        playwright = Playwright(await client._playwright)  # pyright: ignore[reportPrivateUsage]
        try:
            yield playwright
        finally:
            with _kill_survivors(process.pid):
                await client.stop()
    finally:
        if process.poll() is None:
            _kill_all(_find_family(process.pid))


async def stop_driver(starter: PlaywrightContextManager, temporary: Path) -> None:
    """Stop Playwright. Its driver process has ended on return, even if this is cancelled."""
    transport: Any = getattr(getattr(starter, "_client", None), "_transport", None)
    process: Any = getattr(transport, "_proc", None)
    if process is not None:
        await _end_orphans(process.pid, temporary)
    with _kill_survivors(process.pid) if process is not None else nullcontext():
        await starter.__aexit__()


@contextmanager
def _kill_survivors(pid: int) -> Generator[None]:
    """Stop the driver process in this block, and afterwards kill it and its browsers if they still run.

    The driver ends without the browsers that it is still starting, and an unresponsive driver would not end.
    """
    family = _find_family(pid)
    try:
        yield
    finally:
        _kill_all(family)


async def _end_orphans(driver: int, temporary: Path) -> None:
    """End the browsers of a driver that has ended before them, such as by a signal to the process group.

    A browser ends by itself when its driver is gone, unless it hangs. Browsers have the driver's environment.
    """
    import psutil

    with suppress(psutil.Error):
        if psutil.Process(driver).status() != psutil.STATUS_ZOMBIE:
            return

    def end() -> None:
        orphans: list[psutil.Process] = []
        for each in psutil.process_iter():
            with suppress(psutil.Error):
                if each.pid != os.getpid() and each.environ().get("TMPDIR") == str(temporary):
                    orphans.append(each)
        _, hanging = psutil.wait_procs(orphans, timeout=ORPHAN_SECONDS)
        _kill_all(hanging)

    await asyncio.to_thread(end)


def _find_family(pid: int) -> list[psutil.Process]:
    """Return a driver process and the browsers that it has started, browsers first."""
    import psutil

    try:
        driver = psutil.Process(pid)
        return [*driver.children(recursive=True), driver]
    except psutil.Error:
        return []


def _kill_all(processes: list[psutil.Process]) -> None:
    import psutil

    for each in processes:
        with suppress(psutil.Error):
            each.kill()


class _ConnectedProcess:
    """A process with its pipes on the event loop: the part of asyncio's `Process` that Playwright uses."""

    def __init__(
        self, process: subprocess.Popen[bytes], stdin: asyncio.WriteTransport, stdout: asyncio.StreamReader
    ) -> None:
        self.pid = process.pid
        self.stdin = stdin
        self.stdout = stdout
        self._process = process

    @classmethod
    async def connect(cls, process: subprocess.Popen[bytes]) -> _ConnectedProcess:
        loop = asyncio.get_running_loop()
        stdout = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdout), process.stdout)
        stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
        return cls(process, stdin, stdout)

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    async def communicate(self) -> None:
        """Close the input, and wait for the end of the process."""
        self.stdin.close()
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def wait() -> None:
            self._process.wait()
            with suppress(RuntimeError):  # The loop is closed.
                loop.call_soon_threadsafe(ended.set)

        # A thread outside the loop's pool: at its end, the loop would wait for threads of the pool.
        threading.Thread(target=wait, name="driver-end", daemon=True).start()
        await ended.wait()
