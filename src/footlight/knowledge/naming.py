"""Names of files and folders in the store. They sort by time and are valid on every operating system."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = [
    "MILLISECOND",
    "NO_SESSION",
    "format_stamp",
    "format_timestamp",
    "parse_moment",
    "parse_step_name",
    "safe_name",
    "session_name",
    "step_name",
    "to_milliseconds",
]

NO_SESSION: Final = "mm-none"
"""The session id of calls without a session, because the schema forbids an empty id."""
MIN_SESSION_CHARS = 4
MAX_SESSION_CHARS = 64
MAX_NAME_BYTES = 80
"""A name with at most this length, a timestamp and an extension fits on every file system."""
MILLISECOND: Final = timedelta(milliseconds=1)

_STEP = re.compile(r"([0-9]{8}T[0-9]{6}\.[0-9]{3}Z)-[^/\\]+\.json")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", re.IGNORECASE)
"""Device names, which Windows reserves in every folder."""


def to_milliseconds(at: datetime) -> datetime:
    """Return a time in UTC, truncated to milliseconds. A time without a zone counts as UTC."""
    moment = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def format_timestamp(at: datetime) -> str:
    """Format a time for records: 2026-01-15T12:34:56.789Z."""
    return f"{_seconds(at, '-', ':')}.{at.microsecond // 1000:03}Z"


def format_stamp(at: datetime) -> str:
    """Format a time for file names: 20260115T123456.789Z."""
    return f"{_seconds(at, '', '')}.{at.microsecond // 1000:03}Z"


def _seconds(at: datetime, dash: str, colon: str) -> str:
    # strftime writes the year 987 with three digits on some systems.
    return f"{at.year:04}{dash}{at.month:02}{dash}{at.day:02}T{at:%H}{colon}{at:%M}{colon}{at:%S}"


def step_name(at: datetime, tool: str) -> str:
    """Return the file name of a step."""
    return f"{format_stamp(at)}-{safe_name(tool)}.json"


def parse_step_name(name: str) -> datetime | None:
    """Return the time in the name of a step file, or None if it is not a step file."""
    found = _STEP.fullmatch(name)
    try:
        return found and datetime.strptime(found[1], "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    except ValueError:  # For example 31 February.
        return None


def session_name(session_id: str | None) -> str:
    """Return the folder name of a session: its id, or a unique name derived from an id that is not valid.

    Calls without a session are stored under `mm-none`.
    """
    if session_id is None:
        return NO_SESSION
    is_plain = re.fullmatch(rf"[A-Za-z0-9_-]{{{MIN_SESSION_CHARS},{MAX_SESSION_CHARS}}}", session_id)
    if is_plain and not _RESERVED.match(session_id):
        return session_id
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    readable = re.sub(r"[^A-Za-z0-9_-]+", "_", session_id).strip("_")[: MAX_SESSION_CHARS - 9]
    return f"{readable or 'session'}-{digest}"


def safe_name(name: str) -> str:
    """Return a readable file name that is never empty, hidden or a device name."""
    safe = re.sub(r"[^\w.-]+", "_", name).strip("._-") or "unnamed"
    while len(safe.encode()) > MAX_NAME_BYTES:
        safe = safe[:-1].rstrip("._-")
    return f"_{safe}" if _RESERVED.match(safe) else safe


_AGO = re.compile(r"([0-9]{1,9})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_moment(text: str, *, now: datetime) -> datetime:
    """Parse a time (default zone: UTC) or a duration before now: `2026-01-15T12:00:00Z`, `2026-01-15`, `48h`.

    Raises:
        ValueError: the text is neither a time nor a duration.
    """
    text = text.strip()
    try:
        if ago := _AGO.fullmatch(text):
            return now - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text!r} is neither a time (2026-01-15T12:00:00Z) nor a duration (30m, 48h, 7d)"
        ) from None
