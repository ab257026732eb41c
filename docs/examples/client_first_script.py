"""Drive a server from a script: what it offers, a call, a call that fails.

Run it: `python docs/examples/client_first_script.py`.
"""

import asyncio
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from footlight import MCPClient, ToolInvocationError

PAGE = b"""<!doctype html><title>Box office</title><h1>Tonight: The Tempest</h1><button>Book</button>"""
SERVER = [sys.executable, "-m", "footlight", "serve", "--log-level", "warn"]


async def main() -> None:
    with serve_page() as url:
        async with MCPClient(SERVER) as client:
            print("speaks:", client.get_protocol_version())
            print("pictures:", *[tool.name for tool in await client.search_tools("screenshot")])

            opened = await client.call_tool("navigate", {"url": url})
            print("page:", opened.structured_content["observation"]["text"], sep="\n")

            try:
                await client.call_tool("click", {"selector": "#order", "timeout": 1_000})
            except ToolInvocationError as error:
                print("failed:", error.reason, error.result.structured_content["error"]["code"])


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE)


@contextmanager
def serve_page() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}/"
        site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
