"""Read a table of a page into JSON.

Run it: `python docs/examples/scrape_table.py`.
"""

import asyncio
import json
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mcp import Client, StdioServerParameters

PAGE = b"""<!doctype html><title>Stock</title>
<table id="stock">
  <tr><th>Item</th><th>Size</th><th>Price</th></tr>
  <tr><td>Gaffer tape</td><td>50 mm</td><td>12.50</td></tr>
  <tr><td rowspan="2">Hook clamp</td><td>48 mm</td><td>9.20</td></tr>
  <tr><td>50 mm</td><td>9.80</td></tr>
</table>"""


async def main() -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "footlight", "serve", "--log-level", "warn"]
    )
    with serve_page() as url:
        async with Client(server) as client:
            await call(client, "navigate", url=url)
            table = await call(client, "extract_table", selector="#stock")
    print(json.dumps(table["rows"], indent=2))


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
