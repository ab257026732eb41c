"""Measure a page from Python, without a model, through a server that is started for it.

Run it: `python docs/examples/audit_facts.py`.
"""

import asyncio
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from footlight import MCPClient
from footlight.audit import collect_evidence, page_of

PAGE = b"""<!doctype html><html lang="en"><title>Box office</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<main><h1>Tonight</h1><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width="40" height="40">
<p>Doors open at half past seven.</p></main></html>"""
SERVER = [sys.executable, "-m", "footlight", "serve", "--enable-script-evaluation"]


async def main() -> None:
    with serve_page() as url:
        async with MCPClient(SERVER) as client:
            evidence = await collect_evidence(await page_of(client), url)
    for finding in evidence.findings:
        print(finding.severity, finding.rule, [element.selector for element in finding.elements])
    print(next(fact.text for fact in evidence.facts if fact.topic == "outline"))
    print([screenshot.width for screenshot in evidence.screenshots if not screenshot.marked])


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve_page() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}/"
        site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
