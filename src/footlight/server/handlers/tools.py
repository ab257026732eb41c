"""`tools/list` and `tools/call`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import MCPError

from footlight.caller import caller_of
from footlight.server.dispatch import UnknownTool
from footlight.server.envelope import SuccessEnvelope

if TYPE_CHECKING:
    from footlight.server.dispatch import Dispatcher
    from footlight.server.handlers.paging import Context
    from footlight.server.tool import Tool
    from footlight.server.toolset import Envelope

__all__ = ["ToolHandlers", "listed_tool"]

LOCATOR = "footlight/locator"
"""The key in `_meta` of a result: what leads to the element again that a ref named. No model reads it."""


class ToolHandlers:
    """Unknown tools are protocol errors, failures are answers."""

    def __init__(self, dispatcher: Dispatcher, envelope: Envelope) -> None:
        self._dispatcher = dispatcher
        self._envelope = envelope

    @cached_property
    def _listed(self) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[listed_tool(tool, self._envelope) for tool in self._dispatcher.tools]
        )

    async def list(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return self._listed

    async def call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answer = await self._dispatcher.call(
                params.name,
                params.arguments or {},
                caller=caller_of(context.request),
                report=context.session.report_progress if _asks_for_progress(context) else None,
            )
        except UnknownTool as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        result = self._envelope.result(self._dispatcher.get(params.name), answer)
        if answer.locator is not None:
            result.meta = {**(result.meta or {}), LOCATOR: answer.locator}
        return result


def _asks_for_progress(context: Context) -> bool:
    return context.meta is not None and "progress_token" in context.meta


def listed_tool(tool: Tool, envelope: Envelope | None = None) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=(envelope or SuccessEnvelope()).schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            # Where they say what the protocol takes for granted, these two are left out: the list is long.
            idempotent_hint=True if tool.idempotent and not tool.read_only else None,
            open_world_hint=None if tool.open_world else False,
        ),
    )
