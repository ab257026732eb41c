"""Who is told when a resource changes: one source of news for both eras of the protocol.

The current era listens on streams of its own (`subscriptions/listen`), which the SDK serves from a bus; the
handshake era subscribes a connection to one resource at a time, which is kept here.
"""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakSet

from mcp.server import ServerRequestContext
from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
)
from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult

from footlight.browser.changes import Change
from footlight.caller import caller_of
from footlight.server.uris import Address

__all__ = ["Subscriptions"]

Context = ServerRequestContext[Any]

SEND_SECONDS = 5.0
"""A client that does not take its news for so long does not get them."""


class Subscriptions:
    """`on_change` returns at once; the news go out by themselves."""

    def __init__(self) -> None:
        self._streams: dict[str, tuple[InMemorySubscriptionBus, ListenHandler]] = {}
        """By principal: nobody hears of what is another's."""
        self._connections: dict[str, dict[Connection, str]] = {}
        """By resource, and with each connection the URI as it was given there."""
        self._watched: WeakSet[Connection] = WeakSet()
        self._sending: dict[tuple[Connection, str], asyncio.Task[None]] = {}
        self._publishing: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """End the streams of the current era, each with its result."""
        for _, handler in self._streams.values():
            handler.close()

    async def listen(
        self, context: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """One stream of the current era, until it is closed from either end."""
        principal = caller_of(context.request).principal
        if principal not in self._streams:
            bus = InMemorySubscriptionBus()
            self._streams[principal] = bus, ListenHandler(bus)
        _, handler = self._streams[principal]
        return await handler(context, params)

    def subscribe(self, context: Context, uri: str, resource: str) -> None:
        """Tell this connection of every update of `resource`, which it calls `uri`, until it ends."""
        connection = _connection(context)
        if connection not in self._watched:
            self._watched.add(connection)
            connection.exit_stack.callback(self._forget, connection)
        self._connections.setdefault(resource, {})[connection] = uri

    def unsubscribe(self, context: Context, uri: str) -> None:
        """By the URI that was given to `subscribe`. No error where there was no subscription."""
        connection = _connection(context)
        for resource, subscribed in list(self._connections.items()):
            if subscribed.get(connection) == uri:
                del subscribed[connection]
            if not subscribed:
                del self._connections[resource]

    def on_change(self, change: Change) -> None:
        """News of the browser: a page is another when it navigates and when it has loaded (R003-53)."""
        if change.page_id is not None:
            page = Address("page", (change.session_id, change.page_id)).uri
            self._publish(change.owner, ResourceUpdated(uri=page))
            for connection, uri in self._connections.get(page, {}).items():
                self._send(connection, uri)
        if change.kind in ("opened", "closed"):
            # The handshake era is not promised this one.
            self._publish(change.owner, ResourcesListChanged())
        if change.kind == "closed":
            self._drop(change)

    def _drop(self, change: Change) -> None:
        """Of what is gone there are no more news."""
        gone = (change.session_id,) if change.page_id is None else (change.session_id, change.page_id)
        for resource in list(self._connections):
            if Address.parse(resource).segments[: len(gone)] == gone:
                del self._connections[resource]

    def _publish(self, principal: str, event: ServerEvent) -> None:
        if principal not in self._streams:
            return
        bus, _ = self._streams[principal]
        task = asyncio.create_task(bus.publish(event))
        self._publishing.add(task)
        task.add_done_callback(self._publishing.discard)

    def _send(self, connection: Connection, uri: str) -> None:
        """News of a resource only say that it is to be read again, so one that waits is enough."""
        key = (connection, uri)
        if key in self._sending:
            return
        task = self._sending[key] = asyncio.create_task(_tell(connection, uri))
        task.add_done_callback(lambda _: self._sending.pop(key, None))

    def _forget(self, connection: Connection) -> None:
        for resource, subscribed in list(self._connections.items()):
            subscribed.pop(connection, None)
            if not subscribed:
                del self._connections[resource]


async def _tell(connection: Connection, uri: str) -> None:
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await connection.send_resource_updated(uri)
    except TimeoutError:
        pass


def _connection(context: Context) -> Connection:
    """The SDK tears down `connection.exit_stack` for us, but does not hand the connection to handlers."""
    return context.session._connection  # pyright: ignore[reportPrivateUsage]
