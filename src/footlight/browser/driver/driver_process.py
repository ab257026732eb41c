"""Start Playwright's driver, the process that controls all browsers, and restart it when it has ended.

Also find the processes of its browsers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.playwright_connection import ask_driver, on_driver_end, start_playwright
from footlight.browser.driver.probe import RESPONSE_SECONDS, Probe
from footlight.browser.driver.shielding import start_work
from footlight.errors import BrowserNotInstalledError

if TYPE_CHECKING:
    import subprocess

    from playwright.async_api import Browser, BrowserContext, Playwright

__all__ = ["Driver", "find_process_ids", "has_stopped_renderer"]

ASK_SECONDS = 1.0
START_ADVICE = (
    "Check the limits of the server's process (ulimit -a), and the memory and disk of the machine. "
    "`footlight doctor` checks the other parts."
)

logger = logging.getLogger(__name__)


class Driver:
    """The driver process. `ensure` starts it if necessary; `on_end` is called each time it ends."""

    def __init__(
        self,
        temporary: Path,
        *,
        prepare: Callable[[Playwright], Coroutine[Any, Any, None]],
        on_end: Callable[[], None],
        process: subprocess.Popen[bytes] | None = None,
    ) -> None:
        """Create the driver. `prepare` runs when it has started; `wait_until_prepared` waits for it.

        `process` is a driver process that is already starting. This object then owns it.
        """
        self._process = process
        self._temporary = temporary
        self._prepare = prepare
        self._on_end = on_end
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._preparing: asyncio.Task[None] | None = None
        self._probe = Probe(lambda: ask_driver(self.playwright))
        self._resources = contextlib.AsyncExitStack()
        self._alive = False
        self._closed = False

    @property
    def alive(self) -> bool:
        return self._alive

    @property
    def playwright(self) -> Playwright:
        """The last Playwright instance that was started. It may have ended."""
        assert self._playwright is not None
        return self._playwright

    async def responds(self, within_seconds: float = RESPONSE_SECONDS) -> bool:
        """Return whether the process responds in time. True if it is to be restarted."""
        if not self._alive:
            return True
        return await self._probe.is_answered(within_seconds)

    async def ensure(self) -> Playwright:
        """Return a running Playwright. Call `wait_until_prepared` before a page is opened.

        Raises:
            BrowserNotInstalledError: the process has ended, or cannot be started.
        """
        async with self._starting:
            if not self._alive:
                await self._resources.aclose()
                process, self._process = self._process, None
                started = start_playwright(self._temporary, process)
                try:
                    playwright = await self._resources.enter_async_context(started)
                except Exception as error:  # Playwright raises no other class if its driver ends.
                    raise BrowserNotInstalledError(
                        f"The driver of the browsers did not start: {error}", suggestion=START_ADVICE
                    ) from error
                on_driver_end(playwright, self._handle_end)
                self._preparing = start_work(self._prepare(playwright))
                self._playwright, self._alive = playwright, True
                self._probe = Probe(lambda: ask_driver(playwright))
            return self.playwright

    async def wait_until_prepared(self) -> None:
        """Wait until `prepare` has ended. Raise its error."""
        if self._preparing is not None:
            await asyncio.shield(self._preparing)

    def _handle_end(self) -> None:
        was_alive, self._alive = self._alive, False
        if was_alive and not self._closed:
            logger.error("the browser driver has ended and is started again")
            self._on_end()

    async def close(self) -> None:
        self._closed = True
        if self._process is not None:
            self._process.kill()
        await self._resources.aclose()


async def has_stopped_renderer(context: BrowserContext) -> bool:
    """Return whether a process that runs pages is stopped. False if the browser does not list them."""
    import psutil

    ids: list[int] = []
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(ASK_SECONDS):
            ids = await find_process_ids(context.browser, "renderer") if context.browser else []
    for pid in ids:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            # The browser may run on another machine.
            if process.status() == psutil.STATUS_STOPPED and "--type=renderer" in " ".join(process.cmdline()):
                return True
    return False


async def find_process_ids(browser: Browser, kind: str) -> list[int]:
    """Return the ids of the browser's processes of a kind. Chromium only."""
    cdp = await browser.new_browser_cdp_session()
    info = cast("dict[str, Any]", await cdp.send("SystemInfo.getProcessInfo"))
    await cdp.detach()
    return [int(each["id"]) for each in info["processInfo"] if each["type"] == kind]
