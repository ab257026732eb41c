"""The steps of a workflow, one after the other, and what is told of them: done, failed, not begun."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NotRequired

from typing_extensions import TypedDict

from footlight.errors import FootlightError

if TYPE_CHECKING:
    from footlight.server.tool import ToolCall

__all__ = ["Step", "StepTold", "run_all", "told", "up_to_failure"]

Status = Literal["done", "failed", "not begun"]


class StepTold(TypedDict):
    """A step in its order. `error` says why it failed, `count` how much was found."""

    step: str
    status: Status
    selector: NotRequired[str]
    error: NotRequired[str]
    count: NotRequired[int]


@dataclass(frozen=True, slots=True)
class Step:
    """What it is called, the element that it is about, and the work."""

    name: str
    selector: str | None
    work: Callable[[], Awaitable[object]]


async def run_all(call: ToolCall, steps: Sequence[Step]) -> list[StepTold]:
    """What was done: all of them.

    Raises:
        FootlightError: that of the first step that failed, which says of every step how far it came.
    """
    for index, step in enumerate(steps):
        call.stage(f"step {index + 1} of {len(steps)}: {step.name}")
        try:
            await step.work()
        except FootlightError as error:
            error.details = {**error.details, "steps": up_to_failure(_planned(steps), error, at=index)}
            error.message = f"step {index + 1} of {len(steps)}, {step.name}: {error.message}"
            error.args = (error.message,)
            raise
    return [told(step.name, "done", step.selector) for step in steps]


def _planned(steps: Sequence[Step]) -> list[StepTold]:
    return [told(step.name, "not begun", step.selector) for step in steps]


def up_to_failure(
    planned: Sequence[StepTold], error: FootlightError, *, at: int, done: bool = True
) -> list[StepTold]:
    """All steps, of which that one failed. `done` is false where those before it were only looked at."""
    before: Status = "done" if done else "not begun"
    return [
        *({**step, "status": before} for step in planned[:at]),
        {**planned[at], "status": "failed", "error": error.message},
        *planned[at + 1 :],
    ]


def told(
    step: str, status: Status, selector: str | None, *, error: str | None = None, count: int | None = None
) -> StepTold:
    one: StepTold = {"step": step, "status": status}
    if selector is not None:
        one["selector"] = selector
    if error is not None:
        one["error"] = error
    if count is not None:
        one["count"] = count
    return one
