"""Names in the store's folder: they sort by time, mean the same on every system, and never lead out of it."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = [
    "MILLISECOND",
    "NO_SESSION",
    "in_milliseconds",
    "moment_in_words",
    "moment_of",
    "session_name",
    "spelled_out",
    "stamp",
    "step_name",
    "without_risk",
]

NO_SESSION: Final = "mm-none"
"""Whose the steps of calls without a session are: the schema forbids an empty name (R002-68)."""
SHORTEST_SESSION = 4
LONGEST_SESSION = 64
LONGEST_NAME = 80
"""Characters. With a timestamp and an ending, every file system has room for it."""
MILLISECOND: Final = timedelta(milliseconds=1)

_STEP = re.compile(r"([0-9]{8}T[0-9]{6}\.[0-9]{3}Z)-[^/\\]+\.json")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", re.IGNORECASE)
"""Windows has devices of these names in every folder."""


def in_milliseconds(at: datetime) -> datetime:
    """In UTC, which a time without a zone is taken for."""
    moment = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def spelled_out(at: datetime) -> str:
    """2026-01-15T12:34:56.789Z"""
    return f"{_seconds(at, '-', ':')}.{at.microsecond // 1000:03}Z"


def stamp(at: datetime) -> str:
    """20260115T123456.789Z (R002-21)."""
    return f"{_seconds(at, '', '')}.{at.microsecond // 1000:03}Z"


def _seconds(at: datetime, dash: str, colon: str) -> str:
    # strftime writes the year 987 with three digits on some systems.
    return f"{at.year:04}{dash}{at.month:02}{dash}{at.day:02}T{at:%H}{colon}{at:%M}{colon}{at:%S}"


def step_name(at: datetime, tool: str) -> str:
    return f"{stamp(at)}-{without_risk(tool)}.json"


def moment_of(name: str) -> datetime | None:
    """When the step of this file was; None where the file is no step."""
    found = _STEP.fullmatch(name)
    try:
        return found and datetime.strptime(found[1], "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    except ValueError:  # the 31st of February
        return None


def session_name(session_id: str | None) -> str:
    """The session's own id where that can name a folder; else one made of it, which no other id gets.

    Without an id that the schema takes, the pseudo session `mm-none`.
    """
    if session_id is None or len(session_id) < SHORTEST_SESSION:
        return NO_SESSION
    if re.fullmatch(rf"[A-Za-z0-9_-]{{4,{LONGEST_SESSION}}}", session_id) and not _RESERVED.match(session_id):
        return session_id
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    readable = re.sub(r"[^A-Za-z0-9_-]+", "_", session_id).strip("_")[: LONGEST_SESSION - 9]
    return f"{readable or 'session'}-{digest}"


def without_risk(name: str) -> str:
    """As readable as may be: letters of every language stay. Never empty, hidden, or a device's."""
    kept = re.sub(r"[^\w.-]+", "_", name).strip("._-") or "unnamed"
    while len(kept.encode()) > LONGEST_NAME:
        kept = kept[:-1].rstrip("._-")
    return f"_{kept}" if _RESERVED.match(kept) else kept


_AGO = re.compile(r"([0-9]{1,9})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def moment_in_words(text: str, *, now: datetime) -> datetime:
    """A time, in UTC unless it says otherwise, or how long ago: `2026-01-15T12:00:00Z`, `2026-01-15`, `48h`.

    Raises:
        ValueError: it is neither.
    """
    text = text.strip()
    try:
        if ago := _AGO.fullmatch(text):
            return now - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text!r} is no time (2026-01-15T12:00:00Z) and no duration (30m, 48h, 7d)"
        ) from None
