"""Serve over HTTP with a token, and call the server with the SDK's client.

Run it: `python docs/examples/over_http.py`.

The server takes a free port and says which. Requests of the protocol's current revision stand alone, so each
call names its session.
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

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

PAGE = b"""<!doctype html><title>Props</title>
<ul><li>Skull</li><li>Letter</li><li>Lantern</li></ul>"""


async def main() -> None:
    token = secrets.token_urlsafe(32)
    with serve_page() as url:
        async with serve_footlight(token) as server, connect(server, token) as client:
            session = (await call(client, "create_session"))["sessionId"]
            await call(client, "navigate", sessionId=session, url=url)
            found = await call(client, "get_all_text", sessionId=session, selector="li")
            await call(client, "close_session", sessionId=session)
    print(found["texts"])


@asynccontextmanager
async def connect(url: str, token: str) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


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
