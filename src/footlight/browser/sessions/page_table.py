"""The open pages of a session with their ids, and the current page."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.probe import RESPONSE_SECONDS
from footlight.browser.driver.shielding import shield_until_done, start_work
from footlight.browser.page.diagnosis import HUNG_SECONDS
from footlight.browser.page.events import Events, PageOpened
from footlight.browser.page.page import Page, PageOwner
from footlight.browser.page.page_operations import bring_to_front
from footlight.browser.page.settling import watch_new_documents
from footlight.browser.sessions.page_watch import DocumentWatch, LinkEffect, watch_links
from footlight.errors import InvalidParameterError
from footlight.safe_text import cut_text

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Request
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.launch.extensions import LoadedExtension
    from footlight.browser.network.console import Console
    from footlight.browser.sessions.change_events import ChangeKind
    from footlight.browser.sessions.emulation import Emulator
    from footlight.browser.sessions.popups import PopupTracker
    from footlight.errors import FootlightError

__all__ = ["PageTable", "PageTableOwner"]

EXTENSION_SCHEME = "chrome-extension://"
MAX_PAGES = 50
"""The number of pages in a session after which popups are closed at once."""
EARLY_SECONDS = 0.2
"""How much earlier than required a page may count as silent, because timers are not exact."""


class PageTableOwner(PageOwner, Protocol):
    """The part of a session that its page table uses."""

    console: Console
    emulator: Emulator
    events: Events

    @property
    def extensions(self) -> tuple[LoadedExtension, ...]: ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` in the background, at most until the session ends."""
        ...

    def report_change(self, kind: ChangeKind, page_id: str | None = None) -> None:
        """Report a change to the listener of the server."""
        ...

    async def explain_failed_open(self, error: Error) -> FootlightError | None:
        """Return the error for a page that could not be opened if the browser has crashed, or None."""
        ...


class PageTable:
    """Gives ids to the pages of a context, and tracks the current page."""

    def __init__(self, session: PageTableOwner, context: BrowserContext, popups: PopupTracker) -> None:
        self._session = session
        self._context = context
        self._popups = popups
        self._pages: dict[PlaywrightPage, Page] = {}
        self._tabs = PageSelection()
        self._registered = 0
        self._opened_here = 0
        self._popped_up = 0
        self._front: Page | None = None
        """The page in front of its window, if known."""
        self._opening: asyncio.Task[Page] | None = None
        self._requested: set[asyncio.Task[PlaywrightPage]] = set()
        """The pages that calls open at this moment."""
        self._preparing: dict[Page, asyncio.Task[None]] = {}
        self._closing_blank: set[asyncio.Task[None]] = set()
        """Tasks that close tabs which were opened for a download.

        A browser with a window closes them itself too.
        """

    def watch(self) -> None:
        """Register the open pages of the context, and all pages that it will open."""
        for opened in self._context.pages:
            self._opened_here += 1
            page = self._register(opened)
            self._popups.count_own()
            if opened.url.startswith(EXTENSION_SCHEME):
                self._session.events.pages.append(PageOpened(page.id, page.url))
        self._context.on("page", self._on_page)

    @property
    def open_pages(self) -> list[Page]:
        """The open pages, oldest first."""
        return [page for page in self._pages.values() if not page.closed]

    @property
    def current(self) -> Page | None:
        """The page that calls without a page id use, or None if no page is open."""
        return self._tabs.current(self.open_pages)

    def select(self, page: Page) -> None:
        """Make `page` the current page."""
        self._tabs.select(page)

    def find_opener(self, page: Page) -> Page | None:
        """Return the page that opened `page`, if it is still open."""
        return self._tabs.opener(page)

    async def get(self, page_id: str | None = None) -> Page:
        """Return the page with this id. Without an id, return the current page, or open the first one.

        Raises:
            InvalidParameterError: no page with this id is open.
        """
        pages = self.open_pages
        if page_id is None:
            current = self._tabs.current(pages)
            return await self._finish_preparing(current) if current else await self._open_first()
        for page in pages:
            if page.id == page_id:
                return await self._finish_preparing(page)
        raise self._make_unknown_error(f"no page {page_id} is open in this session")

    def check_id(self, page_id: str | None) -> None:
        """Check that a page with this id is open or was.

        Raises:
            InvalidParameterError: the session never had such a page.
        """
        if page_id is not None and page_id not in {
            f"page-{number + 1}" for number in range(self._registered)
        }:
            raise self._make_unknown_error(f"this session never had a page {page_id}")

    def _make_unknown_error(self, message: str) -> InvalidParameterError:
        pages = [page.id for page in self.open_pages]
        known = ", ".join(pages) or "none"
        return InvalidParameterError(
            f"pageId: {cut_text(message, 200)}; open pages: {known}", parameter="pageId", pages=pages
        )

    async def open(self) -> Page:
        """Open another page and select it."""
        page = await shield_until_done(self._open(), discard=lambda opened: opened.close())
        self._tabs.select(page)
        return page

    def find(self, opened: PlaywrightPage | None) -> Page | None:
        return self._pages.get(opened) if opened else None

    def id_of(self, opened: PlaywrightPage | None) -> str:
        """Return the id of a Playwright page, or "" if it is not in the table."""
        page = self.find(opened)
        return page.id if page else ""

    def id_of_request(self, request: Request) -> str:
        """Return the id of the page that sent a request, or "" if no page did."""
        try:
            return self.id_of(request.frame.page)
        except Error:  # A service worker sent it, or its frame does not exist yet.
            return ""

    async def wait_for_blank_tabs(self) -> None:
        """Wait until the tabs that were opened only for a download are closed."""
        if closing := set(self._closing_blank):
            await asyncio.wait(closing)
            self._closing_blank -= closing

    async def close_hung(self, called_at: float, within_seconds: float) -> list[str]:
        """Close the pages that do not respond since the call at `called_at`, and return their ids.

        A page has `within_seconds` to respond, but is only closed after the silence of a page that hangs.

        No page is closed if the browser does not respond either, or while a dialog is open, because pages may
        wait for its answer. All unresponsive pages are closed, because pages that opened each other share a
        process, which only ends with its last page.
        """
        if self._session.dialogs.open:
            return []
        pages = self.open_pages
        silent, *answering = await asyncio.gather(
            self._session.find_silent_part(min(within_seconds, RESPONSE_SECONDS)),
            *(page.responds(min(within_seconds, page.silent_seconds)) for page in pages),
        )
        if silent:
            return []
        hung = [
            page
            for page, answers in zip(pages, answering, strict=True)
            if not answers and _has_hung(page, called_at)
        ]
        await asyncio.gather(*(page.close() for page in hung))
        return [page.id for page in hung if page.closed]

    async def _open_first(self) -> Page:
        """Open the first page, or wait for the one that a cancelled call has begun to open."""
        if self._opening is None or self._opening.done():
            self._opening = start_work(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Page:
        self._opened_here += 1
        self._popups.count_own()
        request = asyncio.create_task(self._context.new_page())
        self._requested.add(request)
        try:
            opened = await request
        except Error as error:
            if crash := await self._session.explain_failed_open(error):
                raise crash from error
            raise
        finally:
            self._requested.discard(request)
        page = self._register(opened)
        await self._session.emulator.prepare(page)
        return page

    async def _finish_preparing(self, page: Page) -> Page:
        if unfinished := self._preparing.pop(page, None):
            await asyncio.wait([unfinished])
        if self._session.extensions and self._front is not page:
            # Pages that an extension opens come to the front, and Chromium does not draw the pages behind.
            self._front = page
            await bring_to_front(page)
        await self._session.emulator.restore(page)
        return page

    def _register(self, opened: PlaywrightPage) -> Page:
        if opened in self._pages:
            return self._pages[opened]
        session = self._session
        self._registered += 1
        page = Page(f"page-{self._registered}", opened, session)
        self._pages[opened] = page
        opened.on("close", self._on_close)
        opened.on("crash", lambda _: self._on_crash(page))
        session.downloads.watch_page(opened)
        DocumentWatch(
            opened,
            on_navigated=lambda replaced: self._on_navigated(page, replaced),
            on_loaded=lambda: session.report_change("load", page.id),
        )
        session.report_change("opened", page.id)
        session.spawn(self._learn_opener(page))
        if session.engine == "chromium":
            page.scripts.attaching = session.spawn(self._watch_links(page))
        return page

    def _on_crash(self, page: Page) -> None:
        self._session.dialogs.forget(page.id)
        if page.own_cdp is not None:
            self._session.spawn(_detach(page.own_cdp))

    def end_waits(self) -> None:
        """Let no call wait for requests of the pages, because their browser is gone."""
        for page in self.open_pages:
            page.traffic.end()

    async def _watch_links(self, page: Page) -> None:
        page.own_cdp = await watch_links(
            page.playwright,
            on_click=self._on_link,
            on_navigation=page.traffic.expect_navigation,
            on_context=self._popups.set_context,
            on_dropped=lambda count: self._session.log.note_dropped(page.id, count),
            scripts=page.scripts,
        )
        self._session.spawn(watch_new_documents(page))

    async def _learn_opener(self, page: Page) -> None:
        opener = await page.playwright.opener()
        if opener in self._pages:
            self._tabs.on_opened(page, self._pages[opener])

    def _on_page(self, opened: PlaywrightPage) -> None:
        is_known = opened in self._pages
        is_own = is_known or self._registered < self._opened_here + self._popped_up
        if not is_own and len(self._pages) >= MAX_PAGES:
            self._popups.count_announced()
            self._session.spawn(self._refuse(opened))
            return
        page = self._register(opened)
        if is_own:
            return
        self._popped_up += 1
        self._popups.count_announced()
        if not page.url and self._session.downloads.has_begun:
            self._closing_blank.add(self._session.spawn(page.close()))
            return
        self._front = page
        self._preparing[page] = self._session.spawn(self._session.emulator.prepare(page))
        self._session.events.pages.append(PageOpened(page.id, page.url))

    async def _refuse(self, opened: PlaywrightPage) -> None:
        """Close a popup, unless it turns out to be the page that a call opens at this moment."""
        if self._requested:
            await asyncio.wait(self._requested)
        if opened in self._pages:
            self._popped_up += 1  # A popup was announced first, and counted as the page of the call.
            return
        self._session.events.refused += 1
        await opened.close()

    def _on_link(self, effect: LinkEffect) -> None:
        if effect == "download":
            self._session.downloads.on_link_clicked()
        else:
            self._popups.expect()

    def _on_navigated(self, page: Page, replaced: bool) -> None:
        if replaced:
            page.element_ids.clear()
            self._session.dialogs.forget(page.id)
            self._session.console.count_document(page.id)
            self._session.spawn(self._session.emulator.restore(page))
        self._session.report_change("navigation", page.id)

    def _on_close(self, closed: PlaywrightPage) -> None:
        session = self._session
        session.console.forget(closed)
        if page := self._pages.pop(closed, None):
            self._preparing.pop(page, None)
            session.dialogs.forget(page.id)
            self._tabs.on_closed(page)
            if not (page.closing or page.crashed or session.closed) and session.alive:
                session.events.closed.append(page.id)
            session.report_change("closed", page.id)


class PageSelection:
    """Tracks the current page: the page that was selected last, or the oldest page if none was selected.

    When the current page closes, the previously selected page becomes current, or otherwise its opener, or
    otherwise the oldest page.
    """

    def __init__(self) -> None:
        self._selected: list[Page] = []
        self._openers: dict[Page, Page] = {}

    def current(self, pages: Sequence[Page]) -> Page | None:
        """Return the current page of the open pages."""
        return next((page for page in reversed(self._selected) if page in pages), pages[0] if pages else None)

    def opener(self, page: Page) -> Page | None:
        """Return the page that opened `page`, if it is still open."""
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


async def _detach(cdp: CDPSession) -> None:
    """End the CDP session of a crashed page, whose open requests would otherwise never end."""
    with contextlib.suppress(Error):
        await cdp.detach()


def _has_hung(page: Page, called_at: float) -> bool:
    """Return whether the page has not responded for `HUNG_SECONDS`, counted from the call or earlier."""
    now, since = time.monotonic(), page.probe.silent_since
    if since is None or now - since < page.silent_seconds - EARLY_SECONDS:
        return False
    return now - min(since, called_at) >= HUNG_SECONDS
