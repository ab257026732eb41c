"""Text of others as a string in Python source. It never becomes code, nor steers a terminal."""

from __future__ import annotations

import re

__all__ = ["LINE_LENGTH", "UNSAFE", "string"]

LINE_LENGTH = 110
"""Of the Python that we write."""

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\U000e0000-\U000e0fff"
    "\ud800-\udfff]"
)
"""Controls, halves of characters, marks that turn the direction of writing. Spelt out, as Unicode grows."""

_ESCAPED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def string(text: str) -> str:
    """A literal that is this text, all in printable characters, quoted as `ruff format` would."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(_character(character, quote) for character in text) + quote


def _character(character: str, quote: str) -> str:
    if character == quote:
        return f"\\{quote}"
    if character in _ESCAPED:
        return _ESCAPED[character]
    code = ord(character)
    if 0x20 <= code < 0x7F or (code > 0xA0 and character.isprintable() and not UNSAFE.match(character)):
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
