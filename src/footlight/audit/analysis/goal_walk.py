"""Let a model try to reach a persona's goal on the page, and record its steps and the outcome."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from footlight.audit.analysis.personas import Persona
from footlight.audit.analysis.prompt import prompt
from footlight.audit.analysis.visit import Visit
from footlight.audit.model.failures import ModelError
from footlight.audit.model.provider import ChatModel
from footlight.audit.model.request import Limits
from footlight.audit.model.stage import Stage, StageRun, run_stage
from footlight.audit.model.stream import (
    AIStreamPart,
    FinishPart,
    TextDeltaPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from footlight.audit.model.tools import AITool, ToolAnswer, ToolInput
from footlight.audit.page.page_text import shorten
from footlight.audit.results import GoalOutcome, Walk, WalkStep
from footlight.protocol.errors import MCPError

__all__ = ["FINISH", "GoalWalk"]

FINISH = "finishGoal"
MAX_ANSWER_LENGTH = 300
MAX_INPUT_LENGTH = 200
"""The maximum numbers of characters of an answer and of an input in a step."""


class FinishGoalInput(ToolInput):
    outcome: Annotated[
        Literal["reached", "stopped"], Field(description="reached: the page shows it. stopped: it gave up")
    ]
    where: Annotated[str, Field(max_length=200, description="The part of the page")] = ""
    why: Annotated[
        str, Field(min_length=1, max_length=600, description="What on the page shows it, or stopped it")
    ]


class GoalWalk:
    """An attempt at a goal on a fresh visit. Iterate `parts`; `walk` is the result so far.

    Text of the model between its calls is not part of the analysis and is not yielded.
    """

    def __init__(
        self,
        visit: Visit,
        persona: Persona,
        goal: str,
        *,
        model: ChatModel,
        limits: Limits,
        requests: int,
        spent: Usage,
        next_id: Callable[[], str],
        call_ids: set[str] | None = None,
    ) -> None:
        """Set up the walk. `limits` and `call_ids` cover the whole analysis, `requests` this goal."""
        self._run: StageRun | None = None
        self._visit = visit
        self._persona = persona
        self._goal = goal
        self._model = model
        self._limits = limits
        self._requests = min(requests, limits.requests - spent.requests)
        self._spent = spent
        self._next_id = next_id
        self._call_ids = call_ids
        self._began = time.monotonic()
        self._steps: list[WalkStep] = []
        self._inputs: dict[str, str] = {}
        self._text = ""
        self._ended: tuple[GoalOutcome, str, str] = ("unfinished", "", "it was interrupted")

    @property
    def walk(self) -> Walk:
        outcome, part, why = self._ended
        return Walk(
            persona=self._persona.name,
            goal=self._goal,
            outcome=outcome,
            where=" ".join(filter(None, (self._visit.url, part))),
            why=why,
            steps=tuple(self._steps),
            duration_ms=int((time.monotonic() - self._began) * 1000),
        )

    @property
    def usage(self) -> Usage:
        return self._run.usage if self._run else Usage()

    async def parts(self) -> AsyncGenerator[AIStreamPart]:
        """Yield the calls and their results. If the page cannot be opened, `walk` says why.

        Raises:
            ModelError: the provider failed.
        """
        if self._requests <= 0:
            self._ended = "unfinished", "", "the budget of requests was already spent"
            return
        try:
            await self._visit.begin()
        except MCPError as error:
            self._ended = "unfinished", "", f"the page could not be opened: {error.message}"
            return
        limits = replace(self._limits, requests=self._spent.requests + self._requests)
        self._run = run_stage(
            self._model, self._stage(), limits=limits, spent=self._spent, call_ids=self._call_ids
        )
        try:
            async with self._run as run:
                async for part in run:
                    self._note(part)
                    if isinstance(part, ToolCallPart | ToolResultPart):
                        yield part
                    if self._visit.lost is not None:
                        self._ended = "unfinished", "", f"the server was lost: {self._visit.lost.message}"
                        return
        except ModelError as error:
            self._ended = "unfinished", "", error.message
            raise

    def _stage(self) -> Stage:
        marks = self._visit.marks
        return Stage(
            instructions=prompt("walking", requests=self._requests, first=marks.first, last=marks.last),
            prompt=prompt(
                "goal",
                name=self._persona.name,
                description=self._persona.description,
                goal=self._goal,
                url=self._visit.start,
            ),
            tools=(*self._visit.tools, self._finish()),
        )

    def _finish(self) -> AITool:
        async def run(arguments: FinishGoalInput) -> ToolAnswer:
            if not any(step.ok for step in self._steps):
                return ToolAnswer(text="Nothing has been tried yet. Use the page first.", is_error=True)
            self._ended = arguments.outcome, arguments.where, arguments.why
            return ToolAnswer(text="Noted.")

        return AITool(
            name=FINISH,
            description="Report the outcome. This ends the goal.",
            parameters=FinishGoalInput,
            run=run,
            ends=True,
        )

    def _note(self, part: AIStreamPart) -> None:
        match part:
            case TextDeltaPart():
                self._text += part.text_delta
            case ToolCallPart():
                self._inputs[part.tool_call_id] = _format_input(part.input)
            case ToolResultPart() if part.tool_name != FINISH:
                self._steps.append(self._step(part))
            case FinishPart() if self._ended[0] == "unfinished":
                self._ended = "unfinished", "", self._why(part.finish_reason)
            case _:
                pass

    def _step(self, part: ToolResultPart) -> WalkStep:
        summary, mask = self._visit.take_summary(), self._visit.mask
        return WalkStep(
            id=self._next_id(),
            tool=part.tool_name,
            input=mask(self._inputs[part.tool_call_id]),
            ok=not part.is_error,
            answer=mask(
                shorten(summary or self._visit.marks.unwrap_text(str(part.result)), MAX_ANSWER_LENGTH)
            ),
        )

    def _why(self, reason: str) -> str:
        match reason:
            case "limit":
                return f"neither reached nor given up within {self.usage.requests} requests to the model"
            case "length":
                return "the model's answer was cut"
            case _:
                last_text = f": {shorten(self._text, MAX_ANSWER_LENGTH)}" if self._text.strip() else ""
                return f"the model ended without reporting an outcome{last_text}"


def _format_input(arguments: Mapping[str, Any]) -> str:
    return shorten(", ".join(f"{name}={value}" for name, value in arguments.items()), MAX_INPUT_LENGTH)
