"""The deadline of a call, and the error of a call that missed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footlight.browser.driver.deadline import DEFAULT_TIMEOUT, ELEMENT_TIMEOUT, Deadline
from footlight.errors import DeadlineExceeded

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.config import SessionSettings
    from footlight.server.tools.declaration import Tool

__all__ = ["deadline_exceeded", "make_deadline"]


def make_deadline(tool: Tool, arguments: BaseModel, settings: SessionSettings) -> Deadline:
    """Return the limit for the whole call, and for an element to appear in it."""
    if tool.limits is not None:
        timeout_ms, patience_ms = tool.limits(arguments)
        return Deadline.after(timeout_ms, patience_ms=patience_ms)
    given: float | None = getattr(arguments, "timeout", None)
    if given is not None and "timeout" in arguments.model_fields_set:
        return Deadline.after(given)
    return Deadline.after(
        tool.default_timeout_ms or settings.default_timeout,
        patience_ms=settings.element_timeout,
        setting=f"the default of {tool.name}" if tool.default_timeout_ms else DEFAULT_TIMEOUT,
        patience_setting=ELEMENT_TIMEOUT,
    )


def deadline_exceeded(tool: Tool, deadline: Deadline, *, begun: bool) -> DeadlineExceeded:
    """Return the error of a call that our own clock ended, before or after its tool had begun."""
    after = f"after {deadline.elapsed}"
    if not begun:
        return DeadlineExceeded(
            f"{tool.name} timed out {after} before it could begin: the browser or another call was busy",
            suggestion=deadline.advice,
            timeout=deadline.timeout_ms,
            dispatched=False,
        )
    dispatched = tool.effect != "read"
    return DeadlineExceeded(
        f"{tool.name} timed out {after}",
        suggestion=None if dispatched else deadline.advice,
        retryable=not dispatched,
        timeout=deadline.timeout_ms,
        dispatched=dispatched,
    )
