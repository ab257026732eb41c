"""Texts of pages and callers, made safe for terminals, files and databases, and cut to a length."""

from __future__ import annotations

__all__ = ["cut_text", "escape_control_characters", "replace_surrogates"]

_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}
"""Control characters, which a terminal would execute instead of showing them, and their escapes."""


def cut_text(text: str, longest: int) -> str:
    """Return the text, cut to `longest` characters with a note of its full length."""
    return text if len(text) <= longest else f"{text[:longest]}… [cut, {len(text)} characters]"


def escape_control_characters(text: str) -> str:
    """Return the text with control characters as escapes such as `\\x1b`. Tabs and newlines are kept."""
    return text.translate(_ESCAPES)


def replace_surrogates(text: str) -> str:
    """Replace unpaired surrogates, which JSON can contain, but neither a file nor a database can store."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
