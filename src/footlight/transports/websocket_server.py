"""The server's end of MCP over WebSocket: who may connect, and how much of us one connection may take."""

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
    RequestId,
)
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import NegotiationError
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.typing import Subprotocol

from footlight.caller import Caller
from footlight.transports import health
from footlight.transports.gate import Gate, Pass, Refusal
from footlight.transports.health import Ready
from footlight.transports.listener import shown_url
from footlight.transports.messages import parse_message
from footlight.transports.tls import server_ssl
from footlight.transports.unanswered import LARGE_REQUESTS, Unanswered, exhausted
from footlight.transports.websocket import STALL_SECONDS, Wire, streams
from footlight.transports.websocket_options import SUBPROTOCOL, WIRE

if TYPE_CHECKING:
    from footlight.config import ListenSettings

__all__ = ["Read", "WebSocketContext", "Write", "serve_websocket"]

logger = logging.getLogger(__name__)

PATHS = ("/", "/mcp")
LAST_SECONDS = 2.0
"""For handlers that were cancelled, at the end."""

Read = MemoryObjectReceiveStream[SessionMessage | Exception]
Write = MemoryObjectSendStream[SessionMessage]

ServeConnection = Callable[[Read, Write], Awaitable[None]]
"""Speak MCP over one connection until `read` ends."""


@dataclass(frozen=True, slots=True)
class WebSocketContext:
    """What the protocol finds as a message's request (`caller_of`)."""

    caller: Caller


@asynccontextmanager
async def serve_websocket(
    listener: socket.socket,
    *,
    settings: ListenSettings,
    gate: Gate,
    serve_connection: ServeConnection,
    ready: Ready,
    on_drain: Callable[[], None] = lambda: None,
    stall_seconds: float = STALL_SECONDS,
) -> AsyncGenerator[str]:
    """Serve on a bound socket, which is closed on return, and yield the URL (R003-78, R003-79).

    At the end new requests are refused, and those that run have `settings.shutdown_timeout` to finish;
    `on_drain` is called before that wait, to end the streams that would last.
    """
    with listener:
        tls = server_ssl(settings)
        url = shown_url(listener, "wss" if tls else "ws")
        clients = _Clients(serve_connection, settings, stall_seconds)
        door = _Door(clients, settings=settings, gate=gate, ready=ready)
        server = await serve(
            clients.serve,
            sock=listener,
            ssl=tls,
            ssl_handshake_timeout=settings.read_timeout / 1000 if tls else None,
            process_request=door.refuse,
            process_response=door.refuse_one_too_many,
            select_subprotocol=_subprotocol,
            # Declared as a class, used as what makes one.
            create_connection=cast("type[ServerConnection]", door.socket),
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
                door.close()
                await _ended(server)


def _subprotocol(_: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Document 003's own client offers none."""
    if offered and SUBPROTOCOL not in offered:
        raise NegotiationError(f"the subprotocol here is {SUBPROTOCOL}")
    return SUBPROTOCOL if offered else None


async def _ended(server: Server) -> None:
    try:
        async with asyncio.timeout(LAST_SECONDS):
            await server.wait_closed()
    except TimeoutError:
        logger.warning("left a connection behind whose call does not end")


class _Socket(ServerConnection):
    """A connection, from its first byte; `passed` is what the gate gave it."""

    passed: Pass | None = None

    def __init__(self, *arguments: Any, sockets: set[_Socket], limit: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._sockets = sockets
        self._limit = limit

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._sockets.add(self)
        if len(self._sockets) > self._limit:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._sockets.discard(self)
        super().connection_lost(exc)


class _Door:
    """The opening handshake: everything that is asked of a connection before anything is spent on it."""

    def __init__(self, clients: _Clients, *, settings: ListenSettings, gate: Gate, ready: Ready) -> None:
        self._clients = clients
        self._settings = settings
        self._gate = gate
        self._ready = ready
        self._sockets: set[_Socket] = set()

    def socket(self, *arguments: Any, **options: Any) -> _Socket:
        """Twice as many as may be open: those that have not said yet what they want are connections too."""
        limit = 2 * self._settings.max_connections
        return _Socket(*arguments, sockets=self._sockets, limit=limit, **options)

    def close(self) -> None:
        """Hang up on those that have not come in yet."""
        for waiting in [each for each in self._sockets if each.state is State.CONNECTING]:
            waiting.transport.abort()

    async def refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        path = request.path.partition("?")[0]
        if path in health.PATHS:
            draining = self._clients.draining
            status, told = await health.health(path, draining=draining, ready=self._ready)
            return _json_response(connection, status, told)
        checked = await self._check(request)
        if isinstance(checked, Pass) and path not in PATHS:
            checked = Refusal(404, f"Not found: MCP is served on {' and '.join(PATHS)}")
        if isinstance(checked, Refusal):
            return _response(connection, checked.status, checked.message, checked.headers)
        cast("_Socket", connection).passed = checked
        return None

    def refuse_one_too_many(
        self, connection: ServerConnection, _: Request, response: Response
    ) -> Response | None:
        limit = self._settings.max_connections
        if response.status_code == 101 and self._clients.count >= limit:
            logger.warning("refused a connection: there are %d", limit)
            return _response(connection, 503, f"Too many connections ({limit})")
        return None

    async def _check(self, request: Request) -> Pass | Refusal:
        headers: dict[str, str] = {}
        for name, value in request.headers.raw_items():
            if (name := name.lower()) in headers and name in ("host", "origin", "authorization"):
                return Refusal(400, f"Bad request: there is more than one {name.title()} header")
            headers[name] = value
        return await self._gate.check(headers)


def _response(
    connection: ServerConnection, status: int, text: str, headers: Mapping[str, str] | None = None
) -> Response:
    response = connection.respond(status, text)
    for name, value in (headers or {}).items():
        response.headers.pop(name, None)  # Setting one that is there would add a second.
        response.headers[name] = value
    return response


def _json_response(connection: ServerConnection, status: int, body: Mapping[str, str]) -> Response:
    return _response(connection, status, json.dumps(body), {"Content-Type": "application/json"})


class _Clients:
    """The open connections."""

    def __init__(self, serve_connection: ServeConnection, settings: ListenSettings, stall: float) -> None:
        self._serve_connection = serve_connection
        self._settings = settings
        self._stall_seconds = stall
        self._open: set[_Client] = set()
        self.draining = False

    @property
    def count(self) -> int:
        return len(self._open)

    async def serve(self, connection: ServerConnection) -> None:
        """One of them, from its opening to its end."""
        passed = cast("_Socket", connection).passed
        assert passed is not None
        client = _Client(
            Wire(connection, stall_seconds=self._stall_seconds),
            WebSocketContext(passed.caller(secrets.token_hex(16))),
            among=self,
            settings=self._settings,
        )
        self._open.add(client)
        logger.info("Client connected")
        try:
            async with streams(client.wire, client.accept, on_answer=client.answered) as (read, write):
                await self._serve_connection(read, write)
        finally:
            client.idle.set()
            self._open.discard(client)
            logger.info("Client disconnected")

    async def drain(self) -> None:
        """Refuse new requests, wait for those that run, though not for ever, and close."""
        self.draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.shutdown_timeout / 1000):
                for client in list(self._open):
                    await client.idle.wait()
        await asyncio.gather(*(each.wire.close(1001, "The server is shutting down") for each in self._open))


class _Client:
    """What one connection asked, and has not been answered yet."""

    def __init__(
        self, wire: Wire, context: WebSocketContext, *, among: _Clients, settings: ListenSettings
    ) -> None:
        self.wire = wire
        self.idle = asyncio.Event()
        """Set while nothing is unanswered."""
        self.idle.set()
        self._context = context
        self._among = among
        self._unanswered = Unanswered(
            max_requests=settings.max_requests, max_size=LARGE_REQUESTS * settings.max_message_size
        )

    async def accept(self, frame: str | bytes) -> SessionMessage | None:
        """The message for the protocol, with its sender. What is none is answered here."""
        if isinstance(frame, bytes):
            await self.wire.close(1003, "Only text frames are messages")
            return None
        item = parse_message(frame, unit="message")
        if isinstance(item, SessionMessage) and isinstance(request := item.message, JSONRPCRequest):
            item = self._refusal(request, len(frame)) or self._counted(request, len(frame))
        elif isinstance(item, SessionMessage):
            item.metadata = ServerMessageMetadata(request_context=self._context)
        if isinstance(item, SessionMessage):
            return item
        await self.wire.send(item)
        return None

    def answered(self, message: JSONRPCMessage) -> None:
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._settle(message.id)

    def _refusal(self, request: JSONRPCRequest, size: int) -> JSONRPCError | None:
        if self._among.draining:
            return exhausted(request.id, "The server is shutting down")
        return self._unanswered.refuse(request.id, size)

    def _counted(self, request: JSONRPCRequest, size: int) -> SessionMessage:
        self._unanswered.add(request.id, size)
        self.idle.clear()

        async def settle() -> None:
            self._settle(request.id)

        metadata = ServerMessageMetadata(request_context=self._context, on_request_unanswered=settle)
        return SessionMessage(request, metadata)

    def _settle(self, request_id: RequestId | None) -> None:
        self._unanswered.settle(request_id)
        if not self._unanswered:
            self.idle.set()
