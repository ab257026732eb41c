"""Connections are limited: in number, and in how long they may say nothing, or say it a byte at a time."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import h11
from uvicorn.protocols.http.flow_control import service_unavailable
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Impatient"]

STALL_SECONDS = 10.0
REFUSED_AT_ONCE = 100
"""So many connections above the limit are told so; more are dropped."""


class Impatient(H11Protocol):
    """uvicorn's protocol, with a time limit for the head of a request. It has one only between requests.

    And its limit of connections, once reached, refuses the requests of all; ours only those above it.
    """

    def __init__(self, *arguments: Any, read_seconds: float, max_connections: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._read_seconds = read_seconds
        self._max_connections = max_connections
        self._too_late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    @classmethod
    def within(cls, seconds: float, *, max_connections: int) -> Any:
        """For uvicorn's configuration."""
        return functools.partial(cls, read_seconds=seconds, max_connections=max_connections)

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        above = len(self.connections) - self._max_connections
        if above > REFUSED_AT_ONCE:
            transport.abort()
        elif above > 0:
            # When it asks, for a connection that is closed with something unread is reset, and nobody hears.
            self.app = service_unavailable
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # The rest of a body may also come after its answer, for as long as the sender likes.
        if self.conn.their_state is h11.IDLE or self.conn.our_state is h11.DONE:
            self._await_head()
        else:
            self._stop_waiting()

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

    def _await_reader(self, left: int) -> None:
        """A client that takes nothing of what is sent to it for a while is not coming back."""

        def look() -> None:
            now = self.transport.get_write_buffer_size()
            if now >= left:
                self.transport.abort()
            else:
                self._await_reader(now)

        self._stalled = self.loop.call_later(STALL_SECONDS, look)

    def _stop_watching(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _await_head(self) -> None:
        if self._too_late is None:
            self._too_late = self.loop.call_later(self._read_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._too_late is not None:
            self._too_late.cancel()
            self._too_late = None
