"""MCP over Streamable HTTP on `/mcp`, with the SDK's implementation behind additional checks.

`RequestChecks` makes the checks. Both eras of the protocol are served as by the SDK, except that a single
response is sent as JSON. Without transport sessions (`stateless`), only POST with a JSON response is
supported, and other methods are answered with 405.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from footlight.caller import OnDisconnect, ignore_disconnect
from footlight.transports.activity import TrackActivity
from footlight.transports.network.access import AccessControl
from footlight.transports.network.connection_limits import TimeLimitedProtocol
from footlight.transports.network.health import Ready
from footlight.transports.network.http_sessions import (
    RecentEventStore,
    TransportSessions,
)
from footlight.transports.network.json_answers import JsonAnswers
from footlight.transports.network.listener import make_url
from footlight.transports.network.request_checks import RequestChecks, Site
from footlight.transports.network.tls import server_ssl
from footlight.transports.pending_requests import LARGE_REQUESTS

if TYPE_CHECKING:
    from mcp.server import Server

    from footlight.config import ListenSettings

__all__ = ["serve_app", "serve_http"]

EVENTS_BYTES = 32 << 20
RETRY_MS = 1_000
KEEP_ALIVE_SECONDS = 30
HANG_UP_SECONDS = 0.5


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
    sites: Sequence[Site] = (),
) -> AsyncGenerator[str]:
    """Serve on a bound socket, and yield the URL without the path. Each request runs in `track_activity`.

    On exit, new requests are refused, and running ones have `settings.shutdown_timeout` to finish. `on_drain`
    is called before that wait, to end long-lived streams. `on_disconnect` is called with the caller of each
    transport session that has ended. Each of `sites` answers requests for its paths, and must make the checks
    of `access_control` itself.
    """
    manager = StreamableHTTPSessionManager(
        server,
        event_store=None if settings.stateless else RecentEventStore(max_bytes=EVENTS_BYTES),
        json_response=settings.stateless,
        stateless=settings.stateless,
        retry_interval=RETRY_MS,
        session_idle_timeout=settings.transport_session_timeout / 1000,
        max_request_body_size=settings.max_message_size,
        # `TransportSessions` ends idle sessions at the configured limit. This limit is for those in use.
        max_sessions=2 * settings.max_transport_sessions,
    )
    app = _make_app(manager, settings, on_disconnect)
    middleware = RequestChecks(
        app,
        settings=settings,
        access_control=access_control,
        ready=ready,
        track_activity=track_activity,
        sites=sites,
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
    """Close the connections, so that streams end. Cancelled streams would be logged as errors by uvicorn."""
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
    """A uvicorn server that does not handle signals and limits the time of a TLS handshake."""

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
