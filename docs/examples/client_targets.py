"""One client class, and servers that are reached in four ways.

Run it: `python docs/examples/client_targets.py`.
"""

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp.server import MCPServer

from footlight import MCPClient, Stdio, StreamableHTTP, WebSocket

SERVE = ("-m", "footlight", "serve", "--log-level", "error")


async def main() -> None:
    token = secrets.token_urlsafe(32)
    async with serve("http", token) as http, serve("websocket", token) as websocket:
        for client in over_a_network(http, websocket, token):
            await show(client)
    await show(MCPClient(Stdio(sys.executable, SERVE, env={**os.environ, "TZ": "UTC"}, cwd="/")))
    await in_memory()


def over_a_network(http: str, websocket: str, token: str) -> list[MCPClient]:
    headers = {"Authorization": f"Bearer {token}"}
    return [
        MCPClient(http, headers=headers),
        MCPClient(StreamableHTTP(http, headers=headers, max_body_size=16 << 20)),
        MCPClient(websocket, headers=headers),
        MCPClient(WebSocket(websocket, token=token)),
    ]


async def show(client: MCPClient) -> None:
    async with client:
        print(type(client.transport).__name__, "reaches", client.get_server_info()["name"])


async def in_memory() -> None:
    server = MCPServer("props")

    @server.tool()
    def find(prop: str) -> str:
        """Say where a prop is."""
        return f"{prop}: shelf 3"

    async with MCPClient(server) as client:
        print((await client.call("find", {"prop": "Skull"})).text)


@asynccontextmanager
async def serve(transport: str, token: str) -> AsyncGenerator[str]:
    """The URL that the server says on its first line."""
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, *SERVE, "--transport", transport, "--port", "0"),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "FOOTLIGHT_TOKEN": token},
    )
    assert server.stdout is not None
    try:
        yield (await server.stdout.readline()).decode().split()[-1]
    finally:
        server.terminate()
        await server.wait()


if __name__ == "__main__":
    asyncio.run(main())
