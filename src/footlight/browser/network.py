"""What a session's pages ask of the network: the log of it, and the rules that block, mock or slow it."""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from footlight.browser._playwright import Error

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Request, Response, Route, WebSocketRoute

__all__ = ["RESOURCE_TYPES", "LogEntry", "LogFilter", "MockResponse", "RequestLog", "Rules", "Throttling"]

LOG_SIZE = 5_000
MOST_HELD = 1_000
"""Requests whose headers and bodies can be asked for; Playwright keeps something of each."""

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
    """One request. Times are milliseconds; `started_at` since the epoch."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Every condition that is given must hold."""

    url: str | None = None
    """A part of the URL, or a pattern with `*`."""
    resource_type: str | None = None
    method: str | None = None
    status: int | None = None
    page: str | None = None

    def accepts(self, entry: LogEntry) -> bool:
        return (
            (self.url is None or _url_matches(self.url, entry.url))
            and (self.resource_type is None or entry.resource_type == self.resource_type)
            and (self.method is None or entry.method == self.method.upper())
            and (self.status is None or entry.status == self.status)
            and (self.page is None or entry.page == self.page)
        )


def _url_matches(pattern: str, url: str) -> bool:
    return _star_matches(pattern, url) if "*" in pattern else pattern in url


def _star_matches(pattern: str, url: str) -> bool:
    """`*` is any text. Nothing else is special: `?` and `[` are frequent in URLs."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), url, re.DOTALL) is not None


class RequestLog:
    """The last requests of a session, oldest first."""

    def __init__(self, page_of: Callable[[Request], str]) -> None:
        self._page_of = page_of
        self._count = 0
        self._entries: deque[LogEntry] = deque(maxlen=LOG_SIZE)
        self._held: dict[str, Request] = {}
        self._open: WeakKeyDictionary[Request, LogEntry] = WeakKeyDictionary()

    def watch(self, context: BrowserContext) -> None:
        context.on("request", self._on_request)
        context.on("response", self._on_response)
        context.on("requestfinished", self._on_finished)
        context.on("requestfailed", self._on_failed)

    def matching(self, wanted: LogFilter) -> list[LogEntry]:
        return [entry for entry in self._entries if wanted.accepts(entry)]

    def find(self, id: str) -> LogEntry | None:
        return next((entry for entry in self._entries if entry.id == id), None)

    def find_request(self, id: str) -> Request | None:
        """Playwright's own, of the latest ones only."""
        return self._held.get(id)

    @property
    def ids(self) -> tuple[str, str] | None:
        """Those of the oldest and the latest entry."""
        return (self._entries[0].id, self._entries[-1].id) if self._entries else None

    def knows(self, page: str) -> bool:
        """Whether there is an entry of this page."""
        return any(entry.page == page for entry in self._entries)

    def _on_request(self, request: Request) -> None:
        self._count += 1
        entry = LogEntry(
            f"request-{self._count}",
            request.url,
            request.method,
            request.resource_type,
            self._page_of(request),
            time.time() * 1000,
            time.monotonic(),
        )
        self._open[request] = entry
        self._entries.append(entry)
        self._held[entry.id] = request
        if len(self._held) > MOST_HELD:
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
        """A popup's first request comes before its page."""
        entry.page = entry.page or self._page_of(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class MockResponse:
    """What a mocked URL answers."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str = ""
    content_type: str | None = None

    @classmethod
    def of(
        cls, *, status: int, headers: Mapping[str, str], body: Any, content_type: str | None
    ) -> MockResponse:
        """A body that is not text is sent as JSON."""
        if body is None or isinstance(body, str):
            return cls(status=status, headers=headers, body=body or "", content_type=content_type)
        return cls(
            status=status,
            headers=headers,
            body=json.dumps(body),
            content_type=content_type or "application/json",
        )


@dataclass(frozen=True, slots=True)
class Throttling:
    """Bytes per second (-1: no limit) and milliseconds."""

    download: float
    upload: float
    latency: float

    @property
    def conditions(self) -> dict[str, float | bool]:
        """The parameters of Chromium's Network.emulateNetworkConditions."""
        return {
            "offline": False,
            "latency": self.latency,
            "downloadThroughput": self.download,
            "uploadThroughput": self.upload,
        }


class Rules:
    """Blocked resource types and mocked URLs. Nothing is intercepted until there is a rule."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._blocked: set[str] = set()
        self._mocks: dict[str, MockResponse] = {}
        self._routed = False
        self._sockets_routed = False

    @property
    def blocked(self) -> Sequence[str]:
        return sorted(self._blocked)

    @property
    def mocks(self) -> Mapping[str, MockResponse]:
        return self._mocks

    async def block(self, resource_type: str) -> None:
        self._blocked.add(resource_type)
        await self._update()

    async def unblock(self, resource_type: str) -> None:
        self._blocked.discard(resource_type)
        await self._update()

    async def mock(self, url: str, response: MockResponse) -> None:
        self._mocks[url] = response
        await self._update()

    async def unmock(self, url: str) -> None:
        self._mocks.pop(url, None)
        await self._update()

    async def _update(self) -> None:
        """Interception switches the HTTP cache off, so it is in place only while it is needed."""
        wanted = bool(self._blocked or self._mocks)
        if wanted and not self._routed:
            await self._context.route("**/*", self._on_route)
        elif self._routed and not wanted:
            await self._context.unroute("**/*", self._on_route)
        self._routed = wanted
        if "websocket" in self._blocked and not self._sockets_routed:
            self._sockets_routed = True
            await self._context.route_web_socket(re.compile(".*"), self._on_socket)

    async def _on_route(self, route: Route) -> None:
        request = route.request
        if mock := next((mock for url, mock in self._mocks.items() if _mock_matches(url, request.url)), None):
            await _fulfill(route, mock)
        elif request.resource_type in self._blocked:
            await route.abort("blockedbyclient")
        else:
            await route.fallback()

    async def _on_socket(self, socket: WebSocketRoute) -> None:
        if "websocket" in self._blocked:
            await socket.close(code=1008, reason="blocked")
        else:
            socket.connect_to_server()


async def _fulfill(route: Route, mock: MockResponse) -> None:
    try:
        await route.fulfill(
            status=mock.status,
            headers=dict(mock.headers),
            body=mock.body,
            content_type=mock.content_type,
        )
    except Error:  # The browser cannot give this response; the request must not wait for ever.
        with suppress(Error):
            await route.abort()


def _mock_matches(pattern: str, url: str) -> bool:
    return _star_matches(pattern, url)
