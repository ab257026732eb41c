"""Log in once, keep the session's state under a name, and go on from it in another session.

Run it: `python docs/examples/keep_login.py`.

The state stays on the server's side, in a file that only its owner can read: neither cookies nor tokens pass
through the client.
"""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mcp import Client, StdioServerParameters

LOGIN = """<!doctype html><title>Sign in</title>
<form method="post"><input name="user" id="user"><input name="password" id="password" type="password">
<button>Sign in</button></form>"""
ACCOUNT = """<!doctype html><title>Account</title><h1>Signed in</h1>"""


async def main() -> None:
    with serve_site() as url, tempfile.TemporaryDirectory() as states:
        flags = ["--log-level", "warn", "--state-directory", states]
        server = StdioServerParameters(command=sys.executable, args=["-m", "footlight", "serve", *flags])
        async with Client(server) as client:
            await log_in(client, url)
            await call(client, "save_state", sessionId="default", name="shop")
            print("saved:", (await call(client, "list_sessions"))["savedStates"])

            other = (await call(client, "create_session"))["sessionId"]
            await call(client, "navigate", sessionId=other, url=url)
            print("another session:", await heading(client, other))
            await call(client, "restore_state", sessionId=other, state={"name": "shop"})
            print("after restore_state:", await heading(client, other))


async def log_in(client: Client, url: str) -> None:
    await call(client, "navigate", url=url)
    await call(client, "fill", selector="#user", value="stage.manager")
    await call(client, "fill", selector="#password", value="break a leg")
    await call(client, "click", selector="button")


async def heading(client: Client, session: str) -> str:
    return (await call(client, "get_page_metadata", sessionId=session))["title"]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of the answer."""
    answer = (await client.call_tool(tool, arguments)).structured_content
    if answer is None or not answer["success"]:
        raise RuntimeError(f"{tool}: {answer and answer['error']['message']}")
    return answer["data"]


class Site(BaseHTTPRequestHandler):
    """One address: the account for those who have the cookie, the form for the others."""

    def do_GET(self) -> None:
        signed_in = "signed=in" in self.headers.get("Cookie", "")
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((ACCOUNT if signed_in else LOGIN).encode())

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
    asyncio.run(main())
