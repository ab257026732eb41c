"""The time limit of a call, which all of its steps share: connecting, listing tools, sending and reading."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator

from footlight.protocol.errors import MCPError, MCPTimeoutError

__all__ = ["CallDeadline", "check_timeout"]


class CallDeadline:
    """A deadline that starts when it is created. `timeout_ms` is the whole time, which errors contain."""

    def __init__(self, timeout_ms: float) -> None:
        self.timeout_ms = timeout_ms
        self._end = time.monotonic() + timeout_ms / 1000

    @property
    def left_ms(self) -> float:
        """Return the remaining time, or 0 if the deadline has passed."""
        return max(0.0, (self._end - time.monotonic()) * 1000)

    @contextlib.asynccontextmanager
    async def limit(self, what: str) -> AsyncGenerator[None]:
        """Limit the block to the remaining time.

        Raises:
            MCPTimeoutError: the deadline passed. The message starts with `what`.
        """
        limit = asyncio.timeout(self.left_ms / 1000)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise self.make_timeout_error(f"{what} took longer than {self.timeout_ms:.0f}ms") from None

    def make_timeout_error(self, message: str) -> MCPTimeoutError:
        """Return an error with this message and the deadline's time limit."""
        return MCPTimeoutError(message, timeout_ms=self.timeout_ms)


def check_timeout(timeout_ms: object) -> None:
    """Check a time limit that the caller passed.

    Raises:
        MCPError: the value is not a positive number (`invalid`).
    """
    if isinstance(timeout_ms, (int, float)) and not isinstance(timeout_ms, bool) and timeout_ms > 0:
        return
    raise MCPError(f"timeout_ms: must be more than 0, got {timeout_ms!r:.60}", reason="invalid")
