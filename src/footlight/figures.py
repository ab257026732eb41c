"""Format numbers, sizes and times for people."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

__all__ = ["format_count", "format_duration", "format_size", "format_time", "join_with_and"]


def format_time(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def format_duration(ms: float) -> str:
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms // 60_000:.0f} min {ms % 60_000 // 1000:.0f} s"


def format_size(count: float) -> str:
    """Format a number of bytes in decimal units, such as `12 kB`."""
    if count < 1000:
        return f"{count:.0f} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def format_count(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def join_with_and(parts: Iterable[str]) -> str:
    """Return the parts as `a, b and c`."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
