"""A client before, during and after a connection; and a server that dies.

Run it: `python docs/examples/client_states.py`.
"""

import asyncio
import os
import sys

from mcp.server import MCPServer

from footlight import MCPClient, MCPConnectionError

server = MCPServer("stage", log_level="ERROR")


@server.tool()
def trapdoor() -> None:
    os._exit(7)


async def main() -> None:
    client = MCPClient([sys.executable, __file__, "serve"])
    print(client.state)
    await client.ping()
    print(client.state)

    try:
        await client.call("trapdoor")
    except MCPConnectionError as error:
        print(f"{client.state}: {error}")

    await client.reconnect()
    print(client.state)
    await client.close()
    print(client.state)


if __name__ == "__main__":
    server.run() if "serve" in sys.argv else asyncio.run(main())
