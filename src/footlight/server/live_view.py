"""The live view of a session inside of a client: what a tool needs from the watch page, and its MCP App.

The extension `io.modelcontextprotocol/ui` lets a tool name a page, which a client shows in a frame of its own
and connects to the server by calls of tools.
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
"""The tools with `app`, known before they are imported."""


def shows_apps(capabilities: Mapping[str, Any]) -> bool:
    """Return whether a client shows the pages of tools."""
    extensions = object_or_none(capabilities.get("extensions")) or {}
    settings = object_or_none(extensions.get(EXTENSION)) or {}
    return MIME_TYPE in items(settings.get("mimeTypes"))


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as people see it. All of it is masked."""

    facts: Mapping[str, Any]
    """Its state, its page, and the calls that have changed since the last view."""
    picture: bytes | None = None
    """A JPEG of the page, if it has changed."""


class LiveView(Protocol):
    """Shows sessions to people who use a client."""

    async def view(self, session: Session, *, after_frame: int, after_call: int) -> SessionView:
        """Wait a limited time for a change of the session, and return it."""
        ...
