"""Notify clients of changes to resources, in both ways that the protocol defines.

In stateless revisions, clients listen on streams (`subscriptions/listen`). In handshake revisions, they
subscribe a connection to one resource at a time (`resources/subscribe`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footlight.browser.sessions.change_events import SessionChange
from footlight.server.requests import ClientConnection, ProtocolError, Request
from footlight.server.resources.uris import Address

if TYPE_CHECKING:
    Event = tuple[str, Mapping[str, Any]]
    """The method of a notification, and its parameters."""

__all__ = ["SubscriptionFilter", "Subscriptions"]

logger = logging.getLogger(__name__)

SEND_SECONDS = 5.0
"""The time limit for a client to read a notification, after which it is dropped."""
MAX_STREAMS = 1_024
"""The maximum number of open streams of one principal."""
MAX_WAITING = 1_024
"""The maximum number of waiting notifications on a stream. One more ends the stream."""
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
LIMIT_REACHED = -32603

UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


@dataclass(frozen=True, slots=True)
class SubscriptionFilter:
    """The notifications that a stream sends. They do not include tools and prompts, which never change."""

    list_changes: bool
    """Whether changes to the list of resources are sent."""
    uris: tuple[str, ...]
    """The resources whose updates are sent."""

    def covers(self, event: Event) -> bool:
        method, params = event
        return self.list_changes if method == LIST_CHANGED else params["uri"] in self.uris


@dataclass(eq=False, slots=True)
class _Stream:
    filter: SubscriptionFilter
    events: asyncio.Queue[Event | None] = field(default_factory=lambda: asyncio.Queue(MAX_WAITING + 1))
    """The waiting notifications. None ends the stream."""
    ended: bool = False

    def put(self, event: Event) -> None:
        if self.ended or not self.filter.covers(event):
            return
        if self.events.qsize() >= MAX_WAITING:
            logger.warning("ended a subscription stream whose client does not read")
            self.end()
        else:
            self.events.put_nowait(event)

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self.events.put_nowait(None)


class Subscriptions:
    """Sends notifications of changes in separate tasks, so that `on_change` returns at once."""

    def __init__(self) -> None:
        self._streams: dict[str, set[_Stream]] = {}
        """The streams by principal, because changes are only sent to the owner of the session."""
        self._connections: dict[str, dict[ClientConnection, str]] = {}
        """The subscribed connections by resource, each with the URI that it used."""
        self._watched: set[ClientConnection] = set()
        """Connections whose end calls `_forget`."""
        self._sending: dict[tuple[ClientConnection, str], asyncio.Task[None]] = {}

    def close(self) -> None:
        """End all streams. Each request is answered with its result."""
        for streams in self._streams.values():
            for stream in streams:
                stream.end()

    async def listen(self, request: Request, subscription_filter: SubscriptionFilter) -> dict[str, Any]:
        """Serve one stream until the client or the server closes it, and return its result.

        Raises:
            ProtocolError: the principal has too many streams.
        """
        streams = self._streams.setdefault(request.caller.principal, set())
        if len(streams) >= MAX_STREAMS:
            raise ProtocolError(LIMIT_REACHED, "Subscription limit reached")
        meta = {SUBSCRIPTION_ID: request.id}
        stream = _Stream(subscription_filter)
        # Add the stream before the acknowledgement is sent, so that no event is lost.
        streams.add(stream)
        try:
            await request.notify(
                ACKNOWLEDGED, {"notifications": _list_honored_fields(subscription_filter), "_meta": meta}
            )
            while (event := await stream.events.get()) is not None:
                method, params = event
                await request.notify(method, {**params, "_meta": meta})
        finally:
            stream.ended = True
            streams.discard(stream)
            if not streams and self._streams.get(request.caller.principal) is streams:
                del self._streams[request.caller.principal]
        return {"_meta": meta}

    def subscribe(self, connection: ClientConnection, uri: str, resource: str) -> None:
        """Notify the connection of all updates of `resource` until it ends. `uri` is the client's form."""
        if connection not in self._watched:
            self._watched.add(connection)
            connection.on_close(lambda: self._forget(connection))
        self._connections.setdefault(resource, {})[connection] = uri

    def unsubscribe(self, connection: ClientConnection, uri: str) -> None:
        """End the connection's subscription with this URI, if there is one."""
        for resource, subscribed in list(self._connections.items()):
            if subscribed.get(connection) == uri:
                del subscribed[connection]
            if not subscribed:
                del self._connections[resource]

    def on_change(self, change: SessionChange) -> None:
        """Send notifications of a change in the browser, such as a navigation of a page."""
        if change.page_id is not None:
            page = Address("page", (change.session_id, change.page_id)).uri
            self._publish(change.owner, (UPDATED, {"uri": page}))
            for connection, uri in self._connections.get(page, {}).items():
                self._send(connection, uri)
        if change.kind in ("opened", "closed"):
            # In the handshake revisions, the server does not declare `listChanged`.
            self._publish(change.owner, (LIST_CHANGED, {}))
        if change.kind == "closed":
            self._drop(change)

    def _drop(self, change: SessionChange) -> None:
        """Remove the subscriptions to resources of a closed page or session."""
        segments = (change.session_id,) if change.page_id is None else (change.session_id, change.page_id)
        for resource in list(self._connections):
            if Address.parse(resource).segments[: len(segments)] == segments:
                del self._connections[resource]

    def _publish(self, principal: str, event: Event) -> None:
        for stream in self._streams.get(principal, ()):
            stream.put(event)

    def _send(self, connection: ClientConnection, uri: str) -> None:
        """Send an update, unless one is waiting, because all updates of a resource are the same."""
        key = (connection, uri)
        if key in self._sending:
            return
        task = self._sending[key] = asyncio.create_task(_notify(connection, uri))
        task.add_done_callback(lambda _: self._sending.pop(key, None))

    def _forget(self, connection: ClientConnection) -> None:
        self._watched.discard(connection)
        for resource, subscribed in list(self._connections.items()):
            subscribed.pop(connection, None)
            if not subscribed:
                del self._connections[resource]


def _list_honored_fields(subscription_filter: SubscriptionFilter) -> dict[str, Any]:
    return {
        **({"resourcesListChanged": True} if subscription_filter.list_changes else {}),
        **({"resourceSubscriptions": list(subscription_filter.uris)} if subscription_filter.uris else {}),
    }


async def _notify(connection: ClientConnection, uri: str) -> None:
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await connection.notify(UPDATED, {"uri": uri})
    except TimeoutError:
        pass
