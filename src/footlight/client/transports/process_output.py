"""Split the output of a server process into lines, and keep those that explain why it ended.

No I/O is done.
"""

from __future__ import annotations

import re
from collections import deque

__all__ = ["ErrorOutputTail", "LineBuffer"]

MAX_LINES = 20
MAX_CHARACTERS = 1_000

_GROUP_MARGIN = re.compile(r" {2,}[|+] ?")
"""The margin of each line in the traceback of a Python exception group."""
_TRACE_HEADS = ("Traceback (most recent call last):", "Exception Group Traceback (most recent call last):")
_RUST_FRAME = re.compile(r"[0-9]+: ")


class ErrorOutputTail:
    """Keeps the last lines that may explain why the server ended, without stack frames."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self._in_trace = False
        """Whether indented lines belong to a stack trace."""

    def add(self, line: str) -> None:
        """Add the next line, without its line ending."""
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
                self._lines.pop()  # Remove the line of source code above the marker.
        elif not self._in_trace and not _is_stack_frame(content.strip()):
            self._lines.append(content)

    def text(self) -> str:
        """Return the last lines, limited to their last `MAX_CHARACTERS` characters."""
        content = "\n".join(self._lines)
        return content if len(content) <= MAX_CHARACTERS else "…" + content[-MAX_CHARACTERS:]


def _is_group_separator(content: str) -> bool:
    """Return whether the line is a separator between exceptions of a group, such as `---- 1 ----`."""
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
    """Splits bytes into lines, in linear time. Lines are truncated to `limit` bytes."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self.truncated = False

    def feed(self, data: bytes) -> list[bytes]:
        """Add a piece of data, and return the lines that it completes, without their line endings."""
        *ends, rest = data.split(b"\n")
        lines: list[bytes] = []
        for end in ends:
            self._add(end)
            lines.append(self.take())
        self._add(rest)
        return lines

    def take(self) -> bytes:
        """Return and remove the incomplete line in the buffer."""
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
