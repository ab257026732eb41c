"""Parse, validate and run a model's tool calls. Problems are reported to the model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from footlight.audit.model.tools import AITool, ToolAnswer

__all__ = ["ParsedCall", "StageTools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCall:
    """A parsed call. `problem` is the text for the model if the call cannot be run."""

    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tool: AITool | None = None
    arguments: BaseModel | None = None
    problem: str = ""


class StageTools:
    """The tools of one stage. Once a tool has `ended` the stage, no other tool is run."""

    def __init__(self, tools: Sequence[AITool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.ended = False

    def parse(self, name: str, arguments: str | Mapping[str, Any] | None) -> ParsedCall:
        """Parse a call. `arguments` is JSON text or a mapping, depending on the provider."""
        if (tool := self._tools.get(name)) is None:
            known = ", ".join(self._tools) or "none"
            return ParsedCall(problem=f"There is no tool {name}. The tools are: {known}.")
        try:
            data: Any = json.loads(arguments) if isinstance(arguments, str) and arguments else arguments or {}
        except ValueError as error:
            return ParsedCall(
                problem=f"The arguments are not JSON ({error}): they may have been cut. Call again."
            )
        if not isinstance(data, dict):
            return ParsedCall(
                problem="The arguments must be a JSON object, with a name for each. Call again."
            )
        values = cast("dict[str, Any]", data)
        try:
            return ParsedCall(input=values, tool=tool, arguments=tool.parameters.model_validate(values))
        except ValidationError as error:
            return ParsedCall(
                input=values, problem=f"The arguments are wrong. {_violations(error)}. Call again."
            )

    async def run(self, call: ParsedCall) -> ToolAnswer:
        if call.tool is None or call.arguments is None:
            return ToolAnswer(text=call.problem, is_error=True)
        if self.ended:
            return ToolAnswer(text="Not done: the previous call ended the work.", is_error=True)
        answer = await call.tool.run(call.arguments)
        self.ended = call.tool.ends and not answer.is_error
        return answer


def _violations(error: ValidationError) -> str:
    """Return the violations with their fields: `url: Field required; steps.0: Input should be …`."""
    return "; ".join(
        f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}"
        for each in error.errors(include_url=False, include_context=False, include_input=False)
    )
