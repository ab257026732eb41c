"""Failures, told apart; and a call that is made again where that can help.

Run it: `python docs/examples/client_errors.py`.
"""

import asyncio
import sys
from collections.abc import Awaitable
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from footlight import MCPClient, MCPError, is_network_error, is_session_expired

server = MCPServer("stage", log_level="ERROR")


@server.tool()
async def prompt(line: int) -> str:
    if line > 3:
        raise ToolError(f"there is no line {line}")
    return await asyncio.Future() if line < 1 else "To be"


async def main() -> None:
    await told("no such command", MCPClient("footlite serve").connect())
    await told("no such server", MCPClient("http://127.0.0.1:9/mcp").connect())
    await told("another program", MCPClient([sys.executable, "-c", "print('hello')"]).connect())
    await told("not connected", MCPClient().call_tool("prompt"))

    async with MCPClient(server) as client:
        await told("no such tool", client.call_tool("whisper"))
        await told("a tool that fails", client.call_tool("prompt", {"line": 9}))
        await told("no answer in time", client.call_tool("prompt", {"line": 0}, timeout_ms=200))
        print("and still:", await ask(client, "prompt", {"line": 2}))


async def told(what: str, call: Awaitable[object]) -> None:
    try:
        await call
    except MCPError as error:
        print(f"{what}: {type(error).__name__}, {error.reason}")


async def ask(client: MCPClient, name: str, arguments: dict[str, Any]) -> str:
    """Of a tool that may be called twice."""
    try:
        return (await client.call_tool(name, arguments)).text
    except MCPError as error:
        if is_network_error(error):
            await client.reconnect()
        elif not is_session_expired(error):  # Then the next call begins another session.
            raise
    return (await client.call_tool(name, arguments)).text


if __name__ == "__main__":
    asyncio.run(main())
