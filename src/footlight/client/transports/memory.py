"""Connect to an SDK server that runs in this process.

No other module of the client uses the SDK. It is imported when a channel is opened.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.client.tasks import wait_shielded
from footlight.protocol.errors import MCPConnectionError
from footlight.protocol.messages import Message, encode, parse

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server import MCPServer, Server
    from mcp.shared.message import SessionMessage

    from footlight.protocol.channel import Channel, Receiver

    Read = MemoryObjectReceiveStream[SessionMessage | Exception]
    Write = MemoryObjectSendStream[SessionMessage]
    Serve = Callable[[Read, Write], Awaitable[None]]

__all__ = ["InMemory"]

logger = logging.getLogger("footlight.client.memory")

GRACE_SECONDS = 2.0
"""The time limit for the server to end after its input is closed, and again after it is cancelled."""
MAX_DESCRIPTION = 200


@dataclass(frozen=True, slots=True)
class InMemory:
    """A server in this process: the SDK's low-level `Server`, its `MCPServer`, or a function.

    A function receives the streams of a connection, `(read, write)`. Each `open` serves another connection in
    a new task.
    """

    server: Server[Any] | MCPServer | Serve

    @property
    def where(self) -> str:
        named: Any = self.server
        return str(getattr(named, "name", None) or getattr(named, "__name__", None) or "a server in memory")

    async def open(self, receiver: Receiver) -> Channel:
        """Start to serve. If the server fails, the connection is reported as lost."""
        return _MemoryChannel(self.server, receiver, where=self.where)


class _MemoryChannel:
    cancels_by_closing = False

    def __init__(self, server: Any, receiver: Receiver, *, where: str) -> None:
        import anyio

        self._receiver = receiver
        self._where = where
        self._stream_closed = (anyio.ClosedResourceError, anyio.BrokenResourceError)
        self._incoming, self._read = anyio.create_memory_object_stream[Any](0)
        self._write, self._outgoing = anyio.create_memory_object_stream[Any](0)
        self._loss = "The server ended"
        self._closed = False
        self._closing: asyncio.Task[None] | None = None
        self._serving = asyncio.create_task(self._serve(server), name="footlight-memory-server")
        self._receiving = asyncio.create_task(self._receive_messages(), name="footlight-memory")

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:  # noqa: ARG002
        from footlight.transports.messages import message_of

        try:
            # Copy the message by encoding it, as other transports do.
            await self._incoming.send(message_of(json.loads(encode(message))))
        except self._stream_closed:
            raise self._error() from None

    def use_version(self, version: str) -> None:
        pass

    async def close(self) -> None:
        self._closed = True
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="footlight-memory-close")
        await wait_shielded(self._closing)

    async def _close(self) -> None:
        self._incoming.close()
        try:
            await asyncio.wait([self._serving], timeout=GRACE_SECONDS)
        finally:
            self._serving.cancel()
            _, stuck = await asyncio.wait([self._serving], timeout=GRACE_SECONDS)
            if stuck:
                logger.warning("%s is still running after it was cancelled", self._where)
                self._write.close()
            await asyncio.wait([self._receiving], timeout=GRACE_SECONDS)

    async def _serve(self, server: Any) -> None:
        try:
            await _run_server(server, self._read, self._write)
        except Exception as error:
            logger.debug("%s failed", self._where, exc_info=True)
            self._loss = f"The server failed: {_describe_error(error)}"
        finally:
            # Sending to the server now fails, but messages that it has sent are still received.
            self._read.close()
            self._write.close()

    async def _receive_messages(self) -> None:
        from footlight.transports.messages import to_json

        with self._incoming, self._outgoing:
            async for item in self._outgoing:
                if not self._closed:
                    self._receiver.receive(parse(to_json(item.message), unit="message"))
        # The server may close its stream before it fails. Wait for the error.
        await asyncio.wait([self._serving], timeout=GRACE_SECONDS)
        if not self._closed:
            self._receiver.on_connection_lost(self._error())

    def _error(self) -> MCPConnectionError:
        if self._closed:
            return MCPConnectionError("The connection was closed", reason="not_connected")
        return MCPConnectionError(f"{self._where}: {self._loss}")


async def _run_server(server: Any, read: Read, write: Write) -> None:
    # `MCPServer` stores its low-level server in a private attribute.
    inner: Any = getattr(server, "_lowlevel_server", server)
    if hasattr(inner, "create_initialization_options"):
        await inner.run(read, write, inner.create_initialization_options())
    else:
        await inner(read, write)


def _describe_error(error: Exception) -> str:
    """Return the message of an error, or that of the first error in a group."""
    first: BaseException = error
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return (str(first) or type(first).__name__)[:MAX_DESCRIPTION]  # pyright: ignore[reportUnknownArgumentType]
