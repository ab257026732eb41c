"""The GET stream of an HTTP session, on which a server sends messages outside of calls."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from footlight.protocol.errors import MCPError, is_session_expired

if TYPE_CHECKING:
    from footlight.protocol.channel import HttpFeatures
    from footlight.protocol.connection import Connection, OnError, OnMessage
    from footlight.protocol.messages import Message

__all__ = ["GetStream"]

logger = logging.getLogger(__name__)


class GetStream:
    """Opens the stream for the client itself and for the callbacks of `MCPClient.open_stream`.

    A client that handles requests or notifications opens the stream in the background after each handshake.
    Servers allow only one such stream, so callbacks are added to it.
    """

    def __init__(self, *, timeout_ms: float) -> None:
        self._timeout_ms = timeout_ms
        self._opening: asyncio.Task[bool | MCPError] | None = None
        """The task that opens the stream in the background.

        It returns whether that succeeded, or the error.
        """
        self._on_message: OnMessage = _ignore
        self._on_error: OnError = _log_end

    def open_in_background(self, connection: Connection, http: HttpFeatures) -> None:
        """Start to open the stream. Some servers do not answer until they have a message to send."""
        self._opening = asyncio.create_task(self._try_open(connection, http))

    async def join(self, on_message: OnMessage, on_error: OnError) -> bool | None:
        """Add callbacks to the stream that was opened in the background.

        Return whether the server supports the stream, or None if it must be opened with `open`.

        Raises:
            MCPError: the HTTP session expired.
        """
        self._on_message, self._on_error = on_message, on_error
        if (opening := self._opening) is not None:
            await asyncio.wait([opening])
            opened = False if opening.cancelled() else opening.result()
            if isinstance(opened, bool) and not opening.cancelled():
                return opened
            if isinstance(opened, MCPError) and is_session_expired(opened):
                raise opened
        self._opening = None
        return None

    async def open(self, connection: Connection, http: HttpFeatures) -> bool:
        """Open the stream. Return False if the server does not support it.

        Raises:
            MCPError: the stream could not be opened.
        """
        try:
            return await http.listen(self._receive, self._end)
        except MCPError as error:
            if error.status != 404 or http.session_id is None:
                raise
        # Many servers without this stream answer 404, not 405. A ping shows whether the session has expired.
        try:
            await connection.request("ping", timeout_ms=self._timeout_ms)
        except MCPError as error:
            if error.reason != "peer":
                raise
        return False

    async def leave(self, http: HttpFeatures | None) -> None:
        """Remove the callbacks. Close the stream unless the client itself uses it."""
        self._on_message, self._on_error = _ignore, _log_end
        if self._opening is None and http is not None:
            await http.stop_listening()

    def cancel(self) -> None:
        """Stop opening the stream in the background."""
        task, self._opening = self._opening, None
        if task is not None and not task.get_loop().is_closed():
            task.cancel()

    async def _try_open(self, connection: Connection, http: HttpFeatures) -> bool | MCPError:
        try:
            return await self.open(connection, http)
        except MCPError as error:
            _log_end(error)
            return error

    def _receive(self, message: Message) -> None:
        self._on_message(message)

    def _end(self, error: MCPError) -> None:
        self._opening = None
        self._on_error(error)


def _ignore(_: Message) -> None:
    """Do nothing, because the connection receives the message as well."""


def _log_end(error: MCPError) -> None:
    logger.info("messages outside of calls are no longer received: %s", error)
