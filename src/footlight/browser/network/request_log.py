"""The log of the requests that a session's pages send."""

from __future__ import annotations

import itertools
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from footlight.patterns import matches_wildcard
from footlight.safe_text import cut_text

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Request, Response

__all__ = ["RESOURCE_TYPES", "LogEntry", "LogFilter", "RequestLog"]

LOG_SIZE = 5_000
MAX_URL = 5_000
"""The number of characters that are kept of a URL. A page can send thousands of URLs of 100 KB."""
MAX_REQUESTS_HELD = 1_000
"""The number of requests whose headers and bodies can be read. Playwright needs memory for each."""

MAX_SEARCHED = 200
"""The number of earlier requests that are searched for requests to the same path."""
MAX_COMPARED = 50
"""The number of earlier requests to the same path with which a request is compared."""
MAX_BODY = 10_000
"""The number of bytes of a body that are compared."""
POLLS = 2
"""The number of earlier requests without an action after which another one is a poll, not an effect."""

RESOURCE_TYPES = (
    "document",
    "stylesheet",
    "image",
    "media",
    "font",
    "script",
    "texttrack",
    "xhr",
    "fetch",
    "eventsource",
    "websocket",
    "manifest",
    "other",
)


@dataclass(slots=True)
class LogEntry:
    """A request. Times are in milliseconds; `started_at` is since the epoch."""

    id: str
    url: str
    method: str
    resource_type: str
    page: str
    started_at: float
    began: float
    status: int = 0
    duration: float | None = None
    failure: str | None = None
    ended: bool = False
    shape: bytes | None = None
    """A digest of the query and the body without their numbers, or None if it was not needed yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """The conditions for an entry. All conditions that are given must be met."""

    url: str | None = None
    """A part of the URL, or a pattern with `*`."""
    resource_type: str | None = None
    method: str | None = None
    """The HTTP method in capital letters."""
    status: int | None = None
    page: str | None = None

    def accepts(self, entry: LogEntry) -> bool:
        return (
            (self.url is None or _url_matches(self.url, entry.url))
            and (self.resource_type is None or entry.resource_type == self.resource_type)
            and (self.method is None or entry.method == self.method)
            and (self.status is None or entry.status == self.status)
            and (self.page is None or entry.page == self.page)
        )


def _url_matches(pattern: str, url: str) -> bool:
    return matches_wildcard(pattern, url) if "*" in pattern else pattern in url


def _address_of(entry: LogEntry) -> tuple[str, str]:
    return entry.method, entry.url.partition("?")[0]


class RequestLog:
    """The last requests of a session, oldest first."""

    def __init__(self, page_of: Callable[[Request], str]) -> None:
        self._page_of = page_of
        self._count = 0
        self._entries: deque[LogEntry] = deque(maxlen=LOG_SIZE)
        self._held: dict[str, Request] = {}
        self._dropped: Counter[str] = Counter()
        self._open: WeakKeyDictionary[Request, LogEntry] = WeakKeyDictionary()

    def watch(self, context: BrowserContext) -> None:
        context.on("request", self._on_request)
        context.on("response", self._on_response)
        context.on("requestfinished", self._on_finished)
        context.on("requestfailed", self._on_failed)

    def select(self, conditions: LogFilter) -> list[LogEntry]:
        return [entry for entry in self._entries if conditions.accepts(entry)]

    def note_dropped(self, page: str, count: int) -> None:
        """Count requests of a page that it has sent and of which nothing else is known."""
        self._dropped[page] += count

    def count_dropped(self, page: str | None) -> int:
        """Return how many requests of a page, or of all pages, were dropped and are not in the log."""
        return self._dropped.total() if page is None else self._dropped[page]

    def since(self, began: float, *, page: str) -> list[LogEntry]:
        """Return the requests that a page has sent since `began` (`time.monotonic()`), oldest first."""
        entries = itertools.takewhile(lambda entry: entry.began >= began, reversed(self._entries))
        return [entry for entry in entries if entry.page == page][::-1]

    def is_poll(self, entry: LogEntry, was_acting: Callable[[float], bool]) -> bool:
        """Return whether the page sends such requests by itself, at times when no action was running.

        Such requests go to the same path, and their queries and bodies differ only in numbers: to one path, a
        page may send what it polls and what a reader does. If no two of the earlier ones are alike, as with
        tokens that change, only the path is compared.
        """
        earlier = (each for each in self._list_earlier(entry) if not was_acting(each.began))
        by_itself = list(itertools.islice(earlier, MAX_COMPARED))
        if len(by_itself) < POLLS:
            return False
        counts = Counter(shape for each in by_itself if (shape := self._find_shape(each)))
        shape = self._find_shape(entry)
        is_varied = max(counts.values(), default=0) < POLLS
        return shape is None or is_varied or counts[shape] >= POLLS

    def have_same_body(self, entry: LogEntry, other: LogEntry) -> bool:
        """Return whether two requests are known to have the same body."""
        first, second = self._held.get(entry.id), self._held.get(other.id)
        return first is not None and second is not None and first.post_data_buffer == second.post_data_buffer

    def find_redirection(self, entry: LogEntry) -> str:
        """Return the URL to which a request was redirected, or ""."""
        request = first = self._held.get(entry.id)
        while request and (following := request.redirected_to):
            request = following
        return request.url if request and request is not first else ""

    def _list_earlier(self, entry: LogEntry) -> Iterator[LogEntry]:
        """Yield the earlier requests of the same page to the same path, latest first."""
        address = _address_of(entry)
        earlier = itertools.dropwhile(lambda each: each is not entry, reversed(self._entries))
        for each in itertools.islice(earlier, 1, MAX_SEARCHED):
            if each.page == entry.page and _address_of(each) == address:
                yield each

    def _find_shape(self, entry: LogEntry) -> bytes | None:
        """Return what requests that differ only in numbers have in common. None if Playwright's is gone."""
        if entry.shape is None and (request := self._held.get(entry.id)):
            query, body = entry.url.partition("?")[2], request.post_data_buffer or b""
            content = b"%b\n%b" % (query.encode(errors="replace"), body[:MAX_BODY])
            entry.shape = sha256(content.translate(None, b"0123456789")).digest()
        return entry.shape

    def find(self, id: str) -> LogEntry | None:
        return next((entry for entry in self._entries if entry.id == id), None)

    def find_request(self, id: str) -> Request | None:
        """Return Playwright's request, or None. It is kept only for the latest entries."""
        return self._held.get(id)

    @property
    def ids(self) -> tuple[str, str] | None:
        """The ids of the oldest and the latest entry, or None."""
        return (self._entries[0].id, self._entries[-1].id) if self._entries else None

    def has_page(self, page: str) -> bool:
        """Return whether the log has an entry of this page."""
        return any(entry.page == page for entry in self._entries)

    def _on_request(self, request: Request) -> None:
        self._count += 1
        entry = LogEntry(
            f"request-{self._count}",
            cut_text(request.url, MAX_URL),
            request.method,
            request.resource_type,
            self._page_of(request),
            time.time() * 1000,
            time.monotonic(),
        )
        self._open[request] = entry
        self._entries.append(entry)
        self._held[entry.id] = request
        if len(self._held) > MAX_REQUESTS_HELD:
            del self._held[next(iter(self._held))]

    def _on_response(self, response: Response) -> None:
        if entry := self._open.get(response.request):
            self._find_page(entry, response.request)
            entry.status = response.status
            entry.duration = (time.monotonic() - entry.began) * 1000

    def _on_finished(self, request: Request) -> None:
        if entry := self._open.pop(request, None):
            self._find_page(entry, request)
            entry.duration = (time.monotonic() - entry.began) * 1000
            entry.ended = True

    def _on_failed(self, request: Request) -> None:
        if entry := self._open.pop(request, None):
            self._find_page(entry, request)
            entry.duration = (time.monotonic() - entry.began) * 1000
            entry.failure = request.failure or "failed"
            entry.ended = True

    def _find_page(self, entry: LogEntry, request: Request) -> None:
        """Set the page of an entry. The first request of a popup is sent before its page is known."""
        entry.page = entry.page or self._page_of(request)
