"""Which page a call works in that names none, and what the open ones are."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from footlight.browser._playwright import Error

if TYPE_CHECKING:
    from playwright.async_api import Dialog

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Tabs", "bring_to_front", "close", "title"]

TITLE_SECONDS = 1.0
"""A page that does not tell its title by then hangs, or is on its way to another document."""


class Tabs:
    """The page that was selected last. Before any was, the oldest.

    When it closes: the one that was selected before it, else the one that opened it, else the oldest.
    """

    def __init__(self) -> None:
        self._selected: list[Page] = []
        self._openers: dict[Page, Page] = {}

    def current(self, pages: Sequence[Page]) -> Page | None:
        """Among the open ones."""
        return next((page for page in reversed(self._selected) if page in pages), pages[0] if pages else None)

    def opener(self, page: Page) -> Page | None:
        """The page that opened it, while that is open itself."""
        opener = self._openers.get(page)
        return None if opener is None or opener.closed else opener

    def select(self, page: Page) -> None:
        self._selected = [each for each in self._selected if each is not page] + [page]

    def on_opened(self, page: Page, opener: Page) -> None:
        self._openers[page] = opener

    def on_closed(self, page: Page) -> None:
        was_current = self._selected[-1:] == [page]
        self._selected = [each for each in self._selected if each is not page]
        if was_current and not self._selected and (opener := self.opener(page)):
            self._selected.append(opener)
        self._openers.pop(page, None)


async def title(page: Page) -> str | None:
    """None where the page hangs, or has no document yet: Playwright makes a title up then."""
    if page.awaited is not None or page.session.dialogs.find(page):
        return None
    try:
        async with asyncio.timeout(TITLE_SECONDS):
            found = await page.playwright.title()
    except (Error, TimeoutError):
        return None
    return None if page.awaited is not None else found


async def bring_to_front(page: Page) -> None:
    """As far as the page lets it: that is for those who look at the window."""
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(TITLE_SECONDS):
            await page.playwright.bring_to_front()


async def close(page: Page, deadline: Deadline, *, ask: bool) -> bool:
    """Whether it is closed. With `ask` it may ask to stay, and is answered as its session's policy says.

    Raises:
        DeadlineExceeded: it neither closed nor asked.
    """
    if not ask:
        await page.close()
        return page.closed
    decided = asyncio.Event()

    def decide(_: object) -> None:
        decided.set()

    def hear(dialog: Dialog) -> None:
        if dialog.type == "beforeunload" and page.session.dialogs.policy["beforeunload"] == "dismiss":
            decided.set()

    page.playwright.on("close", decide)
    page.playwright.on("dialog", hear)
    page.closing = True
    try:
        async with page.within(deadline):
            await page.playwright.close(run_before_unload=True)
            await decided.wait()
    finally:
        page.playwright.remove_listener("close", decide)
        page.playwright.remove_listener("dialog", hear)
        page.closing = page.closed
    return page.closed
