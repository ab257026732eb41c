"""Run several tools as the steps of one call, under one lock and one deadline."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.deadline import ELEMENT_TIMEOUT, Deadline
from footlight.errors import BrowserCrashedError, FootlightError, InvalidParameterError
from footlight.server.calls.dialog_race import (
    check_expectation,
    check_no_dialog,
    make_stopped_result,
    run_until_dialog,
)
from footlight.server.tools.tool_call import CallReport, StepOutcome, ToolCall

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.server.answers.secrets import Secrets
    from footlight.server.tools.declaration import Tool

__all__ = ["BatchStep", "StepFailedError", "parse_steps", "run_steps"]


@dataclass(frozen=True, slots=True)
class BatchStep:
    """A step with validated arguments."""

    tool: Tool
    arguments: BaseModel
    given: Mapping[str, Any]
    """The arguments as the client sent them."""


Settle = Callable[[ToolCall], Coroutine[Any, Any, Mapping[str, Any] | None]]
OnStepDone = Callable[[BatchStep, ToolCall, StepOutcome, int], Awaitable[None]]
"""Receives each step, its call, its outcome, and its duration in milliseconds."""


class StepFailedError(Exception):
    """A step failed, and later steps were not run. `outcomes` ends with that of the failed step."""

    def __init__(self, outcomes: Sequence[StepOutcome], error: FootlightError) -> None:
        super().__init__(error.message)
        self.outcomes = outcomes
        self.error = error

    def as_error(self) -> FootlightError:
        """Return the step's error, with its number and the results of the earlier steps."""
        last = len(self.outcomes) - 1
        error = _with_prefix(self.error, f"steps.{last} ({self.outcomes[-1].tool})")
        done = [outcome.as_json() for outcome in self.outcomes[:-1]]
        error.details = {**error.details, "step": last, "done": done}
        if done:  # A repeated call would do them again.
            error.retryable = False
        return error


def _with_prefix(error: FootlightError, prefix: str) -> FootlightError:
    error.message = f"{prefix}: {error.message}"
    error.args = (error.message,)
    return error


def parse_steps(
    given: Sequence[Mapping[str, Any]],
    tools: Mapping[str, Tool],
    *,
    session_id: str,
    own_id: Callable[[str | None], str],
    secrets: Secrets | None,
) -> list[BatchStep]:
    """Validate all steps before the first one runs. `own_id` returns the id of a session that a step names.

    Raises:
        InvalidParameterError, MissingParameterError: The message names the step and the field.
    """

    def parse(index: int, step: Mapping[str, Any]) -> BatchStep:
        name = str(step["tool"])
        tool = _find_tool(index, name, tools)
        arguments = given = dict(step.get("arguments") or {})
        named = given.get("sessionId")
        if "sessionId" in tool.input_schema["properties"] and named is None:
            arguments = {**given, "sessionId": session_id}
        if isinstance(named, str) and own_id(named) != session_id:
            field = f"steps.{index}.arguments.sessionId"
            raise InvalidParameterError(
                f"{field}: all steps run in the session of the call; leave it out", parameter=field
            )
        try:
            return BatchStep(tool, tool.parse(arguments, secrets), given)
        except FootlightError as error:
            error.details = {**error.details, "step": index}
            _with_prefix(error, f"steps.{index} ({name})")
            raise

    return [parse(index, step) for index, step in enumerate(given)]


def _find_tool(index: int, name: str, tools: Mapping[str, Tool]) -> Tool:
    tool = tools.get(name)
    if tool is not None and tool.queued and not tool.batch and tool.scope != "server":
        return tool
    why = "is not a tool" if tool is None else "cannot be a step"
    raise InvalidParameterError(
        f"steps.{index}.tool: {name} {why}; steps are calls of tools that work in one session",
        parameter=f"steps.{index}.tool",
    )


async def run_steps(
    call: ToolCall,
    steps: Sequence[BatchStep],
    *,
    page_id: str | None,
    stop_on_error: bool,
    settle: Settle,
    on_step_done: OnStepDone,
) -> list[StepOutcome]:
    """Run the steps in order. After each one that acts, wait until the page has settled.

    Each step has a separate call, which adds its images and links to the answer of `call`.

    Raises:
        StepFailedError: a step failed, and `stop_on_error` is set.
    """
    outcomes: list[StepOutcome] = []
    for number, step in enumerate(steps, 1):
        call.stage(f"step {number} of {len(steps)}: {step.tool.name}")
        began = time.monotonic()
        # Steps have no elicitation, because a repeated batch would start again from its first step.
        own = replace(call, report=_report_of_step(call.report), elicitation=None)
        try:
            data = await _run_step(step, own, page_id=page_id, settle=settle)
            locator = own.maybe_page.view.take_located() if own.maybe_page else None
            outcomes.append(StepOutcome(step.tool.name, data, locator=locator))
        except FootlightError as error:
            if isinstance(error, BrowserCrashedError) and step.tool.effect == "act":
                error.forbid_retry(dispatched="unknown")
            outcomes.append(StepOutcome(step.tool.name, error=error))
        call.use_page(own.maybe_page)
        await on_step_done(step, own, outcomes[-1], round((time.monotonic() - began) * 1000))
        if stop_on_error and (failed := outcomes[-1].error):
            raise StepFailedError(outcomes, failed) from failed
    call.report.locators = [outcome.locator for outcome in outcomes]
    return outcomes


def _report_of_step(report: CallReport) -> CallReport:
    return CallReport(
        session=report.session, page=report.page, images=report.images, links=report.links, undo=report.undo
    )


async def _run_step(
    step: BatchStep, call: ToolCall, *, page_id: str | None, settle: Settle
) -> Mapping[str, Any]:
    if step.tool.scope == "page":
        named: str | None = getattr(step.arguments, "page_id", None)
        call.use_page(await call.session.page_table.get(named or page_id))
        call.page.view.take_located()
        await check_no_dialog(call)
    call, began = replace(call, deadline=_deadline_of(step, call)), time.monotonic()
    data = await run_until_dialog(call, step.tool.run(call, step.arguments))
    if data is None:
        data = await make_stopped_result(step.tool, call)
    elif step.tool.effect == "act":
        data = await run_until_dialog(call, settle(call)) or data
    await check_expectation(call, step.arguments, since=began)
    return data


def _deadline_of(step: BatchStep, call: ToolCall) -> Deadline:
    """Return the deadline of the step, which is never later than that of the call."""
    whole = call.deadline
    if step.tool.limits:
        own_ms, patience_ms = step.tool.limits(step.arguments)
        return whole.limit_to(own_ms).with_patience(patience_ms)
    own: float | None = getattr(step.arguments, "timeout", None)
    if own is not None:
        return whole.limit_to(own).with_patience(own)
    return whole.with_patience(call.settings.session.element_timeout, ELEMENT_TIMEOUT)
