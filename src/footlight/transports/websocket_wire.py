"""Connect a WebSocket and the SDK by a pair of streams, for server and client."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING

import anyio
from websockets.exceptions import ConnectionClosed

from footlight.transports.messages import to_json
from footlight.transports.stream_pair import Incoming, Outgoing, Received, Streams, open_stream_pair
from footlight.transports.websocket_options import CLOSE_SECONDS

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage
    from websockets.asyncio.connection import Connection

__all__ = ["STALL_SECONDS", "Wire", "open_streams"]

logger = logging.getLogger(__name__)

Accept = Callable[[str | bytes], Awaitable[Received | None]]
"""Returns the item for the stream that a frame contains, or None."""

STALL_SECONDS = 10.0


class Wire:
    """A WebSocket with time limits for sending and closing."""

    def __init__(self, socket: Connection, *, stall_seconds: float = STALL_SECONDS) -> None:
        self._socket = socket
        self._stall_seconds = stall_seconds
        self._turn = asyncio.Lock()
        self._left = 0
        """The number of bytes in the write buffer when `_look` was called last."""

    async def receive(self) -> str | bytes:
        """Return the next frame.

        Raises:
            ConnectionClosed: the connection has ended.
        """
        return await self._socket.recv()

    async def send(self, message: JSONRPCMessage) -> None:
        """Send a message. Disconnect a peer that does not read.

        Raises:
            ConnectionClosed: the connection has ended.
        """
        text = to_json(message)
        async with self._turn:
            # `_look` runs when the text is in the buffer, while this waits for the peer to read it.
            asyncio.get_running_loop().call_soon(self._look)
            taking: Awaitable[None] = self._socket.send(text)
            while not await self._wait_for_reader(taking):
                taking = self._socket.drain()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Send a close frame, and close the connection even if the peer does not answer."""
        with anyio.CancelScope(shield=True):
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._socket.close(code, reason)
            await self._abort()

    async def _wait_for_reader(self, taking: Awaitable[None]) -> bool:
        """Return True when the data was read or the peer disconnected, or False if the peer reads slowly."""
        try:
            async with asyncio.timeout(self._stall_seconds):
                await taking
        except TimeoutError:
            before = self._left
            if self._look() < before:
                return False
            logger.warning("disconnected a peer that does not read")
            await self._abort()
        return True

    def _look(self) -> int:
        self._left = self._socket.transport.get_write_buffer_size()
        return self._left

    async def _abort(self) -> None:
        self._socket.transport.abort()
        await self._socket.wait_closed()


def open_streams(
    wire: Wire, accept: Accept, *, on_answer: Callable[[JSONRPCMessage], None] = lambda _: None
) -> AbstractAsyncContextManager[Streams]:
    """Return a context that yields a pair of streams for the SDK, and closes them.

    `on_answer` is called with each message before it is sent.
    """
    receive = functools.partial(_read, wire, accept)
    send = functools.partial(_write, wire, on_answer)
    return open_stream_pair(receive, send, hang_up=wire.close)


async def _read(wire: Wire, accept: Accept, incoming: Incoming, outgoing: Outgoing) -> None:
    async with incoming:
        try:
            while True:
                if (item := await accept(await wire.receive())) is not None:
                    await incoming.send(item)
        except ConnectionClosed:
            outgoing.close()
        except anyio.BrokenResourceError:
            pass  # The reading side is closed, and the streams will be closed soon.


async def _write(wire: Wire, on_answer: Callable[[JSONRPCMessage], None], outgoing: Outgoing) -> None:
    async with outgoing:
        # A closed connection is detected here, or by the reader, which closes the stream.
        with suppress(ConnectionClosed, anyio.ClosedResourceError):
            async for item in outgoing:
                on_answer(item.message)
                await wire.send(item.message)
