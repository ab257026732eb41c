"""What is kept to be read later: screenshots, long answers and small files, up to so many bytes in all."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeVar

__all__ = ["Item", "KeptFile", "LongAnswer", "Screenshot", "Shelf", "timestamp"]

MOST_ITEMS = 10_000
"""However small they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot:
    """Pixels of the image itself; `captured_at` is milliseconds since the epoch, and its name on the page."""

    session_id: str
    page_id: str
    captured_at: int
    type: Literal["png", "jpeg"]
    width: int
    height: int
    full_page: bool
    data: bytes

    @property
    def timestamp(self) -> str:
        return timestamp(self.captured_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class LongAnswer:
    """What was too large to be sent, in UTF-8: the JSON of an answer, or the text of a page."""

    session_id: str
    id: str
    tool: str
    data: bytes
    mime_type: Literal["application/json", "text/plain"] = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """A file that a tool wrote, by its name in the output folder. Text is UTF-8."""

    session_id: str
    name: str
    mime_type: str
    data: bytes


Item = Screenshot | LongAnswer | KeptFile
T = TypeVar("T", Screenshot, LongAnswer, KeptFile)


def timestamp(milliseconds: int) -> str:
    """UTC, ISO 8601: 2025-11-27T10:30:00.000Z."""
    at = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


class Shelf:
    """The oldest go when there is no room. What a session has here goes with it."""

    def __init__(self, max_bytes: int, *, clock: Callable[[], float] = time.time) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._bytes = 0
        self._last_moment = 0
        self._items: deque[Item] = deque()

    def moment(self) -> int:
        """Now, in milliseconds since the epoch; the next one that is free where this was given before."""
        self._last_moment = max(int(self._clock() * 1000), self._last_moment + 1)
        return self._last_moment

    def put(self, item: Item) -> bool:
        """Whether there is room for it at all."""
        if len(item.data) > self._max_bytes:
            return False
        self._items.append(item)
        self._bytes += len(item.data)
        while self._bytes > self._max_bytes or len(self._items) > MOST_ITEMS:
            self._bytes -= len(self._items.popleft().data)
        return True

    def of(self, session_id: str, kind: type[T]) -> list[T]:
        """A session's, oldest first."""
        return [item for item in self._items if isinstance(item, kind) and item.session_id == session_id]

    def drop(self, session_id: str) -> None:
        self._items = deque(item for item in self._items if item.session_id != session_id)
        self._bytes = sum(len(item.data) for item in self._items)
