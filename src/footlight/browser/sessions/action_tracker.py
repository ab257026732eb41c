"""Track what an action has started: popups, downloads and other events that its result reports."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.events import Events, PageOpened, keep_recent
from footlight.browser.page.page import LastAction

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.network.downloads import Downloads
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.page_table import PageTable
    from footlight.browser.sessions.popups import PopupTracker

__all__ = ["ActionTracker"]

SETTLE_SECONDS = 5.0
"""How long a result waits for a page or a download that its action has started."""
MAX_OVER = 100
"""The number of past actions whose times are stored."""
LEAVE_BLANK_MS = 2_000
"""How long a tab that a link opened may take to leave its empty page."""
NEW_DOCUMENT_SECONDS = 0.5
"""How long the document of a popup may take to load. Its scripts may close the popup immediately."""


class ActionTracker:
    """Tracks when the last action began, and waits for the pages and downloads that it started."""

    def __init__(
        self, *, pages: PageTable, popups: PopupTracker, downloads: Downloads, events: Events
    ) -> None:
        self._pages = pages
        self._popups = popups
        self._downloads = downloads
        self._events = events
        self.last = LastAction(began_at=time.monotonic(), downloads_before=0)
        self._acts = False
        self._over: deque[tuple[float, float]] = deque(maxlen=MAX_OVER)

    def begin(self, *, acts: bool) -> None:
        """Begin a call. With `acts`, new pages and downloads belong to its action from now on."""
        if acts:
            self.last = LastAction(began_at=time.monotonic(), downloads_before=self._downloads.count)
        self._acts = acts
        self._popups.begin_action()
        self._downloads.begin()

    def end(self) -> None:
        """End the last call that began."""
        if self._acts:
            self._over.append((self.last.began_at, time.monotonic()))

    def was_acting(self, at: float) -> bool:
        """Return whether an action was running at a time (`time.monotonic()`) and has ended since.

        Also return True for times before the oldest stored action.
        """
        if len(self._over) == MAX_OVER and at < self._over[0][0]:
            return True
        return any(began <= at <= ended for began, ended in self._over)

    async def settle(self, deadline: Deadline) -> None:
        """Wait for the pages and downloads that the action has started, so that the result reports them."""
        limit = min(SETTLE_SECONDS, deadline.remaining_ms / 1000)
        try:
            async with asyncio.timeout(limit):
                await self._popups.settle()
                if self._popups.expected:
                    await self._wait_for_popup_documents()
                await asyncio.gather(*map(self._wait_for_new_document, self._find_new_pages()))
                await self._downloads.settle()
                await self._pages.wait_for_blank_tabs()
        except TimeoutError:
            self._popups.give_up()

    async def _wait_for_popup_documents(self) -> None:
        """Wait until the tabs that a link opened have left their initial about:blank."""
        for page in self._find_new_pages():
            if page.url == "about:blank":
                with contextlib.suppress(Error):
                    await page.playwright.wait_for_url(
                        lambda url: url != "about:blank", wait_until="commit", timeout=LEAVE_BLANK_MS
                    )

    async def _wait_for_new_document(self, page: Page) -> None:
        """Wait until a new page has run the scripts of its document."""
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(NEW_DOCUMENT_SECONDS):
                await page.playwright.wait_for_load_state("domcontentloaded")
                await page.playwright.title()

    def _find_new_pages(self) -> list[Page]:
        opened = {event.page_id for event in self._events.pages}
        return [page for page in self._pages.open_pages if page.id in opened]

    def add_closed_pages(self, page_ids: Sequence[str]) -> None:
        """Report in the next result that these pages were closed."""
        self._events.closed += page_ids

    def take_events(self) -> Events:
        """Return the events since the last call, with the current URLs of opened pages."""
        events = self._events.take()
        urls = {page.id: page.url for page in self._pages.open_pages}
        events.pages = keep_recent(
            PageOpened(page.page_id, urls.get(page.page_id, page.url)) for page in events.pages
        )
        return events
