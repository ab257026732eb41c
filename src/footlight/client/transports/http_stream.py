"""A stream of messages over HTTP, which is continued on a new connection after an interruption."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

import httpx2

from footlight.client.transports.http_answer import check_coding, media_type, read_chunks
from footlight.client.transports.http_headers import is_header_value
from footlight.log import LimitedWarnings
from footlight.protocol.errors import MCPError
from footlight.protocol.messages import parse
from footlight.protocol.sse import ServerSentEvent, SseDecoder

if TYPE_CHECKING:
    from footlight.client.transports.http_session import HttpSession
    from footlight.protocol.messages import Message

__all__ = ["EventStream", "StreamReader", "Take"]

logger = logging.getLogger(__name__)

RETRY_MS = 1000
MIN_PAUSE_MS = 50
MAX_BACK_OFF_MS = 5_000
"""The maximum pause between connections that bring no message. Pauses grow exponentially. A longer pause that
the server requests is observed.
"""
ATTEMPTS = 5
"""The number of consecutive failures after which the stream fails."""
REST_SECONDS = 0.05
MAX_RECENT_IDS = 1024
NOT_JSON = -32700

Take = Callable[["Message"], bool]
"""Handles a message. Returns whether it was the last one that the caller needs."""


class EventStream:
    """Reads a stream of a session. Malformed messages are errors if `strict`, and skipped otherwise."""

    def __init__(
        self, session: HttpSession, *, session_id: str | None, max_event_size: int, strict: bool
    ) -> None:
        self._session = session
        self._session_id = session_id
        self._max_event_size = max_event_size
        self._strict = strict
        self._retry_ms = RETRY_MS
        self._retry_after_ms = 0.0
        """The pause that the last refusal has requested."""
        self._recent_ids: deque[str] = deque(maxlen=MAX_RECENT_IDS)
        self._warnings = LimitedWarnings(logger)
        self._started = False
        self._failures = 0
        """The number of failed connections since the last message."""
        self._empty_connections = 0
        """The number of failed or ended connections since the last message."""
        self.last_event_id: str | None = None
        """The id of the event to resume after, or None if the stream cannot be resumed."""

    async def follow(self, take: Take, on_open: Callable[[], None] | None = None) -> None:
        """Read over GET, with new connections if necessary, until `take` returns True.

        Raises:
            MCPError: the session has expired, the server refused, or it cannot be reached any more.
        """
        while True:
            if self._started:
                await asyncio.sleep(self._pause_seconds)
            self._empty_connections += 1
            self._retry_after_ms = 0.0
            try:
                if await self._read_over_get(take, on_open):
                    return
            except MCPError as error:
                self._failures += 1
                if not _is_temporary(error) or not self._started or self._failures >= ATTEMPTS:
                    raise
                self._retry_after_ms = error.retry_after_ms or 0.0
                logger.debug("the stream broke: %s", error)

    async def _read_over_get(self, take: Take, on_open: Callable[[], None] | None) -> bool:
        async with self._session.get(
            session_id=self._session_id, last_event_id=self.last_event_id, continues=self._started
        ) as response:
            if media_type(response) != "text/event-stream":
                raise MCPError(
                    "The server answers GET with no stream of events",
                    reason="protocol",
                    status=response.status_code,
                )
            if on_open is not None:
                on_open()
            return await self.read(response, take)

    @property
    def _pause_seconds(self) -> float:
        """Return the pause before the next connection. It grows while connections bring no message."""
        back_off = MIN_PAUSE_MS * 2 ** min(self._empty_connections, 16)
        return max(self._retry_ms, self._retry_after_ms, min(back_off, MAX_BACK_OFF_MS)) / 1000

    async def read(self, response: httpx2.Response, take: Take) -> bool:
        """Pass the messages of one connection to `take`. Return whether `take` has returned True.

        Raises:
            MCPError: an event is not a message, and the stream is `strict`.
            httpx2.HTTPError: the connection broke.
        """
        check_coding(response)
        self._started = True
        decoder = SseDecoder(last_event_id=self.last_event_id, max_event_size=self._max_event_size)
        # An event with the id of an earlier connection is a replay. Within a connection, ids may be repeated.
        seen = frozenset(self._recent_ids)
        async with aclosing(read_chunks(response)) as chunks:
            async for chunk in chunks:
                if self._take_new(decoder.feed(chunk), seen, take):
                    await _read_rest(chunks)
                    return True
                self._update_position(decoder)
        return self._read_end(decoder, seen, take)

    def _read_end(self, decoder: SseDecoder, seen: frozenset[str], take: Take) -> bool:
        """Handle an event that no blank line ends. Ignore it if it is incomplete and can be sent again."""
        try:
            return self._take_new(decoder.end(), seen, take)
        except MCPError as error:
            if self.last_event_id is None or error.rpc_code != NOT_JSON:
                raise
            return False

    def _update_position(self, decoder: SseDecoder) -> None:
        place = decoder.last_event_id
        self.last_event_id = place if place is not None and is_header_value(place) else None
        if decoder.retry_ms is not None:
            self._retry_ms = decoder.retry_ms

    def _take_new(self, events: list[ServerSentEvent], seen: frozenset[str], take: Take) -> bool:
        for event in events:
            if event.id in seen:
                continue
            message = self._parse_event(event)
            if event.id is not None:
                self._recent_ids.append(event.id)
            if message is None:
                continue
            self._failures = self._empty_connections = 0
            if take(message):
                return True
        return False

    def _parse_event(self, event: ServerSentEvent) -> Message | None:
        """Return the message of an event, or None if the event has no data or is not of MCP's type."""
        if not event.data.strip():
            return None
        try:
            return parse(event.data, unit="streamed event")
        except MCPError as error:
            if event.event != "message":
                return None
            if self._strict:
                raise
            self._warnings.log("left out of the stream: %s", error)
            return None


def _is_temporary(error: MCPError) -> bool:
    """Return whether connecting again may succeed."""
    return error.reason == "network" or error.status == 429 or (error.status or 0) >= 500


async def _read_rest(chunks: AsyncGenerator[bytes]) -> None:
    """Read the stream to its end within a short time limit, so that the connection can be reused."""
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(REST_SECONDS):
            async for _ in chunks:
                pass


HEAD_SECONDS = 5.0

"""The time limit for the response to GET. The stream is then considered open, because some servers do not
respond before the first message.
"""

CLOSE_SECONDS = 5.0


class StreamReader:
    """Reads an event stream in the background. `on_error` is called once if it fails after it was opened."""

    def __init__(self, stream: EventStream, take: Take, on_error: Callable[[MCPError], None]) -> None:
        self._opened: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._on_error = on_error
        self._failed = False
        self._task = asyncio.create_task(self._read(stream, take))

    async def wait_open(self) -> bool:
        """Return True when the stream is open, or False if the server has none (405).

        Raises:
            MCPError: the stream could not be opened for another reason.
        """
        try:
            await asyncio.wait([self._opened], timeout=HEAD_SECONDS)
        except asyncio.CancelledError:
            await self.close()
            raise
        self._set_open()
        return self._opened.result()

    async def close(self) -> None:
        self._failed = True
        self._task.cancel()
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        if not self._opened.cancel():
            self._opened.exception()  # Retrieve it, because a cancelled waiter does not.

    def fail(self, error: MCPError) -> None:
        """End the stream, and report the error to `on_error`, or to `wait_open` if it is not open yet."""
        if self._failed:
            return
        self._failed = True
        if self._opened.done():
            self._on_error(error)
        elif error.status == 405:
            self._opened.set_result(False)
        else:
            self._opened.set_exception(error)
        if asyncio.current_task() is not self._task:
            self._task.cancel()

    async def _read(self, stream: EventStream, take: Take) -> None:
        try:
            await stream.follow(take, self._set_open)
        except MCPError as error:
            self.fail(error)

    def _set_open(self) -> None:
        if not self._opened.done():
            self._opened.set_result(True)
