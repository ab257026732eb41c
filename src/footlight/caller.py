"""Who calls: what a transport knows of it, and what the rest needs to keep callers apart."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["ANONYMOUS", "LOCAL", "SCOPE_KEY", "Caller", "OnDisconnect", "caller_of", "ignore_disconnect"]


@dataclass(frozen=True, slots=True)
class Caller:
    """`principal` is whom the token names; all who need no token, or share one, are the same."""

    principal: str
    connection: str | None = None
    """What one client's calls have in common: an `Mcp-Session-Id`, a WebSocket. Some stand alone."""
    named: bool = False
    """Whether the token is this principal's own, and not one that is shared."""
    shares_default: bool = False
    """The principal is one person, whose `default` is the same over every connection."""

    @property
    def default_session(self) -> str | None:
        """The id of the session `default` of this caller; None where it has none (requirements §2.6).

        A hash, because the id is told in answers and must not give away what it is made from.
        """
        if self == LOCAL:
            return "default"
        connection = None if self.shares_default else self.connection
        if connection is None and not (self.named or self.shares_default):
            return None
        identity = f"{self.principal}\0{connection or ''}"
        return hashlib.sha256(identity.encode()).hexdigest()[:32]

    @property
    def default_lasts(self) -> bool:
        """Whether the session `default` can be meant again when the connection has ended."""
        return self.connection is None or self.shares_default

    def scoped(self, name: str) -> str:
        """A name on disk that no other named principal can mean."""
        if not self.named:
            return name
        return f"{name}.{hashlib.sha256(self.principal.encode()).hexdigest()[:32]}"


OnDisconnect = Callable[[Caller], None]
"""Hears of the end of a connection, over which nobody calls any more."""


def ignore_disconnect(_: Caller) -> None:
    """Do nothing: nothing belongs to a connection alone."""


LOCAL = Caller("local")
"""Whoever started this process: over stdio, and in memory."""

ANONYMOUS = Caller("anonymous")
"""Of whom nothing is known."""

SCOPE_KEY = "footlight.caller"
"""Where the HTTP transport leaves the caller in a request's ASGI scope."""


def caller_of(request: object) -> Caller:
    """Who sent a message, by what its transport attached: nothing, an ASGI request, or a `caller`."""
    if request is None:
        return LOCAL
    scope: Mapping[str, object] = getattr(request, "scope", {})
    caller = getattr(request, "caller", None) or scope.get(SCOPE_KEY)
    return caller if isinstance(caller, Caller) else ANONYMOUS
