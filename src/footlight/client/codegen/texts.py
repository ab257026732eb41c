"""Text of others as docstrings and comments. It never becomes code, nor steers a terminal."""

from __future__ import annotations

import re
import textwrap

from footlight.client.python_text import LINE_LENGTH, UNSAFE

__all__ = ["comment_safe", "docstring"]


def docstring(text: str, *, indent: str = "") -> list[str]:
    """Its lines, of which none is longer than can be helped.

    What cannot be shown becomes U+FFFD. An empty text has no docstring.
    """
    lines = _dedented("\n".join(_lines(text, LINE_LENGTH - len(indent)))).split("\n")
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
    """For a comment, which a line end would end."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _lines(text: str, width: int) -> list[str]:
    clean = UNSAFE.sub("\ufffd", re.sub("\r\n?|[\x0b\x0c\x85\u2028\u2029]", "\n", text))
    clean = _dedented(clean.strip().expandtabs())
    lines: list[str] = []
    for line in clean.split("\n"):
        lines += _wrapped(line.rstrip(), width)
    # In a docstring a backslash would be an escape, and three quotes its end.
    return [line.replace("\\", "\\\\").replace('"""', "'''") for line in lines]


def _dedented(text: str) -> str:
    """What all lines after the first begin with is the indentation of the docstring."""
    first, end, rest = text.partition("\n")
    return first + end + textwrap.dedent(rest)


def _wrapped(line: str, width: int) -> list[str]:
    """Below a list's mark the text goes on under itself."""
    hanging = " " * len((re.match(r"\s*(?:[-*•] |\d+[.)] )?", line) or [""])[0])
    # Three quotes before it and three after, and backslashes count twice.
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
