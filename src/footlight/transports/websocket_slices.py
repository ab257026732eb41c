"""A WebSocket connection on which a flood of frames does not block the event loop, for server and client."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from websockets.asyncio.connection import Connection
from websockets.frames import CloseCode

__all__ = ["SlicedConnection"]

logger = logging.getLogger(__name__)

SLICE = 512
"""The number of bytes of a connection that are processed at once."""
TURN_SECONDS = 0.005
"""How long one turn of the event loop may process data of a connection."""
MAX_UNREAD_PONGS = 64 << 10
"""The maximum size of answers to pings that the peer has not read."""


class SlicedConnection(Connection):
    """Processes data in slices, and disconnects a peer that sends pings without reading the answers.

    It is a base class for connections of a server or a client, before the class of the library.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._unread = bytearray()
        self._unread_pongs = 0
        """The maximum size of the answers to pings in the write buffer."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.recv_messages.resume = self._resume_reading

    def data_received(self, data: bytes) -> None:
        """Process data in slices for a short time, and the rest in later turns of the event loop.

        The data may contain 40,000 pings, each of which is answered while it is parsed.
        """
        self._unread += data
        if len(self._unread) > len(data):
            return
        if len(data) > SLICE:
            self.transport.pause_reading()
        self._read_slices()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unread.clear()
        super().connection_lost(exc)

    def _read_slices(self) -> None:
        ends = self.loop.time() + TURN_SECONDS
        while self._unread:
            if self.loop.time() > ends:
                self.loop.call_soon(self._read_slices)
                return
            data = bytes(self._unread[:SLICE])
            self._process(data)
            del self._unread[: len(data)]
        if not self.recv_messages.paused:
            self.transport.resume_reading()

    def _process(self, data: bytes) -> None:
        before = self.transport.get_write_buffer_size()
        super().data_received(data)
        added = self.transport.get_write_buffer_size() - before
        self._unread_pongs = min(self._unread_pongs, before) + max(0, added)
        if self._unread_pongs > MAX_UNREAD_PONGS:
            logger.warning("disconnected a peer that sends pings and does not read the answers")
            self._unread.clear()
            self.protocol.fail(CloseCode.POLICY_VIOLATION, "the answers to pings were not read")
            self.transport.abort()

    def _resume_reading(self) -> None:
        """Resume reading, unless slices are left, in which case the last slice resumes it."""
        if not self._unread:
            self.transport.resume_reading()
