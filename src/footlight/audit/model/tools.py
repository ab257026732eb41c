"""Tools that a model may call: our own, and those of an MCP server."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from footlight.audit.findings import EvidencePicture
from footlight.errors import ConfigurationError
from footlight.protocol.errors import MCPError

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient
    from footlight.protocol.results import ToolResult

__all__ = ["AITool", "AIToolDefinition", "ServerCall", "ToolAnswer", "ToolInput", "ai_tool_from_mcp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """The answer of a tool to the model. After an error the work continues.

    `replaces`: the answer shows a whole page. Only the last two such answers are sent again in full.
    """

    text: str
    is_error: bool = False
    picture: EvidencePicture | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AITool:
    """A tool for a model. `run` gets validated arguments and returns errors as answers; it must not raise.

    `ends`: the stage is done when the tool has succeeded.
    """

    name: str
    description: str
    parameters: type[BaseModel]
    run: Callable[[Any], Awaitable[ToolAnswer]]
    ends: bool = False


ServerCall = Callable[[str, Mapping[str, Any]], Awaitable[ToolAnswer]]
"""Calls a tool of the server and returns its answer. Raises MCPError if it fails."""

_MCP_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_AI_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")


def _remove_titles(schema: dict[str, Any]) -> None:
    """Remove titles, which only repeat the names in every request."""
    for part in (schema, *schema.get("properties", {}).values()):
        part.pop("title", None)


class ToolInput(BaseModel):
    """The base class of tool inputs: no additional properties, and a short schema."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_remove_titles)


def _dump_arguments(arguments: BaseModel) -> Mapping[str, Any]:
    return arguments.model_dump(mode="json", by_alias=True, exclude_none=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AIToolDefinition:
    """A tool of the server that a model may call under another name.

    `input_schema` validates the model's arguments, and `arguments` converts them to those of the server.

    Raises:
        ConfigurationError: a name is invalid, the description is empty, or the schema is not a model.
    """

    mcp_tool_name: str
    ai_tool_name: str
    description: str
    input_schema: type[BaseModel]
    arguments: Callable[[Any], Mapping[str, Any]] = _dump_arguments

    def __post_init__(self) -> None:
        if not _MCP_NAME.fullmatch(self.mcp_tool_name):
            raise ConfigurationError(f"mcp_tool_name is not a valid tool name: {self.mcp_tool_name!r}")
        if not _AI_NAME.fullmatch(self.ai_tool_name):
            raise ConfigurationError(
                f"ai_tool_name must be in camel case, such as navigateToPage: {self.ai_tool_name!r}"
            )
        if not self.description.strip():
            raise ConfigurationError(f"{self.ai_tool_name}: description must say what the tool is for")
        if not (isinstance(self.input_schema, type) and issubclass(self.input_schema, BaseModel)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError(f"{self.ai_tool_name}: input_schema must be a pydantic model")


def ai_tool_from_mcp(
    definition: AIToolDefinition, client: MCPClient, *, call: ServerCall | None = None
) -> AITool:
    """Return a tool that calls a tool of the server. Failures are reported to the model.

    `call` replaces the plain call through `client`: in a session, or with more than the text in its answer.
    """

    async def call_client(tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        return ToolAnswer(text=_result_text(await client.call_tool(tool, arguments)))

    async def run(values: BaseModel) -> ToolAnswer:
        try:
            return await (call or call_client)(definition.mcp_tool_name, definition.arguments(values))
        except MCPError as error:
            return ToolAnswer(text=error.message, is_error=True)

    return AITool(
        name=definition.ai_tool_name,
        description=definition.description,
        parameters=definition.input_schema,
        run=run,
    )


def _result_text(result: ToolResult) -> str:
    return result.text or "(done, no output)"
