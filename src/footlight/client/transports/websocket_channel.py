"""A WebSocket as the client's channel: a text frame is a message, a close frame is the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    PayloadTooBig,
    ProxyError,
)
from websockets.protocol import State

from footlight.client.errors import MCPConnectionError, MCPError, ServerNotAvailableError
from footlight.client.messages import Message, encode, parse
from footlight.client.transports.causes import cause
from footlight.client.transports.closing import outlast
from footlight.transports.loopback import is_loopback
from footlight.transports.websocket_options import CLOSE_SECONDS, SUBPROTOCOL, WIRE

if TYPE_CHECKING:
    from footlight.client.channel import Channel, Receiver
    from footlight.client.transports.websocket import WebSocket

__all__ = ["connected"]

logger = logging.getLogger("footlight.client.websocket")

# On the level DEBUG it writes each header, and so the token.
_frames = logging.getLogger("footlight.client.websocket.frames")
_frames.setLevel(logging.INFO)

OPEN_SECONDS = 10.0
MAX_BODY = 64 << 10
MAX_TOLD = 200


async def connected(transport: WebSocket, receiver: Receiver) -> Channel:
    """The channel of a new connection."""
    try:
        socket = await _open(transport)
    except InvalidStatus as error:
        raise _refusal(error, transport) from None
    except (OSError, InvalidHandshake, InvalidProxy, UnicodeError, ImportError) as error:
        raise ServerNotAvailableError(f"{transport.where}: {_why_not(error)}") from None
    return _WebSocketChannel(socket, receiver, transport)


async def _open(transport: WebSocket) -> ClientConnection:
    options: dict[str, Any] = {**WIRE, "max_size": transport.max_size}
    if transport.ssl is not None:
        options["ssl"] = transport.ssl
    return await _Connect(
        transport.address,
        subprotocols=[SUBPROTOCOL],
        additional_headers=transport.request_headers,
        proxy=None if is_loopback(urlsplit(transport.url).hostname or "") else True,
        open_timeout=OPEN_SECONDS,
        logger=_frames,
        **options,
    )


class _Connect(connect):
    """A redirect is a refusal: headers and token are meant for this address alone."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def _refusal(error: InvalidStatus, transport: WebSocket) -> ServerNotAvailableError:
    response = error.response
    body = (response.body or b"")[:MAX_BODY].decode(errors="replace").strip()
    for name, value in transport.request_headers.items():
        if name.lower() == "authorization" and (secret := value.split(" ")[-1]):
            body = body.replace(secret, "***")
    told = body if len(body) <= MAX_TOLD and body.isprintable() else ""
    return ServerNotAvailableError(
        f"{transport.where}: the server refused the connection: HTTP {response.status_code}: "
        f"{told or response.reason_phrase}",
        reason="http",
        rpc_code=response.status_code,
        status=response.status_code,
        data=body or None,
    )


def _why_not(error: Exception) -> str:
    """What other libraries raise, in words: theirs may quote a header or the address of a proxy."""
    match error:
        case TimeoutError():
            return f"the server did not answer within {OPEN_SECONDS:.0f} s"
        case ProxyError() | InvalidProxy() | ImportError():
            return "the proxy for this address cannot be used"
        case InvalidHandshake():
            return "what answers does not speak WebSocket"
        case UnicodeError():
            return "there is no such host"
        case OSError():
            return f"no connection: {cause(error)}"
        case _:
            return "no connection"


class _WebSocketChannel:
    cancels_by_closing = False

    def __init__(self, socket: ClientConnection, receiver: Receiver, transport: WebSocket) -> None:
        self._socket = socket
        self._receiver = receiver
        self._where = transport.where
        self._max_size = transport.max_size
        self._turn = asyncio.Lock()
        self._closed = False
        self._closing: asyncio.Task[None] | None = None
        self._reading = asyncio.create_task(self._read(), name="footlight-websocket")

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:  # noqa: ARG002
        frame = encode(message)
        try:
            async with self._turn:
                # Not behind a backlog, which would grow with each message that is given up.
                await self._socket.drain()
                await self._socket.send(frame, text=True)
        except ConnectionClosed as error:
            raise self._error(error) from None
        except OSError:
            await self._socket.wait_closed()
        # To wait for room ends without a word when the connection does.
        if self._socket.state is State.CLOSED:
            raise self._error(self._socket.close_exc)

    def negotiated(self, version: str) -> None:
        pass

    async def close(self) -> None:
        self._closed = True
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="footlight-websocket-close")
        await outlast(self._closing)

    async def _close(self) -> None:
        try:
            # It bounds the wait for an answer, but not that for room.
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._socket.close()
        finally:
            self._socket.transport.abort()
            await self._socket.wait_closed()
            await asyncio.wait([self._reading])

    async def _read(self) -> None:
        try:
            while True:
                self._take(await self._socket.recv())
        except ConnectionClosed as error:
            if not self._closed:
                self._receiver.lost(self._error(error))

    def _take(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            logger.warning("%s: skipped a binary frame of %d bytes", self._where, len(frame))
            return
        try:
            message = parse(frame, unit="frame")
        except MCPError:
            logger.warning("%s: skipped a frame that is no message: %.120r", self._where, frame[:120])
            return
        if not self._closed:
            self._receiver.receive(message)

    def _error(self, error: ConnectionClosed) -> MCPConnectionError:
        if self._closed:
            return MCPConnectionError(f"{self._where}: the connection was closed", reason="not_connected")
        return MCPConnectionError(f"{self._where}: {self._how(error)}")

    def _how(self, error: ConnectionClosed) -> str:
        if isinstance(error.__cause__, PayloadTooBig):
            return f"the server sent a message of more than {self._max_size} bytes"
        if error.rcvd is not None:
            reason = f": {error.rcvd.reason}" if error.rcvd.reason else ""
            return f"the server closed the connection with code {error.rcvd.code}{reason}"
        if error.sent is not None:
            return f"the connection was given up with code {error.sent.code}: {error.sent.reason}"
        return "the connection broke"
