"""Serve over WebSocket, and call the server with the SDK's client.

Run it: `python docs/examples/over_websocket.py`.

The calls of one WebSocket belong together, so they share a session `default` and need not name it.
"""

import asyncio
import os
import secrets
import sys
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mcp import Client

from footlight.transports.websocket_client import connect_websocket

PAGE = b"""<!doctype html><title>Prompt desk</title><h1>Stand by, LX 12</h1>"""


async def main() -> None:
    token = secrets.token_urlsafe(32)
    with serve_page() as url:
        async with (
            serve_footlight(token) as server,
            Client(connect_websocket(server, token=token)) as client,
        ):
            await call(client, "navigate", url=url)
            print((await call(client, "get_text", selector="h1"))["text"])
            print(len((await call(client, "list_sessions"))["sessions"]), "session")


@asynccontextmanager
async def serve_footlight(token: str) -> AsyncGenerator[str]:
    """The URL that the server says on its first line."""
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "footlight", "serve"),
        *("--transport", "websocket", "--port", "0", "--log-level", "error"),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "FOOTLIGHT_TOKEN": token},
    )
    assert server.stdout is not None
    try:
        yield (await server.stdout.readline()).decode().split()[-1]
    finally:
        server.terminate()
        await server.wait()


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of the answer."""
    answer = (await client.call_tool(tool, arguments)).structured_content
    if answer is None or not answer["success"]:
        raise RuntimeError(f"{tool}: {answer and answer['error']['message']}")
    return answer["data"]


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE)


@contextmanager
def serve_page() -> Generator[str]:
    site = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}/"
    site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
