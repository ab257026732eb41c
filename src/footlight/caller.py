"""The callers of the server, as the transports identify them, so that their sessions are kept apart."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = [
    "ANONYMOUS",
    "DEFAULT_SESSION",
    "LOCAL",
    "SCOPE_KEY",
    "Caller",
    "OnDisconnect",
    "get_caller",
    "ignore_disconnect",
]

DEFAULT_SESSION = "default"
"""The name by which each caller calls its own default session."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a call. `principal` is the identity of its token.

    Callers without a token, or with a shared token, have the same principal.
    """

    principal: str
    connection: str | None = None
    """The connection of the client, such as an `Mcp-Session-Id` or a WebSocket; None for separate
    requests."""
    named: bool = False
    """Whether the token belongs to this principal alone and is not shared."""
    shares_default: bool = False
    """Whether the principal has the same session `default` over every connection."""

    @property
    def default_session(self) -> str | None:
        """The id of the caller's session `default`, or None if it has none.

        It is a hash, because answers contain the id, which must not reveal the values that it is made from.
        """
        if self == LOCAL:
            return DEFAULT_SESSION
        connection = None if self.shares_default else self.connection
        if connection is None and not (self.named or self.shares_default):
            return None
        identity = f"{self.principal}\0{connection or ''}"
        return hashlib.sha256(identity.encode()).hexdigest()[:32]

    @property
    def default_outlives_connection(self) -> bool:
        """Return whether the caller can use its session `default` again after the connection has ended."""
        return self.connection is None or self.shares_default

    def find_session_id(self, name: str | None) -> str | None:
        """Return the id of the session that a call names.

        Without a name, or with `default`, it is the default session, or None if the caller has none.
        """
        return self.default_session if name in (None, DEFAULT_SESSION) else name

    def scope_name(self, name: str) -> str:
        """Return a name for files that differs from those of all other named principals."""
        if not self.named:
            return name
        return f"{name}.{hashlib.sha256(self.principal.encode()).hexdigest()[:32]}"


OnDisconnect = Callable[[Caller], None]
"""A function that is called when a connection has ended."""


def ignore_disconnect(_: Caller) -> None:
    """Do nothing, because nothing belongs to a single connection."""


LOCAL = Caller("local")
"""The caller that started this process, over stdio or in memory."""

ANONYMOUS = Caller("anonymous")
"""A caller without an identity."""

SCOPE_KEY = "footlight.caller"
"""The key of the caller in the ASGI scope of a request, set by the HTTP transport."""


def get_caller(request: object) -> Caller:
    """Return the sender of a message from the object that its transport attached.

    That is None, an ASGI request, or an object with the attribute `caller`.
    """
    if request is None:
        return LOCAL
    scope: Mapping[str, object] = getattr(request, "scope", {})
    caller = getattr(request, "caller", None) or scope.get(SCOPE_KEY)
    return caller if isinstance(caller, Caller) else ANONYMOUS
