"""Ask a page or a process whether it responds."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

from footlight.browser.driver.playwright_api import Error

__all__ = ["RESPONSE_SECONDS", "Probe"]

RESPONSE_SECONDS = 2.0
"""How long a process that works may take to respond."""


class Probe:
    """A request that is answered at once unless its receiver is busy or stopped.

    While a request is unanswered, no other one is sent, so a silence is measured from the first request on.
    """

    def __init__(self, ask: Callable[[], Awaitable[object]]) -> None:
        self._ask = ask
        self._request: asyncio.Task[None] | None = None
        self._sent_at = 0.0

    def start(self) -> asyncio.Task[None]:
        """Send the request, unless an earlier one is unanswered. Return the one that waits for its answer."""
        if self._request is None or self._request.done():
            self._request, self._sent_at = asyncio.create_task(self._send()), time.monotonic()
        return self._request

    async def is_answered(self, within_seconds: float) -> bool:
        """Start, and return whether the request is answered in time."""
        request = self.start()  # Another caller may start the next one before this call returns.
        await asyncio.wait([request], timeout=within_seconds)
        if not request.done():
            return False
        request.result()
        return True

    @property
    def silent_since(self) -> float | None:
        """When the unanswered request was sent (`time.monotonic()`), or None."""
        return None if self._request is None or self._request.done() else self._sent_at

    async def _send(self) -> None:
        with contextlib.suppress(Error):  # A receiver that is gone is not silent.
            await self._ask()
