"""A model at work: it is asked, its tools are run, it is asked again, until it is done."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self
from uuid import uuid4

import anyio

from footlight.ux.findings import Picture
from footlight.ux.model.ai_tool import AITool, ToolAnswer
from footlight.ux.model.history import History
from footlight.ux.model.request import Limits, Requests
from footlight.ux.model.tool_call import ToolCalls
from footlight.ux.stream import AIStreamPart, FinishPart, TextDeltaPart, ToolCallPart, ToolResultPart, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.messages import ToolCallPart as AskedCall

    from footlight.ux.model.provider import ChatModel

__all__ = ["Limits", "Stage", "StageRun", "run_stage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One piece of work for a model: what it is, what it has, and the tools it needs for it."""

    instructions: str
    prompt: str
    tools: Sequence[AITool] = ()
    pictures: Sequence[Picture] = ()


def run_stage(model: ChatModel, stage: Stage, *, limits: Limits, spent: Usage | None = None) -> StageRun:
    """Begin nothing yet: the model is asked when the run is iterated.

    Args:
        limits: of all stages together; `spent` is what earlier ones took of them.
    """
    return StageRun(model, stage, limits=limits, spent=spent or Usage())


class StageRun:
    """The parts of a stage, in order and live. To be entered, and iterated once.

    Each `ToolCallPart` is followed by its `ToolResultPart`: a model's parallel calls are run one after the
    other. The last part is a `FinishPart`: `stop` when the model has no more to do, or a tool ended the
    stage; `length` when its answer was cut; `limit` when another request would go over the limits.

    On leaving, the request under way is closed. A tool that raises has a bug: its result says that it
    failed, and the exception goes on.

    Raises:
        ModelError: from iteration; the provider failed, and trying again did not help or was not possible.
    """

    def __init__(self, model: ChatModel, stage: Stage, *, limits: Limits, spent: Usage) -> None:
        self._stage = stage
        self._requests = Requests(model, stage.tools, limits=limits, spent=spent)
        self._calls = ToolCalls(stage.tools)
        self._ids: set[str] = set()
        self._parts = self._work()

    @property
    def usage(self) -> Usage:
        """Of this stage alone, so far. Failed requests are in it."""
        return self._requests.usage

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Shielded: a cancelled caller must still not leave a connection behind.
        with anyio.CancelScope(shield=True):
            await self._parts.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AIStreamPart:
        return await anext(self._parts)

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
        """The call, then its result, which is put to the `answers`."""
        name, tool_call_id = call.tool_name, self._unique(call.tool_call_id)
        asked = self._calls.read(name, call.args)
        yield ToolCallPart(tool_call_id=tool_call_id, tool_name=name, input=asked.input)
        try:
            answer = await self._calls.run(asked)
        except Exception as error:
            yield _result(tool_call_id, name, _broken(error))
            raise
        answers.append((call, answer))
        yield _result(tool_call_id, name, answer)

    def _unique(self, tool_call_id: str) -> str:
        """Some local servers count their calls anew in each answer."""
        told = tool_call_id if tool_call_id not in self._ids else f"call_{uuid4().hex}"
        self._ids.add(told)
        return told


def _result(tool_call_id: str, name: str, answer: ToolAnswer) -> ToolResultPart:
    return ToolResultPart(
        tool_call_id=tool_call_id, tool_name=name, result=answer.text, is_error=answer.is_error
    )


def _broken(error: Exception) -> ToolAnswer:
    return ToolAnswer(text=f"The tool failed: {type(error).__name__}", is_error=True)
