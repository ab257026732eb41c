"""MCP over Streamable HTTP on `/mcp`: the SDK's implementation behind checks of our own.

`_AccessMiddleware` checks the caller (`AccessControl`), limits the size and time of a request, answers CORS
preflights and health checks (`/healthz`, `/readyz`), and attaches the caller to the request. Both eras of the
protocol are served as by the SDK, except that a single response is sent as JSON. Without transport sessions
(`stateless`) there is only POST with a JSON response, and 405 for everything else.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol

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

from footlight.caller import SCOPE_KEY, OnDisconnect, ignore_disconnect
from footlight.transports.activity import TrackActivity
from footlight.transports.messages import parse_message, to_json
from footlight.transports.network import health
from footlight.transports.network.access import AccessControl, AccessGrant, Refusal
from footlight.transports.network.connection_limits import TimeLimitedProtocol
from footlight.transports.network.health import Ready
from footlight.transports.network.http_sessions import (
    REQUEST_KEY,
    SESSION_HEADER,
    IncomingRequest,
    RecentEventStore,
    TransportSessions,
)
from footlight.transports.network.json_answers import JsonAnswers
from footlight.transports.network.listener import make_url
from footlight.transports.network.protected_resource import metadata_path, resource_metadata
from footlight.transports.network.tls import server_ssl
from footlight.transports.pending_requests import LARGE_REQUESTS

if TYPE_CHECKING:
    from mcp.server import Server

    from footlight.config import ListenSettings

__all__ = ["serve_app", "serve_http"]

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


class Site(Protocol):
    """Pages beside the MCP endpoint, such as the watch page."""

    def owns(self, path: str) -> bool: ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


@asynccontextmanager
async def serve_http(
    server: Server[Any],
    listener: socket.socket,
    *,
    settings: ListenSettings,
    access_control: AccessControl,
    ready: Ready,
    on_drain: Callable[[], None] = lambda: None,
    on_disconnect: OnDisconnect = ignore_disconnect,
    track_activity: TrackActivity = nullcontext,
    site: Site | None = None,
) -> AsyncGenerator[str]:
    """Serve on a bound socket, and yield the URL without the path. Each request holds `track_activity`.

    At the end new requests are refused, and those that run have `settings.shutdown_timeout` to finish;
    `on_drain` is called before that wait, to end the streams that would last. `on_disconnect` is called
    with the caller of each transport session that has ended. `site` answers its own path, and makes the
    checks of `access_control` itself.
    """
    manager = StreamableHTTPSessionManager(
        server,
        event_store=None if settings.stateless else RecentEventStore(max_bytes=EVENTS_BYTES),
        json_response=settings.stateless,
        stateless=settings.stateless,
        retry_interval=RETRY_MS,
        session_idle_timeout=settings.transport_session_timeout / 1000,
        max_request_body_size=settings.max_message_size,
        # `TransportSessions` ends idle sessions at its own limit; this limit is for those in use.
        max_sessions=2 * settings.max_transport_sessions,
    )
    app = _make_app(manager, settings, on_disconnect)
    middleware = _AccessMiddleware(
        app,
        settings=settings,
        access_control=access_control,
        ready=ready,
        track_activity=track_activity,
        site=site,
    )
    async with manager.run(), serve_app(middleware, listener, settings) as url:
        try:
            yield url
        finally:
            on_drain()
            await middleware.drain()


def _make_app(
    manager: StreamableHTTPSessionManager, settings: ListenSettings, on_disconnect: OnDisconnect
) -> ASGIApp:
    if settings.stateless:
        return manager.handle_request
    return TransportSessions(
        JsonAnswers(manager.handle_request),
        limit=settings.max_transport_sessions,
        idle_seconds=settings.transport_session_timeout / 1000,
        max_requests=settings.max_requests,
        max_size=LARGE_REQUESTS * settings.max_message_size,
        on_end=on_disconnect,
    )


@asynccontextmanager
async def serve_app(app: ASGIApp, listener: socket.socket, settings: ListenSettings) -> AsyncGenerator[str]:
    """Serve an application on a bound socket, and yield the URL without the path."""
    tls = server_ssl(settings)
    config = uvicorn.Config(
        app,
        http=TimeLimitedProtocol.factory(
            settings.read_timeout / 1000, max_connections=settings.max_connections
        ),
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
        yield make_url(listener, "https" if tls else "http")
    finally:
        server.should_exit = server.force_exit = True
        await _hang_up(server.server_state)
        with suppress(asyncio.CancelledError):
            await serving


async def _hang_up(state: ServerState) -> None:
    """Close the connections, so that streams end by themselves: uvicorn logs an error for a cancelled one."""
    for connection in list(state.connections):
        if connection.transport.get_write_buffer_size():
            connection.transport.abort()  # The client does not read.
        else:
            connection.transport.close()
    if state.tasks:
        _, stuck = await asyncio.wait(state.tasks, timeout=HANG_UP_SECONDS)
        for task in stuck:
            task.cancel()


class _Uvicorn(uvicorn.Server):
    """A uvicorn server that leaves signals to this program and limits the time of a TLS handshake."""

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


class _AccessMiddleware:
    """ASGI middleware: all checks of a request before the SDK sees it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ListenSettings,
        access_control: AccessControl,
        ready: Ready,
        track_activity: TrackActivity,
        site: Site | None,
    ) -> None:
        self._site = site
        self._track_activity = track_activity
        self._app = app
        self._settings = settings
        self._access_control = access_control
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
            status, body = await health.health(scope["path"], draining=self._draining, ready=self._ready)
            await JSONResponse(body, status)(scope, receive, send)
            return
        if scope["path"] == self._metadata_path:
            metadata = Response(resource_metadata(self._settings), media_type="application/json")
            await metadata(scope, receive, _with_cors(send))
            return
        if self._site is not None and self._site.owns(scope["path"]):
            with self._track_activity():
                await self._site(scope, receive, send)
            return
        await self._serve(scope, receive, _with_cors(send))

    async def drain(self) -> None:
        """Refuse new requests, and wait a limited time for the running ones."""
        self._draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.shutdown_timeout / 1000):
                await self._idle.wait()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        checked = (
            _refuse_repeated_headers(headers)
            or self._access_control.check_sender(headers)
            or self._refuse_request(scope)
        )
        if checked is None and _is_preflight(scope, headers):
            await Response(status_code=204, headers=PREFLIGHT)(scope, receive, send)
            return
        if checked is None:
            checked = await self._access_control.check(headers)
        body = b""
        if isinstance(checked, AccessGrant) and scope["method"] == "POST":
            received = await _read_body(receive, headers, self._settings)
            checked, body = (received, b"") if isinstance(received, Refusal) else (checked, received)
        if isinstance(checked, Refusal):
            await _make_response(checked)(scope, receive, send)
            return
        item = parse_message(body, unit="body") if scope["method"] == "POST" else None
        if isinstance(item, JSONRPCError):
            # The same error as on every transport; the SDK's differs between the eras.
            await Response(to_json(item), 400, media_type="application/json")(scope, receive, send)
            return
        in_session = self._attach_caller(scope, headers, checked)
        if in_session and item is not None and isinstance(request := item.message, JSONRPCRequest):
            scope[REQUEST_KEY] = IncomingRequest(request.id, len(body))
        with self._track_activity():
            await self._count(scope, _replay(body, receive), send)

    def _refuse_request(self, scope: Scope) -> Refusal | None:
        """Return the refusal of a request that no caller may send, or None."""
        stateless = self._settings.stateless
        if scope["path"] != PATH and not (stateless and scope["path"] == "/"):
            return Refusal(404, f"Not found: the MCP endpoint is {_endpoint(scope)}")
        if stateless and scope["method"] != "POST" and not _is_preflight(scope, Headers(scope=scope)):
            return Refusal(405, "Method not allowed: this server keeps no sessions", {"Allow": "POST"})
        if self._draining:
            return Refusal(503, "The server is shutting down", {"Connection": "close"})
        return None

    def _attach_caller(self, scope: Scope, headers: Headers, grant: AccessGrant) -> bool:
        """Attach the caller to the scope. Return whether the request belongs to a transport session."""
        version = headers.get("mcp-protocol-version")
        in_session = not self._settings.stateless and (
            version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
        )
        scope[SCOPE_KEY] = grant.caller(headers.get(SESSION_HEADER) if in_session else None)
        if grant.access is not None:
            # The SDK binds a transport session to the user who opened it.
            scope["user"] = AuthenticatedUser(grant.access)
        if self._settings.stateless:
            # A simple client sends only the body; the SDK requires these headers.
            header_fields = MutableHeaders(scope=scope)
            header_fields["content-type"] = "application/json"
            header_fields["accept"] = "application/json, text/event-stream"
        return in_session

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        self._running += 1
        self._idle.clear()
        try:
            if self._settings.stateless:
                await _run_until_disconnect(self._app, scope, receive, send)
            else:
                await self._app(scope, receive, send)
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()


async def _run_until_disconnect(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Cancel a request when its client disconnects, which the SDK does not notice in JSON mode."""
    body = await receive()
    disconnected = asyncio.Event()

    async def watch(cancel: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        disconnected.set()
        cancel.cancel()

    async def replay() -> Message:
        nonlocal body
        if body["type"] == "http.disconnect":
            await disconnected.wait()
        message, body = body, {"type": "http.disconnect"}
        return message

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, tasks.cancel_scope)
        await app(scope, replay, send)
        tasks.cancel_scope.cancel()


def _refuse_repeated_headers(headers: Headers) -> Refusal | None:
    """Refuse a request that has a checked header twice: the checked value must be the used value."""
    for name in ("host", "origin", "authorization"):
        if len(headers.getlist(name)) > 1:
            return Refusal(400, f"Bad request: there is more than one {name.title()} header")
    return None


def _endpoint(scope: Scope) -> str:
    """Return the URL of the endpoint under the name that the client used, which was checked."""
    host = Headers(scope=scope).get("host")
    return f"{scope['scheme']}://{host}{PATH}" if host else PATH


def _is_preflight(scope: Scope, headers: Mapping[str, str]) -> bool:
    return scope["method"] == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


async def _read_body(receive: Receive, headers: Headers, settings: ListenSettings) -> bytes | Refusal:
    """Return the whole body, or a refusal if it is too large or takes too long."""
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


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _make_response(refusal: Refusal) -> Response:
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
