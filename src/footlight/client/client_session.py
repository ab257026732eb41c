"""The MCP session of a client with one server: connect, negotiate, reconnect, close, and send requests.

A server may end its HTTP session while the connection stays open. `transports.http_session` detects this and
`_forget_server` is called, so that the next request negotiates again.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import math
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Literal

from footlight.client.get_stream import GetStream
from footlight.client.tasks import LoopLock, SharedTask, wait_shielded
from footlight.protocol.callbacks import Handler, request_until_complete
from footlight.protocol.channel import HttpFeatures
from footlight.protocol.connection import Connection, OnNotification, OnProgress, Result
from footlight.protocol.deadline import CallDeadline
from footlight.protocol.errors import (
    MCPConnectionError,
    MCPError,
    MCPTimeoutError,
    ServerNotAvailableError,
)
from footlight.protocol.handshake import ClientIdentity, RequestedVersion, ServerIntroduction, negotiate
from footlight.protocol.versions import is_stateless

if TYPE_CHECKING:
    from footlight.protocol.channel import Channel, Transport
    from footlight.protocol.connection import OnError, OnMessage

__all__ = ["ClientSession", "State"]

logger = logging.getLogger(__name__)

State = Literal["disconnected", "connected", "error"]

GOODBYE_SECONDS = 2.0
"""The time limit for ending the HTTP session when the connection is closed."""


class ClientSession:
    """Manages at most one connection, and the server's introduction from the handshake.

    With a `transport`, the first request connects; otherwise, pass one to `connect`. With `opens_stream`,
    messages that the server sends outside of calls are also received over HTTP. `on_server_forgotten` is
    called when cached information about the server is no longer valid.
    """

    def __init__(
        self,
        transport: Transport | None,
        *,
        identity: ClientIdentity,
        requested_version: RequestedVersion,
        timeout_ms: float,
        handlers: Mapping[str, Handler],
        opens_stream: bool,
        on_notification: OnNotification,
        on_server_forgotten: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._identity = identity
        self._requested_version: RequestedVersion = requested_version
        self._timeout_ms = timeout_ms
        self._handlers = handlers
        self._opens_stream = opens_stream
        self._get_stream = GetStream(timeout_ms=timeout_ms)
        self._on_notification = on_notification
        self._on_server_forgotten = on_server_forgotten
        self._connects_itself = transport is not None
        self._connection: Connection | None = None
        self._channel: Channel | None = None
        self._introduction: ServerIntroduction | None = None
        self._lock = LoopLock()
        self._transport_open = False
        self._starting = SharedTask(self._start)

    @property
    def state(self) -> State:
        """Return the state.

        It is `error` after the connection was lost, until `reconnect` or `close` is called.
        """
        if self._connection is None:
            return "disconnected"
        return "connected" if self._connection.alive else "error"

    @property
    def loop_ended(self) -> bool:
        """Return whether the event loop was closed while the connection was open."""
        return self._connection is not None and self._connection.loop_ended

    @property
    def transport(self) -> Transport | None:
        return self._transport

    @property
    def introduction(self) -> ServerIntroduction | None:
        """Return the server's introduction, or None before negotiation and after the session has ended."""
        return self._introduction

    @property
    def http(self) -> HttpFeatures | None:
        """Return the features that only HTTP channels have, or None with other transports."""
        return self._channel if isinstance(self._channel, HttpFeatures) else None

    async def connect(self, transport: Transport | None = None) -> None:
        """Connect with this transport, or with that of the constructor, and negotiate.

        Raises:
            MCPError: the client is connected already, or there is no transport (`invalid`).
            ServerNotAvailableError, MCPConnectionError, MCPTimeoutError: connecting failed.
        """
        async with self._lock.here():
            if self._connection is not None:
                raise MCPError(
                    f"The client is connected already ({self.state}); close() or reconnect() it",
                    reason="invalid",
                )
            self._transport = transport or self._transport
            if self._transport is None:
                raise MCPError("command: there is nothing to connect to; give a command", reason="invalid")
            await self._open_within_timeout(self._transport)

    async def reconnect(self) -> None:
        """Close the connection, if there is one, and connect with the same transport again.

        Raises:
            MCPConnectionError: the session has never had a transport.
        """
        async with self._lock.here():
            if self._transport is None:
                raise _not_connected_error()
            await _run_shielded(self._disconnect())
            await self._open_within_timeout(self._transport)

    async def close(self) -> None:
        """End the session and the connection. A later request does not connect again."""
        await _run_shielded(self._close())

    async def terminate(self) -> bool:
        """End the HTTP session at the server, and return whether it ended.

        The next request begins another.
        """
        if self.http is None or self.http.session_id is None:
            return False
        async with CallDeadline(self._timeout_ms).limit("Ending the session"):
            return await self.http.terminate()

    async def listen(self, on_message: OnMessage, on_error: OnError) -> bool:
        """Pass the messages of the GET stream to these callbacks. Return False if there is no such stream.

        Raises:
            MCPError: the stream could not be opened.
        """
        if (joined := await self._get_stream.join(on_message, on_error)) is not None:
            return joined
        if self._connection is None or self.http is None:
            return False
        return await self._get_stream.open(self._connection, self.http)

    async def stop_listening(self) -> None:
        await self._get_stream.leave(self.http)

    async def ensure_connected(self, deadline: CallDeadline) -> tuple[Connection, ServerIntroduction]:
        """Return the connection and the server's introduction. Connect and negotiate first if necessary.

        Concurrent callers share one attempt, which is cancelled when no caller waits for it any more.

        Raises:
            MCPTimeoutError: the deadline passed. The caller's request was not sent.
            MCPError: connecting failed.
        """
        if (ready := self._find_ready()) is not None:
            return ready
        try:
            async with deadline.limit("Connecting"):
                starting = await self._starting.join()
        except MCPTimeoutError:
            raise self._timeout_error(deadline) from None
        if starting.cancelled():
            raise _closed_error()
        if isinstance(error := starting.exception(), MCPError):
            # Each caller gets a copy, because raising an error adds to its traceback.
            raise copy.copy(error).with_traceback(error.__traceback__) from error.__cause__
        return starting.result()

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        deadline: CallDeadline,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
        unanswered: str = "",
    ) -> Result:
        """Send a request and return its result. Connect first if necessary.

        In the stateless protocol, the client's handlers answer the server's requests for input. `unanswered`
        begins the message of the error if the server does not answer in time.

        Raises:
            MCPTimeoutError: there was no answer before the deadline, or a handler of the client took longer.
            MCPError: the server refused, or the connection was lost.
        """
        connection, introduction = await self.ensure_connected(deadline)

        async def ask(params_of_round: Mapping[str, Any]) -> Result:
            try:
                return await connection.request(
                    method,
                    params_of_round,
                    timeout_ms=deadline.left_ms,
                    on_progress=on_progress,
                    headers=headers,
                )
            except MCPTimeoutError:
                message = f"{unanswered or f'{method} had no answer'} within {deadline.timeout_ms:.0f}ms"
                if running := ", ".join(connection.running_handlers):
                    message += f"; the client's handler of {running} had not finished"
                raise deadline.make_timeout_error(message) from None

        async def handle(asked: str, with_params: Mapping[str, Any]) -> Mapping[str, Any]:
            async with deadline.limit(f"The client's handler of {asked}"):
                return await connection.handle(asked, with_params)

        if is_stateless(introduction.version):
            return await request_until_complete(ask, handle, params or {})
        return await ask(params or {})

    async def _start(self) -> tuple[Connection, ServerIntroduction]:
        """Connect and negotiate, unless that has been done."""
        async with self._lock.here():
            if (ready := self._find_ready()) is not None:
                return ready
            if self._connection is None:
                if not self._connects_itself or self._transport is None:
                    raise _not_connected_error()
                await self._open(self._transport)
            connection, channel = self._connection, self._channel
            assert connection is not None
            assert channel is not None
            if self._introduction is None:
                self._introduction = await self._negotiate(connection, channel)
            return connection, self._introduction

    def _find_ready(self) -> tuple[Connection, ServerIntroduction] | None:
        if self._connection is None:
            return None
        self._connection.check_loop()
        if self._connection.end_error is not None:
            raise copy.copy(self._connection.end_error)
        return None if self._introduction is None else (self._connection, self._introduction)

    async def _open_within_timeout(self, transport: Transport) -> None:
        deadline = CallDeadline(self._timeout_ms)
        try:
            async with deadline.limit("Connecting"):
                await self._open(transport)
        except MCPTimeoutError:
            raise self._timeout_error(deadline) from None

    def _timeout_error(self, deadline: CallDeadline) -> MCPTimeoutError:
        """Return an error that shows whether the transport was open when the deadline passed."""
        where = "the server" if self._transport is None else self._transport.where
        if self._transport_open:
            return deadline.make_timeout_error(
                f"{where} did not answer within {deadline.timeout_ms:.0f}ms; is it an MCP server?"
            )
        return deadline.make_timeout_error(
            f"Connecting to {where} took longer than {deadline.timeout_ms:.0f}ms"
        )

    async def _open(self, transport: Transport) -> None:
        """Connect and negotiate. The caller sets the time limit."""
        self._transport_open = False
        connection = Connection(
            handlers=self._handlers,
            on_notification=self._on_notification,
            on_session_ended=self._forget_server,
        )
        channel: Channel | None = None
        try:
            channel = await connection.open(transport)
            self._introduction = await self._negotiate(connection, channel)
        except BaseException:
            await _run_shielded(_terminate_and_close(connection, channel))
            raise
        self._connection, self._channel = connection, channel

    async def _negotiate(self, connection: Connection, channel: Channel) -> ServerIntroduction:
        self._transport_open = True
        try:
            introduction = await negotiate(
                connection,
                channel,
                requested_version=self._requested_version,
                identity=self._identity,
                timeout_ms=math.inf,  # The caller sets the time limit.
                longest_probe_ms=self._timeout_ms / 2,
            )
        except (MCPConnectionError, ServerNotAvailableError) as error:
            if self._transport is not None and hasattr(self._transport, "command"):
                error.server_command = self._transport.where
            raise
        if (
            self._opens_stream
            and isinstance(channel, HttpFeatures)
            and not is_stateless(introduction.version)
        ):
            self._get_stream.open_in_background(connection, channel)
        return introduction

    async def _close(self) -> None:
        self._starting.cancel()
        async with self._lock.here():
            self._connects_itself = False
            await self._disconnect()

    async def _disconnect(self) -> None:
        connection, http, connected = self._connection, self.http, self.state == "connected"
        if connection is not None and not connection.loop_ended:
            connection.check_loop()
        self._connection = self._channel = None
        self._forget_server()
        self._get_stream.cancel()
        if connection is None or connection.loop_ended:
            return
        # Fail waiting requests first. Otherwise, they would fail with an error of the server.
        connection.on_connection_lost(_closed_error())
        await _terminate_and_close(connection, http if connected else None)

    def _forget_server(self) -> None:
        """Discard the server's introduction, because its session has ended."""
        self._introduction = None
        self._on_server_forgotten()


def _not_connected_error() -> MCPError:
    return MCPConnectionError("The client is not connected; call connect() first", reason="not_connected")


def _closed_error() -> MCPError:
    return MCPConnectionError("The client was closed", reason="not_connected")


async def _terminate_and_close(connection: Connection, channel: object) -> None:
    """Close the connection. End the HTTP session at the server first, if there is one."""
    if isinstance(channel, HttpFeatures):
        with contextlib.suppress(MCPError, TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await channel.terminate()
    await connection.close()


async def _run_shielded(work: Coroutine[Any, Any, None]) -> None:
    """Run the work to its end even if the caller is cancelled, so that no connection stays open."""
    await wait_shielded(asyncio.create_task(work))
