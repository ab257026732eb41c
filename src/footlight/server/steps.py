"""Several calls as one: the steps of `run_steps`, under one lock and one deadline."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.browser.deadline import Deadline
from footlight.errors import FootlightError, InvalidParameter
from footlight.server.answer import clean
from footlight.server.dialog_race import check_no_dialog, cut_short, until_dialog

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.server.secrets import Secrets
    from footlight.server.tool import Tool, ToolCall

__all__ = ["Outcome", "Step", "StepFailed", "parse_steps", "run_all"]

Settle = Callable[[], Coroutine[Any, Any, None]]
After = Callable[["Step", "Outcome", int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Step:
    """A call whose arguments are valid."""

    tool: Tool
    arguments: BaseModel
    given: Mapping[str, Any]
    """The same as they came."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step gave, or why it did not."""

    tool: str
    data: Mapping[str, Any] | None = None
    error: FootlightError | None = None
    locator: Any = None

    def told(self) -> dict[str, Any]:
        if self.error is None:
            return {"tool": self.tool, "data": clean(self.data)}
        error = self.error
        return {
            "tool": self.tool,
            "error": {
                "code": error.code,
                "message": clean(error.message),
                "retryable": error.retryable,
                "suggestion": clean(error.suggestion),
            },
        }


class StepFailed(Exception):
    """A step failed, and those after it were not run. `outcomes` ends with its own."""

    def __init__(self, outcomes: Sequence[Outcome], error: FootlightError) -> None:
        super().__init__(error.message)
        self.outcomes = outcomes
        self.error = error

    def explained(self) -> FootlightError:
        """The step's own error, which says which step it was and what the ones before gave."""
        last = len(self.outcomes) - 1
        error = self.error
        error.message = f"steps.{last} ({self.outcomes[-1].tool}): {error.message}"
        error.args = (error.message,)
        done = [outcome.told() for outcome in self.outcomes[:-1]]
        error.details = {**error.details, "step": last, "done": done}
        return error


def parse_steps(
    given: Sequence[Mapping[str, Any]],
    tools: Mapping[str, Tool],
    *,
    session_id: str,
    secrets: Secrets | None,
) -> list[Step]:
    """All of them, before the first is run.

    Raises:
        InvalidParameter, MissingParameter: name the step and the field.
    """
    return [_parse(index, step, tools, session_id, secrets) for index, step in enumerate(given)]


def _parse(
    index: int, step: Mapping[str, Any], tools: Mapping[str, Tool], session_id: str, secrets: Secrets | None
) -> Step:
    name = str(step["tool"])
    tool = tools.get(name)
    if tool is None or tool.batch or tool.scope == "server" or not tool.queued:
        why = "is no tool" if tool is None else "cannot be a step"
        raise InvalidParameter(
            f"steps.{index}.tool: {name} {why}; steps are calls of tools that work in one session",
            parameter=f"steps.{index}.tool",
        )
    arguments = given = dict(step.get("arguments") or {})
    if "sessionId" in tool.input_schema["properties"]:
        arguments = {"sessionId": session_id, **given}
    if arguments.get("sessionId", session_id) != session_id:
        field = f"steps.{index}.arguments.sessionId"
        raise InvalidParameter(
            f"{field}: all steps run in the session of the call; leave it out", parameter=field
        )
    try:
        return Step(tool, tool.parse(arguments, secrets), given)
    except FootlightError as error:
        error.message = f"steps.{index} ({name}): {error.message}"
        error.args = (error.message,)
        error.details = {**error.details, "step": index}
        raise


async def run_all(
    call: ToolCall,
    steps: Sequence[Step],
    *,
    page_id: str | None,
    stop_on_error: bool,
    settle: Settle,
    after: After,
) -> list[Outcome]:
    """One after the other; each acting one is given the time to settle before the next begins.

    `after` hears of each what came of it, and how many milliseconds it took.

    Raises:
        StepFailed: one failed, where that ends them.
    """
    outcomes: list[Outcome] = []
    whole = call.deadline
    try:
        for number, step in enumerate(steps, 1):
            call.stage(f"step {number} of {len(steps)}: {step.tool.name}")
            began, call.typed_into = time.monotonic(), None
            try:
                if step.tool.scope == "page":
                    named: str | None = getattr(step.arguments, "page_id", None)
                    call.maybe_page = await call.session.page(named or page_id)
                    call.page.view.take_located()
                    await check_no_dialog(call)
                call.deadline = _within(whole, step, call)
                data = await until_dialog(call, step.tool.run(call, step.arguments))
                if data is None:
                    data = await cut_short(step.tool, call)
                elif step.tool.effect == "act":
                    await until_dialog(call, settle())
                located = call.maybe_page.view.take_located() if call.maybe_page else None
                outcomes.append(Outcome(step.tool.name, data, locator=located))
            except FootlightError as error:
                outcomes.append(Outcome(step.tool.name, error=error))
            await after(step, outcomes[-1], round((time.monotonic() - began) * 1000))
            if stop_on_error and (failed := outcomes[-1].error):
                raise StepFailed(outcomes, failed) from failed
    finally:
        call.deadline = whole
    located = [outcome.locator for outcome in outcomes]
    call.locator = located if any(located) else None
    return outcomes


def _within(whole: Deadline, step: Step, call: ToolCall) -> Deadline:
    """A step's own time, which ends with the call's at the latest."""
    if step.tool.limits:
        whole_ms, own_ms = step.tool.limits(step.arguments)
        timeout_ms = min(whole_ms, whole.remaining_ms)
        return Deadline.after(timeout_ms, patience_ms=own_ms, stage=whole.stage)
    own: float | None = getattr(step.arguments, "timeout", None)
    timeout_ms = min(own or whole.remaining_ms, whole.remaining_ms)
    patience_ms = own or call.settings.session.element_timeout
    return Deadline.after(timeout_ms, patience_ms=patience_ms, stage=whole.stage)
