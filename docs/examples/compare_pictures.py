"""Keep a picture of a page as a baseline, and see later whether the page still looks like it.

Run it: `python docs/examples/compare_pictures.py`.

The clock of the page is another each time, so it is masked. The answer has the share of pixels that changed,
where they are, and an annotated picture.
"""

import asyncio
import itertools
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

PAGE = """<!doctype html><title>Tonight</title>
<style>body {{ margin: 0 }} h1 {{ background: {colour}; height: 72px; margin: 0 }} p {{ width: 6em }}</style>
<h1></h1><p id="clock">{clock}</p><p>Doors open at 19:00</p>"""
CLOCK = itertools.count(1)


async def main() -> None:
    with serve_site() as url, tempfile.TemporaryDirectory() as folder:
        flags = ["--log-level", "warn", "--output-path", folder]
        server = StdioServerParameters(command=sys.executable, args=["-m", "footlight", "serve", *flags])
        async with Client(server) as client:
            await call(client, "navigate", url=url)
            saved = await call(client, "visual_diff", save="tonight")
            print("baseline:", Path(saved["saved"]).name)
            for path in ("", "blue"):
                await call(client, "navigate", url=url + path)
                compared = await call(client, "visual_diff", baseline="tonight", masks=["#clock"])
                print(f"/{path}:", "different" if compared["different"] else "the same", end=", ")
                print(f"{compared['percent']} %", compared["regions"])


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of the answer."""
    answer = (await client.call_tool(tool, arguments)).structured_content
    if answer is None or not answer["success"]:
        raise RuntimeError(f"{tool}: {answer and answer['error']['message']}")
    return answer["data"]


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        colour = "#123a7f" if self.path == "/blue" else "#7a1f35"
        self.wfile.write(PAGE.format(colour=colour, clock=next(CLOCK)).encode())


@contextmanager
def serve_site() -> Generator[str]:
    site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}/"
    site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
