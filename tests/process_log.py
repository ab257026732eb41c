"""The lines that a process of a test writes, and a wait for one of them."""

from __future__ import annotations

import asyncio

LIMIT_SECONDS = 60.0


class ProcessLog:
    """The lines on one output of a process so far, without their ends."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._changed = asyncio.Condition()

    async def collect(self, output: asyncio.StreamReader) -> None:
        """Collect lines until the output ends."""
        async for line in output:
            async with self._changed:
                self.lines.append(line.decode().rstrip("\n"))
                self._changed.notify_all()

    async def wait_for_line(self, part: str) -> str:
        """Return the first line that contains this text."""
        async with asyncio.timeout(LIMIT_SECONDS), self._changed:
            await self._changed.wait_for(lambda: any(part in line for line in self.lines))
        return next(line for line in self.lines if part in line)
