"""Start a browser with extensions for each session, and end it with the session."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from footlight.browser.driver.playwright_connection import on_disconnected
from footlight.browser.driver.shielding import shield_until_done
from footlight.browser.launch.pool import PooledBrowser
from footlight.errors import ResourceExhaustedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footlight.browser.context.options import SessionOptions
    from footlight.browser.launch.extension_launch import ExtensionBrowser, ExtensionLauncher
    from footlight.browser.launch.extensions import UnpackedExtension
    from footlight.config import Settings

__all__ = ["ExtensionPool"]

logger = logging.getLogger(__name__)


class ExtensionPool:
    """Starts one browser per session, because extensions run only in the profile of a browser."""

    def __init__(
        self,
        settings: Settings,
        *,
        launcher: ExtensionLauncher,
        extensions: Sequence[UnpackedExtension],
        headless: bool,
    ) -> None:
        """Create the pool. With `headless` the browsers have no window."""
        self._most = min(settings.pool.max_browsers, settings.session.max_sessions)
        self._launcher = launcher
        self._extensions = extensions
        self._headless = headless
        self._launching: set[asyncio.Task[ExtensionBrowser]] = set()
        self._running: dict[PooledBrowser, ExtensionBrowser] = {}
        self._leaving: set[PooledBrowser] = set()
        self._ending: dict[PooledBrowser, asyncio.Task[None]] = {}
        self._room = asyncio.Event()

    async def warm(self) -> None:
        """Do nothing, because no browser is started before a session needs it."""

    async def warm_one(self) -> None:
        """Raise BrowserNotInstalledError if no browser can be started."""
        self._launcher.find()

    async def reap(self) -> None:
        """Do nothing, because each browser ends with its session."""

    async def acquire(self, options: SessionOptions) -> PooledBrowser:
        """Start a browser whose context has the options. Return it with `release` and `end_session`.

        Raises:
            ResourceExhaustedError: all browsers are in use.
            BrowserNotInstalledError: the browser is missing, does not start, or does not load extensions.
            InvalidParameterError, PermissionDeniedError: the browser refuses an option, which the error
                names.
        """
        while len(self._running) + len(self._launching) >= self._most:
            if not self._leaving:
                raise ResourceExhaustedError(
                    f"All {self._most} browsers are in use; with extensions each session has its own",
                    suggestion="Close a session that is not needed with close_session, then try again.",
                    maxBrowsers=self._most,
                )
            self._room.clear()
            await self._room.wait()
        launched = await shield_until_done(self._launch(options), discard=lambda browser: browser.end())
        return await self._wrap(launched)

    async def _launch(self, options: SessionOptions) -> ExtensionBrowser:
        launching = asyncio.create_task(
            self._launcher.launch(self._extensions, options, headless=self._headless)
        )
        self._launching.add(launching)
        launching.add_done_callback(self._launching.discard)
        return await launching

    async def _wrap(self, launched: ExtensionBrowser) -> PooledBrowser:
        context = launched.context
        assert context.browser is not None
        pooled = PooledBrowser(context.browser, sessions=1, context=context, extensions=launched.extensions)
        self._running[pooled] = launched
        on_disconnected(pooled.browser, lambda: self._on_gone(pooled))
        try:
            await pooled.watch_targets()
        except BaseException:
            await self.end_session(pooled)
            raise
        return pooled

    def _on_gone(self, browser: PooledBrowser) -> None:
        """End a crashed browser, whose profile and display have to be removed."""
        browser.disconnected.set()
        if browser in self._running and browser not in self._leaving:
            logger.warning("a browser has ended; its session is created again when it is needed")
            self._end(browser)

    async def responds(self, _: float) -> bool:
        """Return True, because the next session gets a new browser."""
        return True

    def release(self, browser: PooledBrowser) -> None:
        """Record that the session of the browser is ending, so that callers of `acquire` can wait for it."""
        self._leaving.add(browser)

    async def end_session(self, browser: PooledBrowser) -> None:
        """End the browser completely."""
        if browser in self._running:
            await asyncio.shield(self._end(browser))

    def _end(self, browser: PooledBrowser) -> asyncio.Task[None]:
        if browser not in self._ending:
            self._leaving.add(browser)
            self._ending[browser] = asyncio.create_task(self._note_ended(browser))
        return self._ending[browser]

    async def _note_ended(self, browser: PooledBrowser) -> None:
        try:
            await self._running[browser].end()
        finally:
            del self._running[browser], self._ending[browser]
            self._leaving.discard(browser)
            self._room.set()

    async def close(self) -> None:
        for launching in self._launching:
            launching.cancel()
        if self._launching:
            await asyncio.wait(self._launching)
        await asyncio.gather(*(self.end_session(browser) for browser in [*self._running]))
