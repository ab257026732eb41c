"""Limit the number of connections, and the time for a client to send or read data."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["LINGERING", "TimeLimitedProtocol", "turn_away"]

STALL_SECONDS = 10.0
LINGER_SECONDS = 2.0
LINGERING = 100
"""The number of connections above the limit that may finish sending. Further ones are closed at once."""


def turn_away(transport: asyncio.Transport, limit: int, *, linger: bool) -> None:
    """Send a 503 response to a connection above the limit, and close the connection.

    A connection that is closed with unread data is reset, and its client may not receive the response. With
    `linger`, only the sending side is closed, so that the client can finish; the caller must discard its
    data.
    """
    body = f"Too many connections ({limit})".encode()
    head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Length: {len(body)}\r\nRetry-After: 1\r\n"
    transport.write(f"{head}Content-Type: text/plain\r\nConnection: close\r\n\r\n".encode() + body)
    if linger and transport.can_write_eof():
        transport.write_eof()
        asyncio.get_running_loop().call_later(LINGER_SECONDS, transport.abort)
    else:
        transport.close()


class TimeLimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with time limits for requests and slow readers, and a connection limit.

    uvicorn itself limits only the time between requests, and refuses the requests of all clients when its
    connection limit is reached. This class refuses only the connections above the limit.
    """

    def __init__(self, *arguments: Any, read_seconds: float, max_connections: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._read_seconds = read_seconds
        self._max_connections = max_connections
        self._too_many = False
        self._turned_away = False
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    @classmethod
    def factory(cls, seconds: float, *, max_connections: int) -> Any:
        """Return a protocol factory for uvicorn's configuration."""
        return functools.partial(cls, read_seconds=seconds, max_connections=max_connections)

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        above = len(self.connections) - self._max_connections
        if above > LINGERING:
            self._turn_away(linger=False)
            return
        self._too_many = above > 0  # The 503 is sent when the client sends a request.
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self._too_many:
            self._turn_away(linger=True)
            return
        super().data_received(data)
        # The time limit does not apply to the rest of a body that arrives after the response.
        if self.conn.their_state is h11.IDLE or self.conn.our_state is h11.DONE:
            self._await_head()
        else:
            self._stop_waiting()

    def _turn_away(self, *, linger: bool) -> None:
        if not self._turned_away:
            self._too_many = self._turned_away = True
            self._stop_waiting()
            turn_away(self.transport, self._max_connections, linger=linger)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reader(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_watching()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_watching()
        super().connection_lost(exc)

    def _await_reader(self, bytes_left: int) -> None:
        """Abort the connection if the client reads none of `bytes_left` bytes within `STALL_SECONDS`."""

        def look() -> None:
            now = self.transport.get_write_buffer_size()
            if now >= bytes_left:
                self.transport.abort()
            else:
                self._await_reader(now)

        self._write_timer = self.loop.call_later(STALL_SECONDS, look)

    def _stop_watching(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _await_head(self) -> None:
        if self._read_timer is None:
            self._read_timer = self.loop.call_later(self._read_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None
