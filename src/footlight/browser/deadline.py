"""One time limit for everything that a call does, and somebody who hears what it is doing."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

__all__ = ["Deadline", "Stage", "unheard"]

Stage = Callable[[str], None]
"""Hears what a call is doing, in a few words: `requesting http://…`, `waiting for #x to be visible`."""


def unheard(_: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a call must be over, and how long it may wait for an element."""

    timeout_ms: float
    expires: float
    patience: float
    patience_ms: float
    stage: Stage = unheard

    @classmethod
    def after(
        cls, timeout_ms: float, *, patience_ms: float | None = None, stage: Stage = unheard
    ) -> Deadline:
        """`patience_ms` bounds the wait for an element; without it the whole time may go there."""
        now = time.monotonic()
        patience = timeout_ms if patience_ms is None else min(patience_ms, timeout_ms)
        return cls(timeout_ms, now + timeout_ms / 1000, now + patience / 1000, patience, stage)

    def begun(self) -> Deadline:
        """The same, but patience begins now: what came before was the wait for others."""
        return replace(self, patience=min(time.monotonic() + self.patience_ms / 1000, self.expires))

    def within(self, timeout_ms: float) -> Deadline:
        """The same, but over in so many milliseconds at the latest."""
        expires = min(self.expires, time.monotonic() + timeout_ms / 1000)
        return replace(self, timeout_ms=timeout_ms, expires=expires, patience=min(self.patience, expires))

    @property
    def remaining_ms(self) -> float:
        """Never 0, which means "no limit" to Playwright."""
        return max(1.0, (self.expires - time.monotonic()) * 1000)

    @property
    def element_ms(self) -> float:
        """What is left for an element to appear and be usable."""
        return max(1.0, (self.patience - time.monotonic()) * 1000)
