"""Connect a connection and the SDK by a pair of streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

__all__ = [
    "FLUSH_SECONDS",
    "Incoming",
    "Outgoing",
    "Read",
    "Received",
    "Streams",
    "Write",
    "open_stream_pair",
]

FLUSH_SECONDS = 1.0
"""The time limit for sending the remaining messages when the streams are closed."""

Received = SessionMessage | Exception
Incoming = MemoryObjectSendStream[Received]
Outgoing = MemoryObjectReceiveStream[SessionMessage]
Read = MemoryObjectReceiveStream[Received]
Write = MemoryObjectSendStream[SessionMessage]
Streams = tuple[Read, Write]


@asynccontextmanager
async def open_stream_pair(
    receive: Callable[[Incoming, Outgoing], Coroutine[Any, Any, None]],
    send: Callable[[Outgoing], Coroutine[Any, Any, None]],
    *,
    hang_up: Callable[[], Awaitable[None]] | None = None,
) -> AsyncGenerator[Streams]:
    """Yield a pair of streams for the SDK. They are closed on exit.

    Args:
        receive: puts the peer's messages into the first stream. It closes the second one to stop sending.
        send: sends the messages of its stream to the peer.
        hang_up: called when all messages are sent, or after `FLUSH_SECONDS`, before the tasks are cancelled.
    """
    incoming, read = anyio.create_memory_object_stream[Received](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [asyncio.create_task(receive(incoming, outgoing)), asyncio.create_task(send(outgoing))]
    try:
        yield read, write
    finally:
        write.close()
        with anyio.CancelScope(shield=True):
            await asyncio.wait(tasks[1:], timeout=FLUSH_SECONDS)
            if hang_up is not None:
                await hang_up()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        for stream in (incoming, read, outgoing):
            stream.close()
        for task in tasks:
            if not task.cancelled():
                task.result()
