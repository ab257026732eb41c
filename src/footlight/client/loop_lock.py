"""A lock for whichever event loop is there: asyncio's serves the first that had to wait for it."""

from __future__ import annotations

import asyncio

__all__ = ["LoopLock"]


class LoopLock:
    """For what outlives a loop, as a client does that several `asyncio.run` use in turn."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def here(self) -> asyncio.Lock:
        """That of the loop which runs. What another loop left locked is not locked here."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._lock = loop, asyncio.Lock()
        return self._lock
