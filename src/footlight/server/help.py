"""Ask the person behind a client for help: what a call needs from the protocol and from the watch page."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["Elicitation", "HelpReply", "InputRequired", "Invitation", "Ticket", "TicketOffice"]


@dataclass(frozen=True, slots=True)
class HelpReply:
    """The answer of the person to the question of a client.

    `is_done` says that the help has been given, not only that the person will give it.
    """

    action: Literal["accept", "decline", "cancel"]
    is_done: bool = False
    note: str = ""


class InputRequired(Exception):
    """The client must ask its person and repeat the call, in revisions without requests of the server."""

    def __init__(self, questions: Mapping[str, Any], state: str) -> None:
        super().__init__("the client must answer questions and repeat the call")
        self.questions = questions
        """The requests for the client, by a key that it repeats."""
        self.state = state


class Invitation(Protocol):
    """An invitation of a person to one session, which is valid until its block ends."""

    @property
    def expires(self) -> float:
        """The end of the time of the call, as a time of `time.monotonic()`."""
        ...

    @property
    def hand_backs(self) -> int:
        """Return how often the session had been handed back when the person was invited."""
        ...

    async def ask(self, reason: str) -> HelpReply | None:
        """Ask the person, and return the reply, or None if the client could not ask.

        Raises:
            InputRequired: the client must ask and repeat the call.
        """
        ...

    async def complete(self) -> None:
        """Tell the client that the person is done."""
        ...


class Elicitation(Protocol):
    """Asks the person behind the client of a call."""

    def invite(
        self, session_id: str, *, hand_backs: int, expires: float
    ) -> AbstractAsyncContextManager[Invitation]:
        """Invite a person to a session, which has been handed back so often."""
        ...


@dataclass(eq=False, slots=True, kw_only=True)
class Ticket:
    """Opens the watch page for one session, until it is closed or has expired."""

    id: str
    """Names the ticket, without revealing its token."""
    token: str
    url: str
    session_id: str
    expires: float
    """A time of `time.monotonic()`."""
    hand_backs: int
    """How often the session had been handed back when the ticket was made."""


class TicketOffice(Protocol):
    def open(self, session_id: str, *, hand_backs: int, expires: float) -> Ticket | None:
        """Return a ticket for a session, or None if the watch page has no address."""
        ...

    def find(self, token: str) -> Ticket | None:
        """Return the ticket with this token, if it is valid."""
        ...

    def close(self, ticket: Ticket) -> None: ...
