"""MCP over WebSocket: a text frame is a JSON-RPC message, a close frame is the end. The subprotocol is `mcp`.

The client's end, and what both ends share. The server's is in `websocket_server`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from footlight.transports.loopback import is_loopback
from footlight.transports.messages import read_message, to_json
from footlight.transports.websocket_options import CLOSE_SECONDS, SUBPROTOCOL, WIRE

if TYPE_CHECKING:
    from ssl import SSLContext

    from mcp_types import JSONRPCMessage
    from websockets.asyncio.connection import Connection

__all__ = ["STALL_SECONDS", "HandshakeRefused", "Wire", "connect_websocket", "streams"]

logger = logging.getLogger(__name__)

Received = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Received], MemoryObjectSendStream[SessionMessage]]
Accept = Callable[[str | bytes], Awaitable[Received | None]]
"""A frame becomes what is read, or nothing."""

STALL_SECONDS = 10.0
FLUSH_SECONDS = 1.0


class HandshakeRefused(ConnectionError):
    """The server did not open the WebSocket: `status` and `body` are its answer."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"the server refused the connection: HTTP {status}: {body}")
        self.status = status
        self.body = body


@asynccontextmanager
async def connect_websocket(
    url: str,
    *,
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
    max_size: int = 64 << 20,
    ssl: SSLContext | None = None,
) -> AsyncGenerator[Streams]:
    """Connect, and yield `(read, write)`. `max_size` are the bytes of a message that may come.

    What is no message is read as an exception. `read` ends when the connection does.

    Raises:
        HandshakeRefused: the server said no.
        ConnectionError: it does not speak WebSocket, or there is none.
        TimeoutError: it says nothing.
    """
    authorization = {} if token is None else {"Authorization": f"Bearer {token}"}
    options: dict[str, Any] = {**WIRE, "max_size": max_size} | ({} if ssl is None else {"ssl": ssl})
    wire = Wire(await _open(url, headers={**(headers or {}), **authorization}, options=options))
    async with streams(wire, _received) as both:
        yield both


async def _open(url: str, *, headers: Mapping[str, str], options: Mapping[str, Any]) -> ClientConnection:
    try:
        return await _Connect(
            url,
            subprotocols=[SUBPROTOCOL],
            additional_headers=headers,
            proxy=None if is_loopback(urlsplit(url).hostname or "") else True,
            **options,
        )
    except InvalidURI as error:
        raise ValueError(str(error)) from None
    except InvalidStatus as error:
        response = error.response
        body = (response.body or b"").decode(errors="replace").strip()
        raise HandshakeRefused(response.status_code, body or response.reason_phrase) from None
    except InvalidHandshake as error:
        raise ConnectionError(f"the server does not speak MCP over WebSocket: {error}") from error


class _Connect(connect):
    """A redirect is a refusal: headers and token are meant for this address alone."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


async def _received(frame: str | bytes) -> Received:
    if isinstance(frame, bytes):
        return ValueError(f"a binary frame of {len(frame)} bytes is no message")
    try:
        return read_message(frame)
    except ValueError as error:
        return error


# Both ends


class Wire:
    """A WebSocket whose waits all have an end."""

    def __init__(self, socket: Connection, *, stall_seconds: float = STALL_SECONDS) -> None:
        self._socket = socket
        self._stall_seconds = stall_seconds
        self._turn = asyncio.Lock()
        self._left = 0
        """Bytes that were not taken when we looked."""

    async def receive(self) -> str | bytes:
        """The next frame.

        Raises:
            ConnectionClosed: there is none any more.
        """
        return await self._socket.recv()

    async def send(self, message: JSONRPCMessage) -> None:
        """Return when the peer is near enough to having it. One that takes nothing is disconnected.

        Raises:
            ConnectionClosed: it is gone.
        """
        text = to_json(message)
        async with self._turn:
            # Runs once the text is written, and this waits for the peer to take it.
            asyncio.get_running_loop().call_soon(self._look)
            taking: Awaitable[None] = self._socket.send(text)
            while not await self._settled(taking):
                taking = self._socket.drain()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Say goodbye, and hang up whether it is answered or not."""
        with anyio.CancelScope(shield=True):
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._socket.close(code, reason)
            await self._abort()

    async def _settled(self, taking: Awaitable[None]) -> bool:
        """Whether there is nothing to wait for any more. A slow peer may take its time, if it takes some."""
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


@asynccontextmanager
async def streams(
    wire: Wire, accept: Accept, *, on_answer: Callable[[JSONRPCMessage], None] = lambda _: None
) -> AsyncGenerator[Streams]:
    """The wire as the pair that the SDK works on. Closed on return.

    `on_answer` is told each message before it goes out.
    """
    incoming, read = anyio.create_memory_object_stream[Received](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    reading = asyncio.create_task(_read(wire, accept, incoming, on_end=outgoing.close))
    writing = asyncio.create_task(_write(wire, outgoing, on_answer))
    try:
        yield read, write
    finally:
        write.close()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([writing], timeout=FLUSH_SECONDS)
            await wire.close()
            for task in (reading, writing):
                task.cancel()
            await asyncio.wait([reading, writing])
        for stream in (incoming, read, outgoing):
            stream.close()
        for task in (reading, writing):
            if not task.cancelled():
                task.result()


async def _read(
    wire: Wire, accept: Accept, incoming: MemoryObjectSendStream[Received], *, on_end: Callable[[], None]
) -> None:
    async with incoming:
        try:
            while True:
                if (item := await accept(await wire.receive())) is not None:
                    await incoming.send(item)
        except ConnectionClosed:
            on_end()
        except anyio.BrokenResourceError:
            pass  # Nobody listens any more: whoever has the streams is about to close them.


async def _write(
    wire: Wire,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    on_answer: Callable[[JSONRPCMessage], None],
) -> None:
    async with outgoing:
        # It is found out here, or the reader has, and closed the stream.
        with suppress(ConnectionClosed, anyio.ClosedResourceError):
            async for item in outgoing:
                on_answer(item.message)
                await wire.send(item.message)
