"""What was said to a model and by it, as it is sent: the prompt, then answers and results in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from footlight.ux.findings import Picture
from footlight.ux.model.ai_tool import ToolAnswer

if TYPE_CHECKING:
    from pydantic_ai.messages import (
        BinaryContent,
        ModelMessage,
        ModelRequestPart,
        ModelResponse,
        ToolCallPart,
    )

__all__ = ["History"]

_LEFT_OUT = "(This answer is old, and is left out here. Call the tool again if it is needed.)"


class History:
    """Of one stage. Of the tools' answers, old ones are sent as a line.

    Old is what came before the last two answers that show a page anew. Answers to the calls just made never
    are, as nobody has seen them yet.
    """

    def __init__(self, *, instructions: str, prompt: str, pictures: Sequence[Picture]) -> None:
        from pydantic_ai.messages import UserPromptPart

        self._instructions = instructions
        self._answers: list[ToolAnswer] = []
        self._seen = 0
        self._messages: list[ModelMessage] = []
        self._say([UserPromptPart([prompt, *map(_image, pictures)] if pictures else prompt)])

    def add(self, response: ModelResponse, answers: Sequence[tuple[ToolCallPart, ToolAnswer]]) -> None:
        """What the model said, and the answer to each of its calls."""
        self._messages.append(response)
        self._seen = len(self._answers)
        self._answers += [answer for _, answer in answers]
        if answers:
            self._say([_result(call, answer) for call, answer in answers])

    def to_send(self) -> Sequence[ModelMessage]:
        old = self._old()
        return _thinned(self._messages, old) if old else self._messages

    def _old(self) -> int:
        """How many of the first answers are."""
        pages = [index for index, answer in enumerate(self._answers) if answer.replaces]
        return min(pages[-2], self._seen) if len(pages) > 1 else 0

    def _say(self, parts: Sequence[ModelRequestPart]) -> None:
        from pydantic_ai.messages import ModelRequest

        self._messages.append(ModelRequest(parts, instructions=self._instructions))


def _result(call: ToolCallPart, answer: ToolAnswer) -> ModelRequestPart:
    from pydantic_ai.messages import ToolReturnPart

    content: Any = [answer.text, _image(answer.picture)] if answer.picture else answer.text
    outcome = "failed" if answer.is_error else "success"
    return ToolReturnPart(call.tool_name, content, call.tool_call_id, outcome=outcome)


def _image(picture: Picture) -> BinaryContent:
    from pydantic_ai.messages import BinaryContent

    return BinaryContent(picture.data, media_type=f"image/{picture.type}")


def _thinned(messages: Sequence[ModelMessage], old: int) -> list[ModelMessage]:
    """The same, with a line in place of each of the first so many results."""
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
