"""The output of a server process: bytes become lines, and the last lines explain why it ended. No I/O."""

from __future__ import annotations

import re
from collections import deque

__all__ = ["LastWords", "LineBuffer"]

MAX_LINES = 20
MAX_CHARACTERS = 1_000

_GROUP_MARGIN = re.compile(r" {2,}[|+] ?")
"""Stands before each line of the traceback of a Python exception group."""
_TRACE_HEADS = ("Traceback (most recent call last):", "Exception Group Traceback (most recent call last):")
_RUST_FRAME = re.compile(r"[0-9]+: ")


class LastWords:
    """Keeps the last lines that may say why the server ended, without stack frames. The log has all lines."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self._in_trace = False
        """Whether indented lines are lines of source code."""

    def add(self, line: str) -> None:
        """Add the next line, without its line end."""
        margin = _GROUP_MARGIN.match(line)
        content = line if margin is None else line[margin.end() :]
        if content.startswith(_TRACE_HEADS) or content.lstrip().startswith('File "'):
            self._in_trace = True
        elif not content[:1].isspace():
            self._in_trace = False
            if content and not (margin and _is_group_separator(content)):
                self._lines.append(content)
        elif not content.strip(" ^~"):
            if self._lines and self._lines[-1][:1].isspace():
                self._lines.pop()  # The line of source that this line marks.
        elif not self._in_trace and not _is_stack_frame(content.strip()):
            self._lines.append(content)

    def text(self) -> str:
        """Return the lines that are kept, or the end of them if they are long."""
        content = "\n".join(self._lines)
        return content if len(content) <= MAX_CHARACTERS else "…" + content[-MAX_CHARACTERS:]


def _is_group_separator(content: str) -> bool:
    """Return whether the line only separates the exceptions of a group, as `---- 1 ----` does."""
    return "----" in content and not content.strip("-+. 0123456789")


def _is_stack_frame(content: str) -> bool:
    """Return whether the line is a stack frame of JavaScript, Java, Go or Rust."""
    return (
        content.startswith("at ")
        or (content.startswith("... ") and content.endswith(" more"))
        or ".go:" in content
        or _RUST_FRAME.match(content) is not None
    )


class LineBuffer:
    """Splits bytes into lines, in linear time. The rest of a line longer than `limit` bytes is dropped."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self.truncated = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that this piece completes, without their line ends."""
        *ends, rest = data.split(b"\n")
        lines: list[bytes] = []
        for end in ends:
            self._add(end)
            lines.append(self.take())
        self._add(rest)
        return lines

    def take(self) -> bytes:
        """Return and discard the data after the last line end."""
        line = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return line

    def _add(self, part: bytes) -> None:
        room = self._limit - self._size
        self.truncated = self.truncated or len(part) > room
        if part := part[:room]:
            self._parts.append(part)
            self._size += len(part)
