"""The conversation with a model: the prompt, then its answers and the results of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from footlight.audit.findings import EvidencePicture
from footlight.audit.model.tools import ToolAnswer

if TYPE_CHECKING:
    from pydantic_ai.messages import (
        BinaryContent,
        ModelMessage,
        ModelRequestPart,
        ModelResponse,
        ToolCallPart,
    )

__all__ = ["History"]

_LEFT_OUT = "(This old answer is omitted. Call the tool again if you need it.)"


class History:
    """The messages of one stage. Old answers of tools are replaced by a line.

    An answer is old if two later answers show a whole page. Answers that were not sent yet are never old.
    """

    def __init__(self, *, instructions: str, prompt: str, pictures: Sequence[EvidencePicture]) -> None:
        from pydantic_ai.messages import UserPromptPart

        self._instructions = instructions
        self._answers: list[ToolAnswer] = []
        self._seen = 0
        self._messages: list[ModelMessage] = []
        self._add_request([UserPromptPart([prompt, *map(_image, pictures)] if pictures else prompt)])

    def add(self, response: ModelResponse, answers: Sequence[tuple[ToolCallPart, ToolAnswer]]) -> None:
        """Add an answer of the model, and the result of each of its calls."""
        self._messages.append(response)
        self._seen = len(self._answers)
        self._answers += [answer for _, answer in answers]
        if answers:
            self._add_request([_result(call, answer) for call, answer in answers])

    def to_send(self) -> Sequence[ModelMessage]:
        old = self._count_old_answers()
        return _replace_old_results(self._messages, old) if old else self._messages

    def _count_old_answers(self) -> int:
        """Return how many answers are old."""
        pages = [index for index, answer in enumerate(self._answers) if answer.replaces]
        return min(pages[-2], self._seen) if len(pages) > 1 else 0

    def _add_request(self, parts: Sequence[ModelRequestPart]) -> None:
        from pydantic_ai.messages import ModelRequest

        self._messages.append(ModelRequest(parts, instructions=self._instructions))


def _result(call: ToolCallPart, answer: ToolAnswer) -> ModelRequestPart:
    from pydantic_ai.messages import ToolReturnPart

    content: Any = [answer.text, _image(answer.picture)] if answer.picture else answer.text
    outcome = "failed" if answer.is_error else "success"
    return ToolReturnPart(call.tool_name, content, call.tool_call_id, outcome=outcome)


def _image(picture: EvidencePicture) -> BinaryContent:
    from pydantic_ai.messages import BinaryContent

    return BinaryContent(picture.data, media_type=f"image/{picture.type}")


def _replace_old_results(messages: Sequence[ModelMessage], old: int) -> list[ModelMessage]:
    """Return the messages with the first `old` results replaced by a line."""
    from pydantic_ai.messages import ModelRequest, ToolReturnPart

    number = count()

    def thin(part: ModelRequestPart) -> ModelRequestPart:
        is_old = isinstance(part, ToolReturnPart) and next(number) < old
        return replace(part, content=_LEFT_OUT) if is_old else part

    return [
        replace(message, parts=[thin(part) for part in message.parts])
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]
