"""Track the requests of a page that the result of an action waits for."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footlight.browser.driver.playwright_api import Error

if TYPE_CHECKING:
    from playwright.async_api import Frame, Request, Response, WebSocket
    from playwright.async_api import Page as PlaywrightPage

__all__ = ["Traffic"]

LINGER_SECONDS = 1.0
"""How long a response that has begun to arrive may take, such as a response body or a document's images."""
REQUESTED_SECONDS = 1.0
"""How long a navigation that a document has begun may take to send its request. Some send none."""
NO_END_SECONDS = 3_600.0
"""Longer than any wait, which the caller limits."""
MAX_ENDED = 50

_AWAITED = frozenset({"document", "stylesheet", "script", "xhr", "fetch"})
"""Resource types that change the content of a page. Others add pictures and sounds, or are endless."""

_NETWORK_URLS = ("http", "chrome-extension:")
"""The beginnings of URLs whose documents are responses to requests."""


@dataclass(slots=True)
class _TrackedRequest:
    """A request. Times are those of `time.monotonic()`."""

    address: tuple[str, str]
    began: float
    answered: float | None = None
    streams: bool = False

    @property
    def until(self) -> float:
        """The time after which the request is no longer waited for."""
        if self.answered is None:
            return self.began + NO_END_SECONDS
        return self.answered if self.streams else self.answered + LINGER_SECONDS


@dataclass(frozen=True, slots=True)
class _FinishedRequest:
    sent: _TrackedRequest
    ended: float


class Traffic:
    """Tracks the pending requests of a page, and its next document until that has loaded.

    Times are those of `time.monotonic()`. Requests that were sent before `since` are not waited for.
    """

    def __init__(self, page: PlaywrightPage) -> None:
        self.request_count = 0
        """The number of requests of the awaited types that the page has sent."""
        self.replaced_at = 0.0
        """When the page last had a new document."""
        self._page = page
        self._sent: dict[Request, _TrackedRequest] = {}
        self._ended: deque[_FinishedRequest] = deque(maxlen=MAX_ENDED)
        self._requested = 0.0
        """When a document began a navigation whose request has not been seen, or 0."""
        self._answered: float | None = None
        self._committed: float | None = None
        self._dom_ready: float | None = None
        self._changed = asyncio.Event()
        self._has_opened_channel = False
        self._messaged = self._replied = 0.0
        """When a WebSocket last sent, and last received, a message."""
        page.on("websocket", self._on_socket)
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfinished", self._on_finished)
        page.on("requestfailed", self._on_failed)
        page.on("framenavigated", self._on_navigated)
        page.on("domcontentloaded", self._on_dom_ready)
        page.on("load", self._on_loaded)
        page.on("close", lambda _: self.end())
        page.on("crash", lambda _: self.end())

    @property
    def has_channels(self) -> bool:
        """Return whether messages may arrive without a request.

        They arrive by a worker, or by a WebSocket or an event stream of the current document.
        """
        return self._has_opened_channel or bool(self._page.workers)

    def expect_navigation(self) -> None:
        """Wait for the request of a navigation that a document has just begun."""
        self._requested = time.monotonic()

    def is_idle(self, since: float) -> bool:
        """Return whether everything that began since `since` has ended."""
        return self._find_end(since) <= time.monotonic()

    async def wait_until_idle(self, since: float) -> None:
        """Wait until everything that began since `since` has ended. The caller limits the wait."""
        await self._wait_until(lambda: self._find_end(since))

    async def wait_for_navigations(self, since: float) -> None:
        """Wait until the navigations that began since `since` have a response. The caller limits the wait."""
        await self._wait_until(lambda: self._find_answer(since))

    async def _wait_until(self, find_end: Callable[[], float]) -> None:
        while (seconds := find_end() - time.monotonic()) > 0:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()

    async def wait_for_request(self, since: float) -> None:
        """Wait until a request has been sent since `since`. The caller limits the wait."""
        while not any(
            self._is_new(each, since)
            for each in [*self._sent.values(), *(ended.sent for ended in self._ended)]
        ):
            self._changed.clear()
            await self._changed.wait()

    def is_reply_expected(self, since: float) -> bool:
        """Return whether a WebSocket has sent a message since `since`, and received none after it."""
        return self._messaged >= max(since, self._replied)

    async def wait_for_reply(self, since: float) -> None:
        """Wait until a WebSocket receives a message after the last one sent. The caller limits the wait."""
        while self.is_reply_expected(since):
            self._changed.clear()
            await self._changed.wait()

    def find_unanswered(self) -> str | None:
        """Return the URL of the oldest XMLHttpRequest without a response, or None."""
        waiting = (request for request, sent in self._sent.items() if sent.answered is None)
        return next((request.url for request in waiting if request.resource_type == "xhr"), None)

    def _find_end(self, since: float) -> float:
        sent = [each.until for each in self._sent.values() if self._is_new(each, since)]
        return max([*sent, self._request_until(since), self._document_until(since)])

    def _find_answer(self, since: float) -> float:
        unanswered = [
            each.until
            for request, each in self._sent.items()
            if each.answered is None and each.began >= since and request.is_navigation_request()
        ]
        return max([*unanswered, self._request_until(since)])

    def _request_until(self, since: float) -> float:
        """Return the time until which to wait for the request of a navigation that a document has begun."""
        return self._requested + REQUESTED_SECONDS if self._requested >= since else 0.0

    def _is_new(self, sent: _TrackedRequest, since: float) -> bool:
        """Return whether a request began since `since`, and does not continue a poll that began earlier."""
        return sent.began >= since and not any(
            before.sent.address == sent.address
            and before.sent.began < since - LINGER_SECONDS
            and before.ended >= since
            for before in self._ended
        )

    def _document_until(self, since: float) -> float:
        """Return the time until which to wait for the next document, its content and its subresources."""
        if self._committed is not None and self._committed >= since:
            return (
                self._committed + NO_END_SECONDS
                if self._dom_ready is None
                else self._dom_ready + LINGER_SECONDS
            )
        if self._answered is not None and self._answered >= since:
            return self._answered + LINGER_SECONDS
        return 0.0

    def _on_request(self, request: Request) -> None:
        if request.is_navigation_request():
            self._requested = 0.0
        if request.resource_type in _AWAITED:
            self.request_count += 1
            address = request.method, request.url.split("?", 1)[0]
            self._sent[request] = _TrackedRequest(address, time.monotonic())
            self._changed.set()
        elif request.resource_type == "eventsource":
            self._on_channel(request)

    def _on_channel(self, _: object) -> None:
        self._has_opened_channel = True

    def _on_socket(self, socket: WebSocket) -> None:
        self._on_channel(socket)
        socket.on("framesent", self._on_message)
        socket.on("framereceived", self._on_reply)

    def _on_message(self, _: object) -> None:
        self._messaged = time.monotonic()

    def _on_reply(self, _: object) -> None:
        self._replied = time.monotonic()
        self._changed.set()

    def _on_response(self, response: Response) -> None:
        request, now = response.request, time.monotonic()
        if sent := self._sent.get(request):
            sent.answered = now
            sent.streams = response.headers.get("content-type", "").startswith("text/event-stream")
            self._has_opened_channel |= sent.streams
        if self._is_next_document(request):
            self._answered = now
        self._changed.set()

    def _on_finished(self, request: Request) -> None:
        if sent := self._sent.pop(request, None):
            self._ended.append(_FinishedRequest(sent, time.monotonic()))
            self._changed.set()

    def _on_failed(self, request: Request) -> None:
        """Discard a response without a document: a download, or an empty response (204)."""
        if self._is_next_document(request):
            self._answered = None
        self._on_finished(request)

    def _on_navigated(self, frame: Frame) -> None:
        """Expect a new document to load. If only the URL has changed, there was no response."""
        self._requested = 0.0
        if frame != self._page.main_frame:
            return
        if self._answered is not None or not frame.url.startswith(_NETWORK_URLS):
            self._answered, self._dom_ready, self._has_opened_channel = None, None, False
            self._committed = self.replaced_at = time.monotonic()
        self._changed.set()

    def _on_dom_ready(self, _: object) -> None:
        self._dom_ready = time.monotonic()
        self._changed.set()

    def _on_loaded(self, _: object) -> None:
        self._committed = None
        self._changed.set()

    def end(self) -> None:
        """Wait for nothing that began until now, because the page or its browser is gone."""
        self._sent.clear()
        self._requested = 0.0
        self._answered = self._committed = None
        self._changed.set()

    def _is_next_document(self, request: Request) -> bool:
        with suppress(Error):  # The first request of a popup has no frame yet.
            return request.is_navigation_request() and request.frame == self._page.main_frame
        return False
