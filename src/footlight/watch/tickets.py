"""Tickets, which are temporary tokens for a person who is asked for help.

A ticket opens the watch page of one session.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict, deque

from footlight.server.help import Ticket
from footlight.watch.watchers import find_oldest_of_most

__all__ = ["Tickets"]

MAX_TICKETS = 200
MAX_CLOSED = 200


class Tickets:
    """The valid tickets. `url` is the address of the watch page, or None until it is served."""

    def __init__(self) -> None:
        self.url: str | None = None
        self._valid: OrderedDict[str, Ticket] = OrderedDict()
        self._closed: deque[str] = deque(maxlen=MAX_CLOSED)

    def open(self, session_id: str, *, owner: str, hand_backs: int, expires: float) -> Ticket | None:
        """Return a ticket for a session, or None if the watch page has no address.

        It replaces an earlier ticket for the session, whose call has ended without an answer. If there are
        too many tickets, one of the principal with the most tickets is closed.
        """
        if self.url is None:
            return None
        for earlier in [each for each in self._valid.values() if each.session_id == session_id]:
            self.close(earlier)
        token = secrets.token_urlsafe(32)
        # Browsers do not send the fragment of a URL, so the token does not appear in logs or on other sites.
        ticket = Ticket(
            id=secrets.token_hex(8),
            token=token,
            url=f"{self.url}#token={token}",
            session_id=session_id,
            owner=owner,
            expires=expires,
            hand_backs=hand_backs,
        )
        self._valid[token] = ticket
        while len(self._valid) > MAX_TICKETS:
            owners = {token: each.owner for token, each in self._valid.items()}
            self.close(self._valid[find_oldest_of_most(owners)])
        return ticket

    def find(self, token: str) -> Ticket | None:
        """Return the ticket with this token, if it is valid."""
        ticket = self._valid.get(token)
        if ticket is not None and time.monotonic() >= ticket.expires:
            self.close(ticket)
            return None
        return ticket

    def is_closed(self, token: str) -> bool:
        """Return whether the token belongs to a ticket that has been closed."""
        return token in self._closed

    def close(self, ticket: Ticket) -> None:
        if self._valid.pop(ticket.token, None) is not None:
            self._closed.append(ticket.token)
