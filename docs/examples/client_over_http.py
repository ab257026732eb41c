"""What there is over HTTP alone, and in which revision of the protocol.

Run it: `python docs/examples/client_over_http.py`.
"""

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from footlight import MCPClient


async def main() -> None:
    token = secrets.token_urlsafe(32)
    async with serve_footlight(token) as server:
        await in_a_session(server, token)
        await in_each_protocol(server, token)


async def in_a_session(url: str, token: str) -> None:
    async with MCPClient(url, headers={"Authorization": f"Bearer {token}"}) as client:
        first = client.get_session_id()
        print("a session:", first is not None)
        print("a stream:", await client.open_stream(print))
        print("ended:", await client.terminate_session(), client.get_session_id())

        await client.ping()
        print("another:", client.get_session_id() not in (None, first))


async def in_each_protocol(url: str, token: str) -> None:
    for wanted in (None, "2025-11-25", "2026-07-28", "auto"):
        async with MCPClient(
            url, headers={"Authorization": f"Bearer {token}"}, protocol_version=wanted
        ) as client:
            session = "no session" if client.get_session_id() is None else "a session"
            print(f"{wanted}: {client.get_protocol_version()}, {session}")


@asynccontextmanager
async def serve_footlight(token: str) -> AsyncGenerator[str]:
    """The URL that the server says on its first line."""
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "footlight", "serve"),
        *("--transport", "http", "--port", "0", "--log-level", "error"),
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
