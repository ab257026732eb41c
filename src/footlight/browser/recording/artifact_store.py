"""Store artifacts to be read later: screenshots, long results and small files, up to a total size."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeVar

__all__ = ["Artifact", "ArtifactStore", "LongAnswer", "ScreenshotArtifact", "StoredFile", "timestamp"]

MAX_ITEMS = 10_000
"""The maximum number of artifacts of any size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenshotArtifact:
    """A stored screenshot. `captured_at` is in milliseconds since the epoch and unique on the page."""

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
    """A text in UTF-8 that was too long for a result: JSON, or the text of a page."""

    session_id: str
    id: str
    tool: str
    data: bytes
    mime_type: Literal["application/json", "text/plain"] = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file that a tool has written, with its name in the output folder. Text is in UTF-8."""

    session_id: str
    name: str
    mime_type: str
    data: bytes


Artifact = ScreenshotArtifact | LongAnswer | StoredFile
T = TypeVar("T", ScreenshotArtifact, LongAnswer, StoredFile)


def timestamp(milliseconds: int) -> str:
    """Return the time in UTC as ISO 8601: 2025-11-27T10:30:00.000Z."""
    at = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


class ArtifactStore:
    """Stores artifacts. The oldest are removed to make room, and those of a session when it ends."""

    def __init__(self, max_bytes: int, *, clock: Callable[[], float] = time.time) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._bytes = 0
        self._last_moment = 0
        self._items: deque[Artifact] = deque()

    def next_timestamp(self) -> int:
        """Return the current time in milliseconds since the epoch, increased until it is unique."""
        self._last_moment = max(int(self._clock() * 1000), self._last_moment + 1)
        return self._last_moment

    def add(self, item: Artifact) -> bool:
        """Store the artifact. Return False if it is larger than the whole store."""
        if len(item.data) > self._max_bytes:
            return False
        self._items.append(item)
        self._bytes += len(item.data)
        while self._bytes > self._max_bytes or len(self._items) > MAX_ITEMS:
            self._bytes -= len(self._items.popleft().data)
        return True

    def items(self, session_id: str, kind: type[T]) -> list[T]:
        """Return the artifacts of a session, oldest first."""
        return [item for item in self._items if isinstance(item, kind) and item.session_id == session_id]

    def remove_session(self, session_id: str) -> None:
        self._items = deque(item for item in self._items if item.session_id != session_id)
        self._bytes = sum(len(item.data) for item in self._items)
