"""A model that plays a script: deterministic, and given the real answers of the tools."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from footlight.audit.model.provider import ChatModel

__all__ = ["Call", "Script", "ScriptedModel", "call", "ref", "refs"]


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]


def call(tool: str, **arguments: Any) -> Call:
    return Call(tool, arguments)


Script = Callable[[str], Generator[Sequence[Call | str], list[str], None]]
"""Receives the prompt. Yields each turn of the model, and receives the answers to its tool calls."""


@dataclass
class ScriptedModel:
    """Each stage is played by the first script whose words are in its prompt.

    `requests` are the messages that were sent, as JSON; `offered` the tools with each.
    """

    scripts: Mapping[str, Script]
    restarts_ids: bool = False
    """The ids of calls start again in each answer, as with some providers."""
    requests: list[str] = field(default_factory=list[str])
    offered: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    _playing: Any = None

    @property
    def model(self) -> ChatModel:
        function = FunctionModel(stream_function=self._answer, model_name="scripted")
        return ChatModel(provider="function", name="scripted", model=function)

    async def _answer(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        self.requests.append(ModelMessagesTypeAdapter.dump_json(messages).decode())
        self.offered.append(tuple(tool.name for tool in info.function_tools))
        for index, said in enumerate(self._turn(messages)):
            if isinstance(said, Call):
                number = f"call-{0 if self.restarts_ids else len(self.requests)}-{index}"
                written = json.dumps(dict(said.arguments))
                yield {index: DeltaToolCall(said.tool, written, tool_call_id=number)}
            else:
                for piece in re.findall(r"\S+\s*|\s+", said):
                    yield piece

    def _turn(self, messages: list[ModelMessage]) -> Sequence[Call | str]:
        try:
            if len(messages) == 1:
                self._playing = self._begin(_prompt(messages[0]))
                return next(self._playing)
            return self._playing.send(_results(messages[-1]))
        except StopIteration:
            return ["."]

    def _begin(self, prompt: str) -> Generator[Sequence[Call | str], list[str], None]:
        for words, script in self.scripts.items():
            if words in prompt:
                return script(prompt)
        raise AssertionError(f"no script for {prompt[:200]}")


def refs(page: str, role: str, name: str = "") -> list[str]:
    """Return the refs of such elements, as our server or `@playwright/mcp` writes them.

    In a row or list of ours, a control with a name may be written without its role.
    """
    named = f' "{re.escape(name)}"' if name else ""
    ours = re.findall(rf"(?:^\W*|\| |: |& )(e\d+) {role}{named}", page, re.MULTILINE)
    if not ours and named:
        ours = re.findall(rf"(?:\| |: |& )(e\d+){named}", page)
    return ours or re.findall(rf"- {role}{named}[^\n]*?\[ref=(\w+)\]", page)


def ref(page: str, role: str, name: str = "") -> str:
    found = refs(page, role, name)
    assert found, f"no {role} {name} in {page}"
    return found[0]


def _prompt(message: ModelMessage) -> str:
    (part,) = (part for part in message.parts if isinstance(part, UserPromptPart))
    return part.content if isinstance(part.content, str) else str(part.content[0])


def _results(message: ModelMessage) -> list[str]:
    return [str(part.content) for part in message.parts if isinstance(part, ToolReturnPart)]
