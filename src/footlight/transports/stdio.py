"""MCP over standard input and output, with one JSON-RPC message in each line.

A line that is not JSON is answered with -32700, a batch with -32600. While serving, file descriptor 1 refers
to stderr and 0 to the null device, so that printed text cannot break the protocol, and child processes cannot
read the input.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import BinaryIO

from footlight.protocol.messages import Message
from footlight.transports.json_messages import (
    INVALID_REQUEST,
    RefusedMessage,
    parse_message,
    refusal,
    to_line,
)

__all__ = ["Read", "Write", "serve_stdio"]

Read = AsyncIterator[Message]
Write = Callable[[Message], Awaitable[None]]

MAX_LINE = 64 << 20
"""The maximum length of a line in bytes. A longer line is refused and skipped."""


@asynccontextmanager
async def serve_stdio() -> AsyncGenerator[tuple[Read, Write]]:
    """Serve this process's standard streams, and yield `(read, write)`.

    `read` ends at the end of the input, or when the client does not read the output any more. `write` sends a
    message.
    """
    with _take_standard_streams() as (stdin, stdout):
        incoming = _Incoming()
        output = _Output(stdout, on_broken=incoming.end)
        _start_reading(stdin, incoming, output)

        async def write(message: Message) -> None:
            output.put(message)

        try:
            yield incoming.receive(), write
        finally:
            await output.close()


@contextmanager
def _take_standard_streams() -> Generator[tuple[BinaryIO, BinaryIO]]:
    """Yield private duplicates of the standard streams, and redirect the originals until exit."""
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        # Not closed on exit, because a thread may still read, and another file could get the same descriptor.
        yield os.fdopen(stdin, "rb", closefd=False), os.fdopen(stdout, "wb", buffering=0, closefd=False)
    finally:
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)


class _Incoming:
    """The received messages. The thread that reads waits until the previous message has been taken."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._is_taken = threading.Semaphore()

    def put(self, message: Message) -> None:
        """Add a message. Call this in the thread."""
        self._is_taken.acquire()
        self._loop.call_soon_threadsafe(self._messages.put_nowait, message)

    def end(self) -> None:
        self._messages.put_nowait(None)

    async def receive(self) -> AsyncGenerator[Message]:
        while (message := await self._messages.get()) is not None:
            self._is_taken.release()
            yield message


def _start_reading(stdin: BinaryIO, incoming: _Incoming, output: _Output) -> None:
    """Read in a thread, because an event loop cannot wait for every kind of standard input."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        # These errors are raised when the server is stopping and the loop or the stream is closed.
        with suppress(RuntimeError, OSError):
            for line in _lines(stdin):
                message = _parse(line)
                if isinstance(message, RefusedMessage):
                    output.put(message.answer)
                elif message is not None:
                    incoming.put(message)
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(incoming.end)

    threading.Thread(target=read, name="stdio-reader", daemon=True).start()


def _lines(stdin: BinaryIO) -> Generator[bytes | None]:
    """Yield each line, or None for a line that is too long. An incomplete last line is ignored."""
    while line := stdin.readline(MAX_LINE):
        if line.endswith(b"\n"):
            yield line
            continue
        if len(line) < MAX_LINE:
            return  # The input ended in the middle of a message.
        while line and not line.endswith(b"\n"):
            line = stdin.readline(MAX_LINE)
        yield None


def _parse(line: bytes | None) -> Message | RefusedMessage | None:
    """Return the message, the response to an invalid line, or None for an empty line."""
    if line is None:
        return refusal(INVALID_REQUEST, f"Message longer than {MAX_LINE} bytes")
    return parse_message(line, unit="line") if line.strip() else None


class _Output:
    """Writes whole lines, in order, in a thread, so that a slow reader does not block the event loop."""

    def __init__(self, stdout: BinaryIO, *, on_broken: Callable[[], None]) -> None:
        self._stdout = stdout
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._done = asyncio.Event()
        threading.Thread(target=self._run, name="stdio-writer", daemon=True).start()

    def put(self, message: Message) -> None:
        self._lines.put(to_line(message))

    async def close(self) -> None:
        """Wait until all lines are written, but no longer than a second."""
        self._lines.put(None)
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._done.wait()

    def _run(self) -> None:
        try:
            while (line := self._lines.get()) is not None:
                _write_all(self._stdout, line)
        except OSError:  # The client has closed the output.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._on_broken)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._done.set)


def _write_all(stdout: BinaryIO, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[stdout.write(rest) :]
