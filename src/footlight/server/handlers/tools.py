"""`tools/list` and `tools/call`."""

from __future__ import annotations

import base64
from functools import cached_property
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import MCPError

from footlight.caller import caller_of
from footlight.server.dispatch import UnknownTool

if TYPE_CHECKING:
    from footlight.server.answer import Answer
    from footlight.server.dispatch import Dispatcher
    from footlight.server.handlers.paging import Context
    from footlight.server.tool import Tool

__all__ = ["ToolHandlers"]


class ToolHandlers:
    """Unknown tools are protocol errors, failures are answers."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    @cached_property
    def _listed(self) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in self._dispatcher.tools])

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
        except UnknownTool:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}") from None
        return _result(answer)


def _asks_for_progress(context: Context) -> bool:
    return context.meta is not None and "progress_token" in context.meta


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


def _result(answer: Answer) -> types.CallToolResult:
    images = [
        types.ImageContent(
            type="image", data=base64.b64encode(image.data).decode("ascii"), mime_type=image.mime_type
        )
        for image in answer.images
    ]
    links = [
        types.ResourceLink(
            type="resource_link", uri=link.uri, name=link.name, mime_type=link.mime_type, size=link.bytes
        )
        for link in answer.links
    ]
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text), *images, *links],
        structured_content=dict(answer.content),
        is_error=not answer.success,
    )
