"""Escape text from a server for strings, docstrings and comments of Python source, so it is never code."""

from __future__ import annotations

import re
import textwrap

__all__ = ["LINE_LENGTH", "UNSAFE", "comment_safe", "docstring", "string"]

LINE_LENGTH = 110
"""The maximum length of a line of generated code."""

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\U000e0000-\U000e0fff"
    "\ud800-\udfff]"
)
"""Control characters, surrogates, and characters that change the direction of text. The ranges are listed
explicitly, because Python's own classification depends on its version of Unicode.
"""

_ESCAPED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def string(text: str) -> str:
    """Return a string literal of printable characters, quoted as by `ruff format`."""
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


def docstring(text: str, *, indent: str = "") -> list[str]:
    """Return the wrapped lines of a docstring. They are empty if the text is.

    Unsafe characters are replaced by U+FFFD.
    """
    lines = _dedent("\n".join(_lines(text, LINE_LENGTH - len(indent)))).split("\n")
    if lines == [""]:
        return []
    if lines[0].startswith('"'):
        lines[0] = f" {lines[0]}"
    if len(lines) > 1:
        return [
            f'{indent}"""{lines[0]}',
            *(f"{indent}{line}" if line else "" for line in lines[1:]),
            f'{indent}"""',
        ]
    gap = " " if lines[0].endswith('"') else ""
    return [f'{indent}"""{lines[0]}{gap}"""']


def comment_safe(text: str) -> str:
    """Replace unprintable characters, such as line ends, by U+FFFD, so that the text stays in its comment."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _lines(text: str, width: int) -> list[str]:
    clean = UNSAFE.sub("\ufffd", re.sub("\r\n?|[\x0b\x0c\x85\u2028\u2029]", "\n", text))
    clean = _dedent(clean.strip().expandtabs())
    lines: list[str] = []
    for line in clean.split("\n"):
        lines += _wrap_line(line.rstrip(), width)
    # In a docstring, a backslash begins an escape, and three quotes end the string.
    return [line.replace("\\", "\\\\").replace('"""', "'''") for line in lines]


def _dedent(text: str) -> str:
    """Remove the indentation that all lines after the first have in common."""
    first, end, rest = text.partition("\n")
    return first + end + textwrap.dedent(rest)


def _wrap_line(line: str, width: int) -> list[str]:
    """Wrap a line. Continuation lines of a list item are indented to its text."""
    hanging = " " * len((re.match(r"\s*(?:[-*•] |\d+[.)] )?", line) or [""])[0])
    # The line may have three quotes before and after it, and backslashes will be doubled.
    room = max(width - 6 - line.count("\\"), 40)
    if len(line) <= room:
        return [line]
    return textwrap.wrap(
        line,
        room,
        subsequent_indent=hanging if len(hanging) < 20 else "",
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
