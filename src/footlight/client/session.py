"""One client's session with one server: begun, begun again, ended; and requests in it."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Literal

from footlight.client.channel import HttpSession
from footlight.client.connection import Connection, Handler, OnNotification, OnProgress, Result
from footlight.client.errors import (
    MCPConnectionError,
    MCPError,
    MCPTimeoutError,
    ServerNotAvailableError,
    is_session_expired,
)
from footlight.client.handshake import Identity, Introduction, Wanted, introduce
from footlight.client.loop_lock import LoopLock
from footlight.client.rounds import finished
from footlight.client.transports.closing import outlast
from footlight.client.versions import is_stateless

if TYPE_CHECKING:
    from footlight.client.channel import Channel, Transport
    from footlight.client.messages import Message
    from footlight.client.streams import OnError, OnMessage

__all__ = ["Session", "State", "check_timeout", "within"]

logger = logging.getLogger(__name__)

State = Literal["disconnected", "connected", "error"]

GOODBYE_SECONDS = 2.0
"""For the end of an HTTP session, which is a courtesy."""


class Session:
    """`transport` None waits for one; with one, the first request connects. `on_forgotten` hears that what
    the server said in this session holds no more. With `listens`, what the server asks and tells outside of
    calls is heard over HTTP too.
    """

    def __init__(
        self,
        transport: Transport | None,
        *,
        identity: Identity,
        wanted: Wanted,
        timeout_ms: float,
        handlers: Mapping[str, Handler],
        listens: bool,
        on_notification: OnNotification,
        on_forgotten: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._identity = identity
        self._wanted: Wanted = wanted
        self._timeout_ms = timeout_ms
        self._handlers = handlers
        self._listens = listens
        self._listening: asyncio.Task[bool | MCPError] | None = None
        """The stream that is open without being asked for: whether it is."""
        self._on_message: OnMessage = _ignore
        self._on_stream_error: OnError = _log_end
        self._on_notification = on_notification
        self._on_forgotten = on_forgotten
        self._lazy = transport is not None
        self._connection: Connection | None = None
        self._channel: Channel | None = None
        self._introduction: Introduction | None = None
        self._opening = LoopLock()

    @property
    def state(self) -> State:
        """`error` once the connection is lost, until `reconnect` or `close`."""
        if self._connection is None:
            return "disconnected"
        return "connected" if self._connection.alive else "error"

    @property
    def loop_ended(self) -> bool:
        """Whether the event loop was closed under the connection."""
        return self._connection is not None and self._connection.loop_ended

    @property
    def transport(self) -> Transport | None:
        return self._transport

    @property
    def introduction(self) -> Introduction | None:
        """What the server said of itself; None before, after, and once it has forgotten us."""
        return self._introduction

    @property
    def http(self) -> HttpSession | None:
        """What there is over HTTP alone."""
        return self._channel if isinstance(self._channel, HttpSession) else None

    async def connect(self, transport: Transport | None = None) -> None:
        async with self._opening.here():
            if self._connection is not None:
                raise MCPError(
                    f"The client is connected already ({self.state}); close() or reconnect() it",
                    reason="invalid",
                )
            self._transport = transport or self._transport
            if self._transport is None:
                raise MCPError("command: there is nothing to connect to; name a command", reason="invalid")
            await self._open(self._transport)

    async def reconnect(self) -> None:
        async with self._opening.here():
            if self._transport is None:
                raise _not_connected()
            await _undisturbed(self._shut())
            await self._open(self._transport)

    async def close(self) -> None:
        await _undisturbed(self._close())

    async def terminate(self) -> bool:
        """End the HTTP session at the server: whether it did. The next request begins another."""
        if self.http is None or self.http.session_id is None:
            return False
        try:
            async with within(self._timeout_ms, "Ending the session"):
                return await self.http.terminate()
        finally:
            self._forget()

    async def listen(self, on_message: OnMessage, on_error: OnError) -> bool:
        """Tell these what comes on the GET stream; False where the server has none.

        Servers allow one: where it is open already it stays, and only tells these too.

        Raises:
            MCPError: it could not be opened.
        """
        self._on_message, self._on_stream_error = on_message, on_error
        if (listening := self._listening) is not None:
            await asyncio.wait([listening])
            if not listening.cancelled() and isinstance(opened := listening.result(), bool):
                return opened
        self._listening = None
        return self.http is not None and await self.http.listen(self._told, self._not_told_any_more)

    async def stop_listening(self) -> None:
        self._on_message, self._on_stream_error = _ignore, _log_end
        if self._listening is None and self.http is not None:
            await self.http.stop_listening()

    async def ready(self) -> tuple[Connection, Introduction]:
        """Connected, and introduced: again where the server has forgotten us (R001-18, R001-48)."""
        if (known := self._known()) is not None:
            return known
        async with self._opening.here():
            if self._connection is None:
                if not self._lazy or self._transport is None:
                    raise _not_connected()
                await self._open(self._transport)
            connection, channel = self._connection, self._channel
            assert connection is not None
            assert channel is not None
            if connection.end is not None:
                raise copy.copy(connection.end)
            if self._introduction is None:
                self._introduction = await self._introduced(connection, channel)
            return connection, self._introduction

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: float | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Result:
        limit_ms = self._timeout_ms if timeout_ms is None else timeout_ms
        check_timeout(limit_ms)
        end = time.monotonic() + limit_ms / 1000
        connection, introduction = await self._ready_within(limit_ms)

        async def ask(asked: Mapping[str, Any]) -> Result:
            return await connection.request(
                method, asked, timeout_ms=_left_ms(end), on_progress=on_progress, headers=headers
            )

        async def handle(asked: str, with_params: Mapping[str, Any]) -> Mapping[str, Any]:
            async with within(_left_ms(end), f"The client's handler of {asked}"):
                return await connection.handle(asked, with_params)

        try:
            if is_stateless(introduction.version):
                return await finished(ask, handle, params or {})
            return await ask(params or {})
        except MCPTimeoutError:
            raise MCPTimeoutError(
                f"{method} had no answer within {limit_ms:.0f}ms", timeout_ms=limit_ms
            ) from None
        except MCPError as error:
            if is_session_expired(error) and self._introduction is introduction:
                self._forget()
            raise

    async def _ready_within(self, limit_ms: float) -> tuple[Connection, Introduction]:
        """A call that has to connect first has its own time for all of it."""
        if (known := self._known()) is not None:
            return known
        where = "the server" if self._transport is None else self._transport.where
        async with within(limit_ms, f"Connecting to {where}"):
            return await self.ready()

    def _known(self) -> tuple[Connection, Introduction] | None:
        if self._connection is None:
            return None
        self._connection.check_loop()
        if self._connection.end is not None:
            raise copy.copy(self._connection.end)
        return None if self._introduction is None else (self._connection, self._introduction)

    async def _open(self, transport: Transport) -> None:
        connection = Connection(handlers=self._handlers, on_notification=self._on_notification)
        channel: Channel | None = None
        try:
            async with within(self._timeout_ms, f"Connecting to {transport.where}"):
                channel = await connection.open(transport)
            self._introduction = await self._introduced(connection, channel)
        except BaseException:
            await _undisturbed(_parted(connection, channel))
            raise
        self._connection, self._channel = connection, channel

    async def _introduced(self, connection: Connection, channel: Channel) -> Introduction:
        try:
            introduction = await introduce(
                connection, channel, wanted=self._wanted, identity=self._identity, timeout_ms=self._timeout_ms
            )
        except MCPTimeoutError as error:
            where = "The server" if self._transport is None else self._transport.where
            raise MCPTimeoutError(
                f"{where} did not answer within {error.timeout_ms:.0f}ms; is it an MCP server?",
                timeout_ms=error.timeout_ms,
            ) from None
        except (MCPConnectionError, ServerNotAvailableError) as error:
            if self._transport is not None and hasattr(self._transport, "command"):
                error.server_command = self._transport.where
            raise
        if self._listens and isinstance(channel, HttpSession) and not is_stateless(introduction.version):
            # Not waited for: a server may say nothing on it until it has something to say.
            self._listening = asyncio.create_task(self._listen(channel))
        return introduction

    async def _listen(self, http: HttpSession) -> bool | MCPError:
        """For the connection to receive. Many servers have no such stream."""
        try:
            return await http.listen(self._told, self._not_told_any_more)
        except MCPError as error:
            _log_end(error)
            return error

    def _told(self, message: Message) -> None:
        self._on_message(message)

    def _not_told_any_more(self, error: MCPError) -> None:
        self._listening = None
        self._on_stream_error(error)

    async def _close(self) -> None:
        async with self._opening.here():
            self._lazy = False
            await self._shut()

    async def _shut(self) -> None:
        connection, http, connected = self._connection, self.http, self.state == "connected"
        if connection is not None and not connection.loop_ended:
            connection.check_loop()
        self._connection = self._channel = None
        self._forget()
        if connection is None or connection.loop_ended:
            return
        # First, or what waits would blame the server for what the end of the session does to it.
        connection.lost(MCPConnectionError("The client was closed", reason="not_connected"))
        await _parted(connection, http if connected else None)

    def _forget(self) -> None:
        self._introduction = None
        task, self._listening = self._listening, None
        if task is not None and not task.get_loop().is_closed():
            task.cancel()
        self._on_forgotten()


def _not_connected() -> MCPError:
    return MCPConnectionError("The client is not connected; call connect() first", reason="not_connected")


def check_timeout(timeout_ms: object) -> None:
    """
    Raises:
        MCPError: it is none (`invalid`).
    """
    if isinstance(timeout_ms, (int, float)) and not isinstance(timeout_ms, bool) and timeout_ms > 0:
        return
    raise MCPError(f"timeout_ms: must be more than 0, got {timeout_ms!r:.60}", reason="invalid")


def _ignore(_: Message) -> None:
    """The connection has it."""


def _log_end(error: MCPError) -> None:
    logger.info("the server is not heard outside of calls: %s", error)


async def _parted(connection: Connection, channel: object) -> None:
    """Close it, and before that the session at the server, if there is one."""
    if isinstance(channel, HttpSession):
        with contextlib.suppress(MCPError, TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await channel.terminate()
    await connection.close()


def _left_ms(end: float) -> float:
    return max(0.0, (end - time.monotonic()) * 1000)


@contextlib.asynccontextmanager
async def within(timeout_ms: float, what: str) -> AsyncGenerator[None]:
    limit = asyncio.timeout(timeout_ms / 1000)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise MCPTimeoutError(f"{what} took longer than {timeout_ms:.0f}ms", timeout_ms=timeout_ms) from None


async def _undisturbed(work: Coroutine[Any, Any, None]) -> None:
    """To its end, even if the caller is cancelled meanwhile: what is open must be closed."""
    await outlast(asyncio.create_task(work))
