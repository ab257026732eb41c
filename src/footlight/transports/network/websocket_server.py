"""Serve MCP over WebSocket, check the handshake, and limit the resources of each connection."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
)
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import NegotiationError
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.typing import Subprotocol

from footlight.caller import Caller, OnDisconnect, ignore_disconnect
from footlight.transports.messages import parse_message
from footlight.transports.network import health
from footlight.transports.network.access import AccessControl, AccessGrant, Refusal
from footlight.transports.network.connection_limits import LINGERING, turn_away
from footlight.transports.network.health import Ready
from footlight.transports.network.listener import make_url
from footlight.transports.network.tls import server_ssl
from footlight.transports.pending_requests import LARGE_REQUESTS, PendingRequests, overload_error
from footlight.transports.websocket_options import SUBPROTOCOL, WIRE
from footlight.transports.websocket_slices import SlicedConnection
from footlight.transports.websocket_wire import STALL_SECONDS, Wire, open_streams

if TYPE_CHECKING:
    from footlight.config import ListenSettings

__all__ = ["Read", "WebSocketContext", "Write", "serve_websocket"]

logger = logging.getLogger(__name__)

PATHS = ("/", "/mcp")
LAST_SECONDS = 2.0
"""The time limit for cancelled handlers when the server stops."""

Read = MemoryObjectReceiveStream[SessionMessage | Exception]
Write = MemoryObjectSendStream[SessionMessage]

ServeConnection = Callable[[Read, Write], Awaitable[None]]
"""Serves MCP over one connection until `read` ends."""


@dataclass(frozen=True, slots=True)
class WebSocketContext:
    """The request context of a message, in which `get_caller` finds the caller."""

    caller: Caller


@asynccontextmanager
async def serve_websocket(
    listener: socket.socket,
    *,
    settings: ListenSettings,
    access_control: AccessControl,
    serve_connection: ServeConnection,
    ready: Ready,
    on_drain: Callable[[], None] = lambda: None,
    on_disconnect: OnDisconnect = ignore_disconnect,
    stall_seconds: float = STALL_SECONDS,
) -> AsyncGenerator[str]:
    """Serve on a bound socket, which is closed on exit, and yield the URL.

    On exit, new requests are refused, and running ones have `settings.shutdown_timeout` to finish. `on_drain`
    is called before that wait, to end long-lived streams. `on_disconnect` is called with the caller of each
    connection that has ended.
    """
    with listener:
        tls = server_ssl(settings)
        url = make_url(listener, "wss" if tls else "ws")
        clients = _WebSocketConnections(serve_connection, on_disconnect, settings, stall_seconds)
        checks = _HandshakeChecks(clients, settings=settings, access_control=access_control, ready=ready)
        server = await serve(
            clients.serve,
            sock=listener,
            ssl=tls,
            ssl_handshake_timeout=settings.read_timeout / 1000 if tls else None,
            process_request=checks.refuse,
            process_response=checks.refuse_one_too_many,
            select_subprotocol=_subprotocol,
            # The parameter is declared as a class, but used as a factory.
            create_connection=cast("type[ServerConnection]", checks.socket),
            server_header=None,
            open_timeout=settings.read_timeout / 1000,
            max_size=settings.max_message_size,
            **WIRE,
        )
        try:
            yield url
        finally:
            with anyio.CancelScope(shield=True):
                server.close(close_connections=False)
                on_drain()
                await clients.drain()
                checks.close()
                await _wait_closed(server)


def _subprotocol(_: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Choose the subprotocol, or None if the client offers none, as simple clients do."""
    if offered and SUBPROTOCOL not in offered:
        raise NegotiationError(f"the subprotocol here is {SUBPROTOCOL}")
    return SUBPROTOCOL if offered else None


async def _wait_closed(server: Server) -> None:
    try:
        async with asyncio.timeout(LAST_SECONDS):
            await server.wait_closed()
    except TimeoutError:
        logger.warning("left a connection behind whose call does not end")


class _Socket(SlicedConnection, ServerConnection):
    """A connection, from before its handshake. `grant` is set when the handshake is accepted."""

    grant: AccessGrant | None = None

    def __init__(self, *arguments: Any, sockets: set[_Socket], max_connections: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._sockets = sockets
        self._max_connections = max_connections
        self._turned_away = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._sockets.add(self)
        # Allow twice the limit, because connections in the handshake are included.
        above = len(self._sockets) - 2 * self._max_connections
        if above > 0:
            self._turned_away = True
            turn_away(self.transport, self._max_connections, linger=above <= LINGERING)

    def eof_received(self) -> None:
        if not self._turned_away:
            super().eof_received()

    def data_received(self, data: bytes) -> None:
        if not self._turned_away:
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._sockets.discard(self)
        super().connection_lost(exc)


class _HandshakeChecks:
    """Checks the opening handshakes."""

    def __init__(
        self,
        clients: _WebSocketConnections,
        *,
        settings: ListenSettings,
        access_control: AccessControl,
        ready: Ready,
    ) -> None:
        self._clients = clients
        self._settings = settings
        self._access_control = access_control
        self._ready = ready
        self._sockets: set[_Socket] = set()

    def socket(self, *arguments: Any, **options: Any) -> _Socket:
        limit = self._settings.max_connections
        return _Socket(*arguments, sockets=self._sockets, max_connections=limit, **options)

    def close(self) -> None:
        """Close the connections that are still in the handshake."""
        for waiting in [each for each in self._sockets if each.state is State.CONNECTING]:
            waiting.transport.abort()

    async def refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        path = request.path.partition("?")[0]
        if path in health.PATHS:
            draining = self._clients.draining
            status, body = await health.health(path, draining=draining, ready=self._ready)
            return _json_response(connection, status, body)
        checked = await self._check(request)
        if isinstance(checked, AccessGrant) and path not in PATHS:
            checked = Refusal(404, f"Not found: MCP is served on {' and '.join(PATHS)}")
        if isinstance(checked, Refusal):
            return _response(connection, checked.status, checked.message, checked.headers)
        cast("_Socket", connection).grant = checked
        return None

    def refuse_one_too_many(
        self, connection: ServerConnection, _: Request, response: Response
    ) -> Response | None:
        limit = self._settings.max_connections
        if response.status_code == 101 and self._clients.count >= limit:
            logger.warning("refused a connection: there are %d", limit)
            return _response(connection, 503, f"Too many connections ({limit})")
        return None

    async def _check(self, request: Request) -> AccessGrant | Refusal:
        headers: dict[str, str] = {}
        for name, value in request.headers.raw_items():
            if (name := name.lower()) in headers and name in ("host", "origin", "authorization"):
                return Refusal(400, f"Bad request: there is more than one {name.title()} header")
            headers[name] = value
        return await self._access_control.check(headers)


def _response(
    connection: ServerConnection, status: int, text: str, headers: Mapping[str, str] | None = None
) -> Response:
    response = connection.respond(status, text)
    for name, value in (headers or {}).items():
        response.headers.pop(name, None)  # Setting an existing header would add a second one.
        response.headers[name] = value
    return response


def _json_response(connection: ServerConnection, status: int, body: Mapping[str, str]) -> Response:
    return _response(connection, status, json.dumps(body), {"Content-Type": "application/json"})


class _WebSocketConnections:
    """The open connections of the server."""

    def __init__(
        self,
        serve_connection: ServeConnection,
        on_disconnect: OnDisconnect,
        settings: ListenSettings,
        stall: float,
    ) -> None:
        self._serve_connection = serve_connection
        self._on_disconnect = on_disconnect
        self._settings = settings
        self._stall_seconds = stall
        self._open: set[_WebSocketConnection] = set()
        self.draining = False

    @property
    def count(self) -> int:
        return len(self._open)

    async def serve(self, connection: ServerConnection) -> None:
        """Serve one connection until it ends."""
        grant = cast("_Socket", connection).grant
        assert grant is not None
        client = _WebSocketConnection(
            Wire(connection, stall_seconds=self._stall_seconds),
            WebSocketContext(grant.caller(secrets.token_hex(16))),
            among=self,
            settings=self._settings,
        )
        self._open.add(client)
        logger.info("Client connected")
        try:
            async with open_streams(client.wire, client.accept, on_answer=client.on_answer) as (read, write):
                await self._serve_connection(read, write)
        finally:
            client.pending.idle.set()
            self._open.discard(client)
            logger.info("Client disconnected")
            self._on_disconnect(client.caller)

    async def drain(self) -> None:
        """Refuse new requests, wait a limited time for the running ones, and close."""
        self.draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.shutdown_timeout / 1000):
                for client in list(self._open):
                    await client.pending.idle.wait()
        await asyncio.gather(*(each.wire.close(1001, "The server is shutting down") for each in self._open))


class _WebSocketConnection:
    """A connection with its pending requests."""

    def __init__(
        self, wire: Wire, context: WebSocketContext, *, among: _WebSocketConnections, settings: ListenSettings
    ) -> None:
        self.wire = wire
        self._context = context
        self.caller = context.caller
        self._among = among
        self.pending = PendingRequests(
            max_requests=settings.max_requests, max_size=LARGE_REQUESTS * settings.max_message_size
        )

    async def accept(self, frame: str | bytes) -> SessionMessage | None:
        """Return the message with its caller, or answer a frame that is not valid and return None."""
        if isinstance(frame, bytes):
            await self.wire.close(1003, "Only text frames are messages")
            return None
        item = parse_message(frame, unit="message")
        if isinstance(item, SessionMessage) and isinstance(request := item.message, JSONRPCRequest):
            item = self._refuse(request, len(frame)) or self._add(request, len(frame))
        elif isinstance(item, SessionMessage):
            item.metadata = ServerMessageMetadata(request_context=self._context)
        if isinstance(item, SessionMessage):
            return item
        await self.wire.send(item)
        return None

    def on_answer(self, message: JSONRPCMessage) -> None:
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self.pending.settle(message.id)

    def _refuse(self, request: JSONRPCRequest, size: int) -> JSONRPCError | None:
        if self._among.draining:
            return overload_error(request.id, "The server is shutting down")
        return self.pending.refuse(request.id, size)

    def _add(self, request: JSONRPCRequest, size: int) -> SessionMessage:
        self.pending.add(request.id, size)

        async def settle() -> None:
            self.pending.settle(request.id)

        metadata = ServerMessageMetadata(request_context=self._context, on_request_unanswered=settle)
        return SessionMessage(request, metadata)
