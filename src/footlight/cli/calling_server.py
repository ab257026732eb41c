"""`footlight call --server` and `tools --server`: any MCP server, started or reached for one call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from footlight.cli.arguments import BadUsage, Typed, find_tool, tool_arguments
from footlight.cli.calling import ServerError, form, output, read_text
from footlight.cli.printing import OK, print_result, print_tool
from footlight.client.errors import MCPError
from footlight.client.mcp_client import MCPClient
from footlight.daemon.errors import NoDaemon
from footlight.daemon.state import Tools

__all__ = ["call_server", "list_server_tools"]

CALL_MS = 600_000
"""A tool has a deadline of its own, or may need as long as it needs."""

Value = TypeVar("Value")


def call_server(server: str, typed: Typed, *, headers: Sequence[str | None]) -> int:
    """The exit status of the call that was typed."""

    async def call(client: MCPClient) -> int:
        tools = [dict(tool.raw) for tool in await client.list_tools()]
        tool = find_tool(str(typed.tool), tools)
        if typed.help:
            print_tool(tool)
            return OK
        name, arguments = tool["name"], tool_arguments(typed, tool, read=read_text)
        shown = form(typed, tool), output(typed, tool)
        result = await client.call(name, arguments, timeout_ms=CALL_MS)
        return print_result(name, result.raw, form=shown[0], output=shown[1])

    return _with(server, headers, call)


def list_server_tools(server: str, *, headers: Sequence[str]) -> Tools:
    """As the server lists them."""

    async def listed(client: MCPClient) -> Tools:
        return [dict(tool.raw) for tool in await client.list_tools()]

    return _with(server, headers, listed)


def _with(server: str, headers: Sequence[str | None], use: Callable[[MCPClient], Awaitable[Value]]) -> Value:
    """Raises ServerError where the server refuses, and NoDaemon where there is none."""

    async def run() -> Value:
        async with MCPClient(server, headers=_headers(headers)) as client:
            return await use(client)

    try:
        return asyncio.run(run())
    except MCPError as error:
        if error.reason == "invalid":
            raise BadUsage(error.message) from None
        if error.reason in ("peer", "tool", "unknown_tool"):
            raise ServerError(error.message, error.rpc_code) from None
        raise NoDaemon(error.message) from None


def _headers(given: Sequence[str | None]) -> dict[str, str] | None:
    """Raises BadUsage."""
    headers: dict[str, str] = {}
    for header in given:
        name, colon, value = (header or "").partition(":")
        if not colon or not name.strip():
            raise BadUsage("--header is NAME:VALUE")
        headers[name.strip()] = value.strip()
    return headers or None
