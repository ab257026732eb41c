"""Describe the sessions of a server for the watch page, as plain JSON."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session
    from footlight.watch.journal import Journal, PastSession
    from footlight.watch.pictures import Pictures

__all__ = ["render_ended_session", "session_view"]

MAX_URL = 500


def session_view(session: Session, journal: Journal, pictures: Pictures) -> dict[str, Any]:
    """Return the description of a session. Its pages are not queried."""
    redactor = journal.redactor
    current = session.page_table.current
    turn = session.turn
    if turn.is_persons:
        state = "person"
    elif turn.help is not None:
        state = "help"
    else:
        state = "busy" if session.lock.locked() else "idle"
    return {
        "id": session.id,
        "name": session.saved_as or ("default" if session.is_default else ""),
        "browser": session.engine,
        "createdAt": round(session.created_at * 1000),
        "state": state,
        "help": redactor.text(turn.help.reason) if turn.help is not None else None,
        "page": current.id if current is not None else None,
        "pages": [
            {"id": page.id, "url": redactor.text(page.url[:MAX_URL], MAX_URL), "crashed": page.crashed}
            for page in session.pages
        ],
        "dialogs": [
            {"page": dialog.page_id, "type": dialog.type, "message": redactor.text(dialog.message)}
            for dialog in session.dialogs.open
        ],
        "watchers": pictures.count_watchers(session.id),
    }


def render_ended_session(ended: PastSession) -> dict[str, Any]:
    return {
        "id": ended.id,
        "state": "ended",
        "reason": ended.reason,
        "endedAt": round(ended.at_ms),
        "secondsAgo": round(time.time() - ended.at_ms / 1000),
    }
