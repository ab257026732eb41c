"""A session: an isolated context in a pooled browser, its pages, and what happened in them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser._playwright import Error, cause, is_closed
from footlight.browser.events import DialogSeen, DownloadSeen, Events, PageOpened
from footlight.browser.network import RequestLog, Rules, Throttling
from footlight.browser.page import Page
from footlight.browser.policy import DomainPolicy, refused
from footlight.errors import BrowserCrashed, InvalidParameter, NavigationFailed

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, Download, Request, Response, Route
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.deadline import Deadline
    from footlight.browser.filter_proxy import FilterProxy
    from footlight.browser.pool import PooledBrowser
    from footlight.config import DialogSettings

__all__ = ["Session", "SessionOptions", "SessionSurroundings"]

logger = logging.getLogger(__name__)

CRASH_NOTICE_SECONDS = 0.3
"""How long after a lost page the browser's own end may become known."""
SETTLE_SECONDS = 5.0
"""How long an answer waits for a page or a download that its action began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How a session's context is made. The viewport is (width, height) in CSS pixels."""

    user_agent: str | None = None
    viewport: tuple[int, int] | None = None

    def for_playwright(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self.user_agent is not None:
            options["user_agent"] = self.user_agent
        if self.viewport is not None:
            options["viewport"] = {"width": self.viewport[0], "height": self.viewport[1]}
        return options


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSurroundings:
    """What every session of a server shares."""

    policy: DomainPolicy
    dialogs: DialogSettings
    download_path: Path
    proxy: FilterProxy | None = None


class Session:
    """One lock, one context, any number of pages. Made by `Session.open`, ended by `close`."""

    def __init__(
        self,
        id: str,
        *,
        options: SessionOptions,
        browser: PooledBrowser,
        context: BrowserContext,
        surroundings: SessionSurroundings,
        adopted: bool = False,
    ) -> None:
        self.id = id
        self.options = options
        self.lock = asyncio.Lock()
        self.created_at = time.time()
        self.last_used = time.monotonic()
        self.closed = False
        self.crash_told = False
        self.events = Events()
        self.downloads: list[Download] = []
        self.rules = Rules(context)
        self.log = RequestLog(self._page_id_of)
        self.throttling: Throttling | None = None
        self._browser = browser
        self._context = context
        self._surroundings = surroundings
        self._adopted = adopted
        self._pages: dict[PlaywrightPage, Page] = {}
        self._page_count = 0
        self._made_here = 0
        self._page_opened = asyncio.Event()
        self._context_id: str | None = None
        self._overdue = 0
        self._saving: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(
        cls,
        id: str,
        *,
        options: SessionOptions,
        browser: PooledBrowser,
        surroundings: SessionSurroundings,
        storage: Any = None,
    ) -> Session:
        """Make the context. In a browser that was attached to, `default` is the context that is there."""
        there = browser.browser.contexts
        adopt = bool(browser.attached and id == "default" and there and not surroundings.proxy)
        if adopt:
            context = there[0]
        else:
            proxy = {"proxy": {"server": surroundings.proxy.url}} if surroundings.proxy else {}
            context = await browser.browser.new_context(
                **options.for_playwright(), **proxy, **({"storage_state": storage} if storage else {})
            )
        session = cls(
            id, options=options, browser=browser, context=context, surroundings=surroundings, adopted=adopt
        )
        session._watch()
        return session

    def _watch(self) -> None:
        for page in self._context.pages:
            self._made_here += 1
            self._register(page)
        self.log.watch(self._context)
        self._context.on("page", self._on_page)

    # Pages

    @property
    def pages(self) -> list[Page]:
        """The open ones, oldest first."""
        return [page for page in self._pages.values() if not page.closed]

    async def page(self, page_id: str | None = None) -> Page:
        """The page of that id; without one the oldest that is open, or a new one.

        Raises:
            InvalidParameter: no such page is open.
        """
        pages = self.pages
        if page_id is None:
            return pages[0] if pages else await self._new_page()
        for page in pages:
            if page.id == page_id:
                return page
        known = ", ".join(page.id for page in pages) or "none"
        raise InvalidParameter(
            f"pageId: no page {page_id} is open in this session; open pages: {known}",
            parameter="pageId",
            pages=[page.id for page in pages],
        )

    async def _new_page(self) -> Page:
        self._made_here += 1
        try:
            opened = await self._context.new_page()
        except Error as error:
            if is_closed(error):
                await self.notice_crash()
            if not self.alive:
                raise self.crash() from error
            raise
        return self._register(opened)

    def _register(self, opened: PlaywrightPage) -> Page:
        if opened in self._pages:
            return self._pages[opened]
        self._page_count += 1
        page = Page(f"page-{self._page_count}", opened, self)
        self._pages[opened] = page
        opened.on("close", self._on_close)
        opened.on("dialog", lambda dialog: self._spawn(self._on_dialog(page, dialog)))
        opened.on("download", self._on_download)
        if self.throttling is not None:
            self._spawn(page.throttle(self.throttling))
        return page

    def _on_page(self, opened: PlaywrightPage) -> None:
        self._page_opened.set()
        known = opened in self._pages
        page = self._register(opened)
        if not known and self._page_count > self._made_here:
            self.events.pages.append(PageOpened(page.id, page.url))

    def _on_close(self, closed: PlaywrightPage) -> None:
        self._pages.pop(closed, None)

    def _page_id_of(self, request: Request) -> str:
        try:
            page = self._pages.get(request.frame.page)
        except Error:  # A service worker's, or the frame is not there yet.
            return ""
        return page.id if page else ""

    # What happens by itself

    async def _on_dialog(self, page: Page, dialog: Dialog) -> None:
        answer: Literal["accept", "dismiss"] = getattr(self._surroundings.dialogs, dialog.type, "dismiss")
        handled: Literal["accepted", "dismissed"] = "accepted" if answer == "accept" else "dismissed"
        self.events.dialogs.append(
            DialogSeen(page.id, dialog.type, dialog.message, dialog.default_value, handled)
        )
        with contextlib.suppress(Error):  # The page may be gone, and the dialog with it.
            if answer == "accept":
                await dialog.accept(dialog.default_value)
            else:
                await dialog.dismiss()

    def _on_download(self, download: Download) -> None:
        self.downloads.append(download)
        self._spawn(self._save(download))

    async def _save(self, download: Download) -> None:
        path = _free_path(self._surroundings.download_path, download.suggested_filename)
        failure: str | None = None
        try:
            await download.save_as(path)
        except Error as error:
            failure = (await _failure_of(download)) or str(error)
        self.events.downloads.append(
            DownloadSeen(download.suggested_filename, download.url, path, failure, failure is None)
        )
        self.downloads.remove(download)

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)

    async def close_hung(self) -> list[str]:
        """Close the pages that a script keeps from answering, so that the session stays usable.

        All of them: pages that opened each other share a process, which ends with the last of them.
        """
        pages = self.pages
        answering = await asyncio.gather(*(page.answers() for page in pages))
        hung = [page for page, answers in zip(pages, answering, strict=True) if not answers]
        await asyncio.gather(*(page.close() for page in hung))
        return [page.id for page in hung]

    async def settle(self, deadline: Deadline) -> None:
        """Wait for the pages and downloads that an action began, so that its answer can tell of them."""
        limit = min(SETTLE_SECONDS, deadline.remaining_ms / 1000)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._settle_pages()
                while self.downloads and self._saving:
                    await asyncio.wait(self._saving, return_when=asyncio.FIRST_COMPLETED)
                return
        self._overdue = max(0, await self._pages_due())

    async def _settle_pages(self) -> None:
        while await self._pages_due() > self._overdue:
            self._page_opened.clear()
            await self._page_opened.wait()

    async def _pages_due(self) -> int:
        """How many pages the browser has begun to open and Playwright has not announced."""
        if not self._browser.opened:
            return 0
        if self._context_id is None:
            self._context_id = await self._find_context_id()
        begun = sum(target.context == self._context_id for target in self._browser.opened)
        return begun - (self._page_count - self._made_here)

    async def _find_context_id(self) -> str:
        for page in self.pages:
            with contextlib.suppress(Error):
                cdp = await self._context.new_cdp_session(page.playwright)
                info = cast("dict[str, Any]", await cdp.send("Target.getTargetInfo"))
                await cdp.detach()
                return str(info["targetInfo"].get("browserContextId", ""))
        return ""

    # The browser under it

    @property
    def engine(self) -> str:
        return self._browser.engine

    @property
    def browser(self) -> PooledBrowser:
        return self._browser

    @property
    def context(self) -> BrowserContext:
        """For the other modules of this folder."""
        return self._context

    @property
    def policy(self) -> DomainPolicy:
        return self._surroundings.policy

    @property
    def alive(self) -> bool:
        """Whether the browser still runs."""
        return not self._browser.gone.is_set()

    async def notice_crash(self) -> None:
        """Give the news of the browser's end a moment to arrive."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CRASH_NOTICE_SECONDS):
                await self._browser.gone.wait()

    def crash(self) -> BrowserCrashed:
        """The error for the one answer that tells of it."""
        self.crash_told = True
        return BrowserCrashed(
            "The browser crashed; the session is made anew at its next use", sessionId=self.id
        )

    def check_proxied(self, response: Response) -> None:
        """Whether a page is the site's, and not the proxy's word that there is none.

        Raises:
            PermissionDenied: the policy refuses the host.
            NavigationFailed: the host cannot be reached.
        """
        if self._surroundings.proxy is None:
            return
        if host := response.headers.get("x-footlight-refused"):
            raise refused(host, response.url)
        if where := response.headers.get("x-footlight-unreachable"):
            raise NavigationFailed(
                f"{response.url} could not be opened: {where} gives no answer", url=response.url
            )

    def refusal_since(self, began: float) -> str | None:
        """The host that the proxy refused last, if it refused one since `began` (`time.monotonic()`)."""
        proxy = self._surroundings.proxy
        late = [refusal.host for refusal in proxy.refusals if refusal.at >= began] if proxy else []
        return late[-1] if late else None

    @contextlib.asynccontextmanager
    async def without_cache(self, page: PlaywrightPage) -> AsyncGenerator[None]:
        async def fall_back(route: Route) -> None:
            await route.fallback()

        await page.route("**/*", fall_back)
        try:
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
        for task in self._saving:
            task.cancel()
        if self._adopted or not self.alive:
            return
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(3.0):
                await self._context.close()


def _free_path(folder: Path, name: str) -> Path:
    """A name of our own in the folder: nothing is written elsewhere or over anything."""
    clean = re.sub(r"[^\w.\- ()]", "_", Path(name.replace("\\", "/")).name).lstrip(".") or "download"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / clean[:150]
    for number in range(1, 10_000):
        with contextlib.suppress(FileExistsError):
            path.touch(exist_ok=False)
            return path
        path = folder / f"{Path(clean).stem[:140]}-{number}{Path(clean).suffix}"
    raise InvalidParameter(f"{folder} holds too many files named {clean}")


async def _failure_of(download: Download) -> str | None:
    try:
        return await download.failure()
    except Error:
        return None
