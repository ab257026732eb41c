"""Call or list the tools of any MCP server. The connection is used for one command only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from footlight.cli.call.arguments import (
    RawArguments,
    choose_format,
    choose_output,
    find_tool,
    read_text,
    tool_arguments,
)
from footlight.cli.interruption import run_until_signal
from footlight.cli.output import print_result, print_tool
from footlight.cli.usage import OK, InvalidUsageError, RequestRefusedError, read_headers
from footlight.client.mcp_client import MCPClient
from footlight.daemon.errors import DaemonNotRunningError
from footlight.daemon.state import Tools
from footlight.protocol.errors import MCPError

__all__ = ["call_server", "list_server_tools"]

CALL_TIMEOUT_MS = 600_000
"""The time limit of a call. It is long, because most tools have a deadline and the others may take long."""

Value = TypeVar("Value")


def call_server(server: str, typed: RawArguments, *, headers: Sequence[str | None]) -> int:
    """Make the call from the command line, and return the exit status."""

    async def call(client: MCPClient) -> int:
        tools = [dict(tool.raw) for tool in await client.list_tools()]
        tool = find_tool(str(typed.tool), tools)
        if typed.help:
            print_tool(tool)
            return OK
        form, output = choose_format(typed, tool), choose_output(typed, tool)
        name, arguments = tool["name"], tool_arguments(typed, tool, read=read_text)
        result = await client.call(name, arguments, timeout_ms=CALL_TIMEOUT_MS)
        return print_result(name, result.raw, form=form, output=output)

    return _run_with_client(server, headers, call)


def list_server_tools(server: str, *, headers: Sequence[str]) -> Tools:
    """Return the server's unchanged list of tools."""

    async def list_tools(client: MCPClient) -> Tools:
        return [dict(tool.raw) for tool in await client.list_tools()]

    return _run_with_client(server, headers, list_tools)


def _run_with_client(
    server: str, headers: Sequence[str | None], use: Callable[[MCPClient], Awaitable[Value]]
) -> Value:
    """Connect to the server, and run `use` with the client.

    Raises:
        InvalidUsageError: the server or a header is not a valid value.
        RequestRefusedError: the server answered with an error.
        DaemonNotRunningError: the server cannot be reached.
    """

    async def run() -> Value:
        async with MCPClient(server, headers=read_headers(headers)) as client:
            return await use(client)

    try:
        return run_until_signal(run())
    except MCPError as error:
        if error.reason == "invalid":
            raise InvalidUsageError(error.message) from None
        if error.reason in ("peer", "tool", "unknown_tool"):
            raise RequestRefusedError(error.message, error.rpc_code) from None
        raise DaemonNotRunningError(error.message) from None
