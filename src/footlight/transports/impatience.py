"""Connections that open and then say nothing, or say it one byte at a time, are closed."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Impatient"]


class Impatient(H11Protocol):
    """uvicorn's protocol, with a time limit for the head of a request. It has one only between requests."""

    def __init__(self, *arguments: Any, read_seconds: float, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._read_seconds = read_seconds
        self._too_late: asyncio.TimerHandle | None = None

    @classmethod
    def within(cls, seconds: float) -> Any:
        """For uvicorn's configuration."""
        return functools.partial(cls, read_seconds=seconds)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._await_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._too_late is None:
            self._too_late = self.loop.call_later(self._read_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._too_late is not None:
            self._too_late.cancel()
            self._too_late = None
