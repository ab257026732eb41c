"""A call that takes too long, and one that nobody waits for any more.

Run it: `python docs/examples/client_time_limits.py`.
"""

import asyncio

from mcp.server import MCPServer

from footlight import MCPClient, MCPError, is_timeout

server = MCPServer("stage", log_level="ERROR")
begun, stopped = asyncio.Event(), asyncio.Semaphore(0)


@server.tool()
async def monologue() -> str:
    begun.set()
    try:
        return await asyncio.Future()
    finally:
        stopped.release()


async def main() -> None:
    async with MCPClient(server, timeout_ms=10_000) as client:
        await in_time(client)
        await for_nobody(client)


async def in_time(client: MCPClient) -> None:
    try:
        await client.call("monologue", timeout_ms=200)
    except MCPError as error:
        print(f"{error}; is_timeout: {is_timeout(error)}")
    await stopped.acquire()
    print("the server stopped; the client is", client.state)


async def for_nobody(client: MCPClient) -> None:
    begun.clear()
    call = asyncio.create_task(client.call("monologue"))
    await begun.wait()
    call.cancel()
    await stopped.acquire()
    print("the server stopped; the client is", client.state)


if __name__ == "__main__":
    asyncio.run(main())
