"""The processes that are being started, for the errors of calls that wait for them."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import PlaywrightTimeout
from footlight.errors import BrowserNotInstalledError

if TYPE_CHECKING:
    from footlight.browser.driver.playwright_connection import SilentPart

__all__ = ["SILENCE_ADVICE", "PendingStart", "PendingStarts"]

SILENCE_ADVICE: dict[SilentPart, str] = {
    "driver": "Check the driver's process (run-driver), then call again. No page was closed.",
    "browser": "Check the browser's process, then call again. No page was closed.",
}


@dataclass(frozen=True, slots=True, eq=False)
class PendingStart:
    """A browser or driver that is starting or connecting, and has not responded yet."""

    what: str
    """The kind of the process, and its path or address."""
    advice: str
    began: float = field(default_factory=time.monotonic)

    def describe(self) -> str:
        """Return a clause about the time for which it has not responded."""
        return f"{self.what} has not answered for {(time.monotonic() - self.began) * 1000:.0f}ms"


class PendingStarts:
    """The pending starts. An engine and its launchers share one instance."""

    def __init__(self) -> None:
        self._pending: dict[PendingStart, None] = {}

    @property
    def oldest(self) -> PendingStart | None:
        """The longest pending start, or None."""
        return next(iter(self._pending), None)

    @contextmanager
    def track(self, what: str, *, advice: str, details: Mapping[str, Any] | None = None) -> Generator[None]:
        """Track the start of a browser or driver in this block.

        Raises:
            BrowserNotInstalledError: it did not respond within Playwright's limit.
        """
        start = PendingStart(what, advice)
        self._pending[start] = None
        try:
            yield
        except PlaywrightTimeout as error:
            raise BrowserNotInstalledError(start.describe(), suggestion=advice, **(details or {})) from error
        finally:
            del self._pending[start]
