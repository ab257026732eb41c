"""Start Playwright, and do what its public API does not offer, such as noticing the end of its driver."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal, cast

from playwright.async_api import Browser, CDPSession, Download, Playwright, async_playwright

from footlight.browser.driver.driver_connection import connect_driver, stop_driver
from footlight.browser.driver.early_driver import driver_environment

__all__ = [
    "SilentPart",
    "ask_driver",
    "download_files",
    "on_disconnected",
    "on_driver_end",
    "send",
    "start_playwright",
]

logger = logging.getLogger(__name__)

MAX_PARSED_LENGTH = 1_000
"""In characters. Playwright parses a URL in Python, which takes 10 µs for each character."""


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
                yield connected
                return
    # The driver copies our environment when it starts and has no option for these variables.
    with _environment(driver_environment(temporary)):
        starter = async_playwright()
        playwright = await starter.start()
    try:
        yield playwright
    finally:
        await stop_driver(starter)


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
