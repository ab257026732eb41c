"""Log in with a secret that nobody is shown, then shop by the refs of the page's tree.

Run it: `python docs/examples/shop_by_refs.py`.

The password is in a file that only the server reads; the call has its name. Each answer of an action tells
what changed, with the refs that the next action takes. A model reads them; this script looks for their lines.
"""

import asyncio
import re
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

LOGIN = """<!doctype html><title>Sign in</title><h1>Sign in</h1>
<form method="post"><label>Name <input name="user"></label>
<label>Password <input name="password" type="password"></label><button>Sign in</button></form>"""
SHOP = """<!doctype html><title>Stage supplies</title><h1>Stage supplies</h1>
<nav aria-label="Shelves"><a href="/tape">Tape</a> <a href="/rigging">Rigging</a></nav>
<ul aria-label="Offers">
  <li>Gaffer tape, 12.50 <button>Add</button></li>
  <li>Hook clamp, 9.20 <button>Add</button></li>
</ul>
<output>Your basket is empty.</output>
<script>
  for (const button of document.querySelectorAll('button')) button.onclick = () => {
    document.querySelector('output').textContent = '1 thing in your basket.';
    button.outerHTML = '<a href="/basket">In your basket</a>';
  };
</script>"""


def main() -> None:
    with serve_site() as url, tempfile.TemporaryDirectory() as folder:
        secrets = Path(folder, "shop.env")
        secrets.touch(mode=0o600)
        secrets.write_text("SHOP_PASSWORD='break a leg'\n")
        asyncio.run(shop(url, secrets))


async def shop(url: str, secrets: Path) -> None:
    flags = ["--log-level", "error", "--secrets", str(secrets)]
    server = StdioServerParameters(command=sys.executable, args=["-m", "footlight", "serve", *flags])
    async with Client(server) as client:
        form = await act(client, "navigate", url=url)
        fields = {
            ref(form, 'textbox "Name"'): "stage.manager",
            ref(form, 'textbox "Password"'): "secret:SHOP_PASSWORD",
        }
        await act(client, "fill_form", fields=fields)
        offers = await act(client, "click", selector=ref(form, 'button "Sign in"'))
        await act(client, "click", selector=ref(offers, '"Add"', after="Hook clamp"))


async def act(client: Client, tool: str, **arguments: Any) -> str:
    """Print the call, and what the answer tells of the page."""
    answer = (await client.call_tool(tool, arguments)).structured_content
    if answer is None or not answer["success"]:
        raise RuntimeError(f"{tool}: {answer and answer['error']['message']}")
    observed = answer["observation"]
    print(f"> {tool} {arguments.get('selector', '')}".rstrip(), f"({observed['kind']})")
    print(observed["text"])
    return observed["text"]


def ref(tree: str, words: str, *, after: str = "") -> str:
    """The ref before these words, after those. In a table only the first button of a column says its role."""
    found = re.search(rf"(e\d+) (?:button )?{re.escape(words)}", tree[tree.index(after) :])
    if found is None:
        raise LookupError(f"{words} is not on the page")
    return found[1]


class Site(BaseHTTPRequestHandler):
    """One address: the shop for those who have the cookie, the form for the others."""

    def do_GET(self) -> None:
        signed_in = "signed=in" in self.headers.get("Cookie", "")
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((SHOP if signed_in else LOGIN).encode())

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(303)
        if form == b"user=stage.manager&password=break+a+leg":
            self.send_header("Set-Cookie", "signed=in; HttpOnly")
        self.send_header("Location", "/")
        self.end_headers()


@contextmanager
def serve_site() -> Generator[str]:
    site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}/"
    site.shutdown()


if __name__ == "__main__":
    main()
