"""Calls through a handle, written to a log without the password, and made again from it.

Run it: `python docs/examples/client_handles.py`.
"""

import asyncio
import json
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from footlight import connect_dynamic, create_logger, run_sequence

PAGE = b"""<!doctype html><title>Stage door</title><label>Pass word <input type=password></label>
<button onclick="this.nextSibling.textContent = 'Welcome'">Enter</button><output></output>"""
SERVER = [sys.executable, "-m", "footlight", "serve", "--log-level", "warn"]


def without_password(line: dict) -> dict:
    if line["name"] == "fill":
        line["arguments"]["value"] = "${password}"
    return line


async def main() -> None:
    with serve_page() as url, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "calls.jsonl")
        log = create_logger(console=False, file=file, redact=without_password)
        async with connect_dynamic("door", server=SERVER, log=log) as mcp:
            await mcp.root.navigate(url=url)
            await mcp.root.fill(selector="input", value="sesame")
            await mcp.root.click(selector="button")
            print("said:", (await mcp.root.get_text(selector="output"))["data"]["text"])

        show(file)
        silent = create_logger(console=False)
        async with connect_dynamic("again", server=SERVER, log=silent) as mcp:
            results = await run_sequence(mcp, file, variables={"password": "sesame"}, verify=True)
            print("again:", results[-1]["data"]["text"])


def show(file: Path) -> None:
    for line in map(json.loads, file.read_text("utf-8").split("\n")[:-1]):
        if line["_phase"] == "before":
            print(line["_seq"], line["name"], *filter(None, [line["arguments"].get("value")]))


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def serve_page() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}/"
        site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
