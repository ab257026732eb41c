"""Browsers with extensions: one for each session, started when it is opened and ended with it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from footlight.browser.pool import PooledBrowser
from footlight.browser.unbroken import unbroken
from footlight.errors import ResourceExhausted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footlight.browser.extension_launch import ExtensionBrowser, ExtensionLauncher
    from footlight.browser.extensions import UnpackedExtension
    from footlight.browser.options import SessionOptions
    from footlight.config import Settings

__all__ = ["ExtensionPool"]

logger = logging.getLogger(__name__)


class ExtensionPool:
    """An extension is in a browser's own profile, and in no other context: so sessions share none."""

    def __init__(
        self,
        settings: Settings,
        *,
        launcher: ExtensionLauncher,
        extensions: Sequence[UnpackedExtension],
        headless: bool,
    ) -> None:
        """`headless` is whether no window is wanted."""
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
        """None is started before somebody wants it."""

    async def warm_one(self) -> None:
        """Raises BrowserNotInstalled where there is none to be started."""
        self._launcher.find()

    async def reap(self) -> None:
        """None is idle: each ends with its session."""

    async def acquire(self, options: SessionOptions) -> PooledBrowser:
        """A new one, whose context is made as the options say. Give it back with `release` and `done_with`.

        Raises:
            ResourceExhausted: there are too many.
            BrowserNotInstalled: there is none, it does not start, or it does not load extensions.
            InvalidParameter, PermissionDenied: names the option that it does not take.
        """
        while len(self._running) + len(self._launching) >= self._most:
            if not self._leaving:
                raise ResourceExhausted(
                    f"All {self._most} browsers are in use; with extensions each session has its own",
                    suggestion="Close a session that is not needed with close_session, then try again.",
                    maxBrowsers=self._most,
                )
            self._room.clear()
            await self._room.wait()
        launched = await unbroken(self._launch(options), discard=lambda browser: browser.end())
        return await self._pooled(launched)

    async def _launch(self, options: SessionOptions) -> ExtensionBrowser:
        launching = asyncio.create_task(
            self._launcher.launch(self._extensions, options, headless=self._headless)
        )
        self._launching.add(launching)
        launching.add_done_callback(self._launching.discard)
        return await launching

    async def _pooled(self, launched: ExtensionBrowser) -> PooledBrowser:
        context = launched.context
        assert context.browser is not None
        pooled = PooledBrowser(context.browser, sessions=1, context=context, extensions=launched.extensions)
        self._running[pooled] = launched
        pooled.browser.on("disconnected", lambda _: self._on_gone(pooled))
        try:
            await pooled.watch_targets()
        except BaseException:
            await self.done_with(pooled)
            raise
        return pooled

    def _on_gone(self, browser: PooledBrowser) -> None:
        """One that crashed leaves a profile, and a display."""
        browser.gone.set()
        if browser in self._running and browser not in self._leaving:
            logger.warning("a browser is gone; its session is made anew when it is needed")
            self._end(browser)

    def release(self, browser: PooledBrowser) -> None:
        """Its session is ending: whoever wants another can wait for that."""
        self._leaving.add(browser)

    async def done_with(self, browser: PooledBrowser) -> None:
        """Nothing of it is left on return."""
        if browser in self._running:
            await asyncio.shield(self._end(browser))

    def _end(self, browser: PooledBrowser) -> asyncio.Task[None]:
        if browser not in self._ending:
            self._leaving.add(browser)
            self._ending[browser] = asyncio.create_task(self._ended(browser))
        return self._ending[browser]

    async def _ended(self, browser: PooledBrowser) -> None:
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
        await asyncio.gather(*(self.done_with(browser) for browser in [*self._running]))
