"""What a server says without being asked: its GET stream, or a subscription."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from footlight.client.errors import MCPError, MCPTimeoutError
from footlight.client.listeners import Told, tell
from footlight.client.messages import Message, notification
from footlight.client.session import within

if TYPE_CHECKING:
    from footlight.client.connection import Connection
    from footlight.client.session import Session

__all__ = ["OnError", "OnMessage", "Stream"]

logger = logging.getLogger(__name__)

METHOD_NOT_FOUND = -32601

OnMessage = Callable[[Message], Told]
OnError = Callable[[MCPError], Told]


class Stream:
    """`on_error` hears once why it ended, if it was not closed."""

    def __init__(self, on_message: OnMessage, on_error: OnError | None) -> None:
        self._on_message = on_message
        self._on_error = on_error
        self._session: Session | None = None
        self._subscription: asyncio.Task[None] | None = None
        self._acknowledged = asyncio.Event()
        self._refusal: MCPError | None = None
        self._hearing: set[asyncio.Task[None]] = set()

    def notified(self, method: str, params: Mapping[str, Any]) -> None:
        """A notification of the connection. A GET stream tells its messages itself."""
        if method == "notifications/subscriptions/acknowledged":
            self._acknowledged.set()
        elif self._session is None:
            self._tell(notification(method, params))

    async def listen(self, session: Session, timeout_ms: float) -> bool:
        """Over HTTP, before 2026: False where the server has no such stream."""
        self._session = session
        async with within(timeout_ms, "Opening the stream"):
            return await session.listen(self._tell, self._fail)

    async def subscribe(self, connection: Connection, resources: Sequence[str], *, timeout_ms: float) -> bool:
        """In the stateless protocol: one request, whose answer is the end. False: the server has none.

        Raises:
            MCPError: the server refused for another reason, or is lost.
        """
        wanted: dict[str, Any] = {
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
            **({"resourceSubscriptions": list(resources)} if resources else {}),
        }
        self._subscription = asyncio.create_task(self._subscribed(connection, wanted))
        acknowledged = asyncio.create_task(self._acknowledged.wait())
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await asyncio.wait([acknowledged, self._subscription], return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise MCPTimeoutError(
                f"The server did not acknowledge the subscription within {timeout_ms:.0f}ms",
                timeout_ms=timeout_ms,
            ) from None
        finally:
            acknowledged.cancel()
        if self._refusal is not None and self._refusal.rpc_code != METHOD_NOT_FOUND:
            raise self._refusal
        return self._refusal is None and self._acknowledged.is_set()

    async def _subscribed(self, connection: Connection, wanted: Mapping[str, Any]) -> None:
        try:
            await connection.request("subscriptions/listen", {"notifications": wanted}, timeout_ms=None)
            end = MCPError("The server ended the subscription")
        except MCPError as error:
            end = error
        if self._acknowledged.is_set():
            self._fail(end)
        else:
            self._refusal = end

    async def close(self) -> None:
        for hearing in self._hearing:
            hearing.cancel()
        if self._subscription is not None:
            self._subscription.cancel()
            await asyncio.wait([self._subscription])
        if self._session is not None:
            await self._session.stop_listening()

    def _tell(self, message: Message) -> None:
        self._hear(tell(self._on_message, message))

    def _fail(self, error: MCPError) -> None:
        if self._on_error is None:
            logger.warning("the stream of the server ended: %s", error)
        else:
            self._hear(tell(self._on_error, error))

    def _hear(self, hearing: Coroutine[Any, Any, None] | None) -> None:
        if hearing is not None:
            task = asyncio.create_task(hearing)
            self._hearing.add(task)
            task.add_done_callback(self._hearing.discard)
