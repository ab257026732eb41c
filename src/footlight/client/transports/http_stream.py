"""One stream of messages over HTTP, on as many connections as it takes: it goes on where it was (R001-27)."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

import httpx2

from footlight.client.errors import MCPError
from footlight.client.messages import parse
from footlight.client.sse import ServerSentEvent, SseDecoder
from footlight.client.transports.http_answer import media_type

if TYPE_CHECKING:
    from footlight.client.messages import Message
    from footlight.client.transports.http_session import Session

__all__ = ["EventStream", "Take"]

logger = logging.getLogger(__name__)

RETRY_MS = 1000
MAX_PAUSE_MS = 30_000
MIN_PAUSE_MS = 50
"""For a server that closes at once and asks to come back at once."""
ATTEMPTS = 5
"""Failures in a row after which it is given up."""
REST_SECONDS = 0.05
RECENT = 1024
NOT_JSON = -32700

Take = Callable[["Message"], bool]
"""Takes a message: whether it was the last that is waited for."""


class EventStream:
    """Of the session with this id. `strict`: what is no message is an error, otherwise it is left out."""

    def __init__(
        self, session: Session, *, session_id: str | None, max_event_size: int, strict: bool
    ) -> None:
        self._session = session
        self._session_id = session_id
        self._max_event_size = max_event_size
        self._strict = strict
        self._retry_ms = RETRY_MS
        self._recent: deque[str] = deque(maxlen=RECENT)
        """The last ids."""
        self._begun = False
        self._failures = 0
        """Connections in a row that broke, or did not come about, without bringing anything."""
        self.last_event_id: str | None = None
        """Where to go on; None: it cannot."""

    async def follow(self, take: Take, on_open: Callable[[], None] | None = None) -> None:
        """Read over GET, again and again, until `take` had its last message.

        Raises:
            MCPError: the session is gone, the server refuses, or cannot be reached any more.
        """
        while True:
            if self._begun:
                await asyncio.sleep(self._pause_seconds)
            try:
                if await self._read_over_get(take, on_open):
                    return
            except MCPError as error:
                self._failures += 1
                if not _passes(error) or not self._begun or self._failures >= ATTEMPTS:
                    raise
                logger.debug("the stream broke: %s", error)

    async def _read_over_get(self, take: Take, on_open: Callable[[], None] | None) -> bool:
        async with self._session.get(
            session_id=self._session_id, last_event_id=self.last_event_id
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
        """How long to wait before the next connection: as the server asks, and longer after failures."""
        patience = max(self._retry_ms, MIN_PAUSE_MS << self._failures)
        return min(patience, MAX_PAUSE_MS) / 1000

    async def read(self, response: httpx2.Response, take: Take) -> bool:
        """Hand on the messages of one connection; False if the stream ended before `take` had its last.

        Raises:
            MCPError: what came is no message.
            httpx2.HTTPError: the connection broke.
        """
        self._begun = True
        decoder = SseDecoder(last_event_id=self.last_event_id, max_event_size=self._max_event_size)
        # On one connection a server may repeat an id for whatever reason. What comes again on another is
        # a replay.
        seen = frozenset(self._recent)
        async with aclosing(response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                if self._take_new(decoder.feed(chunk), seen, take):
                    await _read_rest(chunks)
                    return True
                self._note(decoder)
        return self._end(decoder, seen, take)

    def _end(self, decoder: SseDecoder, seen: frozenset[str], take: Take) -> bool:
        """The last event counts without its blank line (R001-12), unless it was cut and can come again."""
        resumable = self.last_event_id is not None
        try:
            done = self._take_new(decoder.end(), seen, take)
        except MCPError as error:
            if not resumable or error.rpc_code != NOT_JSON:
                raise
            return False
        self._note(decoder)
        return done

    def _note(self, decoder: SseDecoder) -> None:
        self.last_event_id = decoder.last_event_id
        if decoder.retry_ms is not None:
            self._retry_ms = decoder.retry_ms

    def _take_new(self, events: list[ServerSentEvent], seen: frozenset[str], take: Take) -> bool:
        for event in events:
            if event.id in seen:
                continue
            message = self._message_in(event)
            if event.id is not None:
                self._recent.append(event.id)
            if message is None:
                continue
            self._failures = 0
            if take(message):
                return True
        return False

    def _message_in(self, event: ServerSentEvent) -> Message | None:
        """None for an event that only carries an id, and for one of a kind that is not the protocol's."""
        if not event.data.strip():
            return None
        try:
            return parse(event.data, unit="streamed event")
        except MCPError as error:
            if event.event != "message":
                return None
            if self._strict:
                raise
            logger.warning("left out of the stream: %s", error)
            return None


def _passes(error: MCPError) -> bool:
    """Whether it may be better in a moment."""
    return error.reason == "network" or (error.status or 0) >= 500


async def _read_rest(chunks: AsyncGenerator[bytes]) -> None:
    """A stream that is read to its end leaves a connection for the next request; most end at once."""
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(REST_SECONDS):
            async for _ in chunks:
                pass
