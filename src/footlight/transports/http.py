"""MCP over Streamable HTTP on `/mcp`: the SDK's, behind a door of our own.

The door checks who comes (`Gate`), bounds what a request may take (size, time, connections), answers
browsers (CORS, as document 001 lists it) and watchers (`/healthz`, `/readyz`), and tells the protocol who
calls. Both eras of the protocol are served as the SDK serves them, except that answers are JSON until there
is more to send. Without transport sessions (`stateless`) it is what document 003 §6.2 describes: POST and a
JSON answer, 405 for everything else.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, JSONRPCError, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.server import ServerState

from footlight.caller import SCOPE_KEY
from footlight.transports import health
from footlight.transports.gate import Gate, Pass, Refusal
from footlight.transports.health import Ready
from footlight.transports.impatience import Impatient
from footlight.transports.lazy_json import LazyJson
from footlight.transports.listener import shown_url
from footlight.transports.messages import parse_message, to_json
from footlight.transports.presence import Present
from footlight.transports.protected_resource import metadata_path, resource_metadata
from footlight.transports.tls import server_ssl
from footlight.transports.transport_sessions import (
    REQUEST_KEY,
    SESSION_HEADER,
    Arrived,
    RecentEvents,
    TransportSessions,
)
from footlight.transports.unanswered import LARGE_REQUESTS

if TYPE_CHECKING:
    from mcp.server import Server

    from footlight.config import ListenSettings

__all__ = ["serve_http"]

logger = logging.getLogger(__name__)

PATH = "/mcp"
EVENTS_BYTES = 32 << 20
RETRY_MS = 1_000
KEEP_ALIVE_SECONDS = 30
HANG_UP_SECONDS = 0.5

CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate",
}
PREFLIGHT = {
    "Access-Control-Allow-Headers": (
        "Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID, Authorization, "
        "Mcp-Method, Mcp-Name"
    ),
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Max-Age": "600",
}


@asynccontextmanager
async def serve_http(
    server: Server[Any],
    listener: socket.socket,
    *,
    settings: ListenSettings,
    gate: Gate,
    ready: Ready,
    on_drain: Callable[[], None] = lambda: None,
    present: Present = nullcontext,
) -> AsyncGenerator[str]:
    """Serve on a bound socket, and yield the URL without the path. `present` is held by each request.

    At the end new requests are refused, and those that run have `settings.shutdown_timeout` to finish;
    `on_drain` is called before that wait, to end the streams that would last.
    """
    manager = StreamableHTTPSessionManager(
        server,
        event_store=None if settings.stateless else RecentEvents(max_bytes=EVENTS_BYTES),
        json_response=settings.stateless,
        stateless=settings.stateless,
        retry_interval=RETRY_MS,
        session_idle_timeout=settings.transport_session_timeout / 1000,
        max_request_body_size=settings.max_message_size,
        # Ours ends the idle ones at its limit; this one is for those that are not.
        max_sessions=2 * settings.max_transport_sessions,
    )
    inside = _inside(manager, settings)
    door = _Door(inside, settings=settings, gate=gate, ready=ready, present=present)
    async with manager.run(), _listening(door, listener, settings) as url:
        try:
            yield url
        finally:
            on_drain()
            await door.drain()


def _inside(manager: StreamableHTTPSessionManager, settings: ListenSettings) -> ASGIApp:
    if settings.stateless:
        return manager.handle_request
    return TransportSessions(
        LazyJson(manager.handle_request),
        limit=settings.max_transport_sessions,
        idle_seconds=settings.transport_session_timeout / 1000,
        max_requests=settings.max_requests,
        max_size=LARGE_REQUESTS * settings.max_message_size,
    )


@asynccontextmanager
async def _listening(app: ASGIApp, listener: socket.socket, settings: ListenSettings) -> AsyncGenerator[str]:
    tls = server_ssl(settings)
    config = uvicorn.Config(
        app,
        http=Impatient.within(settings.read_timeout / 1000, max_connections=settings.max_connections),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    config.load()
    config.ssl = tls
    server = _Uvicorn(config, read_seconds=settings.read_timeout / 1000)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield shown_url(listener, "https" if tls else "http")
    finally:
        server.should_exit = server.force_exit = True
        await _hang_up(server.server_state)
        with suppress(asyncio.CancelledError):
            await serving


async def _hang_up(state: ServerState) -> None:
    """Streams end by themselves when nobody is there; uvicorn logs an error for each that is cancelled."""
    for connection in list(state.connections):
        if connection.transport.get_write_buffer_size():
            connection.transport.abort()  # Nobody reads there.
        else:
            connection.transport.close()
    if state.tasks:
        _, stuck = await asyncio.wait(state.tasks, timeout=HANG_UP_SECONDS)
        for task in stuck:
            task.cancel()


class _Uvicorn(uvicorn.Server):
    """Leaves the signals to the program it runs in, and does not wait for ever for a client's TLS."""

    def __init__(self, config: uvicorn.Config, *, read_seconds: float) -> None:
        super().__init__(config)
        self._read_seconds = read_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        tls: Any = self.config.ssl
        for listener in sockets or ():
            server = await asyncio.get_running_loop().create_server(
                self._protocol,
                sock=listener,
                ssl=tls,
                ssl_handshake_timeout=self._read_seconds if tls else None,
                backlog=self.config.backlog,
            )
            self.servers.append(server)

    def _protocol(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Door:
    """ASGI: everything that is asked of a request before the protocol sees it."""

    def __init__(
        self, inside: ASGIApp, *, settings: ListenSettings, gate: Gate, ready: Ready, present: Present
    ) -> None:
        self._present = present
        self._inside = inside
        self._settings = settings
        self._gate = gate
        self._ready = ready
        self._metadata_path = metadata_path(settings)
        self._draining = False
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] in health.PATHS:
            status, told = await health.health(scope["path"], draining=self._draining, ready=self._ready)
            await JSONResponse(told, status)(scope, receive, send)
            return
        if scope["path"] == self._metadata_path:
            metadata = Response(resource_metadata(self._settings), media_type="application/json")
            await metadata(scope, receive, _with_cors(send))
            return
        await self._serve(scope, receive, _with_cors(send))

    async def drain(self) -> None:
        """Refuse new requests, and wait for those that run; not for ever."""
        self._draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.shutdown_timeout / 1000):
                await self._idle.wait()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        checked = _doubled(headers) or self._gate.check_sender(headers) or self._refusal(scope)
        if checked is None and _is_preflight(scope, headers):
            await Response(status_code=204, headers=PREFLIGHT)(scope, receive, send)
            return
        if checked is None:
            checked = await self._gate.check(headers)
        body = b""
        if isinstance(checked, Pass) and scope["method"] == "POST":
            arrived = await _body(receive, headers, self._settings)
            checked, body = (arrived, b"") if isinstance(arrived, Refusal) else (checked, arrived)
        if isinstance(checked, Refusal):
            await _refused(checked)(scope, receive, send)
            return
        item = parse_message(body, unit="body") if scope["method"] == "POST" else None
        if isinstance(item, JSONRPCError):
            # As on every transport; the SDK says it in another way in each era.
            await Response(to_json(item), 400, media_type="application/json")(scope, receive, send)
            return
        in_session = self._introduce(scope, headers, checked)
        if in_session and item is not None and isinstance(request := item.message, JSONRPCRequest):
            scope[REQUEST_KEY] = Arrived(request.id, len(body))
        with self._present():
            await self._count(scope, _replaying(body, receive), send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        """What is no question of who asks."""
        stateless = self._settings.stateless
        if scope["path"] != PATH and not (stateless and scope["path"] == "/"):
            return Refusal(404, f"Not found: MCP is served on {PATH}")
        if stateless and scope["method"] != "POST" and not _is_preflight(scope, Headers(scope=scope)):
            return Refusal(405, "Method not allowed: this server keeps no sessions", {"Allow": "POST"})
        if self._draining:
            return Refusal(503, "The server is shutting down", {"Connection": "close"})
        return None

    def _introduce(self, scope: Scope, headers: Headers, passed: Pass) -> bool:
        """Leave in the scope who calls, for the protocol and for the SDK; whether in a transport session."""
        version = headers.get("mcp-protocol-version")
        in_session = not self._settings.stateless and (
            version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
        )
        scope[SCOPE_KEY] = passed.caller(headers.get(SESSION_HEADER) if in_session else None)
        if passed.access is not None:
            # The SDK binds a transport session to the one who opened it.
            scope["user"] = AuthenticatedUser(passed.access)
        if self._settings.stateless:
            # Document 003's client sends nothing but its body; the SDK wants these.
            given = MutableHeaders(scope=scope)
            given["content-type"] = "application/json"
            given["accept"] = "application/json, text/event-stream"
        return in_session

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._inside(scope, receive, send)
            return
        self._running += 1
        self._idle.clear()
        try:
            if self._settings.stateless:
                await _until_gone(self._inside, scope, receive, send)
            else:
                await self._inside(scope, receive, send)
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()


async def _until_gone(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Cancel what nobody waits for: where the answer is always JSON, the SDK does not look."""
    body = await receive()
    gone = asyncio.Event()

    async def watch(cancel: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()
        cancel.cancel()

    async def replay() -> Message:
        nonlocal body
        if body["type"] == "http.disconnect":
            await gone.wait()
        message, body = body, {"type": "http.disconnect"}
        return message

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, tasks.cancel_scope)
        await app(scope, replay, send)
        tasks.cancel_scope.cancel()


def _doubled(headers: Headers) -> Refusal | None:
    """What is checked and what is used must be the same one."""
    for name in ("host", "origin", "authorization"):
        if len(headers.getlist(name)) > 1:
            return Refusal(400, f"Bad request: there is more than one {name.title()} header")
    return None


def _is_preflight(scope: Scope, headers: Mapping[str, str]) -> bool:
    return scope["method"] == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


async def _body(receive: Receive, headers: Headers, settings: ListenSettings) -> bytes | Refusal:
    """The whole of it, if it is not too large and does not take too long."""
    too_large = Refusal(413, f"Request body too large: at most {settings.max_message_size} bytes")
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared) > settings.max_message_size:
        return too_large
    body = bytearray()
    try:
        async with asyncio.timeout(settings.read_timeout / 1000):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return Refusal(400, "The request ended before its body did")
                body += message.get("body", b"")
                if len(body) > settings.max_message_size:
                    return too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return Refusal(
            408, f"The request took longer than {settings.read_timeout}ms to arrive", {"Connection": "close"}
        )


def _replaying(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _refused(refusal: Refusal) -> Response:
    code = INTERNAL_ERROR if refusal.status >= 500 else INVALID_REQUEST
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": refusal.message}}
    return Response(
        json.dumps(error), refusal.status, {**refusal.headers, "Content-Type": "application/json"}
    )


def _with_cors(send: Send) -> Send:
    async def send_with_cors(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(CORS)
        await send(message)

    return send_with_cors
