"""The bridge: a tool of an MCP server becomes one that a model may call (document 004, entity 10)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from footlight.client.errors import MCPError
from footlight.errors import ConfigurationError
from footlight.ux.model.ai_tool import AITool, ToolAnswer

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient
    from footlight.client.results import ToolResult

__all__ = ["AIToolDefinition", "Call", "ToolInput", "ai_tool_from_mcp"]

Call = Callable[[str, Mapping[str, Any]], Awaitable[ToolAnswer]]
"""Calls a tool of the server, and tells what came of it. Raises MCPError where it failed."""

_MCP_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_AI_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")


def _without_titles(schema: dict[str, Any]) -> None:
    """They repeat the names, in every request."""
    for told in (schema, *schema.get("properties", {}).values()):
        told.pop("title", None)


class ToolInput(BaseModel):
    """What a model gives a tool: nothing besides, and its schema in few characters."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_without_titles)


def _as_given(given: BaseModel) -> Mapping[str, Any]:
    return given.model_dump(mode="json", by_alias=True, exclude_none=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AIToolDefinition:
    """Which tool of the server a model sees under which name. The model's arguments are validated by
    `input_schema`; `arguments` makes the server's of them, where those have other names.

    Raises:
        ConfigurationError: a name cannot be one, the description is empty, or the schema is no model.
    """

    mcp_tool_name: str
    ai_tool_name: str
    description: str
    input_schema: type[BaseModel]
    arguments: Callable[[Any], Mapping[str, Any]] = _as_given

    def __post_init__(self) -> None:
        if not _MCP_NAME.fullmatch(self.mcp_tool_name):
            raise ConfigurationError(f"mcp_tool_name is no name of a tool: {self.mcp_tool_name!r}")
        if not _AI_NAME.fullmatch(self.ai_tool_name):
            raise ConfigurationError(
                f"ai_tool_name must be in camel case, as navigateToPage is: {self.ai_tool_name!r}"
            )
        if not self.description.strip():
            raise ConfigurationError(f"{self.ai_tool_name}: description must say what the tool is for")
        if not (isinstance(self.input_schema, type) and issubclass(self.input_schema, BaseModel)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError(f"{self.ai_tool_name}: input_schema must be a pydantic model")


def ai_tool_from_mcp(definition: AIToolDefinition, client: MCPClient, *, call: Call | None = None) -> AITool:
    """A tool that calls the server's. What fails is told to the model, whose work goes on (R004-49).

    `call` does it otherwise than by `client` alone: in a session, or with more to tell than the text.
    """

    async def call_client(tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        return ToolAnswer(text=_said(await client.call_tool(tool, arguments)))

    async def run(given: BaseModel) -> ToolAnswer:
        try:
            return await (call or call_client)(definition.mcp_tool_name, definition.arguments(given))
        except MCPError as error:
            return ToolAnswer(text=error.message, is_error=True)

    return AITool(
        name=definition.ai_tool_name,
        description=definition.description,
        parameters=definition.input_schema,
        run=run,
    )


def _said(result: ToolResult) -> str:
    return result.text or "(done; it said nothing)"
