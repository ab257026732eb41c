"""The interfaces for asking the user of a client for help, by elicitation and on the watch page."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["Elicitation", "HelpReply", "InputRequired", "Invitation", "Ticket", "TicketOffice"]


@dataclass(frozen=True, slots=True)
class HelpReply:
    """The reply of the user to the question of a client.

    `is_done` means that the help has been given. Otherwise, the user has only agreed to give it.
    """

    action: Literal["accept", "decline", "cancel"]
    is_done: bool = False
    note: str = ""


class InputRequired(Exception):  # noqa: N818 - a signal, which the methods of MCP turn into a result
    """The client must ask its user and repeat the call, in revisions in which servers send no requests."""

    def __init__(self, questions: Mapping[str, Any], state: str) -> None:
        super().__init__("the client must answer questions and repeat the call")
        self.questions = questions
        """The requests for the client, by a key that it repeats with the reply."""
        self.state = state


class Invitation(Protocol):
    """An invitation of a person to a session, which is valid until its block ends."""

    @property
    def expires(self) -> float:
        """Return the time at which the invitation expires, as a value of `time.monotonic()`."""
        ...

    @property
    def hand_backs(self) -> int:
        """Return how many times the session had been handed back when the person was invited."""
        ...

    async def ask(self, reason: str) -> HelpReply | None:
        """Ask the person and return the reply, or None if the client could not ask.

        Raises:
            InputRequired: the client must ask the person and repeat the call.
        """
        ...

    async def complete(self) -> None:
        """Notify the client that the person is done."""
        ...


class Elicitation(Protocol):
    """Asks the user of the client of a call."""

    def invite(
        self, session_id: str, *, hand_backs: int, expires: float
    ) -> AbstractAsyncContextManager[Invitation]:
        """Invite a person to a session. `hand_backs` is how many times it has been handed back so far."""
        ...


@dataclass(eq=False, slots=True, kw_only=True)
class Ticket:
    """A ticket that opens the watch page for one session, until it is closed or has expired."""

    id: str
    """The id of the ticket, which does not reveal its token."""
    token: str
    url: str
    session_id: str
    owner: str
    """The principal whose call has opened the ticket."""
    expires: float
    """The time at which the ticket expires, as a value of `time.monotonic()`."""
    hand_backs: int
    """How many times the session had been handed back when the ticket was created."""


class TicketOffice(Protocol):
    def open(self, session_id: str, *, owner: str, hand_backs: int, expires: float) -> Ticket | None:
        """Return a ticket for a session, or None if the watch page has no address.

        It replaces an earlier ticket for the session.
        """
        ...

    def find(self, token: str) -> Ticket | None:
        """Return the valid ticket with this token, or None."""
        ...

    def close(self, ticket: Ticket) -> None: ...
