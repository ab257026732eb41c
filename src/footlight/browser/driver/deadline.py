"""The deadline of a call, and its progress messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

__all__ = [
    "DEFAULT_TIMEOUT",
    "ELEMENT_TIMEOUT",
    "MAX_TIMER_MS",
    "MIN_READING_SECONDS",
    "Deadline",
    "Stage",
    "no_progress",
]

Stage = Callable[[str], None]
"""A function that receives the progress of a call, such as `requesting http://…`."""

DEFAULT_TIMEOUT = "session.defaultTimeout"
ELEMENT_TIMEOUT = "session.elementTimeout"
MAX_TIMER_MS = 2.0**31 - 1
"""The longest timeout of Node.js and of pages. A longer one fires immediately."""
LATE_MS = 1_000.0
LATE_SHARE = 0.1
"""A limit that was exceeded by at most this is reported as exact, because timers fire late."""
OVER_MS = 50.0
"""How much earlier than our timer that of another process may fire."""
LATE_SECONDS = 0.7
"""How long after its deadline a call may wait for the effect of its action, or the reason of a timeout."""
MIN_READING_SECONDS = 0.1


def no_progress(_: str) -> None:
    """Ignore the progress of a call."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The deadline of a call, and the time that it may wait for an element (its patience).

    `setting` and `patience_setting` are the names of the settings that limit them, or None if the call gave
    its own `timeout`. Times are those of `time.monotonic()`.
    """

    timeout_ms: float
    began: float
    expires: float
    patience: float
    patience_ms: float
    setting: str | None = None
    patience_setting: str | None = None
    stage: Stage = no_progress

    @classmethod
    def after(
        cls,
        timeout_ms: float,
        *,
        patience_ms: float | None = None,
        setting: str | None = None,
        patience_setting: str | None = None,
        stage: Stage = no_progress,
    ) -> Deadline:
        """Return a deadline that starts now.

        Without `patience_ms`, the wait for an element may take the whole time.
        """
        now = time.monotonic()
        if patience_ms is None or patience_ms >= timeout_ms:
            patience_ms, patience_setting = timeout_ms, setting
        return cls(
            timeout_ms,
            began=now,
            expires=now + timeout_ms / 1000,
            patience=now + patience_ms / 1000,
            patience_ms=patience_ms,
            setting=setting,
            patience_setting=patience_setting,
            stage=stage,
        )

    def start_patience(self) -> Deadline:
        """Return the deadline with the patience starting now, which excludes the time spent in a queue."""
        return replace(self, patience=min(time.monotonic() + self.patience_ms / 1000, self.expires))

    def limit_to(self, timeout_ms: float) -> Deadline:
        """Return the deadline shortened to `timeout_ms`, a limit from the call."""
        now = time.monotonic()
        expires = now + timeout_ms / 1000
        if expires >= self.expires:
            return self
        patience = min(self.patience, expires)
        return replace(
            self, timeout_ms=timeout_ms, began=now, expires=expires, patience=patience, setting=None
        )

    def with_patience(self, patience_ms: float, setting: str | None = None) -> Deadline:
        """Return the deadline with the given patience from now on."""
        patience = min(time.monotonic() + patience_ms / 1000, self.expires)
        return replace(self, patience=patience, patience_ms=patience_ms, patience_setting=setting)

    def without_patience(self) -> Deadline:
        """Return the deadline with all remaining time for the element, because it has been found."""
        return replace(
            self,
            patience=self.expires,
            patience_ms=self.timeout_ms,
            patience_setting=self.setting,
        )

    @property
    def remaining_ms(self) -> float:
        """The remaining time.

        It is never 0, which Playwright treats as no limit, and never too long for a timer.
        """
        return _timer((self.expires - time.monotonic()) * 1000)

    def limit_reading(self, seconds: float) -> float:
        """Return how many seconds the page may take to report the effect of an action, or the reason for a
        timeout: at most `seconds`.
        """
        left = self.expires + LATE_SECONDS - time.monotonic()
        return min(seconds, max(MIN_READING_SECONDS, left))

    @property
    def element_ms(self) -> float:
        """The remaining time for an element to appear and become actionable."""
        return _timer((self.patience - time.monotonic()) * 1000)

    @property
    def action_ms(self) -> float:
        """The time for one operation on an element: all remaining time if the wait is limited separately."""
        return self.remaining_ms if self.limits_patience else self.element_ms

    @property
    def limits_patience(self) -> bool:
        """Return whether a setting, and not the call, limits the wait for an element."""
        return self.patience_setting is not None and self.patience < self.expires

    @property
    def is_over(self) -> bool:
        """Return whether the time of the call, or its time for the element, has passed."""
        end = self.expires if self.limits_patience else self.patience
        return (end - time.monotonic()) * 1000 <= OVER_MS

    @property
    def advice(self) -> str | None:
        """The suggestion about the setting that limits the call, or None if the call set the limit."""
        if self.setting is None:
            return None
        return (
            "Increase the timeout parameter or check if the page is loading slowly. "
            f"A call that gives none has {self.timeout_ms:.0f}ms ({self.setting})."
        )

    @property
    def patience_advice(self) -> str:
        """The suggestion to wait longer for the element, with the setting that limits the wait."""
        return (
            f"The call waited for the element for {self.patience_ms:.0f}ms ({self.patience_setting}). "
            "To wait longer, give a timeout parameter."
        )

    @property
    def elapsed(self) -> str:
        """The elapsed time, such as `300ms`, with the limit if they clearly differ:
        `9200ms (session.defaultTimeout is 5000ms)`.
        """
        now = time.monotonic()
        if self.patience < self.expires and (self.expires - now) * 1000 > OVER_MS:
            limit_ms, setting = self.patience_ms, self.patience_setting
            began = self.patience - self.patience_ms / 1000
        else:
            limit_ms, setting, began = self.timeout_ms, self.setting, self.began
        passed_ms = (now - began) * 1000
        if abs(passed_ms - limit_ms) <= max(LATE_MS, LATE_SHARE * limit_ms):
            return f"{limit_ms:.0f}ms"
        return f"{passed_ms:.0f}ms ({setting or 'timeout'} is {limit_ms:.0f}ms)"


def _timer(wait_ms: float) -> float:
    return min(max(1.0, wait_ms), MAX_TIMER_MS)
