"""The dispatcher onto the SDK's low-level `Server`: the tool list and the calls, in both protocol eras."""

from __future__ import annotations

import base64
import functools
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.caching import CacheHint

from footlight.caller import caller_of
from footlight.server.dispatch import UnknownTool

if TYPE_CHECKING:
    from footlight.config import Settings
    from footlight.server.answer import Answer
    from footlight.server.dispatch import Dispatcher
    from footlight.server.subscriptions import Subscriptions
    from footlight.server.tool import Tool

__all__ = ["make_server"]

Context = ServerRequestContext[Any]

LIST_TTL_MS = 60_000


def make_server(
    dispatcher: Dispatcher, settings: Settings, *, instructions: str, subscriptions: Subscriptions
) -> Server[Any]:
    """A server whose tools are the dispatcher's. Unknown tools are protocol errors, failures are answers."""

    @functools.cache
    def listed() -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in dispatcher.tools])

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return listed()

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answer = await dispatcher.call(
                params.name, params.arguments or {}, caller=caller_of(context.request)
            )
        except UnknownTool:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}") from None
        return _result(answer)

    return Server(
        settings.name,
        version=settings.version,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=subscriptions.listen,
        cache_hints={"tools/list": CacheHint(ttl_ms=LIST_TTL_MS, scope="public")},
    )


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
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text), *images],
        structured_content=dict(answer.content),
        is_error=not answer.success,
    )
