"""Do several things in one call, then see what the page wrote to its console and sent over the network.

Run it: `python docs/examples/batch_and_watch.py`.

The steps run one after the other under one deadline, and the page is told once, after the last.
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

PAGE = """<!doctype html><title>Stock</title>
<label>Item <input></label><button>Count</button><output></output>
<script>
  document.querySelector('button').onclick = async () => {
    const item = document.querySelector('input').value;
    const answer = await fetch('/stock', {method: 'POST', body: JSON.stringify({item})});
    const {count} = await answer.json();
    if (count < 20) console.warn(`Only ${count} of ${item} left`);
    document.querySelector('output').textContent = `${count} in stock`;
  };
</script>"""
STOCK = {"gaffer tape": 12}


async def main() -> None:
    flags = ["--log-level", "warn", "--tools", "default,network"]
    server = StdioServerParameters(command=sys.executable, args=["-m", "footlight", "serve", *flags])
    with serve_site() as url:
        async with Client(server) as client:
            await count(client, url)
            await watch(client)


async def count(client: Client, url: str) -> None:
    steps = [
        {"tool": "navigate", "arguments": {"url": url}},
        {"tool": "fill", "arguments": {"selector": "input", "value": "gaffer tape"}},
        {"tool": "click", "arguments": {"selector": "button"}},
        {"tool": "get_text", "arguments": {"selector": "output"}},
    ]
    done = await call(client, "run_steps", steps=steps)
    print("the last step:", done["steps"][-1]["data"])


async def watch(client: Client) -> None:
    for message in (await call(client, "console_messages"))["messages"]:
        print("console:", message["level"], message["text"])
    [request] = (await call(client, "get_request_log", filter="/stock"))["entries"]
    for part in ("request_body", "response_body"):
        told = await call(client, "get_request", requestId=request["id"], part=part)
        print(f"{part}:", told["body"])


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of the answer."""
    answer = (await client.call_tool(tool, arguments)).structured_content
    if answer is None or not answer["success"]:
        raise RuntimeError(f"{tool}: {answer and answer['error']['message']}")
    return answer["data"]


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer("text/html; charset=utf-8", PAGE if self.path == "/" else "")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer("application/json", json.dumps({"count": STOCK[asked["item"]]}))

    def answer(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())


@contextmanager
def serve_site() -> Generator[str]:
    site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}/"
    site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
