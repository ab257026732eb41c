"""A text for a line of a report, or of a prompt."""

from __future__ import annotations

__all__ = ["shortened"]


def shortened(text: str, characters: int = 2_000) -> str:
    """On one line, with single spaces, and not longer than that: pages write into it."""
    told = " ".join(text.split())
    return told if len(told) <= characters else f"{told[: characters - 1]}…"
