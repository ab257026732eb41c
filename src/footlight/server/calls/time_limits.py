"""The deadline of a call, the error of a call that misses it, and the time limit of each stage."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING

from footlight.browser.driver.deadline import DEFAULT_TIMEOUT, ELEMENT_TIMEOUT, Deadline
from footlight.browser.driver.pending_starts import SILENCE_ADVICE, PendingStart
from footlight.browser.driver.probe import RESPONSE_SECONDS
from footlight.browser.page.diagnosis import describe_silence
from footlight.errors import LOOK_FIRST, DeadlineExceededError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.browser.driver.playwright_connection import SilentPart
    from footlight.config import SessionSettings
    from footlight.server.tools.declaration import Tool
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["TimeLimit", "deadline_exceeded", "make_deadline"]

GRACE_SECONDS = 1.5
"""The time after the deadline in which a call may find the reason for it, and close pages that hang."""
PROBE_SECONDS = 2.7
"""How long before the deadline the pages and processes are asked whether they respond."""


def make_deadline(tool: Tool, arguments: BaseModel, settings: SessionSettings) -> Deadline:
    """Return the deadline of the whole call, with the time limit for elements to appear."""
    if tool.limits is not None:
        timeout_ms, patience_ms = tool.limits(arguments)
        return Deadline.after(timeout_ms, patience_ms=patience_ms)
    requested_ms: float | None = getattr(arguments, "timeout", None)
    if requested_ms is not None and "timeout" in arguments.model_fields_set:
        return Deadline.after(requested_ms)
    return Deadline.after(
        tool.default_timeout_ms or settings.default_timeout,
        patience_ms=settings.element_timeout,
        setting=f"the default of {tool.name}" if tool.default_timeout_ms else DEFAULT_TIMEOUT,
        patience_setting=ELEMENT_TIMEOUT,
    )


def deadline_exceeded(
    tool: Tool, deadline: Deadline, *, has_begun: bool = True, silent: PendingStart | SilentPart | None = None
) -> DeadlineExceededError:
    """Return the error of a call that missed its deadline, before or after its tool began to run.

    `silent` is the part that did not respond.
    """
    message = f"{tool.name} timed out after {deadline.elapsed}" + (
        "" if has_begun else " before it could begin"
    )
    dispatched = has_begun and tool.effect != "read"
    advice = None if dispatched else deadline.advice
    if isinstance(silent, PendingStart):
        message, advice, dispatched = f"{message}: {silent.describe()}", silent.advice, False
    elif silent is not None:
        message, advice = f"{message}; {describe_silence(silent)}", SILENCE_ADVICE[silent]
        if dispatched:
            advice += f" {LOOK_FIRST}"
    elif not has_begun:
        message += ": the browser or another call was busy"
    return DeadlineExceededError(
        message,
        suggestion=advice,
        retryable=not dispatched,
        timeout=deadline.timeout_ms,
        dispatched=dispatched,
    )


class TimeLimit:
    """Limits a stage of a call to its deadline plus `GRACE_SECONDS`, in which errors are explained.

    If the browser driver does not respond at the deadline, the stage ends at once, because errors cannot be
    explained and Playwright's time limits in the driver have no effect.

    Raises:
        DeadlineExceededError: the driver does not respond.
        TimeoutError: the stage exceeded the limit.
    """

    def __init__(self, tool: Tool, call: ToolCall) -> None:
        self._tool = tool
        self._call = call
        self._expires = call.deadline.expires
        self._limit = asyncio.timeout_at(self._expires + GRACE_SECONDS)
        self._timer: asyncio.TimerHandle | None = None
        self._asking: asyncio.Task[None] | None = None
        self._is_driver_silent = False

    @property
    def expired(self) -> bool:
        """Return whether the stage exceeded the limit although the driver responds."""
        return self._limit.expired() and not self._is_driver_silent

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()
        seconds = min(PROBE_SECONDS, self._call.deadline.timeout_ms / 2_000)
        self._timer = asyncio.get_running_loop().call_at(self._expires - seconds, self._ask)

    def _ask(self) -> None:
        self._call.session.start_probes()
        self._asking = asyncio.create_task(self._end_if_driver_is_silent())

    async def _end_if_driver_is_silent(self) -> None:
        await asyncio.sleep(self._call.deadline.remaining_ms / 1000)
        seconds = self._call.deadline.limit_reading(RESPONSE_SECONDS)
        if await self._call.session.find_silent_part(seconds) == "driver":
            self._is_driver_silent = True
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._timer is not None
        self._timer.cancel()
        if self._asking is not None:
            self._asking.cancel()
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            if not self._is_driver_silent:
                raise
            raise deadline_exceeded(self._tool, self._call.deadline, silent="driver") from None
