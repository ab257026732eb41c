"""The client that waits, for scripts, notebooks and tests without asyncio.

Run it: `python docs/examples/client_sync.py`.
"""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from footlight.sync import MCPClient

PAGE = b"""<!doctype html><title>Tonight</title>
<table id="cues"><tr><th>Cue</th><th>At</th></tr><tr><td>LX 12</td><td>Storm</td></tr></table>"""
SERVER = [sys.executable, "-m", "footlight", "serve", "--log-level", "warn"]


def main() -> None:
    with serve_page() as url, MCPClient(SERVER) as client:
        client.call_tool("navigate", {"url": url})
        table = client.call_tool("extract_table", {"selector": "#cues"})
        print(table.structured_content["data"]["rows"])


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
    main()
