"""The live view of a session in a client: the interface to the watch page, and the MCP App.

With the extension `io.modelcontextprotocol/ui`, a tool names a page, which a client shows in a frame. The
page communicates with the server by tool calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from footlight.protocol.untrusted_json import items, object_or_none

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session

__all__ = ["APP_TOOLS", "APP_URI", "EXTENSION", "MIME_TYPE", "LiveView", "SessionView", "shows_apps"]

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
APP_URI = "ui://footlight/watch.html"
APP_TOOLS = frozenset({"request_help", "watch_session"})
"""The tools with `app`. They are listed here so that they are known before they are imported."""


def shows_apps(capabilities: Mapping[str, Any]) -> bool:
    """Return whether a client supports MCP Apps."""
    extensions = object_or_none(capabilities.get("extensions")) or {}
    settings = object_or_none(extensions.get(EXTENSION)) or {}
    return MIME_TYPE in items(settings.get("mimeTypes"))


@dataclass(frozen=True, slots=True)
class SessionView:
    """The view of a session for people. All of its texts are masked."""

    facts: Mapping[str, Any]
    """The state of the session, its page, and the calls that have changed since the last view."""
    picture: bytes | None = None
    """A JPEG of the page, if it has changed."""


class LiveView(Protocol):
    """Shows sessions to people who use a client."""

    async def view(self, session: Session, *, after_frame: int, after_call: int) -> SessionView:
        """Wait a limited time for a change of the session, and return the view."""
        ...
