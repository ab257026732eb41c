"""MCP over standard input and output: one JSON-RPC message a line.

Our own and not the SDK's, which answers nothing to a line that is no message, and costs two worker threads
a message. Junk gets -32700, a batch -32600. While it serves, file descriptor 1 is stderr and 0 is empty, so
that nothing that prints can break the protocol, and no child reads our input.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import BinaryIO

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, JSONRPCError, JSONRPCMessage

from footlight.transports.messages import parse_message, refusal, to_json

__all__ = ["serve_stdio"]

Received = SessionMessage | Exception

MAX_LINE = 64 << 20
"""Bytes. A longer line is refused and skipped."""


@asynccontextmanager
async def serve_stdio() -> AsyncGenerator[
    tuple[MemoryObjectReceiveStream[Received], MemoryObjectSendStream[SessionMessage]]
]:
    """Serve this process's standard streams. `read` ends at the end of input, or when nobody reads us."""
    with _wire() as (stdin, stdout):
        incoming, read = anyio.create_memory_object_stream[Received](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        output = _Output(stdout, on_broken=incoming.close)
        _start_reading(stdin, incoming, output)
        writing = asyncio.create_task(_write(outgoing, output))
        try:
            yield read, write
        finally:
            write.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await writing
            await output.close()


@contextmanager
def _wire() -> Generator[tuple[BinaryIO, BinaryIO]]:
    """Private duplicates of the standard streams; theirs are diverted meanwhile."""
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        # Not closed at the end: a thread may still be reading, and the number could go to another file.
        yield os.fdopen(stdin, "rb", closefd=False), os.fdopen(stdout, "wb", buffering=0, closefd=False)
    finally:
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)


def _start_reading(stdin: BinaryIO, incoming: MemoryObjectSendStream[Received], output: _Output) -> None:
    """A thread, because not every kind of standard input can be waited for."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        # A loop that is closed, or a stream that is: we are going down.
        with suppress(RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            for line in _lines(stdin):
                if isinstance(message := _parse(line), SessionMessage):
                    asyncio.run_coroutine_threadsafe(incoming.send(message), loop).result()
                elif message is not None:
                    output.put(message)
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(incoming.close)

    threading.Thread(target=read, name="stdio-reader", daemon=True).start()


def _lines(stdin: BinaryIO) -> Generator[bytes | None]:
    """Each line; None for one that is too long. What comes after the last line end is no message."""
    while line := stdin.readline(MAX_LINE):
        if line.endswith(b"\n"):
            yield line
            continue
        if len(line) < MAX_LINE:
            return  # The other side ended in the middle of a message.
        while line and not line.endswith(b"\n"):
            line = stdin.readline(MAX_LINE)
        yield None


def _parse(line: bytes | None) -> SessionMessage | JSONRPCError | None:
    """The message, or what to answer to a line that is none, or None for an empty line."""
    if line is None:
        return refusal(INVALID_REQUEST, f"Message longer than {MAX_LINE} bytes")
    return parse_message(line, unit="line") if line.strip() else None


async def _write(outgoing: MemoryObjectReceiveStream[SessionMessage], output: _Output) -> None:
    async with outgoing:
        async for message in outgoing:
            output.put(message.message)


class _Output:
    """Lines go out whole and in order, in a thread: a reader that is slow must not stop the loop."""

    def __init__(self, stdout: BinaryIO, *, on_broken: Callable[[], None]) -> None:
        self._stdout = stdout
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._done = asyncio.Event()
        threading.Thread(target=self._run, name="stdio-writer", daemon=True).start()

    def put(self, message: JSONRPCMessage) -> None:
        self._lines.put(to_json(message).encode() + b"\n")

    async def close(self) -> None:
        """Once what is queued is written, or a second has passed."""
        self._lines.put(None)
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._done.wait()

    def _run(self) -> None:
        try:
            while (line := self._lines.get()) is not None:
                _write_all(self._stdout, line)
        except OSError:  # Nobody reads: whoever started us is gone.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._on_broken)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._done.set)


def _write_all(stdout: BinaryIO, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[stdout.write(rest) :]
