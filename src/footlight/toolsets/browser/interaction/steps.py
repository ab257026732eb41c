"""Run several tools as the steps of one call."""

from typing import Annotated, Any, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from footlight.server.tools import ToolCall, tool

__all__ = []


class StepInput(BaseModel):
    """A call of another tool."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tool: str
    arguments: dict[str, Any] = {}


class StepResult(TypedDict):
    """The tool's `data` or its error."""

    tool: str
    data: NotRequired[dict[str, Any]]
    error: NotRequired[dict[str, Any]]


class StepsResult(TypedDict):
    """`failed` counts the steps with an error."""

    steps: list[StepResult]
    failed: int


@tool(effect="act", destructive=True, untrusted=True, batch=True)
async def run_steps(
    call: ToolCall,
    steps: Annotated[list[StepInput], Field(min_length=1, max_length=50)],
    stop_on_error: bool = True,
) -> StepsResult:
    """Run several calls in one. One deadline, one observation at the end."""
    outcomes = await call.run_steps([step.model_dump() for step in steps], stop_on_error=stop_on_error)
    results: Any = [outcome.as_json() for outcome in outcomes]
    return {"steps": results, "failed": sum(outcome.error is not None for outcome in outcomes)}
