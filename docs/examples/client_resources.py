"""Resources, prompts and completion of a server; and news of a resource.

Run it: `python docs/examples/client_resources.py`.
"""

import asyncio
import json
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from footlight import MCPClient

PAGES = {
    "/": '<!doctype html><title>Act one</title><a href="/interval">On</a>',
    "/interval": "<!doctype html><title>Interval</title>",
}
SERVER = [sys.executable, "-m", "footlight", "serve", "--log-level", "warn"]


async def main() -> None:
    with serve_site() as url:
        async with MCPClient(SERVER) as client:
            await read(client, url)
            await hear(client)
            await prompt(client)


async def read(client: MCPClient, url: str) -> None:
    await client.call("navigate", {"url": url})
    for resource in await client.list_resources():
        print(resource.uri, resource.mime_type)
    [contents] = await client.read_resource("playwright:///page/default/page-1")
    print(json.loads(contents.text or "")["metadata"]["title"])


async def hear(client: MCPClient) -> None:
    changed = asyncio.Event()

    def heard(message: Mapping[str, Any]) -> None:
        if message["method"] == "notifications/resources/updated":
            changed.set()

    await client.subscribe_resource("playwright:///page/default/page-1")
    await client.open_stream(heard)
    await client.call("click", {"selector": "a"})
    await asyncio.wait_for(changed.wait(), 30)
    print("the page changed")


async def prompt(client: MCPClient) -> None:
    [first, *_] = await client.list_prompts()
    print(first.name, dict(first.arguments))
    reference = {"type": "ref/resource", "uri": "playwright:///page/{sessionId}/{pageId}"}
    print((await client.complete(reference, "sessionId", "def")).values)


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path in PAGES else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGES.get(self.path, "").encode())


@contextmanager
def serve_site() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}/"
        site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
