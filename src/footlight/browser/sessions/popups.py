"""Track pages that the browser has begun to open and that Playwright has not announced yet."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footlight.browser.launch.pool import PooledBrowser

__all__ = ["PopupTracker"]

EXPECTED_SECONDS = 2.0
"""How long a click that opens a tab may take to do so."""


class PopupTracker:
    """Compares the pages that Chromium has opened with those that Playwright has announced.

    Chromium reports a new page at once. Playwright announces it when the page's server has answered. Firefox
    and WebKit have no such signal, so their popups are reported after Playwright's event.
    """

    def __init__(self, browser: PooledBrowser) -> None:
        self._browser = browser
        self._context_id: str | None = None
        self._announced = 0
        self._given_up = 0
        self._expected_until = 0.0
        self.expected = False
        """Whether the current action has clicked a link that opens a tab."""
        self._changed = asyncio.Event()

    def set_context(self, id: str) -> None:
        """Receive Chromium's id of the context."""
        self._context_id = id

    def begin_action(self) -> None:
        """Reset the expectation of a new tab for a new action."""
        self._expected_until = 0.0
        self.expected = False

    def expect(self) -> None:
        """Expect a new tab, because a link was clicked in a way that opens one."""
        self._expected_until = time.monotonic() + EXPECTED_SECONDS
        self.expected = True

    def count_own(self) -> None:
        """Count a page that the session itself opens."""
        if self._browser.extensions:  # Without extensions, `browser.opened` only has pages with an opener.
            self._announced += 1

    def count_announced(self) -> None:
        """Count a page that Playwright has announced."""
        self._announced += 1
        self._changed.set()

    async def settle(self) -> None:
        """Wait until all pages that are opening or expected have been announced."""
        before = self._announced
        while (seconds := self._expected_until - time.monotonic()) > 0 and self._announced == before:
            await self._wait_for_change(seconds)
        while self._count_missing() > self._given_up:
            await self._wait_for_change(None)

    def give_up(self) -> None:
        """Do not wait again for the pages that are still missing."""
        self._given_up = max(0, self._count_missing())

    async def _wait_for_change(self, seconds: float | None) -> None:
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    def _count_missing(self) -> int:
        opened_count = sum(target.context == self._context_id for target in self._browser.opened)
        return opened_count - self._announced
