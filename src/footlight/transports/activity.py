"""Track whether open connections or running requests use the server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

__all__ = ["ActivityTracker", "TrackActivity"]

TrackActivity = Callable[[], AbstractContextManager[None]]
"""Returns a context that a transport keeps open while a client uses the server."""


class ActivityTracker:
    """Counts the clients that use the server. Call it for a context that counts as one client."""

    def __init__(self) -> None:
        self._count = 0
        self._empty = asyncio.Event()
        self._empty.set()
        self._empty_since = time.monotonic()

    @contextmanager
    def __call__(self) -> Generator[None]:
        self._count += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._empty_since = time.monotonic()
                self._empty.set()

    async def wait_until_idle(self, seconds: float) -> None:
        """Wait until there has been no client for `seconds` since this call."""
        started_at = time.monotonic()
        while True:
            await self._empty.wait()
            remaining = max(started_at, self._empty_since) + seconds - time.monotonic()
            if remaining <= 0:
                return
            await asyncio.sleep(remaining)
