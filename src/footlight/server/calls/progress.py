"""Report the stages and the elapsed time of a call to a client that requests progress."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable

from footlight.browser.driver.deadline import Stage, no_progress

__all__ = ["Report", "report_stages"]

logger = logging.getLogger(__name__)

Report = Callable[[float, float | None, str | None], Awaitable[None]]
"""Receives the progress, the total and a message. Both numbers are in milliseconds."""

EVERY_SECONDS = 1.0
STOP_SECONDS = 0.1
"""The time limit for a report that is being sent when the call ends, because the answer must be sent last."""
MIN_STEP_MS = 0.1
"""The minimum increase between two reports, because progress must increase."""


@contextlib.asynccontextmanager
async def report_stages(
    report: Report | None, *, began: float, total_ms: float, stage: str
) -> AsyncGenerator[Stage]:
    """Yield a function that reports the stages of a call until the block ends. `stage` is the first stage.

    `began` is a value of `time.monotonic()`. Without `report`, no progress is reported.
    """
    if report is None:
        yield no_progress
        return
    reporter = _Reporter(report, began, total_ms, stage)
    task = asyncio.create_task(reporter.run())
    try:
        yield reporter.stage
    finally:
        task.cancel()
        await asyncio.wait([task], timeout=STOP_SECONDS)


class _Reporter:
    """Reports the latest stage. A client that reads slowly misses stages, but does not delay the call."""

    def __init__(self, report: Report, began: float, total_ms: float, stage: str) -> None:
        self._report = report
        self._began = began
        self._total_ms = total_ms
        self._stage = stage
        self._changed = asyncio.Event()
        self._last_ms = 0.0

    def stage(self, stage: str) -> None:
        self._stage = stage
        self._changed.set()

    async def run(self) -> None:
        """Send reports until this is cancelled, the call's time limit passes, or a report cannot be sent."""
        try:
            while True:
                await self._wait_for_stage()
                self._last_ms = passed_ms = self._measure_passed_ms()
                if passed_ms >= self._total_ms:
                    return
                await self._report(passed_ms, self._total_ms, self._stage)
        except Exception:
            logger.debug("progress could not be reported", exc_info=True)

    async def _wait_for_stage(self) -> None:
        """Wait for another stage, for at most `EVERY_SECONDS`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(EVERY_SECONDS):
                await self._changed.wait()
        self._changed.clear()

    def _measure_passed_ms(self) -> float:
        passed_ms = round((time.monotonic() - self._began) * 1000, 1)
        return max(passed_ms, self._last_ms + MIN_STEP_MS)
