"""The interface between a connection and a transport."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, runtime_checkable

from footlight.protocol.errors import MCPError
from footlight.protocol.messages import Message

__all__ = ["Channel", "HttpFeatures", "Receiver", "Transport"]


class Receiver(Protocol):
    """The interface of a connection for its transport. Its methods do not wait and do not raise errors."""

    def receive(self, message: Message) -> None:
        """Handle a message that `messages.parse` returned."""
        ...

    def on_connection_lost(self, error: MCPError) -> None:
        """Fail all pending requests with this error, because no more messages will arrive."""
        ...

    def on_session_ended(self) -> None:
        """Note that the HTTP session has ended. Either side may have ended it.

        This is called once for each session, before the request that detected the end fails. The next request
        begins another session.
        """
        ...


class Channel(Protocol):
    """An open channel to a server. Its methods may be called from any task of its event loop."""

    cancels_by_closing: bool
    """Whether cancelling `send` cancels the request at the server, as over HTTP in the stateless protocol."""

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:
        """Send a message. The `headers` (`Mcp-Param-*`) are only sent over HTTP.

        Over HTTP, this returns when all messages of the answer have been received. Over other transports, it
        returns when the message has been passed to the transport. Cancelling it abandons the exchange.

        Raises:
            MCPError: the message was not delivered, or its exchange failed. Other requests are not affected.
        """
        ...

    def use_version(self, version: str) -> None:
        """Use this revision of the protocol for all further messages."""
        ...

    async def close(self) -> None:
        """Close the channel and all of its tasks, processes and sockets, in bounded time.

        It is safe to call this twice.
        """
        ...


@runtime_checkable
class HttpFeatures(Protocol):
    """The additional features of a channel over Streamable HTTP: its HTTP session and its GET stream."""

    @property
    def session_id(self) -> str | None: ...

    async def terminate(self) -> bool:
        """Discard the session id and send DELETE. Return whether the server has ended the session."""
        ...

    async def listen(
        self, on_message: Callable[[Message], None], on_error: Callable[[MCPError], None]
    ) -> bool:
        """Open the GET stream. Return False if the server does not support it (405).

        Its messages are received like others, and are also passed to `on_message`. After an interruption, the
        stream is reopened with `Last-Event-ID`, until `stop_listening` is called. `on_error` is called if
        that fails.

        Raises:
            MCPError: the stream could not be opened.
        """
        ...

    async def stop_listening(self) -> None: ...


class Transport(Protocol):
    """A factory of channels to a server. Each call of `open` creates a new channel."""

    @property
    def where(self) -> str:
        """Return the command or URL without secrets, for messages."""
        ...

    def open(self, receiver: Receiver) -> Awaitable[Channel]:
        """Open a channel that passes incoming messages to `receiver`.

        Raises:
            ServerNotAvailableError: the server cannot be reached. No process or socket is left open.
        """
        ...
