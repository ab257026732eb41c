"""Numbers and times as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

__all__ = ["at", "duration", "listed", "number_of", "size"]


def at(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def duration(ms: float) -> str:
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms // 60_000:.0f} min {ms % 60_000 // 1000:.0f} s"


def size(count: float) -> str:
    """Of bytes, in thousands as networks have them."""
    if count < 1000:
        return f"{count:.0f} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def number_of(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def listed(parts: Iterable[str]) -> str:
    """`a, b and c`."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
