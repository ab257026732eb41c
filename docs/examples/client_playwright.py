"""The typed client of a browser, on a server that it starts.

Run it: `python docs/examples/client_playwright.py`.
"""

import asyncio
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from footlight import MCPConfig, PlaywrightClient, ToolInvocationError

PAGE = b"""<!doctype html><title>Box office</title><h1>Tonight</h1>
<label>Guest <input id="guest"></label>
<button onclick="document.title = 'Booked: ' + document.querySelector('#guest').value">Book</button>"""
FOOTLIGHT = MCPConfig(
    server_command=sys.executable,
    server_args=["-m", "footlight", "serve", "--browser", "chromium", "--enable-script-evaluation"],
    timeout=20_000,
)


async def main() -> None:
    with serve_page() as url:
        async with PlaywrightClient.launch(FOOTLIGHT) as browser:
            opened = await browser.navigate(url)
            print(opened.status, opened.title)
            await browser.fill_form({"#guest": "Prospero"})
            await browser.click("button")
            print(await browser.evaluate("document.title"))

            picture = await browser.screenshot(format="jpeg")
            print(picture.format, picture.width, picture.height)
            tree = (await browser.get_snapshot()).tree
            print([child["role"] for child in tree.get("children", [])])

            try:
                await browser.navigate("file:///etc/hosts")
            except ToolInvocationError as error:
                print(error.reason, error)


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
