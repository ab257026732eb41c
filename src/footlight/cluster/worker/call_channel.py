"""Send calls to a worker over a TCP connection, which costs much less processor time than Ray.

Ray hands out the address and its token, and says which workers exist. A connection carries frames both ways:
the number of a call, a kind, the length of the body, and the body. The progress of a call comes before its
reply. Replies come in any order. A call that is abandoned is cancelled by a frame that follows it on the same
connection, so a worker that was stopped reads both together and does not begin an expired call.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hmac
import itertools
import os
import pickle
import secrets
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from footlight.cluster.ray_api import ActorLostError

__all__ = ["CallAddress", "CallChannel", "CallListener", "Send"]

TOKEN_BYTES = 32
TOKEN_SECONDS = 5.0
"""How long a client may take to send the token."""
KEEPALIVE_SECONDS = 30
"""After how long without a call the connection is probed, so that a firewall does not forget it."""
UNACKNOWLEDGED_SECONDS = 10.0
"""How long the other machine may leave data without an acknowledgement. Then the connection is lost.

Its kernel acknowledges data also for a process that is busy or stopped.
"""
MAX_BODY_BYTES = 1 << 30
"""The longest body, far above any call or answer. A header that announces more ends the connection."""
_HEADER = struct.Struct("!QBI")
_SENT, _REPLY, _ERROR, _PROGRESS, _ABANDONED = range(5)

Send = Callable[[bytes], None]
"""Sends the progress of a call, or receives it."""


@dataclass(frozen=True, slots=True)
class CallAddress:
    """Where a process of a worker takes calls, and the token that it requires."""

    process_id: int
    host: str
    port: int
    token: bytes = field(repr=False)


class CallListener:
    """Runs the calls that come on connections with the token. Nothing else is read before the token."""

    def __init__(self, run: Callable[[bytes, Send], Awaitable[bytes]]) -> None:
        """Create the listener. `run` gets a call and a function that sends its progress."""
        self._run = run
        self._token = secrets.token_bytes(TOKEN_BYTES)
        self._running: dict[tuple[asyncio.StreamWriter, int], asyncio.Future[bytes]] = {}
        """The running calls by their connection and number."""
        self._server: asyncio.Server | None = None

    async def open(self, host: str) -> CallAddress:
        """Listen on a free port of `host`."""
        self._server = await asyncio.start_server(self._serve, host, 0)
        return CallAddress(os.getpid(), host, self._server.sockets[0].getsockname()[1], self._token)

    def close(self) -> None:
        """Accept no more connections. Those that are open stay."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _detect_loss(writer)
        try:
            async with asyncio.timeout(TOKEN_SECONDS):
                token = await reader.readexactly(TOKEN_BYTES)
            if not hmac.compare_digest(token, self._token):
                return
            while True:
                number, kind, body = await _read_frame(reader)
                if kind == _ABANDONED:
                    if call := self._running.get((writer, number)):
                        call.cancel()
                    continue
                # The call continues without the connection, as one through Ray without its server.
                send = functools.partial(_write_frame, writer, number, _PROGRESS)
                call = self._running[writer, number] = asyncio.ensure_future(self._run(body, send))
                call.add_done_callback(functools.partial(self._answer, number, writer))
        except (OSError, EOFError, TimeoutError):
            pass
        finally:
            writer.close()

    def _answer(self, number: int, writer: asyncio.StreamWriter, call: asyncio.Future[bytes]) -> None:
        del self._running[writer, number]
        if call.cancelled():
            return  # Its caller has abandoned it.
        error = call.exception()
        kind, body = (_REPLY, call.result()) if error is None else (_ERROR, _pack_error(error))
        _write_frame(writer, number, kind, body)


class CallChannel:
    """A connection to the listener of a worker. The loss of the connection ends its running calls."""

    def __init__(self, process_id: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.process_id = process_id
        self._writer = writer
        self._numbers = itertools.count()
        self._waiting: dict[int, _WaitingCall] = {}
        self._receiving = asyncio.create_task(self._receive(reader))

    @classmethod
    async def connect(cls, address: CallAddress) -> CallChannel:
        """Connect to a listener.

        Raises:
            OSError: it cannot be reached.
        """
        reader, writer = await asyncio.open_connection(address.host, address.port)
        _detect_loss(writer)
        writer.write(address.token)
        return cls(address.process_id, reader, writer)

    @property
    def is_open(self) -> bool:
        return not self._receiving.done() and not self._writer.is_closing()

    async def call(self, packed: bytes, on_progress: Send | None = None) -> bytes:
        """Send a call once, and return its reply. `on_progress` receives its progress.

        A call that is cancelled here is cancelled on the worker, too.

        Raises:
            ActorLostError: the connection was lost. Whether the call ran is not known.
        """
        if not self.is_open:
            raise ActorLostError("the connection is closed")
        number = next(self._numbers)
        waiting = _WaitingCall(asyncio.get_running_loop().create_future(), on_progress)
        self._waiting[number] = waiting
        try:
            _write_frame(self._writer, number, _SENT, packed)
            return await waiting.reply
        except asyncio.CancelledError:
            _write_frame(self._writer, number, _ABANDONED, b"")
            raise
        finally:
            del self._waiting[number]

    def close(self) -> None:
        """Abandon the running calls, which end with ActorLostError, and close the connection."""
        for number in self._waiting:
            _write_frame(self._writer, number, _ABANDONED, b"")
        self._end()

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                number, kind, body = await _read_frame(reader)
                waiting = self._waiting.get(number)
                if waiting is None or waiting.reply.done():
                    continue  # Nobody waits any more.
                if kind == _ERROR:
                    waiting.reply.set_exception(_unpack_error(body))
                elif kind == _REPLY:
                    waiting.reply.set_result(body)
                elif waiting.on_progress is not None:
                    waiting.on_progress(body)
        except (OSError, EOFError):
            pass
        finally:
            self._end()

    def _end(self) -> None:
        self._writer.close()
        self._receiving.cancel()
        for each in self._waiting.values():
            if not each.reply.done():
                each.reply.set_exception(ActorLostError("the connection was lost"))


@dataclass(frozen=True, slots=True)
class _WaitingCall:
    reply: asyncio.Future[bytes]
    on_progress: Send | None


async def _read_frame(reader: asyncio.StreamReader) -> tuple[int, int, bytes]:
    """Return the number, the kind and the body of the next frame.

    Raises:
        EOFError: the connection has ended.
    """
    number, kind, length = _HEADER.unpack(await reader.readexactly(_HEADER.size))
    if length > MAX_BODY_BYTES:
        raise EOFError("the other side sends no frames")
    return number, kind, await reader.readexactly(length)


def _write_frame(writer: asyncio.StreamWriter, number: int, kind: int, body: bytes) -> None:
    if not writer.is_closing():
        writer.write(_HEADER.pack(number, kind, len(body)) + body)


def _pack_error(error: BaseException) -> bytes:
    with contextlib.suppress(Exception):
        packed = pickle.dumps(error)
        pickle.loads(packed)
        return packed
    return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))


def _unpack_error(packed: bytes) -> Exception:
    try:
        return pickle.loads(packed)
    except Exception as error:  # noqa: BLE001 - the class may differ in the version of the worker
        return RuntimeError(f"an error of the worker cannot be read: {error}")


def _detect_loss(writer: asyncio.StreamWriter) -> None:
    """Let the kernel end a connection whose other machine no longer answers."""
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNACKNOWLEDGED_SECONDS * 1000))
