"""MCP without a wire: a server of the SDK's that runs in this process.

The one place of the client that knows the SDK, and only once it is opened: the server is built on it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.client.errors import MCPConnectionError
from footlight.client.messages import Message, encode, parse
from footlight.client.transports.closing import outlast

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server import MCPServer, Server
    from mcp.shared.message import SessionMessage

    from footlight.client.channel import Channel, Receiver

    Read = MemoryObjectReceiveStream[SessionMessage | Exception]
    Write = MemoryObjectSendStream[SessionMessage]
    Serve = Callable[[Read, Write], Awaitable[None]]

__all__ = ["InMemory"]

logger = logging.getLogger("footlight.client.memory")

GRACE_SECONDS = 2.0
"""Twice: to end when the messages do, and when it is cancelled."""
MAX_TOLD = 200


@dataclass(frozen=True, slots=True)
class InMemory:
    """A server: the SDK's low-level `Server`, its `MCPServer`, or what serves a pair of its streams.

    Each `open` has it serve one more connection, in a task of its own.
    """

    server: Server[Any] | MCPServer | Serve

    @property
    def where(self) -> str:
        named: Any = self.server
        return str(getattr(named, "name", None) or getattr(named, "__name__", None) or "a server in memory")

    async def open(self, receiver: Receiver) -> Channel:
        """Start to serve. This cannot fail: a server that does is lost afterwards."""
        return _MemoryChannel(self.server, receiver, where=self.where)


class _MemoryChannel:
    cancels_by_closing = False

    def __init__(self, server: Any, receiver: Receiver, *, where: str) -> None:
        import anyio

        self._receiver = receiver
        self._where = where
        self._gone = (anyio.ClosedResourceError, anyio.BrokenResourceError)
        self._incoming, self._read = anyio.create_memory_object_stream[Any](0)
        self._write, self._outgoing = anyio.create_memory_object_stream[Any](0)
        self._loss = "The server ended"
        self._closed = False
        self._closing: asyncio.Task[None] | None = None
        self._serving = asyncio.create_task(self._serve(server), name="footlight-memory-server")
        self._living = asyncio.create_task(self._live(), name="footlight-memory")

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:  # noqa: ARG002
        from footlight.transports.messages import message_of

        try:
            # A copy, of what JSON has of it.
            await self._incoming.send(message_of(json.loads(encode(message))))
        except self._gone:
            raise self._error() from None

    def negotiated(self, version: str) -> None:
        pass

    async def close(self) -> None:
        self._closed = True
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="footlight-memory-close")
        await outlast(self._closing)

    async def _close(self) -> None:
        self._incoming.close()
        try:
            await asyncio.wait([self._serving], timeout=GRACE_SECONDS)
        finally:
            self._serving.cancel()
            _, stuck = await asyncio.wait([self._serving], timeout=GRACE_SECONDS)
            if stuck:
                logger.warning("%s goes on, though it was cancelled", self._where)
                self._write.close()
            await asyncio.wait([self._living], timeout=GRACE_SECONDS)

    async def _serve(self, server: Any) -> None:
        try:
            await _served(server, self._read, self._write)
        except Exception as error:
            logger.debug("%s failed", self._where, exc_info=True)
            self._loss = f"The server failed: {_told(error)}"
        finally:
            # Messages that are on their way to it fail, those from it come first.
            self._read.close()
            self._write.close()

    async def _live(self) -> None:
        from footlight.transports.messages import to_json

        with self._incoming, self._outgoing:
            async for item in self._outgoing:
                if not self._closed:
                    self._receiver.receive(parse(to_json(item.message), unit="message"))
        # It may close its end first, and then fail.
        await asyncio.wait([self._serving], timeout=GRACE_SECONDS)
        if not self._closed:
            self._receiver.lost(self._error())

    def _error(self) -> MCPConnectionError:
        if self._closed:
            return MCPConnectionError("The connection was closed", reason="not_connected")
        return MCPConnectionError(f"{self._where}: {self._loss}")


async def _served(server: Any, read: Read, write: Write) -> None:
    # That of `MCPServer` is inside it, and has no public name.
    inner: Any = getattr(server, "_lowlevel_server", server)
    if hasattr(inner, "create_initialization_options"):
        await inner.run(read, write, inner.create_initialization_options())
    else:
        await inner(read, write)


def _told(error: Exception) -> str:
    """In words, the first of several: no stack trace."""
    first: BaseException = error
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return (str(first) or type(first).__name__)[:MAX_TOLD]  # pyright: ignore[reportUnknownArgumentType]
