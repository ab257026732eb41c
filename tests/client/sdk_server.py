"""A server on the Python SDK alone: its transports, with and without a handshake, and paged lists.

    python -m tests.client.sdk_server [--port PORT]

With a port (0: a free one) it serves HTTP and prints its address, else standard input and output.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
from typing import Any

import mcp_types as types
import uvicorn
from mcp import MCPError
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.caching import CacheHint
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
    ToolsListChanged,
)

NAME = "sdk-server"
NEWS = "news://today"
PAGE = 2
"""The number of tools on a page of the list."""

Context = ServerRequestContext[Any]
Result = types.CallToolResult | types.InputRequiredResult

BUS = InMemorySubscriptionBus()
CHANGES = NotificationOptions(tools_changed=True, resources_changed=True)


def _tool(name: str, description: str, **properties: str) -> types.Tool:
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
    }
    return types.Tool(name=name, description=description, input_schema=schema)


TOOLS = (
    _tool("add", "Add two whole numbers", a="integer", b="integer"),
    _tool("count", "Count to a number, and report each step", to="integer"),
    _tool("wait", "Wait until it is cancelled"),
    _tool("touch", "Tell that the tools and the news have changed"),
    _tool("greet", "Ask the user for a name, and greet"),
)
FORM = types.ElicitRequestFormParams(
    message="Who are you?",
    requested_schema={"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
)


async def list_tools(_: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    start = int(params.cursor) if params and params.cursor else 0
    end = start + PAGE
    return types.ListToolsResult(
        tools=list(TOOLS[start:end]), next_cursor=str(end) if end < len(TOOLS) else None
    )


async def call_tool(context: Context, params: types.CallToolRequestParams) -> Result:
    arguments = params.arguments or {}
    if params.name == "add":
        return _answer_text(str(_integer(arguments, "a") + _integer(arguments, "b")))
    if params.name == "count":
        return await _count(context, _integer(arguments, "to"))
    if params.name == "wait":
        await asyncio.Event().wait()
    if params.name == "touch":
        return await _touch(context)
    if params.name == "greet":
        return await _greet(context, params)
    raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")


async def _count(context: Context, to: int) -> types.CallToolResult:
    for step in range(1, to + 1):
        await context.session.report_progress(step, to, f"at {step}")
    return _answer_text("done")


async def _touch(context: Context) -> types.CallToolResult:
    """Notify of the change in both ways: to listeners, and to clients with a session."""
    await BUS.publish(ToolsListChanged())
    await BUS.publish(ResourceUpdated(uri=NEWS))
    if context.protocol_version < "2026":
        await context.session.send_tool_list_changed()
        await context.session.send_resource_updated(NEWS)
    return _answer_text("told")


async def _greet(context: Context, params: types.CallToolRequestParams) -> Result:
    if context.protocol_version < "2026":
        answer = await context.session.elicit_form(FORM.message, FORM.requested_schema, context.request_id)
    elif params.input_responses is None:
        return types.InputRequiredResult(input_requests={"who": types.ElicitRequest(params=FORM)})
    else:
        answer = params.input_responses["who"]
    assert isinstance(answer, types.ElicitResult)
    return _answer_text(f"Hello, {(answer.content or {}).get('name')}!")


def _integer(arguments: dict[str, Any], name: str) -> int:
    if not isinstance(arguments.get(name), int):
        raise MCPError(types.INVALID_PARAMS, f"{name} must be a whole number")
    return arguments[name]


def _answer_text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def list_resources(_: Context, __: object) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource(uri=NEWS, name="news")])


async def list_templates(_: Context, __: object) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="news://{day}", name="news of a day")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    if params.uri != NEWS:
        raise MCPError(types.INVALID_PARAMS, f"Unknown resource: {params.uri}")
    contents = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text="Nothing new.")
    return types.ReadResourceResult(contents=[contents])


async def accept(_: Context, __: object) -> types.EmptyResult:
    return types.EmptyResult()


async def list_prompts(_: Context, __: object) -> types.ListPromptsResult:
    argument = types.PromptArgument(name="topic", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="explain", arguments=[argument])])


async def get_prompt(_: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    text = types.TextContent(type="text", text=f"Explain {(params.arguments or {})['topic']}.")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])


async def complete(_: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [topic for topic in ("stars", "stones") if topic.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values)))


def make_server() -> Server[Any]:
    return Server(
        NAME,
        version="1.0.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=accept,
        on_unsubscribe_resource=accept,
        on_subscriptions_listen=ListenHandler(BUS),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        cache_hints={"tools/list": CacheHint(ttl_ms=60_000, scope="public")},
    )


async def serve_over_stdio() -> None:
    server = make_server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options(CHANGES))


async def serve_over_http(port: int) -> None:
    listener = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(
        make_server().streamable_http_app(), log_level="critical", timeout_graceful_shutdown=1
    )
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)  # noqa: T201
    await uvicorn.Server(config).serve([listener])


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a few tools.")
    parser.add_argument("--port", type=int, help="serve HTTP on this port, 0 for a free one")
    port: int | None = parser.parse_args().port
    asyncio.run(serve_over_stdio() if port is None else serve_over_http(port))


if __name__ == "__main__":
    main()
