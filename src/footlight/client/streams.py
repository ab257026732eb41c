"""Receive the messages that a server sends outside of calls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from footlight.protocol.callbacks import Listeners
from footlight.protocol.errors import MCPError
from footlight.protocol.messages import Message, notification
from footlight.protocol.versions import is_stateless

if TYPE_CHECKING:
    from footlight.client.client_session import ClientSession
    from footlight.protocol.connection import Connection, OnError, OnMessage
    from footlight.protocol.deadline import CallDeadline

__all__ = ["Streams"]

logger = logging.getLogger(__name__)

METHOD_NOT_FOUND = -32601


class Streams:
    """Opens and closes the stream of a session. There is at most one; opening another one replaces it."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session
        self._stream: _Stream | None = None

    async def open(
        self,
        on_message: OnMessage,
        on_error: OnError | None,
        resources: Sequence[str],
        *,
        deadline: CallDeadline,
    ) -> bool:
        """Open a stream. Return False if the server has no such stream, or another call has replaced it."""
        connection, introduction = await self._session.ensure_connected(deadline)
        while self._stream is not None:  # Another call may open one meanwhile.
            await self.close()
        self._stream = stream = _Stream(on_message, on_error)
        opened = False
        try:
            if is_stateless(introduction.version):
                opened = await stream.subscribe(connection, resources, deadline=deadline)
            elif self._session.http is not None:
                opened = await stream.listen(self._session, deadline)
            else:
                opened = True
        finally:
            # Another call may have replaced the stream.
            if not opened and self._stream is stream:
                await self.close()
        return opened

    async def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None and not self._session.loop_ended:
            await stream.close()

    def handle_notification(self, method: str, params: Mapping[str, Any]) -> None:
        """Pass a notification of the connection to the open stream."""
        if self._stream is not None:
            self._stream.handle_notification(method, params)


class _Stream:
    """A GET stream or a subscription. `on_error` is called once if it ends without `close`."""

    def __init__(self, on_message: OnMessage, on_error: OnError | None) -> None:
        self._on_message = on_message
        self._on_error = on_error
        self._session: ClientSession | None = None
        self._subscription: asyncio.Task[None] | None = None
        self._acknowledged = asyncio.Event()
        self._refusal: MCPError | None = None
        self._deliveries: set[asyncio.Task[None]] = set()
        self._listeners = Listeners(self._start_delivery)

    def handle_notification(self, method: str, params: Mapping[str, Any]) -> None:
        """Handle a notification of the connection.

        A GET stream passes its messages to the callback itself.
        """
        if method == "notifications/subscriptions/acknowledged":
            self._acknowledged.set()
        elif self._session is None:
            self._pass_on(notification(method, params))

    async def listen(self, session: ClientSession, deadline: CallDeadline) -> bool:
        """Open the GET stream of the HTTP session. Return False if the server has none."""
        self._session = session
        async with deadline.limit("Opening the stream"):
            return await session.listen(self._pass_on, self._fail)

    async def subscribe(
        self, connection: Connection, resources: Sequence[str], *, deadline: CallDeadline
    ) -> bool:
        """Subscribe in the stateless protocol, with one request whose answer ends the stream.

        Return False if the server does not support it.

        Raises:
            MCPError: the server refused for another reason, or is gone.
        """
        notifications: dict[str, Any] = {
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
            **({"resourceSubscriptions": list(resources)} if resources else {}),
        }
        self._subscription = asyncio.create_task(self._run_subscription(connection, notifications))
        acknowledged = asyncio.create_task(self._acknowledged.wait())
        waiting = (acknowledged, self._subscription)
        try:
            await asyncio.wait(waiting, timeout=deadline.left_ms / 1000, return_when=asyncio.FIRST_COMPLETED)
        finally:
            acknowledged.cancel()
        if not any(task.done() for task in waiting):
            raise deadline.make_timeout_error(
                f"The server did not acknowledge the subscription within {deadline.timeout_ms:.0f}ms"
            )
        if self._refusal is not None and self._refusal.rpc_code != METHOD_NOT_FOUND:
            raise self._refusal
        return self._refusal is None and self._acknowledged.is_set()

    async def _run_subscription(self, connection: Connection, notifications: Mapping[str, Any]) -> None:
        try:
            await connection.request(
                "subscriptions/listen", {"notifications": notifications}, timeout_ms=None
            )
            end = MCPError("The server ended the subscription")
        except MCPError as error:
            end = error
        if self._acknowledged.is_set():
            self._fail(end)
        else:
            self._refusal = end

    async def close(self) -> None:
        for task in self._deliveries:
            task.cancel()
        if self._subscription is not None:
            self._subscription.cancel()
            await asyncio.wait([self._subscription])
        if self._session is not None:
            await self._session.stop_listening()

    def _pass_on(self, message: Message) -> None:
        self._listeners.call(self._on_message, message)

    def _fail(self, error: MCPError) -> None:
        if self._on_error is None:
            logger.warning("the stream of the server ended: %s", error)
        else:
            self._listeners.call(self._on_error, error)

    def _start_delivery(self, delivery: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(delivery)
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)
        return task
