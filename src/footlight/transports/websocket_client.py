"""Connect a client to MCP over WebSocket."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI

from footlight.transports.loopback import is_loopback
from footlight.transports.messages import read_message
from footlight.transports.stream_pair import Received, Streams
from footlight.transports.websocket_options import SUBPROTOCOL, WIRE
from footlight.transports.websocket_wire import Wire, open_streams

if TYPE_CHECKING:
    from ssl import SSLContext

__all__ = ["HandshakeRefusedError", "connect_websocket"]


class HandshakeRefusedError(ConnectionError):
    """The server refused the WebSocket. `status` and `body` are those of its HTTP response."""

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
    """Connect, and yield `(read, write)`. `max_size` is the maximum size of a received message in bytes.

    A frame that is not a message is received as an exception. `read` ends with the connection.

    Raises:
        HandshakeRefusedError: the server refused the connection.
        ConnectionError: the server cannot be reached, or does not support WebSocket.
        TimeoutError: the server does not respond.
    """
    authorization = {} if token is None else {"Authorization": f"Bearer {token}"}
    options: dict[str, Any] = {**WIRE, "max_size": max_size} | ({} if ssl is None else {"ssl": ssl})
    wire = Wire(await _open(url, headers={**(headers or {}), **authorization}, options=options))
    async with open_streams(wire, _parse_frame) as both:
        yield both


async def _open(url: str, *, headers: Mapping[str, str], options: Mapping[str, Any]) -> ClientConnection:
    try:
        return await _RefusalAwareConnect(
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
        raise HandshakeRefusedError(response.status_code, body or response.reason_phrase) from None
    except InvalidHandshake as error:
        raise ConnectionError(f"the server does not speak MCP over WebSocket: {error}") from error


class _RefusalAwareConnect(connect):
    """Treats a redirect as a refusal, because the headers and the token are for this address only."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


async def _parse_frame(frame: str | bytes) -> Received:
    if isinstance(frame, bytes):
        return ValueError(f"a binary frame of {len(frame)} bytes is not a message")
    try:
        return read_message(frame)
    except ValueError as error:
        return error
