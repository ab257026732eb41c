"""The state of one page of a session: its document, its requests, its refs and element ids.

`page_operations` and `element_operations` contain the operations on a page, and `diagnosis` explains
failures.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar
from weakref import WeakKeyDictionary

from footlight.browser.driver.deadline import no_progress
from footlight.browser.driver.driver_process import has_stopped_renderer
from footlight.browser.driver.playwright_api import Error, is_closed, was_missing
from footlight.browser.driver.probe import Probe
from footlight.browser.driver.script_world import ScriptWorld
from footlight.browser.driver.shielding import start_work
from footlight.browser.network.traffic import Traffic
from footlight.browser.snapshot.element_ids import ElementIds
from footlight.browser.snapshot.view import PageView

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Request, Response
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.driver.deadline import Stage
    from footlight.browser.driver.playwright_connection import SilentPart
    from footlight.browser.network.downloads import Downloads
    from footlight.browser.network.policy import DomainPolicy
    from footlight.browser.network.request_log import RequestLog
    from footlight.browser.network.throttling import Throttling
    from footlight.browser.page.dialogs import Dialogs
    from footlight.browser.snapshot.view import RefCounter
    from footlight.errors import FootlightError

__all__ = ["CRASH_SECONDS", "LastAction", "Page", "PageOwner", "ReadingBlock", "TouchSource"]

T = TypeVar("T")

TouchSource = Literal["context", "emulation"]

SILENT_SECONDS = 3.0
"""How long a page may take to respond after a call has timed out."""
EXTENSION_SILENT_SECONDS = 15.0
"""The same for an extension's pages: a wallet computes for seconds while it starts or creates keys."""
RELOADING_SECONDS = 3.0
RELOADING_LOADS = 10
"""Reading a page is given up after this number of loads, if this many seconds have passed as well."""
CRASH_SECONDS = 0.5
"""The time that work in a crashed page has to end by itself, with an error of Playwright."""
INTERRUPTED_SECONDS = 1.0
"""How long an action that a dialog interrupted may take to end after the dialog."""
MAX_STAGE_URL = 200
"""The maximum length of a URL in a stage, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastAction:
    """The last action in a session."""

    began_at: float
    """When it began (`time.monotonic()`)."""
    downloads_before: int
    """The number of the session's downloads at that time."""


class PageOwner(Protocol):
    """The part of a session that its pages, and operations on them, use."""

    id: str
    closed: bool
    dialogs: Dialogs
    downloads: Downloads
    log: RequestLog
    ref_numbers: RefCounter

    @property
    def last_action(self) -> LastAction: ...

    @property
    def engine(self) -> str:
        """`chromium`, `firefox` or `webkit`."""
        ...

    @property
    def touch_source(self) -> TouchSource | None:
        """Return what provides the touch screen, the context or its emulation, or None without one."""
        ...

    @property
    def policy(self) -> DomainPolicy: ...

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values of the server's secrets, which must not appear in screenshots."""
        ...

    @property
    def is_traced(self) -> bool:
        """Return whether a trace is recorded. Its actions then have to appear under Playwright's names."""
        ...

    @property
    def views(self) -> Mapping[str, PageView]:
        """The views of the open pages by page id, oldest page first."""
        ...

    @property
    def alive(self) -> bool:
        """Return whether the browser is running."""
        ...

    async def find_silent_part(self, within_seconds: float) -> SilentPart | None:
        """Return the part that does not respond, the driver or the browser, or None. Pages may hang."""
        ...

    async def close_hung(
        self, *, called_at: float = -math.inf, within_seconds: float = math.inf
    ) -> list[str]:
        """Close the pages that do not respond because of a script, and return their ids.

        A page that was called only a short time ago may be busy and stays open.
        """
        ...

    async def explain_end(self) -> FootlightError | None:
        """Return the error that says why the session has ended, or None if it still works."""
        ...

    def check_proxy_response(self, response: Response) -> None:
        """Check that a response comes from the site and not from the filter proxy."""
        ...


@dataclass(eq=False, slots=True)
class ReadingBlock:
    """A block that reads the page, and the number of times that the page was loaded during it."""

    timeout: asyncio.Timeout
    began: float
    loads: int = 0
    seconds: float = 0.0
    keeps_reloading: bool = False
    """Whether the block was ended because the page reloads too often."""

    def count_load(self) -> None:
        self.loads += 1
        self.seconds = time.monotonic() - self.began
        if self.loads >= RELOADING_LOADS and self.seconds >= RELOADING_SECONDS and not self.keeps_reloading:
            self.keeps_reloading = True
            self.timeout.reschedule(0)


class Page:
    """A tab of a session. Its `id` (`page-1`, …) is not reused during the session."""

    def __init__(self, id: str, page: PlaywrightPage, session: PageOwner) -> None:
        self.id = id
        self.created_at = time.time()
        self.crashed = False
        self.closing = False
        """Whether Footlight is closing the page."""
        self.session = session
        self.element_ids = ElementIds()
        self.view = PageView(session.ref_numbers)
        self.traffic = Traffic(page)
        self.load_times: dict[str, float] = {}
        """When the document reached each of the events `dom` and `load` (`time.monotonic()`)."""
        self.document_request: Request | None = None
        """The request for the next document, until its response arrives."""
        self.document_requested_at = 0.0
        """When the last request for a document was sent (`time.monotonic()`)."""
        self.failed_request: Request | None = None
        """The last request for a document that failed."""
        self.timed_out_url: str | None = None
        """The URL of a navigation that timed out. The browser may still open it later."""
        self.committed = asyncio.Event()
        """Set when the next document is committed, which may be the browser's own error page."""
        self.navigated_at = 0.0
        """When the main frame last had a new URL or a new document (`time.monotonic()`)."""
        self.frame_reloaded_at = 0.0
        """When an inner frame last had a new document at the same URL (`time.monotonic()`)."""
        self.reported_records: set[int] = set()
        """The ids of the action records that results have included."""
        self.last_act: tuple[str, int] = ("", 0)
        """The last action that had no effect, and how many times in a row it was done."""
        self.watched_for_rest_at = 0.0
        """When the settling script began a watch that the next wait may continue (`time.monotonic()`)."""
        self.watching: asyncio.Task[None] | None = None
        """The task that begins to watch the document of the last navigation."""
        self.report_stage: Stage = no_progress
        """The callback that receives the stages of navigations."""
        self.reading_blocks: list[ReadingBlock] = []
        self.crash_limits: set[asyncio.Timeout] = set()
        """The limits of the work that ends if the page crashes."""
        self.is_navigating = False
        """Whether a navigation that timed out may still be pending."""
        self.own_cdp: CDPSession | None = None
        """A CDP session that was attached when the page opened. Chromium only."""
        self.scripts = ScriptWorld()
        self._page = page
        self._throttling: CDPSession | None = None
        self._unanswered_navigations: dict[Request, float] = {}
        """When each request for a document without a response was sent, in any frame (`time.monotonic()`)."""
        self._frame_urls: WeakKeyDictionary[Frame, str] = WeakKeyDictionary()
        self.probe = Probe(lambda: page.evaluate("0"))
        """Asks whether the page responds. A page that navigates, is closed or has crashed does not hang."""
        self._process_probe = Probe(self._ask_process)
        self._interrupted: set[asyncio.Task[Any]] = set()
        """Actions that end only after a dialog of this page is answered."""
        page.on("crash", self._on_crash)
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfailed", self._on_request_failed)
        page.on("requestfinished", self._on_request_ended)
        page.on("framenavigated", self._on_navigated)
        page.on(
            "domcontentloaded", lambda _: self._on_loaded("dom", "the document has loaded, loading the rest")
        )
        page.on("load", lambda _: self._on_loaded("load", "loaded"))

    def _on_crash(self, _: object) -> None:
        self.crashed = True
        asyncio.get_running_loop().call_later(CRASH_SECONDS, self._end_work)

    def _end_work(self) -> None:
        for limit in self.crash_limits:
            limit.reschedule(0)

    def _on_request(self, request: Request) -> None:
        if request.is_navigation_request():
            self._unanswered_navigations[request] = time.monotonic()
        with contextlib.suppress(Error):  # The first request of a popup has no frame yet.
            if request.is_navigation_request() and request.frame == self._page.main_frame:
                self.document_request = request
                self.document_requested_at = time.monotonic()
                for block in self.reading_blocks:
                    block.count_load()
                self.report_stage(f"requesting {_shorten(request.url)}")

    def _on_response(self, response: Response) -> None:
        self._unanswered_navigations.pop(response.request, None)
        if response.request == self.document_request:
            self.document_request = None
            if not 300 <= response.status < 400:
                self.report_stage(f"answered {response.status}, loading")

    def _on_navigated(self, frame: Frame) -> None:
        if frame == self._page.main_frame:
            self.committed.set()
            self.navigated_at = time.monotonic()
            return
        if self._frame_urls.get(frame) == frame.url:
            self.frame_reloaded_at = time.monotonic()
        self._frame_urls[frame] = frame.url

    def _on_loaded(self, event: str, stage: str) -> None:
        self.load_times[event] = time.monotonic()
        self.report_stage(stage)

    def _on_request_ended(self, request: Request) -> None:
        self._unanswered_navigations.pop(request, None)

    def _on_request_failed(self, request: Request) -> None:
        self._on_request_ended(request)
        if request == self.document_request:
            self.document_request, self.failed_request = None, request

    @property
    def url(self) -> str:
        return self._page.url

    @property
    def closed(self) -> bool:
        return self._page.is_closed()

    @property
    def playwright(self) -> PlaywrightPage:
        """The page in Playwright, for other modules of `footlight.browser`."""
        return self._page

    def has_pending_navigation_since(self, began: float) -> bool:
        """Return whether a frame waits for a document that was requested since `began`."""
        return any(sent >= began for sent in self._unanswered_navigations.values())

    def is_closed_by_action(self, error: Error) -> bool:
        """Return whether an action failed only because it closed the page."""
        is_gone_otherwise = self.crashed or self.closing or self.session.closed or not self.session.alive
        return is_closed(error) and self.closed and not is_gone_otherwise and not was_missing(error)

    async def responds(self, within_seconds: float | None = None) -> bool:
        """Return whether the page still runs scripts, which an endless script prevents."""
        within_seconds = self.silent_seconds if within_seconds is None else within_seconds
        # Chromium runs no script in a page while it waits for the response with the next document.
        return await self.probe.is_answered(within_seconds) or self.document_request is not None

    @property
    def silent_seconds(self) -> float:
        """After how many seconds without a response the page hangs or is very busy."""
        return EXTENSION_SILENT_SECONDS if self.url.startswith("chrome-extension:") else SILENT_SECONDS

    def start_probes(self) -> None:
        """Ask the page and its process whether they respond."""
        self.probe.start()
        self._process_probe.start()

    async def process_responds(self, within_seconds: float) -> bool:
        """Return whether the page's process responds, which it does while a script runs.

        Chromium interrupts scripts for a few commands if the CDP session was attached before the script.
        Without a CDP session, the process is assumed to respond. During a navigation Chromium sends it no
        commands, so the state of the process is read from the operating system.
        """
        if self.own_cdp is not None and self.is_navigating:
            return not await has_stopped_renderer(self.playwright.context)
        return await self._process_probe.is_answered(within_seconds)

    async def _ask_process(self) -> None:
        if self.own_cdp is not None:
            await self.own_cdp.send("Performance.getMetrics")

    async def act_through_dialog(self, action: Coroutine[Any, Any, T]) -> T:
        """Run the action and return its result.

        If this is cancelled while a dialog is open, the action continues, and ends after the dialog.
        Otherwise Playwright would abort it before the browser has delivered the remaining events.
        """
        task = start_work(action)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if self.session.dialogs.find(self.id):
                self._interrupted.add(task)
                task.add_done_callback(self._interrupted.discard)
            else:
                task.cancel()
            raise

    async def finish_interrupted(self) -> None:
        """Wait for the actions that a dialog interrupted. Cancel them after 1 s."""
        if self._interrupted:
            _, unfinished = await asyncio.wait(self._interrupted, timeout=INTERRUPTED_SECONDS)
            for task in unfinished:
                task.cancel()

    async def throttle(self, throttling: Throttling, *, offline: bool) -> None:
        """Throttle the network. Chromium only.

        The emulation lasts as long as its CDP session, so the session is kept. Each command replaces all
        network conditions, so it also sets whether the page is offline.
        """
        if self._throttling is None:
            self._throttling = await self._page.context.new_cdp_session(self._page)
            await self._throttling.send("Network.enable")
        await self._throttling.send(
            "Network.emulateNetworkConditions", throttling.conditions(offline=offline)
        )

    async def close(self) -> None:
        """Close the page without its `beforeunload` handlers. Give up after 2 s."""
        self.closing = True
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(2.0):
                await self._page.close()


def _shorten(url: str) -> str:
    return url if len(url) <= MAX_STAGE_URL else f"{url[:MAX_STAGE_URL]}…"
