"""What a connection needs of a transport, and a transport of a connection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, runtime_checkable

from footlight.client.errors import MCPError
from footlight.client.messages import Message

__all__ = ["Channel", "HttpSession", "Receiver", "Transport"]


class Receiver(Protocol):
    """The connection, as a transport sees it. Neither call waits or raises."""

    def receive(self, message: Message) -> None:
        """A message came: one that `messages.parse` made."""
        ...

    def lost(self, error: MCPError) -> None:
        """Nothing will come any more: every request that waits fails with this error."""
        ...


class Channel(Protocol):
    """An open way to a server. Its methods may be called from any task of its event loop."""

    cancels_by_closing: bool
    """To abandon `send` tells the server that the request is cancelled (HTTP in the stateless protocol)."""

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:
        """Send one message. `headers` (`Mcp-Param-*`) are for HTTP, the others leave them out.

        Over HTTP this lasts for the whole exchange: on return each message of the answer was received.
        Elsewhere it ends when the message is on its way. Cancelled, it abandons the exchange.

        Raises:
            MCPError: the message did not arrive, or its exchange failed; other requests may go on.
        """
        ...

    def negotiated(self, version: str) -> None:
        """From now on messages are of this revision of the protocol."""
        ...

    async def close(self) -> None:
        """Close, in bounded time. Nothing is left: no task, no process, no socket. May be called twice."""
        ...


@runtime_checkable
class HttpSession(Protocol):
    """What Streamable HTTP has beyond messages (document 001). A channel over HTTP is one too."""

    @property
    def session_id(self) -> str | None: ...

    async def terminate(self) -> bool:
        """DELETE the session: whether the server did (R001-20). The id is forgotten in any case."""
        ...

    async def listen(
        self, on_message: Callable[[Message], None], on_error: Callable[[MCPError], None]
    ) -> bool:
        """Open the GET stream; False: not supported (405).

        Its messages are received like others, and told to `on_message` too. It is opened again by itself,
        with `Last-Event-ID`, until `stop_listening`; `on_error` hears why it could not be.

        Raises:
            MCPError: it could not be opened at all.
        """
        ...

    async def stop_listening(self) -> None: ...


class Transport(Protocol):
    """A way to reach a server: a value, of which every `open` makes a new channel."""

    @property
    def where(self) -> str:
        """For people: the command, or the URL without anything secret."""
        ...

    def open(self, receiver: Receiver) -> Awaitable[Channel]:
        """Open a channel. What comes goes to `receiver`.

        Raises:
            ServerNotAvailableError: there is no server there; nothing is left behind.
        """
        ...
