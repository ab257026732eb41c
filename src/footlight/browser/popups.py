"""The pages that a session's pages open: which are on their way and not yet announced."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any, cast

from footlight.browser._playwright import Error

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

    from footlight.browser.pool import PooledBrowser

__all__ = ["Popups"]

EXPECTED_SECONDS = 2.0
"""How long a click that opens a tab may take to do so."""


class Popups:
    """Chromium tells of a new page at once, Playwright when it has an answer from its server.

    The other engines have no such signal; their pages are told in the answer after Playwright's event.
    """

    def __init__(self, browser: PooledBrowser, context: BrowserContext) -> None:
        self._browser = browser
        self._context = context
        self._context_id: str | None = None
        self._announced = 0
        self._given_up = 0
        self._hoped_until = 0.0
        self.expected = False
        self._changed = asyncio.Event()

    async def learn_context(self, page: Page) -> None:
        """Chromium's name for the context, which Playwright keeps to itself. Asked of a page that is idle."""
        if self._context_id is not None or self._browser.engine != "chromium":
            return
        with contextlib.suppress(Error):
            cdp = await self._context.new_cdp_session(page)
            info = cast("dict[str, Any]", await cdp.send("Target.getTargetInfo"))
            await cdp.detach()
            self._context_id = str(info["targetInfo"].get("browserContextId", ""))

    def begin(self) -> None:
        """A new action begins, and no tab is expected of it yet."""
        self._hoped_until = 0.0
        self.expected = False

    def expect(self) -> None:
        """A link was clicked in a way that opens a tab."""
        self._hoped_until = time.monotonic() + EXPECTED_SECONDS
        self.expected = True

    def made(self) -> None:
        """One that the session itself opens. Only where all are counted does it matter."""
        if self._browser.extensions:
            self._announced += 1

    def announced(self) -> None:
        """Playwright has told of one."""
        self._announced += 1
        self._changed.set()

    async def settle(self) -> None:
        """Wait until all that were begun, or are expected, are announced."""
        before = self._announced
        while (left := self._hoped_until - time.monotonic()) > 0 and self._announced == before:
            await self._change(left)
        while self._due() > self._given_up:
            await self._change(None)

    def give_up(self) -> None:
        """Do not wait again for those that have not come by now."""
        self._given_up = max(0, self._due())

    async def _change(self, seconds: float | None) -> None:
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    def _due(self) -> int:
        begun = sum(target.context == self._context_id for target in self._browser.opened)
        return begun - self._announced
