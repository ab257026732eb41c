"""The tools of a server, asked for once (R001-44 to R001-47)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from footlight.client.connection import Result
from footlight.client.loop_lock import LoopLock
from footlight.client.loose import items, number
from footlight.client.results import Tool, read_tool

__all__ = ["ToolList"]

Fetch = Callable[[], Awaitable[list[Result]]]
"""All pages of tools/list."""


LONGEST_MS = 1e12
"""For a time that no float can hold."""


class ToolList:
    """Kept until it is forgotten, or for as long as the server says."""

    def __init__(self) -> None:
        self._tools: tuple[Tool, ...] | None = None
        self._until: float | None = None
        self._forgotten = 0
        self._told = 0
        self._asking = LoopLock()

    def forget(self) -> None:
        self._tools = None
        self._forgotten += 1

    def last_seen(self, name: str) -> Tool | None:
        """As it was listed last, even if the list may not be kept; None if it was not, or has changed."""
        return next((tool for tool in self._tools or () if tool.name == name), None)

    async def get(
        self, fetch: Fetch, *, refresh: bool = False, usable: Callable[[Tool], bool] | None = None
    ) -> tuple[Tool, ...]:
        """Several who ask at once wait for one answer. Tools that are not `usable` are left out."""
        if refresh:
            self.forget()
        told = self._told
        async with self._asking.here():
            # One that came while we waited is new enough, even if it may not be kept.
            if self._tools is not None and (told != self._told or self._may_be_kept()):
                return self._tools
            forgotten = self._forgotten
            pages = await fetch()
            listed = (read_tool(entry) for page in pages for entry in items(page.get("tools")))
            tools = tuple(tool for tool in listed if usable is None or usable(tool))
            if forgotten == self._forgotten:  # Otherwise they changed while they were told.
                self._tools, self._until = tools, _until(pages)
                self._told += 1
            return tools

    def _may_be_kept(self) -> bool:
        return self._until is None or time.monotonic() < self._until


def _until(pages: list[Result]) -> float | None:
    """On the monotonic clock; None where the server does not limit it."""
    limits = [ttl for page in pages if (ttl := number(page.get("ttlMs"))) is not None]
    return time.monotonic() + min(*limits, LONGEST_MS) / 1000 if limits else None
