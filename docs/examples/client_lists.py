"""What a server offers, in words; and when it is asked again.

Run it: `python docs/examples/client_lists.py`.
"""

import asyncio
from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import Field

from footlight import MCPClient
from footlight.client.describe import format_parameters, generate_example

server = MCPServer("props", log_level="ERROR")


@server.tool()
def find(
    prop: Annotated[str, Field(description="Its name")],
    store: Annotated[Literal["cellar", "loft"], Field(description="Where to look")] = "cellar",
) -> str:
    """Say where a prop is."""
    return f"{prop}: {store}, shelf 3"


@server.tool()
async def lend(context: Context) -> str:
    """Lend the whole cellar."""
    server.remove_tool("find")
    await context.session.send_tool_list_changed()
    return "lent"


async def main() -> None:
    async with MCPClient(server) as client:
        print([tool.name for tool in await client.list_tools()])

        find = await client.get_tool("find")
        assert find
        print(find.description)
        print(format_parameters(find))
        print(generate_example(find))

        await client.call("lend")
        print([tool.name for tool in await client.list_tools()])


if __name__ == "__main__":
    asyncio.run(main())
