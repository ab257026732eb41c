"""The interface between a connection and a transport."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, runtime_checkable

from footlight.protocol.errors import MCPError
from footlight.protocol.messages import Message

__all__ = ["Channel", "HttpFeatures", "Receiver", "Transport"]


class Receiver(Protocol):
    """The interface of a connection towards its transport. None of the methods waits or raises."""

    def receive(self, message: Message) -> None:
        """Take a message that `messages.parse` returned."""
        ...

    def on_connection_lost(self, error: MCPError) -> None:
        """Fail every waiting request with this error: no more messages will come."""
        ...

    def on_session_ended(self) -> None:
        """Note that the HTTP session ended, no matter which side ended it.

        Called once for each session, before the request that noticed it fails. The next request begins
        another session.
        """
        ...


class Channel(Protocol):
    """An open connection to a server. Its methods may be called from any task of its event loop."""

    cancels_by_closing: bool
    """Whether abandoning `send` cancels the request at the server, as HTTP in the stateless protocol does."""

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:
        """Send one message. Only HTTP sends the `headers` (`Mcp-Param-*`).

        Over HTTP this lasts for the whole exchange: on return, every message of the answer was received. Over
        other transports it returns when the message is on its way. Cancelling it abandons the exchange.

        Raises:
            MCPError: the message did not arrive, or its exchange failed; other requests may go on.
        """
        ...

    def use_version(self, version: str) -> None:
        """Send messages of this revision of the protocol from now on."""
        ...

    async def close(self) -> None:
        """Close in bounded time, leaving no task, process or socket. May be called twice."""
        ...


@runtime_checkable
class HttpFeatures(Protocol):
    """The features of a channel over Streamable HTTP beyond messages: its HTTP session and its GET stream."""

    @property
    def session_id(self) -> str | None: ...

    async def terminate(self) -> bool:
        """Forget the session's id and send DELETE. Return whether the server ended the session."""
        ...

    async def listen(
        self, on_message: Callable[[Message], None], on_error: Callable[[MCPError], None]
    ) -> bool:
        """Open the GET stream. Return False if the server does not support it (405).

        Its messages are received like others, and passed to `on_message` too. The stream is reopened with
        `Last-Event-ID` after each interruption until `stop_listening`; `on_error` is called if that fails.

        Raises:
            MCPError: the stream could not be opened.
        """
        ...

    async def stop_listening(self) -> None: ...


class Transport(Protocol):
    """A way to reach a server. Each `open` creates a new channel."""

    @property
    def where(self) -> str:
        """Return the command or the URL for messages, without secrets."""
        ...

    def open(self, receiver: Receiver) -> Awaitable[Channel]:
        """Open a channel that passes incoming messages to `receiver`.

        Raises:
            ServerNotAvailableError: no server is reachable; nothing is left behind.
        """
        ...
