"""Texts of pages, servers and callers: made safe for terminals, files and databases, cut, or read as JSON."""

from __future__ import annotations

import gc
import json
import re

__all__ = ["cut_text", "escape_control_characters", "load_json", "replace_surrogates"]

_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}
"""Control characters, which a terminal would execute instead of showing them, and their escapes."""


_CUT = re.compile(r"… \[cut, ([0-9]{1,12}) characters\]\Z")
_MAX_NOTE = 40


def cut_text(text: str, longest: int) -> str:
    """Return the text, cut to `longest` characters with a note of its full length.

    A text that was cut before keeps the length that its note tells.
    """
    if len(text) <= longest:
        return text
    note = _CUT.search(text, max(0, len(text) - _MAX_NOTE))
    kept, length = (note.start(), int(note[1])) if note else (len(text), len(text))
    if length < kept:  # A page wrote the note.
        kept = length = len(text)
    return text if kept <= longest else f"{text[:longest]}… [cut, {length} characters]"


def escape_control_characters(text: str) -> str:
    """Return the text with control characters as escapes such as `\\x1b`. Tabs and newlines are kept."""
    return text.translate(_ESCAPES)


def replace_surrogates(text: str) -> str:
    """Replace unpaired surrogates, which JSON can contain, but neither a file nor a database can store."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def load_json(data: bytes | str) -> object:
    """Parse JSON without garbage collections, which take longer than the parsing of many small values.

    Raises:
        ValueError: the data is not JSON.
        RecursionError: the data is nested too deeply.
    """
    if not gc.isenabled():
        return json.loads(data)
    gc.disable()
    try:
        return json.loads(data)
    finally:
        gc.enable()
