"""A session: an isolated context in a pooled browser, its pages, and what happened in them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser._playwright import Error, cause, is_closed
from footlight.browser.changes import Change, ChangeKind, OnChange, ignore
from footlight.browser.console import Console
from footlight.browser.context import open_context
from footlight.browser.devices import Devices
from footlight.browser.dialogs import Dialogs
from footlight.browser.document import DocumentWatch
from footlight.browser.downloads import Downloads
from footlight.browser.emulation import Emulator
from footlight.browser.events import Events, PageOpened
from footlight.browser.links import Outcome, watch_links
from footlight.browser.network import RequestLog, Rules, Throttling
from footlight.browser.options import SessionOptions
from footlight.browser.output import OutputFolder
from footlight.browser.page import Page
from footlight.browser.policy import DomainPolicy, refused
from footlight.browser.popups import Popups
from footlight.browser.recording import Recordings
from footlight.browser.tabs import Tabs, bring_to_front
from footlight.browser.unbroken import unbroken
from footlight.browser.view import RefNumbers
from footlight.errors import (
    BrowserCrashed,
    FootlightError,
    InvalidParameter,
    NavigationFailed,
    SessionNotFound,
)

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, Request, Response, Route
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.deadline import Deadline
    from footlight.browser.extensions import LoadedExtension
    from footlight.browser.filter_proxy import FilterProxy
    from footlight.browser.pool import PooledBrowser
    from footlight.browser.shelf import Item, Shelf
    from footlight.config import DialogSettings

__all__ = ["Session", "SessionOptions", "SessionSurroundings"]

logger = logging.getLogger(__name__)

CRASH_NOTICE_SECONDS = 1.0
"""How long after a lost page the browser's own end may become known."""
ARRIVE_MS = 2_000
"""How long a tab that a link opened may take to leave its empty page."""
EXTENSIONS = "chrome-extension://"
SETTLE_SECONDS = 5.0
"""How long an answer waits for a page or a download that its action began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSurroundings:
    """What every session of a server shares."""

    policy: DomainPolicy
    dialogs: DialogSettings
    download_path: Path
    output_path: Path
    scratch_path: Path
    shelf: Shelf
    devices: Devices = field(default_factory=Devices)
    script_evaluation: bool = False
    """Whether scripts of a caller may run in pages."""
    proxy: FilterProxy | None = None
    on_change: OnChange = ignore
    secrets: tuple[str, ...] = ()
    """Texts that no picture may show."""
    after_crash: str = "the session is made anew at its next use"
    """What becomes of a session whose browser crashed."""


class Session:
    """One lock, one context, any number of pages. Made by `Session.open`, ended by `close`."""

    def __init__(
        self,
        id: str,
        *,
        owner: str,
        options: SessionOptions,
        browser: PooledBrowser,
        context: BrowserContext,
        surroundings: SessionSurroundings,
        adopted: bool = False,
    ) -> None:
        self.id = id
        self.options = options
        self.owner = owner
        """The principal whose it is."""
        self.is_default = False
        """Whether a caller need not name it."""
        self.kept_as: str | None = None
        """The name under which it survives the server, where sessions do."""
        self.lock = asyncio.Lock()
        self.ref_numbers = RefNumbers()
        self.created_at = time.time()
        self.last_used = time.monotonic()
        self.closed = False
        self.crash_told = False
        self.events = Events()
        self.dialogs = Dialogs(
            {**surroundings.dialogs.model_dump(), **options.dialogs}, self.events, self._spawn
        )
        self.tabs = Tabs()
        self.acted_at = self.last_used
        """When the last call began that did something in a page (`time.monotonic()`)."""
        self.downloads_before = 0
        """How many there had been by then."""
        self.downloads = Downloads(surroundings.download_path, self.events, self._id_of)
        self.rules = Rules(context)
        self.log = RequestLog(self._page_id_of)
        self.console = Console(context, page_id_of=self._id_of, spawn=self._spawn)
        self.recordings = Recordings(
            context, browser.browser, surroundings.scratch_path, secrets=surroundings.secrets
        )
        self.throttling: Throttling | None = None
        self._browser = browser
        self._context = context
        self._surroundings = surroundings
        self._adopted = adopted
        self._pages: dict[PlaywrightPage, Page] = {}
        self._page_count = 0
        self._made_here = 0
        self._came = 0
        """How many pages there have been, of ours and of those that opened by themselves."""
        self._front: Page | None = None
        """Of a window, as far as it is known."""
        self._making: asyncio.Task[Page] | None = None
        self._left = False
        self._popups = Popups(browser, context)
        self._tasks: set[asyncio.Task[None]] = set()
        self._preparing: dict[Page, asyncio.Task[None]] = {}
        self.emulator = Emulator(self, surroundings.devices)

    @classmethod
    async def open(
        cls,
        id: str,
        *,
        owner: str,
        options: SessionOptions,
        browser: PooledBrowser,
        surroundings: SessionSurroundings,
        context: BrowserContext | None = None,
    ) -> Session:
        """Make the context, unless it is there. In a browser that was attached to, it is for `default`."""
        there = browser.browser.contexts
        adopt = bool(browser.attached and id == "default" and there and not surroundings.proxy)
        if adopt:
            context = there[0]
        elif context is None:
            context = await open_context(
                browser.browser,
                options,
                devices=surroundings.devices,
                filter_proxy=surroundings.proxy.url if surroundings.proxy else None,
            )
        session = cls(
            id,
            owner=owner,
            options=options,
            browser=browser,
            context=context,
            surroundings=surroundings,
            adopted=adopt,
        )
        session._watch()
        return session

    def _watch(self) -> None:
        for opened in self._context.pages:
            self._made_here += 1
            page = self._register(opened)
            self._popups.made()
            if opened.url.startswith(EXTENSIONS):
                self.events.pages.append(PageOpened(page.id, page.url))
        self.log.watch(self._context)
        self.console.watch()
        self.downloads.watch(self._context)
        self._context.on("page", self._on_page)
        self._context.on("dialog", self._on_dialog)
        self._context.on("close", lambda _: self._leave())

    # Pages

    @property
    def pages(self) -> list[Page]:
        """The open ones, oldest first."""
        return [page for page in self._pages.values() if not page.closed]

    async def page(self, page_id: str | None = None) -> Page:
        """The page of that id; without one the current one, or a new one.

        Raises:
            InvalidParameter: no such page is open.
        """
        pages = self.pages
        if page_id is None:
            current = self.tabs.current(pages)
            return await self._prepared(current) if current else await self._first_page()
        for page in pages:
            if page.id == page_id:
                return await self._prepared(page)
        known = ", ".join(page.id for page in pages) or "none"
        raise InvalidParameter(
            f"pageId: no page {page_id} is open in this session; open pages: {known}",
            parameter="pageId",
            pages=[page.id for page in pages],
        )

    async def _prepared(self, page: Page) -> Page:
        if unfinished := self._preparing.pop(page, None):
            await asyncio.wait([unfinished])
        if self.extensions and self._front is not page:
            # What an extension opens comes to the front, and Chromium draws no page behind it.
            self._front = page
            await bring_to_front(page)
        await self.emulator.again(page)
        return page

    async def open_page(self) -> Page:
        """Another one, which is current from now on."""
        page = await unbroken(self._new_page(), discard=lambda made: made.close())
        self.tabs.select(page)
        return page

    async def _first_page(self) -> Page:
        """What a call began to make before it was cancelled is the next one's."""
        if self._making is None or self._making.done():
            self._making = asyncio.create_task(self._new_page())
        return await asyncio.shield(self._making)

    async def _new_page(self) -> Page:
        self._made_here += 1
        self._popups.made()
        try:
            opened = await self._context.new_page()
        except Error as error:
            if is_closed(error):
                await self.notice_crash()
            if not self.alive:
                raise self.crash() from error
            raise
        page = self._register(opened)
        await self._prepare(page)
        return page

    async def _prepare(self, page: Page) -> None:
        """What was set for all pages is set for a new one."""
        if self.throttling is not None:
            await page.throttle(self.throttling)
        await self.emulator.prepare(page)

    def _register(self, opened: PlaywrightPage) -> Page:
        if opened in self._pages:
            return self._pages[opened]
        self._page_count += 1
        page = Page(f"page-{self._page_count}", opened, self)
        self._pages[opened] = page
        opened.on("close", self._on_close)
        opened.on("crash", lambda _: self.dialogs.forget(page))
        self.downloads.watch_page(opened)
        DocumentWatch(
            opened,
            on_navigated=lambda replaced: self._on_navigated(page, replaced),
            on_loaded=lambda: self.tell("load", page.id),
        )
        self.tell("opened", page.id)
        self._spawn(self._learn_opener(page))
        if self.engine == "chromium":
            self._spawn(self._popups.learn_context(opened))
            self._spawn(watch_links(opened, self._on_link))
        return page

    async def _learn_opener(self, page: Page) -> None:
        opener = await page.playwright.opener()
        if opener in self._pages:
            self.tabs.on_opened(page, self._pages[opener])

    def _on_page(self, opened: PlaywrightPage) -> None:
        known = opened in self._pages
        page = self._register(opened)
        if not known and self._page_count > self._made_here + self._came:
            self._came += 1
            self._popups.announced()
            self._front = page
            self._preparing[page] = self._spawn(self._prepare(page))
            self.events.pages.append(PageOpened(page.id, page.url))

    def _on_link(self, outcome: Outcome) -> None:
        if outcome == "download":
            self.downloads.announced()
        else:
            self._popups.expect()

    def _on_navigated(self, page: Page, replaced: bool) -> None:
        if replaced:
            page.elements.clear()
            self.dialogs.forget(page)
            self.console.navigated(page.id)
        self.tell("navigation", page.id)

    def _on_close(self, closed: PlaywrightPage) -> None:
        self.console.forget(closed)
        if page := self._pages.pop(closed, None):
            self._preparing.pop(page, None)
            self.dialogs.forget(page)
            self.tabs.on_closed(page)
            if not (page.closing or page.crashed or self.closed) and self.alive:
                self.events.closed.append(page.id)
            self.tell("closed", page.id)

    def _page_id_of(self, request: Request) -> str:
        try:
            return self._id_of(request.frame.page)
        except Error:  # A service worker's, or the frame is not there yet.
            return ""

    def _id_of(self, opened: PlaywrightPage | None) -> str:
        page = self._pages.get(opened) if opened else None
        return page.id if page else ""

    # What happens by itself

    def _on_dialog(self, dialog: Dialog) -> None:
        """One that a page opens as soon as it is there is told before the page is."""
        self.dialogs.on_dialog(self._pages.get(dialog.page) if dialog.page else None, dialog)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[None]) -> None:
        """Work beside the calls; a page that is gone meanwhile is no matter."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, Error):
            logger.error("work beside the calls of session %s failed", self.id, exc_info=error)

    async def close_hung(self) -> list[str]:
        """Close the pages that a script keeps from answering, so that the session stays usable.

        All of them: pages that opened each other share a process, which ends with the last of them.
        None while a dialog is open: pages may stand still for that, and go on with its answer.
        """
        if self.dialogs.open:
            return []
        pages = self.pages
        answering = await asyncio.gather(*(page.answers() for page in pages))
        hung = [page for page, answers in zip(pages, answering, strict=True) if not answers]
        await asyncio.gather(*(page.close() for page in hung))
        return [page.id for page in hung]

    async def settle(self, deadline: Deadline) -> None:
        """Wait for the pages and downloads that an action began, so that its answer can tell of them."""
        limit = min(SETTLE_SECONDS, deadline.remaining_ms / 1000)
        try:
            async with asyncio.timeout(limit):
                await self._popups.settle()
                if self._popups.expected:
                    await self._arrive()
                await self.downloads.settle()
        except TimeoutError:
            self._popups.give_up()

    async def _arrive(self) -> None:
        """A tab that a link opened is empty at first."""
        opened = {event.page_id for event in self.events.pages}
        for page in self.pages:
            if page.id in opened and page.url == "about:blank":
                with contextlib.suppress(Error):
                    await page.playwright.wait_for_url(
                        lambda url: url != "about:blank", wait_until="commit", timeout=ARRIVE_MS
                    )

    def take_events(self) -> Events:
        """What happened since the last time, with the pages at the address where they are now."""
        taken = self.events.take()
        now = {page.id: page.url for page in self.pages}
        taken.pages = [PageOpened(page.page_id, now.get(page.page_id, page.url)) for page in taken.pages]
        return taken

    def begin_action(self, *, acts: bool) -> None:
        """What comes from now on comes of this action, or is what this call sees."""
        if acts:
            self.acted_at, self.downloads_before = time.monotonic(), self.downloads.count
        self._popups.begin()
        self.downloads.begin()

    # What others learn of it

    def tell(self, kind: ChangeKind, page_id: str | None = None) -> None:
        """News of this session, or of a page of it; nothing after its end."""
        if not self._left:
            self._surroundings.on_change(Change(kind, self.owner, self.id, page_id))

    def _leave(self) -> None:
        """The end, whichever way it comes. Only the first counts: another may live under this id by then."""
        if not self._left:
            self._surroundings.shelf.drop(self.id)
            self.tell("closed")
            self._left = True

    @property
    def over(self) -> bool:
        """Whether nothing of it is there any more; the context may go a moment before its browser."""
        return self._left or not self.alive

    @property
    def shelf(self) -> Shelf:
        return self._surroundings.shelf

    def keep(self, item: Item) -> bool:
        """Put something on the shelf; whether it is there. Not after the session's end."""
        return not self._left and self._surroundings.shelf.put(item)

    # The browser under it

    @property
    def engine(self) -> str:
        return self._browser.engine

    @property
    def browser(self) -> PooledBrowser:
        return self._browser

    @property
    def extensions(self) -> tuple[LoadedExtension, ...]:
        """Those that its browser runs."""
        return self._browser.extensions

    @property
    def context(self) -> BrowserContext:
        """For the other modules of this folder."""
        return self._context

    @property
    def policy(self) -> DomainPolicy:
        return self._surroundings.policy

    @property
    def secrets(self) -> tuple[str, ...]:
        return self._surroundings.secrets

    @property
    def scratch_path(self) -> Path:
        """What is put there is removed with the server, or by the next one."""
        return self._surroundings.scratch_path

    @property
    def output(self) -> OutputFolder:
        return OutputFolder(self._surroundings.output_path)

    @property
    def alive(self) -> bool:
        """Whether the browser still runs."""
        return not self._browser.gone.is_set()

    async def notice_crash(self) -> None:
        """Give the news of the browser's end a moment to arrive."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CRASH_NOTICE_SECONDS):
                await self._browser.gone.wait()

    async def ended(self) -> FootlightError | None:
        """Why nothing works in it any more; None where it still does."""
        if self.closed:
            return SessionNotFound(f'Session "{self.id}" was closed during the call', sessionId=self.id)
        await self.notice_crash()
        return None if self.alive else self.crash()

    def crash(self) -> BrowserCrashed:
        """The error for the one answer that tells of it."""
        self.crash_told = True
        self.events.closed.clear()  # Its pages went with it.
        return BrowserCrashed(f"The browser crashed; {self._surroundings.after_crash}", sessionId=self.id)

    def check_proxied(self, response: Response) -> None:
        """Whether a page is the site's, and not the proxy's word that there is none.

        Raises:
            PermissionDenied: the policy refuses the host.
            NavigationFailed: the host cannot be reached, or the request is malformed.
        """
        if self._surroundings.proxy is None:
            return
        if host := response.headers.get("x-footlight-refused"):
            raise refused(host, response.url)
        if said := response.headers.get("x-footlight-proxy"):
            raise NavigationFailed(f"{response.url} could not be opened: {said}", url=response.url)

    @contextlib.asynccontextmanager
    async def without_cache(self, page: PlaywrightPage) -> AsyncGenerator[None]:
        async def fall_back(route: Route) -> None:
            await route.fallback()

        try:
            await page.route("**/*", fall_back)
            yield
        finally:
            with contextlib.suppress(Error):
                await page.unroute("**/*", fall_back)

    async def cookies(self, urls: Sequence[str]) -> list[dict[str, Any]]:
        """All of them, or those that would be sent to the URLs."""
        found: Any = await self._context.cookies(list(urls)) if urls else await self._context.cookies()
        return found

    async def add_cookies(self, cookies: Sequence[dict[str, Any]]) -> None:
        """Raises InvalidParameter where the browser refuses one."""
        try:
            await self._context.add_cookies(cast("Any", cookies))
        except Error as error:
            raise InvalidParameter(f"cookies: {cause(error)}", parameter="cookies") from error

    async def set_offline(self, offline: bool) -> None:
        await self._context.set_offline(offline)

    async def throttle(self, throttling: Throttling) -> None:
        """Raises InvalidParameter outside Chromium."""
        if self.engine != "chromium":
            raise InvalidParameter(
                f"set_throttling needs Chromium; this session runs {self.engine}", engine=self.engine
            )
        self.throttling = throttling
        for page in self.pages:
            await page.throttle(throttling)

    def touch(self) -> None:
        self.last_used = time.monotonic()

    async def close(self) -> None:
        """End the context with its pages. Not one that was there before us."""
        self.closed = True
        self._leave()
        self.downloads.close()
        for task in self._tasks:
            task.cancel()
        await self.recordings.close()
        if not self.alive:
            return
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(3.0):
                await (self.dialogs.dismiss_all() if self._adopted else self._context.close())
