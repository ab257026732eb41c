"""Hear when a page navigates, and read where it is then.

Run it: `python docs/examples/watch_page.py`.

The news only say that the page is another; what it is now is read as a resource.
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

PAGES = {
    "/": '<!doctype html><title>Act one</title><a href="/interval">On</a>',
    "/interval": "<!doctype html><title>Interval</title>",
}


async def main() -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "footlight", "serve", "--log-level", "warn"]
    )
    with serve_site() as url:
        async with Client(server) as client:
            await call(client, "navigate", url=url)
            page = next(
                each.uri for each in (await client.list_resources()).resources if "/page/" in each.uri
            )
            print("before:", await title(client, page))
            async with client.listen(resource_subscriptions=[page]) as news, asyncio.timeout(30):
                await call(client, "click", selector="a")
                async for _ in news:
                    if (now := await title(client, page)) != "Act one":
                        print("after:", now)
                        break


async def title(client: Client, page: str) -> str:
    [content] = (await client.read_resource(page)).contents
    return json.loads(content.text)["metadata"]["title"]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of the answer."""
    answer = (await client.call_tool(tool, arguments)).structured_content
    if answer is None or not answer["success"]:
        raise RuntimeError(f"{tool}: {answer and answer['error']['message']}")
    return answer["data"]


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path in PAGES else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGES.get(self.path, "").encode())


@contextmanager
def serve_site() -> Generator[str]:
    site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}/"
    site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
