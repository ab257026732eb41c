"""Whether anybody uses the server: a connection that is open, or a request that runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

__all__ = ["Presence", "Present"]

Present = Callable[[], AbstractContextManager[None]]
"""Held by a transport for as long as somebody is there."""


class Presence:
    """Entered as often as somebody comes."""

    def __init__(self) -> None:
        self._here = 0
        self._empty = asyncio.Event()
        self._empty.set()
        self._empty_since = time.monotonic()

    @contextmanager
    def __call__(self) -> Generator[None]:
        self._here += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._here -= 1
            if not self._here:
                self._empty_since = time.monotonic()
                self._empty.set()

    async def absence(self, seconds: float) -> None:
        """Return when nobody has been here for so long, from now on."""
        begun = time.monotonic()
        while True:
            await self._empty.wait()
            left = max(begun, self._empty_since) + seconds - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(left)
