"""Bytes become lines, in any pieces they come."""

from __future__ import annotations

__all__ = ["Lines"]


class Lines:
    """In linear time. Of a line longer than `limit` bytes the rest is dropped, and `cut` tells of it."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self.cut = False

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that this piece ends, without their ends."""
        *ends, rest = data.split(b"\n")
        lines: list[bytes] = []
        for end in ends:
            self._add(end)
            lines.append(self.take())
        self._add(rest)
        return lines

    def take(self) -> bytes:
        """What came after the last line end, which is forgotten here."""
        line = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return line

    def _add(self, part: bytes) -> None:
        room = self._limit - self._size
        self.cut = self.cut or len(part) > room
        if part := part[:room]:
            self._parts.append(part)
            self._size += len(part)
