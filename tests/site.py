"""A site on loopback for tests: pages written in the test, and routes that answer when the test says so."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.certificates import make_certificate
from tests.serving import listen_on_free_port, serve_app

LATER_SECONDS = 0.15

Handler = Callable[[Request], Awaitable[Response]]


class Site:
    """A site for any host name of loopback: `site.url` is 127.0.0.1, `site.at("localhost")` another."""

    def __init__(self, port: int, *, scheme: str = "http") -> None:
        self.port = port
        self._scheme = scheme
        self.requests: list[tuple[str, str]] = []
        """(method, path) of every request."""
        self._handlers: dict[str, Handler] = {}
        self._names = itertools.count(1)

    @property
    def url(self) -> str:
        return self.at("127.0.0.1")

    def at(self, host: str) -> str:
        return f"{self._scheme}://{host}:{self.port}"

    def page(
        self,
        html: str,
        *,
        path: str | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """Serve this HTML and return its URL."""

        async def handler(_: Request) -> Response:
            return HTMLResponse(html, status, headers)

        return self.route(handler, path=path)

    def redirect(self, to: str, *, path: str | None = None, status: int = 302) -> str:
        async def handler(_: Request) -> Response:
            return RedirectResponse(to, status)

        return self.route(handler, path=path)

    def never(self, *, path: str | None = None) -> str:
        """Return a URL that never answers, until the client disconnects."""

        async def handler(request: Request) -> Response:
            while not await request.is_disconnected():
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await asyncio.Event().wait()
            return Response()

        return self.route(handler, path=path)

    def route(self, handler: Handler, *, path: str | None = None) -> str:
        path = path or f"/{next(self._names)}"
        self._handlers[path] = handler
        return self.url + path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._echo(WebSocket(scope, receive, send))
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        self.requests.append((request.method, request.url.path))
        handler = self._handlers.get(request.url.path)
        response = await handler(request) if handler else HTMLResponse("<h1>Not here</h1>", 404)
        await response(scope, receive, send)

    async def _echo(self, socket: WebSocket) -> None:
        """Send each message back with an exclamation mark, at every path, and at `/later` after a moment."""
        self.requests.append(("SOCKET", socket.url.path))
        await socket.accept()
        with suppress(WebSocketDisconnect):
            while True:
                text = await socket.receive_text()
                if socket.url.path == "/later":
                    await asyncio.sleep(LATER_SECONDS)
                await socket.send_text(text + "!")


@asynccontextmanager
async def serve_site(*, is_secure: bool = False) -> AsyncGenerator[Site]:
    """Serve a site, with `is_secure` over https with a certificate that no browser trusts."""
    listener = listen_on_free_port()
    site = Site(listener.getsockname()[1], scheme="https" if is_secure else "http")
    with TemporaryDirectory() as folder:
        certificate = make_certificate(Path(folder)) if is_secure else None
        options = {"ssl_certfile": certificate.path, "ssl_keyfile": certificate.key} if certificate else {}
        async with serve_app(site, listener, ws="websockets-sansio", **options):
            yield site
