"""A persona tries to reach a goal on the page: what was done, how far it came, and why it stopped."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from footlight.client.errors import MCPError
from footlight.ux.audited import GoalOutcome, Walk, WalkStep
from footlight.ux.errors import ModelError
from footlight.ux.model.ai_tool import AITool, ToolAnswer
from footlight.ux.model.provider import ChatModel
from footlight.ux.model.run import Limits, Stage, StageRun, run_stage
from footlight.ux.persona import Persona
from footlight.ux.prompt import prompt
from footlight.ux.shortened import shortened
from footlight.ux.stream import AIStreamPart, FinishPart, TextDeltaPart, ToolCallPart, ToolResultPart, Usage
from footlight.ux.tools import ToolInput
from footlight.ux.visit import Visit

__all__ = ["FINISH", "GoalWalk"]

FINISH = "finishGoal"
LONGEST_SAID = 300
LONGEST_INPUT = 200
"""Characters, of a step."""


class Finish(ToolInput):
    outcome: Annotated[
        Literal["reached", "stopped"], Field(description="reached: the page shows it. stopped: it gave up")
    ]
    where: Annotated[str, Field(max_length=200, description="The part of the page")] = ""
    why: Annotated[
        str, Field(min_length=1, max_length=600, description="What on the page shows it, or stopped it")
    ]


class GoalWalk:
    """A goal on a fresh visit. Iterate `parts`; `walk` is what came of it so far.

    What the model says to itself between its calls is no analysis: no part has it.
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
    ) -> None:
        """`limits` are of all the work; `requests` of this goal. `next_id` numbers the steps."""
        self._run: StageRun | None = None
        self._visit = visit
        self._persona = persona
        self._goal = goal
        self._model = model
        self._limits = limits
        self._requests = min(requests, limits.requests - spent.requests)
        self._spent = spent
        self._next_id = next_id
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
        """The calls and their results. What the server does not let it do is told by the walk.

        Raises:
            ModelError: the provider failed.
        """
        if self._requests <= 0:
            self._ended = "unfinished", "", "the budget of requests was spent before"
            return
        try:
            await self._visit.begin()
        except MCPError as error:
            self._ended = "unfinished", "", f"the page could not be opened: {error.message}"
            return
        limits = replace(self._limits, requests=self._spent.requests + self._requests)
        self._run = run_stage(self._model, self._stage(), limits=limits, spent=self._spent)
        try:
            async with self._run as run:
                async for part in run:
                    self._note(part)
                    if isinstance(part, ToolCallPart | ToolResultPart):
                        yield part
                    if self._visit.lost is not None:
                        self._ended = "unfinished", "", f"the server is gone: {self._visit.lost.message}"
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
        async def run(given: Finish) -> ToolAnswer:
            if not any(step.ok for step in self._steps):
                return ToolAnswer(text="Nothing was tried yet. Use the page first.", is_error=True)
            self._ended = given.outcome, given.where, given.why
            return ToolAnswer(text="Noted.")

        return AITool(
            name=FINISH,
            description="Say how it went. It ends this goal.",
            parameters=Finish,
            run=run,
            ends=True,
        )

    def _note(self, part: AIStreamPart) -> None:
        match part:
            case TextDeltaPart():
                self._text += part.text_delta
            case ToolCallPart():
                self._inputs[part.tool_call_id] = _told(part.input)
            case ToolResultPart() if part.tool_name != FINISH:
                self._steps.append(self._step(part))
            case FinishPart() if self._ended[0] == "unfinished":
                self._ended = "unfinished", "", self._why(part.finish_reason)
            case _:
                pass

    def _step(self, part: ToolResultPart) -> WalkStep:
        gist, masked = self._visit.take_gist(), self._visit.masked
        return WalkStep(
            id=self._next_id(),
            tool=part.tool_name,
            input=masked(self._inputs[part.tool_call_id]),
            ok=not part.is_error,
            said=masked(shortened(gist or self._visit.marks.within(str(part.result)), LONGEST_SAID)),
        )

    def _why(self, reason: str) -> str:
        match reason:
            case "limit":
                return f"neither reached nor given up within {self.usage.requests} requests to the model"
            case "length":
                return "the model's answer was cut"
            case _:
                said = f": {shortened(self._text, LONGEST_SAID)}" if self._text.strip() else ""
                return f"the model ended without saying how it went{said}"


def _told(given: Mapping[str, Any]) -> str:
    return shortened(", ".join(f"{name}={value}" for name, value in given.items()), LONGEST_INPUT)
