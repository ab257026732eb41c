"""The pool of browsers: at least `minBrowsers` and at most `maxBrowsers`. Crashed ones are replaced."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.playwright_connection import SilentPart, ask_driver, on_disconnected
from footlight.browser.driver.probe import RESPONSE_SECONDS, Probe
from footlight.browser.driver.shielding import run_detached, shield_until_done
from footlight.errors import BrowserCrashedError, ResourceExhaustedError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession

    from footlight.browser.context.options import SessionOptions
    from footlight.browser.launch.extensions import LoadedExtension
    from footlight.config import Settings

__all__ = ["Pool", "PooledBrowser"]

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
NEWS_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class OpenedTarget:
    """A popup or tab that the browser has started to open.

    Playwright announces it when its server responds.
    """

    id: str
    context: str


@dataclass(eq=False)
class PooledBrowser:
    """A running browser and the number of its sessions."""

    browser: Browser
    attached: bool = False
    context: BrowserContext | None = None
    """The context of its session, if the browser can have only one context."""
    extensions: tuple[LoadedExtension, ...] = ()
    sessions: int = 0
    is_suspect: bool = False
    """Whether a session did not end in time. The browser may no longer respond."""
    idle_since: float = field(default_factory=time.monotonic)
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    opened: list[OpenedTarget] = field(default_factory=list[OpenedTarget])
    _targets: CDPSession | None = None

    def __post_init__(self) -> None:
        self._probe = Probe(self._ask)
        self._driver_probe = Probe(lambda: ask_driver(self.browser))

    @property
    def engine(self) -> str:
        return self.browser.browser_type.name

    async def watch_targets(self) -> None:
        """Track new pages. Only Chromium reports immediately that a page opens another one."""
        if self.engine != "chromium":
            return
        self._targets = await self.browser.new_browser_cdp_session()
        self._targets.on("Target.targetCreated", self._on_target)
        await self._targets.send("Target.setDiscoverTargets", {"discover": True})

    def _on_target(self, event: dict[str, dict[str, str]]) -> None:
        target = event["targetInfo"]
        # A page that an extension opens has no opener.
        if target["type"] == "page" and (target.get("openerId") or self.extensions):
            self.opened.append(OpenedTarget(target["targetId"], target.get("browserContextId", "")))

    async def responds(self, within_seconds: float = RESPONSE_SECONDS) -> bool:
        """Return whether the browser's own process responds. Its pages may hang."""
        return await self._probe.is_answered(within_seconds)

    async def _ask(self) -> None:
        if self._targets is not None:
            await self._targets.send("Browser.getVersion")

    def start_probes(self) -> None:
        """Ask the driver and the browser whether they respond, for `find_silent_part`."""
        self._probe.start()
        self._driver_probe.start()

    async def find_silent_part(self, within_seconds: float = RESPONSE_SECONDS) -> SilentPart | None:
        """Return what does not respond: the driver of all browsers, or this browser. None if both respond."""
        self.start_probes()
        ends_at = time.monotonic() + within_seconds
        if not await self._driver_probe.is_answered(within_seconds):
            return "driver"
        return None if await self.responds(max(0.0, ends_at - time.monotonic())) else "browser"

    async def has_ended(self) -> bool:
        """Return whether the browser has ended, which may be reported a moment after the failure."""
        with suppress(TimeoutError):
            async with asyncio.timeout(NEWS_SECONDS):
                await self.disconnected.wait()
        return self.disconnected.is_set()

    async def close(self) -> None:
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.browser.close()


class Pool:
    """Assigns browsers to sessions: the one with the fewest sessions, or a new one if all are full."""

    def __init__(
        self,
        settings: Settings,
        launch: Callable[[], Awaitable[Browser]],
        *,
        find: Callable[[], object] = lambda: None,
    ) -> None:
        """Create the pool. `find` raises BrowserNotInstalledError if no browser can be launched."""
        self._settings = settings.pool
        self._attached = settings.browser.cdp_endpoint is not None
        self._launch = launch
        self._find = find
        self._most = 1 if self._attached else self._settings.max_browsers
        self._least = 1 if self._attached else self._settings.min_browsers
        self._capacity = math.ceil(settings.session.max_sessions / self._most)
        self._browsers: list[PooledBrowser] = []
        self._launching = asyncio.Lock()
        self._closed = False

    @property
    def browsers(self) -> tuple[PooledBrowser, ...]:
        return tuple(self._browsers)

    async def warm(self) -> None:
        """Start the minimum number of browsers."""
        while not self._closed and len(self._browsers) < self._least:
            await self._add(only_below=self._least)

    async def warm_one(self) -> None:
        """Start one browser if `minBrowsers` is not 0. Waiting calls do not need more.

        Raises:
            BrowserNotInstalledError: the browser is missing, or does not start.
        """
        if not self._least:
            self._find()
        elif not self._browsers:
            await self._add(only_below=1)

    async def acquire(self, _options: SessionOptions | None = None) -> PooledBrowser:
        """Return a browser for one more session. Return it to the pool with `release`.

        Raises:
            ResourceExhaustedError: every browser is full.
            BrowserNotInstalledError: no browser is running, and none can be started.
        """
        while True:
            if best := self._find_best():
                if not self._is_replaceable(best):
                    best.sessions += 1
                    return best
                await self._replace_if_silent(best)
                continue
            if len(self._browsers) >= self._most:
                raise ResourceExhaustedError(
                    f"All {len(self._browsers)} browsers are full",
                    maxBrowsers=self._most,
                    sessionsPerBrowser=self._capacity,
                )
            await self._add(only_below=len(self._browsers) + 1)

    async def responds(self, within_seconds: float = RESPONSE_SECONDS) -> bool:
        """Return whether the browser for the next session responds. True if it is not started yet."""
        best = self._find_best()
        return best is None or self._is_replaceable(best) or await best.responds(within_seconds)

    def _find_best(self) -> PooledBrowser | None:
        """Return the browser with the fewest sessions. None where all are full, or another is to be started.

        A browser that may no longer respond gets another session only where no other one can be started.
        """
        free = [each for each in self._browsers if each.sessions < self._capacity]
        best = min(free, key=lambda each: (each.is_suspect, each.sessions), default=None)
        is_last_resort = best is not None and best.is_suspect and best.sessions > 0
        return None if is_last_resort and len(self._browsers) < self._most else best

    def _is_replaceable(self, browser: PooledBrowser) -> bool:
        """Return whether the browser may no longer respond, and can be replaced: no session uses it."""
        return browser.is_suspect and browser.sessions == 0 and not self._attached

    async def _replace_if_silent(self, browser: PooledBrowser) -> None:
        silent = await browser.find_silent_part()
        if silent == "browser" and self._is_replaceable(browser) and browser in self._browsers:
            self._browsers.remove(browser)
            logger.warning("a browser does not respond; it is closed, and replaced when it is needed")
            run_detached(browser.close())
        # Also where the driver is silent, which says nothing about the browser: `acquire` would ask without
        # end. A session that is opened in a silent browser notices it again.
        browser.is_suspect = False

    def release(self, browser: PooledBrowser) -> None:
        browser.sessions -= 1
        browser.idle_since = time.monotonic()

    async def end_session(self, browser: PooledBrowser) -> None:
        """Do nothing more, because other sessions may use the browser."""

    async def reap(self) -> None:
        """Close browsers above the minimum that were idle for too long, except attached ones."""
        if self._attached:
            return
        limit = time.monotonic() - self._settings.idle_timeout / 1000
        for browser in self.browsers:
            spare = len(self._browsers) > self._settings.min_browsers
            if spare and browser.sessions == 0 and browser.idle_since <= limit:
                self._browsers.remove(browser)
                logger.info("closing an idle browser; %d left", len(self._browsers))
                await browser.close()

    async def close(self) -> None:
        self._closed = True
        closing, self._browsers = self._browsers, []
        await asyncio.gather(*(browser.close() for browser in closing))

    async def _add(self, *, only_below: int) -> None:
        async with self._launching:
            if len(self._browsers) >= only_below:
                return  # Another call has launched a browser in the meantime.
            pooled = PooledBrowser(await self._launch(), attached=self._attached)
            on_disconnected(pooled.browser, lambda: self._on_gone(pooled))
            try:
                await pooled.watch_targets()
            except BaseException as error:
                await shield_until_done(pooled.close())
                if isinstance(error, Error):
                    raise BrowserCrashedError(
                        "The browser did not start: it ended at once",
                        suggestion="Call again. If it ends again, check the limits of the server's process "
                        "(ulimit -a), and the memory and disk of the machine.",
                    ) from error
                raise
            self._browsers.append(pooled)

    def _on_gone(self, browser: PooledBrowser) -> None:
        browser.disconnected.set()
        if browser in self._browsers:
            self._browsers.remove(browser)
            logger.warning("a browser has ended; it is replaced when it is needed")
