"""MCP over a Unix domain socket of this user. Client and server authenticate each other.

After the greeting, each line is a JSON-RPC message, as on stdio, so that `serve --shared` can connect a stdio
client by copying bytes. The role of a connection (`Role`) determines the caller of its requests.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
)

from footlight.caller import Caller
from footlight.daemon import greeting
from footlight.errors import ConfigurationError
from footlight.transports.activity import TrackActivity
from footlight.transports.messages import parse_message, refusal, to_json
from footlight.transports.pending_requests import LARGE_REQUESTS, PendingRequests, overload_error
from footlight.transports.stream_pair import (
    FLUSH_SECONDS,
    Incoming,
    Outgoing,
    Read,
    Streams,
    Write,
    open_stream_pair,
)

__all__ = ["LocalContext", "bind_local", "serve_local"]

logger = logging.getLogger(__name__)

BACKLOG = 128
SUFFIX = ".sock"
MAX_ADDRESS_LENGTH = 100
"""The maximum length of a socket path in bytes that all systems accept."""
MAX_MESSAGE_LENGTH = 64 << 20
"""The maximum length of a line in bytes. A longer line is refused and skipped, as on stdio."""
CHUNK = 1 << 16

ServeConnection = Callable[[Read, Write, Caller], Awaitable[None]]
"""Serves MCP over one connection until `read` ends, then ends the sessions of its caller."""


@dataclass(frozen=True, slots=True)
class LocalContext:
    """The request context of a message, in which `get_caller` finds the caller."""

    caller: Caller


def bind_local(folder: Path) -> socket.socket:
    """Return a listening socket in this private folder, or in a temporary one if the path is too long.

    Raises:
        ConfigurationError: the socket cannot be created.
    """
    # Use a new name, because an earlier server may still be stopping and removes its own socket.
    path = folder / f"{secrets.token_hex(4)}{SUFFIX}"
    if len(bytes(path)) > MAX_ADDRESS_LENGTH:
        path = Path(tempfile.mkdtemp(prefix="footlight-")) / path.name
    listener = socket.socket(socket.AF_UNIX)
    try:
        for old in folder.glob(f"*{SUFFIX}"):
            old.unlink(missing_ok=True)
        listener.bind(str(path))
        path.chmod(0o600)  # Some systems do not check the mode of the folder.
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigurationError(f"cannot listen on {path}: {error.strerror or error}") from None
    return listener


@asynccontextmanager
async def serve_local(
    listener: socket.socket,
    *,
    nonce: str,
    serve_connection: ServeConnection,
    commands: str,
    facts: Callable[[], Mapping[str, Any]],
    on_stop: Callable[[], None],
    on_drain: Callable[[], None],
    track_activity: TrackActivity,
    max_requests: int,
    shutdown_seconds: float,
) -> AsyncGenerator[LocalConnections]:
    """Serve on a bound socket, which is removed on exit. Clients must know the nonce.

    `commands` is the principal of all commands of this user, whose default session stays open between
    commands. `facts` are sent to a client that asks for the status. Each connection may have `max_requests`
    pending requests. At the end new requests are refused, and running ones have `shutdown_seconds` to finish;
    `on_drain` is called before that wait, to end the streams that would last.
    """
    path = Path(listener.getsockname())
    clients = LocalConnections(
        serve_connection,
        nonce=nonce,
        commands=commands,
        facts=facts,
        on_stop=on_stop,
        track_activity=track_activity,
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
        path.parent.rmdir()  # It is empty only if it was created for this socket.


class LocalConnections:
    """The open connections on the local socket."""

    def __init__(
        self,
        serve_connection: ServeConnection,
        *,
        nonce: str,
        commands: str,
        facts: Callable[[], Mapping[str, Any]],
        on_stop: Callable[[], None],
        track_activity: TrackActivity,
        max_requests: int,
    ) -> None:
        self._serve_connection = serve_connection
        self._max_requests = max_requests
        self._nonce = nonce
        self._commands = Caller(commands, shares_default=True)
        self._facts = facts
        self._on_stop = on_stop
        self._track_activity = track_activity
        self._open: dict[_LocalConnection, asyncio.Task[None]] = {}
        self._asking: set[asyncio.StreamWriter] = set()
        self.draining = False

    def make_pending_requests(self) -> PendingRequests:
        return PendingRequests(max_requests=self._max_requests, max_size=LARGE_REQUESTS * MAX_MESSAGE_LENGTH)

    @property
    def count(self) -> int:
        """Return the number of connected MCP clients, excluding commands."""
        return sum(not client.caller.shares_default for client in self._open)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it ends, or is cancelled because the server stops."""
        self._asking.add(writer)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # The client has disconnected, or the server is stopping.
        finally:
            self._asking.discard(writer)
            await _hang_up(writer)

    async def drain(self, seconds: float) -> None:
        """Refuse new requests, and wait at most `seconds` for the running ones."""
        self.draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for client in list(self._open):
                    await client.pending.idle.wait()

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
            await reader.read()  # Keep the connection open until the server has stopped.
        if role not in ("call", "shared"):
            return
        client = _LocalConnection(self._caller(role), reader, writer, among=self)
        task = asyncio.current_task()
        assert task is not None
        self._open[client] = task
        try:
            with self._track_activity():
                async with client.streams() as (read, write):
                    await self._serve_connection(read, write, client.caller)
        finally:
            client.pending.idle.set()
            del self._open[client]

    def _caller(self, role: greeting.Role) -> Caller:
        """Return the caller of a connection. Each MCP client is a principal of its own."""
        if role == "call":
            return self._commands
        connection = secrets.token_hex(16)
        return Caller(f"local:{connection}", connection=connection)

    async def _greet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> greeting.Role | None:
        challenge = greeting.new_challenge()
        writer.write(greeting.encode_line({"challenge": challenge}))
        try:
            async with asyncio.timeout(greeting.LIMIT_SECONDS):
                hello = greeting.read_line(await reader.readline())
        except (TimeoutError, ValueError):  # The client did not send a complete line.
            return None
        if not greeting.check_proof(hello.get("proof"), self._nonce, challenge, of="client"):
            logger.warning("refused a local connection without the nonce")
            writer.write(greeting.encode_line({"error": "That is not the nonce of this server"}))
            await writer.drain()
            return None
        role: greeting.Role = hello.get("as", "call")
        mine = greeting.make_proof(self._nonce, str(hello.get("challenge")), of="server")
        reply = {"proof": mine}
        writer.write(greeting.encode_line({**self._facts(), **reply} if role == "status" else reply))
        await writer.drain()
        return role


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    """Close the connection when all data is sent, or after `FLUSH_SECONDS`."""
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(FLUSH_SECONDS):
            await writer.wait_closed()
    writer.transport.abort()


class _LocalConnection:
    """A connection, with its two streams and its pending requests."""

    def __init__(
        self,
        caller: Caller,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        among: LocalConnections,
    ) -> None:
        self.caller = caller
        self._reader = reader
        self._writer = writer
        self._among = among
        self.pending = among.make_pending_requests()

    def streams(self) -> AbstractAsyncContextManager[Streams]:
        """Return a context that yields a pair of streams for the SDK, and closes them."""
        return open_stream_pair(self._read, self._write)

    async def _read(self, incoming: Incoming, _: Outgoing) -> None:
        async with incoming:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in _lines(self._reader):
                    item = self._accept(line)
                    if isinstance(item, SessionMessage):
                        await incoming.send(item)
                    elif item is not None:
                        await self._send(item)

    async def _write(self, outgoing: Outgoing) -> None:
        async with outgoing:
            # A closed connection is detected here, or by the reader, which closes the stream.
            with suppress(OSError, anyio.ClosedResourceError):
                async for item in outgoing:
                    await self._send(item.message)

    async def _send(self, message: JSONRPCMessage) -> None:
        self._writer.write(to_json(message).encode() + b"\n")
        await self._writer.drain()
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self.pending.settle(message.id)

    def _accept(self, line: bytes | None) -> SessionMessage | JSONRPCError | None:
        """Return the message with its caller, an error response, or None for an empty line."""
        if line is None:
            return refusal(INVALID_REQUEST, f"Message longer than {MAX_MESSAGE_LENGTH} bytes")
        item = parse_message(line, unit="line") if line.strip() else None
        if not isinstance(item, SessionMessage):
            return item
        context = LocalContext(self.caller)
        if not isinstance(request := item.message, JSONRPCRequest):
            return SessionMessage(item.message, ServerMessageMetadata(request_context=context))
        if self._among.draining:
            return overload_error(request.id, "The server is shutting down")
        if refused := self.pending.refuse(request.id, len(line)):
            return refused
        self.pending.add(request.id, len(line))

        async def settle() -> None:
            self.pending.settle(request.id)

        return SessionMessage(
            request, ServerMessageMetadata(request_context=context, on_request_unanswered=settle)
        )


async def _lines(reader: asyncio.StreamReader) -> AsyncGenerator[bytes | None]:
    """Yield each line, or None for a line that is too long. An incomplete last line is ignored."""
    line, skipping = bytearray(), False
    while chunk := await reader.read(CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield None if skipping else bytes(line + end)
            line, skipping = bytearray(), False
        line += rest
        if len(line) > MAX_MESSAGE_LENGTH:
            line, skipping = bytearray(), True
