"""Run a model with tools: send requests and run the tools it calls until it is done."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from footlight.audit.findings import EvidencePicture
from footlight.audit.model.history import History
from footlight.audit.model.request import Limits, Requests
from footlight.audit.model.stream import (
    AIStreamPart,
    FinishPart,
    PartStream,
    TextDeltaPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from footlight.audit.model.tool_calls import StageTools
from footlight.audit.model.tools import AITool, ToolAnswer

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.messages import ToolCallPart as AskedCall

    from footlight.audit.model.provider import ChatModel

__all__ = ["Limits", "Stage", "StageRun", "run_stage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A task for a model: instructions, a prompt, tools and pictures."""

    instructions: str
    prompt: str
    tools: Sequence[AITool] = ()
    pictures: Sequence[EvidencePicture] = ()


def run_stage(
    model: ChatModel,
    stage: Stage,
    *,
    limits: Limits,
    spent: Usage | None = None,
    call_ids: set[str] | None = None,
) -> StageRun:
    """Return a run, which does its work while it is iterated.

    Args:
        limits: cover all stages together; `spent` is the usage of earlier stages.
        call_ids: the ids of earlier calls; the ids of this stage are added.
    """
    return StageRun(
        model, stage, limits=limits, spent=spent or Usage(), call_ids=set() if call_ids is None else call_ids
    )


class StageRun(PartStream):
    """Yields the parts of a stage in order.

    Each `ToolCallPart` is followed by its `ToolResultPart`: parallel calls are run one after the other. The
    last part is a `FinishPart`: `stop` if the model is done or a tool ended the stage, `length` if its answer
    was cut, `limit` if another request would exceed the limits.

    A tool that raises has a bug: its result says that it failed, and the exception is raised.

    Raises:
        ModelError: during iteration, if the provider failed and retries did not help.
    """

    def __init__(
        self, model: ChatModel, stage: Stage, *, limits: Limits, spent: Usage, call_ids: set[str]
    ) -> None:
        self._stage = stage
        self._requests = Requests(model, stage.tools, limits=limits, spent=spent)
        self._calls = StageTools(stage.tools)
        self._ids = call_ids
        super().__init__()

    @property
    def usage(self) -> Usage:
        """Return the usage of this stage so far, including failed requests."""
        return self._requests.usage

    async def _work(self) -> AsyncGenerator[AIStreamPart]:
        stage = self._stage
        history = History(
            instructions=stage.instructions,
            prompt=stage.prompt,
            pictures=stage.pictures,
        )
        while self._requests.allowed:
            response: ModelResponse | None = None
            async with aclosing(self._requests.ask(history.to_send())) as pieces:
                async for piece in pieces:
                    if isinstance(piece, str):
                        yield TextDeltaPart(text_delta=piece)
                    else:
                        response = piece
            assert response is not None, "an answer without an end raises"
            answers: list[tuple[AskedCall, ToolAnswer]] = []
            for call in response.tool_calls:
                async with aclosing(self._run(call, answers)) as parts:
                    async for part in parts:
                        yield part
            if response.finish_reason == "length":
                yield FinishPart(finish_reason="length")
                return
            if self._calls.ended or not answers:
                yield FinishPart(finish_reason="stop")
                return
            history.add(response, answers)
        yield FinishPart(finish_reason="limit")

    async def _run(
        self, call: AskedCall, answers: list[tuple[AskedCall, ToolAnswer]]
    ) -> AsyncGenerator[AIStreamPart]:
        """Run a call: yield the call and its result, and append the result to `answers`."""
        name, tool_call_id = call.tool_name, self._make_unique(call.tool_call_id)
        asked = self._calls.parse(name, call.args)
        yield ToolCallPart(tool_call_id=tool_call_id, tool_name=name, input=asked.input)
        try:
            answer = await self._calls.run(asked)
        except Exception as error:
            yield _result(tool_call_id, name, _make_failed_answer(error))
            raise
        answers.append((call, answer))
        yield _result(tool_call_id, name, answer)

    def _make_unique(self, tool_call_id: str) -> str:
        """Return a unique id of a call: some providers reuse ids in later answers."""
        unique = tool_call_id if tool_call_id not in self._ids else f"call_{uuid4().hex}"
        self._ids.add(unique)
        return unique


def _result(tool_call_id: str, name: str, answer: ToolAnswer) -> ToolResultPart:
    return ToolResultPart(
        tool_call_id=tool_call_id, tool_name=name, result=answer.text, is_error=answer.is_error
    )


def _make_failed_answer(error: Exception) -> ToolAnswer:
    return ToolAnswer(text=f"The tool failed: {type(error).__name__}", is_error=True)
