"""Shorten the texts of a page that the error of a wait quotes."""

from __future__ import annotations

__all__ = ["MAX_QUOTES", "STATE_SECONDS", "shorten_quote"]

STATE_SECONDS = 2.0
"""How long a failed wait may take to read what the page shows instead."""
MAX_QUOTES = 3
MAX_QUOTE = 100


def shorten_quote(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_QUOTE else f"{text[:MAX_QUOTE]}…"
