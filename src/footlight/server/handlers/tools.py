"""`tools/list` and `tools/call`."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import MCPError

from footlight.caller import caller_of
from footlight.server.dispatch import UnknownTool
from footlight.server.untrusted import META, marked, parts_from_page

if TYPE_CHECKING:
    from footlight.server.answer import Answer
    from footlight.server.dispatch import Dispatcher
    from footlight.server.handlers.paging import Context
    from footlight.server.tool import Tool

__all__ = ["ToolHandlers", "listed_tool"]


class ToolHandlers:
    """Unknown tools are protocol errors, failures are answers."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    @cached_property
    def _listed(self) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[listed_tool(tool) for tool in self._dispatcher.tools])

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
        return _result(answer, from_page=parts_from_page(self._dispatcher.get(params.name), answer))


def _asks_for_progress(context: Context) -> bool:
    return context.meta is not None and "progress_token" in context.meta


def listed_tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            # Where they say what the protocol takes for granted, these two are left out: the list is long.
            idempotent_hint=True if tool.idempotent and not tool.read_only else None,
            open_world_hint=None if tool.open_world else False,
        ),
    )


def _result(answer: Answer, *, from_page: Sequence[str]) -> types.CallToolResult:
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
    pages = [
        types.TextContent(type="text", text=marked(text, source=answer.source or "page"))
        for text in answer.page_texts
        if text
    ]
    meta = {META: from_page} if from_page else None
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text, _meta=meta), *pages, *images, *links],
        structured_content=dict(answer.content),
        is_error=not answer.success,
    )
