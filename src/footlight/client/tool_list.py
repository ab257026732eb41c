"""The cached list of a server's tools."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from footlight.client.tasks import LoopLock
from footlight.log import LimitedWarnings
from footlight.protocol.connection import Result
from footlight.protocol.tools import InvalidToolError, Tool, read_tool
from footlight.protocol.untrusted_json import items, number

__all__ = ["ToolList"]

logger = logging.getLogger(__name__)

Fetch = Callable[[], Awaitable[list[Result]]]
"""Returns all pages of `tools/list`."""


PAUSE_SECONDS = 0.02
"""The time after which reading a long list lets other tasks run."""

MAX_MS = 1e12
"""The maximum caching time, because the server's value may be too large for a float."""


class ToolList:
    """Caches the tools until `forget` is called or the server's time limit for caching has passed."""

    def __init__(self) -> None:
        self._tools: tuple[Tool, ...] | None = None
        self._until: float | None = None
        self._forget_count = 0
        self._fetch_count = 0
        self._asking = LoopLock()

    def forget(self) -> None:
        self._tools = None
        self._forget_count += 1

    def last_seen(self, name: str) -> Tool | None:
        """Return the tool from the cached list, even if that has expired, or None."""
        return next((tool for tool in self._tools or () if tool.name == name), None)

    async def get(
        self, fetch: Fetch, *, refresh: bool = False, check: Callable[[Tool], None] | None = None
    ) -> tuple[Tool, ...]:
        """Return the tools. Concurrent callers share a request.

        Tools for which `check` raises an `InvalidToolError` are left out, and so are repeated names.
        """
        if refresh:
            self.forget()
        fetch_count = self._fetch_count
        async with self._asking.here():
            # A list that arrived while this caller waited is recent enough, even if caching is forbidden.
            if self._tools is not None and (fetch_count != self._fetch_count or self._may_be_kept()):
                return self._tools
            forget_count = self._forget_count
            pages = await fetch()
            tools = await _read_tools(pages, check)
            if forget_count == self._forget_count:  # Otherwise, the tools changed while the list was sent.
                self._tools, self._until = tools, _find_expiry(pages)
                self._fetch_count += 1
            return tools

    def _may_be_kept(self) -> bool:
        return self._until is None or time.monotonic() < self._until


async def _read_tools(pages: list[Result], check: Callable[[Tool], None] | None) -> tuple[Tool, ...]:
    """Return the valid tools. Log why others are left out, so that the valid ones can be used."""
    paused_at = time.monotonic()
    tools: dict[str, Tool] = {}
    warnings = LimitedWarnings(logger)
    for entry in (entry for page in pages for entry in items(page.get("tools"))):
        if time.monotonic() - paused_at > PAUSE_SECONDS:
            await asyncio.sleep(0)
            paused_at = time.monotonic()
        try:
            tool = read_tool(entry)
            if tool.name in tools:
                raise InvalidToolError(f"The tool {tool.name!r} is listed again", reason="protocol")
            if check is not None:
                check(tool)
            tools[tool.name] = tool
        except InvalidToolError as error:
            warnings.log("left out of the server's tools: %s", error)
    return tuple(tools.values())


def _find_expiry(pages: list[Result]) -> float | None:
    """Return the time at which the list expires, on the monotonic clock, or None without a limit."""
    limits = [ttl for page in pages if (ttl := number(page.get("ttlMs"))) is not None]
    return time.monotonic() + min(*limits, MAX_MS) / 1000 if limits else None
