"""Several calls as one."""

from typing import Annotated, Any, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from footlight.server.tool import ToolCall, tool

__all__ = ["TOOLS"]


class Step(BaseModel):
    """A call of another tool."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tool: str
    arguments: dict[str, Any] = {}


class StepDone(TypedDict):
    """`data` of the tool, or why there is none."""

    tool: str
    data: NotRequired[dict[str, Any]]
    error: NotRequired[dict[str, Any]]


class StepsDone(TypedDict):
    """`failed` counts the steps that have an error."""

    steps: list[StepDone]
    failed: int


@tool(effect="act", destructive=True, untrusted=True, batch=True)
async def run_steps(
    call: ToolCall,
    steps: Annotated[list[Step], Field(min_length=1, max_length=50)],
    stop_on_error: bool = True,
) -> StepsDone:
    """Run several calls in one. One deadline, one observation at the end."""
    outcomes = await call.run_steps([step.model_dump() for step in steps], stop_on_error=stop_on_error)
    told: Any = [outcome.told() for outcome in outcomes]
    return {"steps": told, "failed": sum(outcome.error is not None for outcome in outcomes)}


TOOLS = (run_steps,)
