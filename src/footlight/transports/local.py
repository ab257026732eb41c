"""MCP over a local stream: a Unix domain socket of this user's, on which both ends prove who they are.

After the greeting it is what stdio is, one JSON-RPC message a line, so that a client of stdio is connected
by a pump that knows nothing of the protocol. What a connection comes as (`Role`) says whose its calls are.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from footlight.caller import Caller
from footlight.daemon import greeting
from footlight.errors import ConfigurationError
from footlight.transports.messages import parse_message, refusal, to_json
from footlight.transports.presence import Present
from footlight.transports.unanswered import LARGE_REQUESTS, Unanswered, exhausted

__all__ = ["LocalContext", "bind_local", "serve_local"]

logger = logging.getLogger(__name__)

BACKLOG = 128
SUFFIX = ".sock"
LONGEST_ADDRESS = 100
"""Bytes of a socket's path that every system takes."""
LONGEST_MESSAGE = 64 << 20
"""Bytes. A longer line is refused and skipped, as on stdio."""
CHUNK = 1 << 16
FLUSH_SECONDS = 1.0

COMMANDS = Caller("local:commands", shares_default=True)
"""The user at the command line: one person, whose browser stays between calls."""

Read = MemoryObjectReceiveStream[SessionMessage | Exception]
Write = MemoryObjectSendStream[SessionMessage]
ServeConnection = Callable[[Read, Write, Caller], Awaitable[None]]
"""Speak MCP over one connection until `read` ends, and take with it what was this caller's alone."""


@dataclass(frozen=True, slots=True)
class LocalContext:
    """What the protocol finds as a message's request (`caller_of`)."""

    caller: Caller


def bind_local(folder: Path) -> socket.socket:
    """A socket in this folder, which is the user's alone, or in one like it where its path is too long.

    Raises:
        ConfigurationError: it cannot be there.
    """
    # A name of its own: the one before it may still be ending, and removes what it made.
    path = folder / f"{secrets.token_hex(4)}{SUFFIX}"
    if len(bytes(path)) > LONGEST_ADDRESS:
        path = Path(tempfile.mkdtemp(prefix="footlight-")) / path.name
    listener = socket.socket(socket.AF_UNIX)
    try:
        for old in folder.glob(f"*{SUFFIX}"):
            old.unlink(missing_ok=True)
        listener.bind(str(path))
        path.chmod(0o600)  # On some systems the folder's mode is not asked.
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigurationError(f"{path} cannot be listened on: {error.strerror or error}") from None
    return listener


@asynccontextmanager
async def serve_local(
    listener: socket.socket,
    *,
    nonce: str,
    serve_connection: ServeConnection,
    facts: Callable[[], Mapping[str, Any]],
    on_stop: Callable[[], None],
    on_drain: Callable[[], None],
    present: Present,
    max_requests: int,
    shutdown_seconds: float,
) -> AsyncGenerator[Clients]:
    """Serve on a bound socket, which is gone on return. Who does not know the nonce is sent away.

    `facts` are told to who asks for the status. A connection may have `max_requests` without an answer.
    At the end new requests are refused, and those that run have `shutdown_seconds` to finish; `on_drain` is
    called before that wait, to end the streams that would last.
    """
    path = Path(listener.getsockname())
    clients = Clients(
        serve_connection,
        nonce=nonce,
        facts=facts,
        on_stop=on_stop,
        present=present,
        max_requests=max_requests,
    )
    server = await asyncio.start_unix_server(clients.serve, sock=listener, limit=CHUNK)
    try:
        yield clients
    finally:
        with anyio.CancelScope(shield=True):
            server.close()
            on_drain()
            await clients.drain(shutdown_seconds)
            await clients.close()
            _remove(path)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    with suppress(OSError):
        path.parent.rmdir()  # Only one that was made for it is empty.


class Clients:
    """The open connections."""

    def __init__(
        self,
        serve_connection: ServeConnection,
        *,
        nonce: str,
        facts: Callable[[], Mapping[str, Any]],
        on_stop: Callable[[], None],
        present: Present,
        max_requests: int,
    ) -> None:
        self._serve_connection = serve_connection
        self._max_requests = max_requests
        self._nonce = nonce
        self._facts = facts
        self._on_stop = on_stop
        self._present = present
        self._open: dict[_Client, asyncio.Task[None]] = {}
        self._asking: set[asyncio.StreamWriter] = set()
        self.draining = False

    def unanswered(self) -> Unanswered:
        """None yet, of one more connection."""
        return Unanswered(max_requests=self._max_requests, max_size=LARGE_REQUESTS * LONGEST_MESSAGE)

    @property
    def count(self) -> int:
        """MCP clients; commands come and go."""
        return sum(not client.caller.shares_default for client in self._open)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One of them, from its opening to its end. The end of the server cancels it."""
        self._asking.add(writer)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # Gone in the middle of a line, or we are. Nobody waits for this task.
        finally:
            self._asking.discard(writer)
            await _hang_up(writer)

    async def drain(self, seconds: float) -> None:
        """Refuse new requests, and wait for those that run; not for ever."""
        self.draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for client in list(self._open):
                    await client.idle.wait()

    async def close(self) -> None:
        for writer in list(self._asking):
            writer.close()
        ending = list(self._open.values())
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending, timeout=FLUSH_SECONDS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        role = await self._greet(reader, writer)
        if role == "stop":
            self._on_stop()
            await reader.read()  # Until the server has ended, which is how the other side hears of it.
        if role not in ("call", "shared"):
            return
        client = _Client(_caller(role), reader, writer, among=self)
        task = asyncio.current_task()
        assert task is not None
        self._open[client] = task
        try:
            with self._present():
                async with client.streams() as (read, write):
                    await self._serve_connection(read, write, client.caller)
        finally:
            client.idle.set()
            del self._open[client]

    async def _greet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> greeting.Role | None:
        challenge = greeting.new_challenge()
        writer.write(greeting.line_of({"challenge": challenge}))
        try:
            async with asyncio.timeout(greeting.LIMIT_SECONDS):
                hello = greeting.read_line(await reader.readline())
        except (TimeoutError, ValueError):  # It says nothing, or does not end its line.
            return None
        if not greeting.proves(hello.get("proof"), self._nonce, challenge, of="client"):
            logger.warning("refused a local connection without the nonce")
            writer.write(greeting.line_of({"error": "That is not the nonce of this server"}))
            await writer.drain()
            return None
        role: greeting.Role = hello.get("as", "call")
        mine = greeting.proof(self._nonce, str(hello.get("challenge")), of="server")
        told = {"proof": mine}
        writer.write(greeting.line_of({**self._facts(), **told} if role == "status" else told))
        await writer.drain()
        return role


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    """Once what is written has gone out, or a second has passed."""
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(FLUSH_SECONDS):
            await writer.wait_closed()
    writer.transport.abort()


def _caller(role: greeting.Role) -> Caller:
    """An MCP client is a principal of its own: so nothing that it has can be seen or used by another."""
    if role == "call":
        return COMMANDS
    connection = secrets.token_hex(16)
    return Caller(f"local:{connection}", connection=connection)


class _Client:
    """One connection: its two streams, and what it asked and has not been answered yet."""

    def __init__(
        self, caller: Caller, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, among: Clients
    ) -> None:
        self.caller = caller
        self.idle = asyncio.Event()
        """Set while nothing is unanswered."""
        self.idle.set()
        self._reader = reader
        self._writer = writer
        self._among = among
        self._unanswered = among.unanswered()

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[tuple[Read, Write]]:
        """As the pair that the SDK works on. Closed on return."""
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        reading = asyncio.create_task(self._read(incoming))
        writing = asyncio.create_task(self._write(outgoing))
        try:
            yield read, write
        finally:
            write.close()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([writing], timeout=FLUSH_SECONDS)
                for task in (reading, writing):
                    task.cancel()
                await asyncio.wait([reading, writing])
            for stream in (incoming, read, outgoing):
                stream.close()
            for task in (reading, writing):
                if not task.cancelled():
                    task.result()

    async def _read(self, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with incoming:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in _lines(self._reader):
                    item = self._accept(line)
                    if isinstance(item, SessionMessage):
                        await incoming.send(item)
                    elif item is not None:
                        await self._send(item)

    async def _write(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with outgoing:
            # Who is gone is found out here, or the reader has, and closed the stream.
            with suppress(OSError, anyio.ClosedResourceError):
                async for item in outgoing:
                    await self._send(item.message)

    async def _send(self, message: JSONRPCMessage) -> None:
        self._writer.write(to_json(message).encode() + b"\n")
        await self._writer.drain()
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._settle(message.id)

    def _accept(self, line: bytes | None) -> SessionMessage | JSONRPCError | None:
        """The message for the protocol, with its sender; or what to answer to what is none."""
        if line is None:
            return refusal(INVALID_REQUEST, f"Message longer than {LONGEST_MESSAGE} bytes")
        item = parse_message(line, unit="line") if line.strip() else None
        if not isinstance(item, SessionMessage):
            return item
        context = LocalContext(self.caller)
        if not isinstance(request := item.message, JSONRPCRequest):
            return SessionMessage(item.message, ServerMessageMetadata(request_context=context))
        if self._among.draining:
            return exhausted(request.id, "The server is shutting down")
        if refused := self._unanswered.refuse(request.id, len(line)):
            return refused
        self._unanswered.add(request.id, len(line))
        self.idle.clear()

        async def settle() -> None:
            self._settle(request.id)

        return SessionMessage(
            request, ServerMessageMetadata(request_context=context, on_request_unanswered=settle)
        )

    def _settle(self, identifier: RequestId | None) -> None:
        self._unanswered.settle(identifier)
        if not self._unanswered:
            self.idle.set()


async def _lines(reader: asyncio.StreamReader) -> AsyncGenerator[bytes | None]:
    """Each line; None for one that is too long. What comes after the last line end is no message."""
    begun, skipping = bytearray(), False
    while chunk := await reader.read(CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield None if skipping else bytes(begun + end)
            begun, skipping = bytearray(), False
        begun += rest
        if len(begun) > LONGEST_MESSAGE:
            begun, skipping = bytearray(), True
