"""Serve clients over a network: bind the address before anything starts, then listen until the stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from footlight.app.local_endpoint import (
    Backend,
    LocalEndpoint,
    bind_local_endpoint,
    ensure_token,
    serve_local_endpoint,
)

if TYPE_CHECKING:
    import socket

    from mcp.server import Server

    from footlight.config import Settings
    from footlight.transports.activity import ActivityTracker
    from footlight.transports.network.access import AccessControl
    from footlight.transports.network.request_checks import Site

__all__ = ["Backend", "NetworkEndpoint", "SiteProvider", "bind_network", "listen"]

logger = logging.getLogger(__name__)


class SiteProvider(Protocol):
    """Makes a site beside MCP: the watch page, or the files of a cluster."""

    def make_site(self, access_control: AccessControl) -> Site: ...

    def set_address(self, url: str) -> None:
        """Learn under which URL clients reach the listener."""
        ...


@dataclass(frozen=True, kw_only=True)
class NetworkEndpoint:
    """The address that the server listens on, and who may call it."""

    settings: Settings
    """The settings of the server, with the generated token if there is one."""
    listener: socket.socket
    access_control: AccessControl
    local: LocalEndpoint | None


def bind_network(settings: Settings, *, command: Sequence[str]) -> NetworkEndpoint:
    """Bind the configured address, so that an error in it is reported before anything starts.

    Raises:
        ConfigurationError: the address is in use, or the settings for listening do not go together.
    """
    from footlight.transports.network.listener import bind, make_access_control
    from footlight.transports.network.tls import server_ssl

    settings, token = ensure_token(settings)
    access_control = make_access_control(settings)
    server_ssl(settings.listen)  # Raises for a certificate that cannot be used.
    listener = bind(settings)
    local = bind_local_endpoint(settings, command, token) if settings.daemon.local else None
    return NetworkEndpoint(settings=settings, listener=listener, access_control=access_control, local=local)


def listen(
    endpoint: NetworkEndpoint,
    server: Server[Any],
    backend: Backend,
    stop: asyncio.Event,
    *,
    on_drain: Callable[[], None],
    list_tools: Callable[[], list[dict[str, Any]]],
    extras: Sequence[SiteProvider],
) -> contextlib.AbstractAsyncContextManager[str]:
    """Listen with the configured transport, and yield the line that announces the address.

    `on_drain` is called before the wait for running calls, to end the streams that would last.
    """
    if endpoint.settings.transport == "websocket":
        return _listen_websocket(endpoint, server, backend, on_drain)
    return _listen_http(endpoint, server, backend, stop, on_drain, list_tools, extras)


@contextlib.asynccontextmanager
async def _listen_http(
    endpoint: NetworkEndpoint,
    server: Server[Any],
    backend: Backend,
    stop: asyncio.Event,
    on_drain: Callable[[], None],
    list_tools: Callable[[], list[dict[str, Any]]],
    extras: Sequence[SiteProvider],
) -> AsyncGenerator[str]:
    from footlight.transports.activity import ActivityTracker
    from footlight.transports.network.http_server import serve_http

    tracker = ActivityTracker()
    settings = endpoint.settings
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(
            serve_http(
                server,
                endpoint.listener,
                settings=settings.listen,
                access_control=endpoint.access_control,
                ready=backend.why_not_ready,
                on_drain=on_drain,
                on_disconnect=backend.disconnect,
                track_activity=tracker,
                sites=[each.make_site(endpoint.access_control) for each in extras],
            )
        )
        for each in extras:
            each.set_address(_public_origin(settings) or url)
        if endpoint.local:
            local = serve_local_endpoint(
                endpoint.local,
                settings,
                backend,
                server,
                url,
                stop,
                tracker,
                on_drain=on_drain,
                tools=list_tools(),
            )
            await stack.enter_async_context(local)
        if settings.daemon.idle_exit:
            idling = asyncio.create_task(_stop_when_idle(tracker, settings.daemon.idle_exit, stop))
            stack.callback(idling.cancel)
        yield f"Footlight listening on {url}/mcp"


def _public_origin(settings: Settings) -> str | None:
    """Return the address under which persons reach the server, if it differs from the one it listens on."""
    parts = urlsplit(settings.listen.public_url or "")
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else None


async def _stop_when_idle(tracker: ActivityTracker, idle_ms: int, stop: asyncio.Event) -> None:
    await tracker.wait_until_idle(idle_ms / 1000)
    logger.info("no client for %dms", idle_ms)
    stop.set()


@contextlib.asynccontextmanager
async def _listen_websocket(
    endpoint: NetworkEndpoint, server: Server[Any], backend: Backend, on_drain: Callable[[], None]
) -> AsyncGenerator[str]:
    from footlight.transports.network.websocket_server import Read, Write, serve_websocket

    async def serve_connection(read: Read, write: Write) -> None:
        await server.run(read, write, server.create_initialization_options())

    async with serve_websocket(
        endpoint.listener,
        settings=endpoint.settings.listen,
        access_control=endpoint.access_control,
        serve_connection=serve_connection,
        ready=backend.why_not_ready,
        on_drain=on_drain,
        on_disconnect=backend.disconnect,
    ) as url:
        yield f"Footlight listening on {url}"
