"""Who calls: what a transport knows of it, and what the rest needs to keep callers apart."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["LOCAL", "Caller"]


@dataclass(frozen=True, slots=True)
class Caller:
    """`principal` is whom the token names; all who need no token, or share one, are the same.

    `connection` is what one client's calls have in common: an `Mcp-Session-Id`, a WebSocket. Calls that
    stand alone have none.
    """

    principal: str
    connection: str | None = None
    named: bool = False
    """Whether the token is this principal's own, and not one that is shared."""

    @property
    def default_session(self) -> str | None:
        """The id of the session `default` of this caller; None where it has none (requirements §2.6).

        A hash, because the id is told in answers and must not give away what it is made from.
        """
        if self == LOCAL:
            return "default"
        if self.connection is None and not self.named:
            return None
        identity = f"{self.principal}\0{self.connection or ''}"
        return hashlib.sha256(identity.encode()).hexdigest()[:32]


LOCAL = Caller("local")
"""Whoever started this process: over stdio, and in memory."""
