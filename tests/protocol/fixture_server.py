"""A server of fixtures for the public conformance suite and our own protocol tests.

    python -m tests.protocol.fixture_server [--port PORT]

With a port (0: a free one) it serves HTTP and prints its address, else standard input and output.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server import NotificationOptions, Server
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.message import SessionMessage

from footlight.config import ListenSettings
from footlight.transports.messages import message_of, to_json
from footlight.transports.network.access import AccessControl
from footlight.transports.network.http_server import serve_http
from footlight.transports.network.websocket_server import Read, Write, serve_websocket
from footlight.transports.stdio import Read as StdioRead
from footlight.transports.stdio import Write as StdioWrite
from footlight.transports.stdio import serve_stdio
from tests.protocol import fixtures_asking, fixtures_content, fixtures_events, fixtures_rounds
from tests.protocol.fixtures import Call, Context, Outcome, Stage
from tests.protocol.fixtures_prompts import PROMPTS, WORDS, Messages
from tests.protocol.fixtures_resources import RESOURCES, TEMPLATE, read

TOOLS = {
    each.tool.name: each
    for each in (
        *fixtures_content.TOOLS,
        *fixtures_events.TOOLS,
        *fixtures_asking.TOOLS,
        *fixtures_rounds.TOOLS,
    )
}
PROMPTS_BY_NAME = {each.prompt.name: each for each in PROMPTS}

HOST = "127.0.0.1"

CHANGES = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)

LISTED = CacheHint(ttl_ms=60_000, scope="public")
CACHE_HINTS: dict[CacheableMethod, CacheHint] = {
    "tools/list": LISTED,
    "prompts/list": LISTED,
    "resources/list": LISTED,
    "resources/templates/list": LISTED,
}


def make_fixture_server() -> Server[Any]:
    stage = Stage()

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> Outcome:
        if params.name not in TOOLS:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        return await TOOLS[params.name].run(Call(context, params, stage))

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> Messages:
        if params.name not in PROMPTS_BY_NAME:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
        return await PROMPTS_BY_NAME[params.name].run(Call(context, params, stage))

    server = Server(
        "fixtures",
        version="1.0.0",
        on_list_tools=_list_tools,
        on_call_tool=call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
        on_subscribe_resource=_accept,
        on_unsubscribe_resource=_accept,
        on_subscriptions_listen=ListenHandler(stage.events),
        on_list_prompts=_list_prompts,
        on_get_prompt=get_prompt,
        on_completion=_complete,
        cache_hints=CACHE_HINTS,
        get_tool_input_schema=lambda name: TOOLS[name].tool.input_schema if name in TOOLS else None,
    )
    # As an argument it warns that it is deprecated, which clients of 2025-11-25 do not care about.
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _accept)
    server.middleware.append(
        RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name)
    )
    return server


async def _list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[each.tool for each in TOOLS.values()])


async def _list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[each.prompt for each in PROMPTS])


async def _list_resources(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=list(RESOURCES))


async def _list_templates(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=[TEMPLATE])


async def _read_resource(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[read(params.uri)])


async def _complete(_: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    words = [word for word in WORDS if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=words, total=len(words), has_more=False))


async def _accept(_: Context, __: object) -> types.EmptyResult:
    return types.EmptyResult()


@asynccontextmanager
async def serve_over_http(server: Server[Any], *, port: int = 0) -> AsyncGenerator[str]:
    """Serve on this port of loopback, 0 for a free one; the address."""
    listener = socket.create_server((HOST, port))
    access_control = AccessControl(bound=HOST)
    async with serve_http(
        server, listener, settings=ListenSettings(), access_control=access_control, ready=_wait_until_ready
    ) as url:
        yield f"{url}/mcp"


@asynccontextmanager
async def serve_over_websocket(server: Server[Any]) -> AsyncGenerator[str]:
    """Serve on a free port of loopback; the address."""

    async def serve_connection(read: Read, write: Write) -> None:
        await server.run(read, write, server.create_initialization_options(CHANGES))

    async with serve_websocket(
        socket.create_server((HOST, 0)),
        settings=ListenSettings(),
        access_control=AccessControl(bound=HOST),
        serve_connection=serve_connection,
        ready=_wait_until_ready,
    ) as url:
        yield url


async def _wait_until_ready() -> None:
    """There is no browser to wait for."""


async def _serve_http(port: int) -> None:
    async with serve_over_http(make_fixture_server(), port=port) as url:
        print(f"Fixtures listening on {url}", flush=True)  # noqa: T201
        await asyncio.Event().wait()


async def _serve_stdio() -> None:
    """Connect the SDK's server, which fixtures are written for, with our transport."""
    server = make_fixture_server()
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    from_server, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

    async def receive(read: StdioRead) -> None:
        async with to_server:
            async for message in read:
                await to_server.send(message_of(message))

    async def send(write: StdioWrite) -> None:
        async for item in outgoing:
            await write(json.loads(to_json(item.message)))

    async with serve_stdio() as (read, write), anyio.create_task_group() as tasks:
        tasks.start_soon(receive, read)
        tasks.start_soon(send, write)
        await server.run(incoming, from_server, server.create_initialization_options(CHANGES))


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the fixtures.")
    parser.add_argument("--port", type=int, help="serve HTTP on this port, 0 for a free one")
    port: int | None = parser.parse_args().port
    asyncio.run(_serve_stdio() if port is None else _serve_http(port))


if __name__ == "__main__":
    main()
