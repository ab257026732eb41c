"""Serve the shop on loopback."""

import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footlight.demo.shop.records import Shop
from footlight.demo.shop.routes import ROUTES, answer_missing

__all__ = ["ShopSite", "serve_shop"]

_HEADERS = {
    "cache-control": "no-store",
    # The site is complete in itself; the browser holds it to that.
    "content-security-policy": "default-src 'self'; frame-ancestors 'none'; form-action 'self'",
    "x-content-type-options": "nosniff",
}


class ShopSite(NamedTuple):
    """A served site with the data of its shop."""

    url: str
    shop: Shop


@asynccontextmanager
async def serve_shop() -> AsyncGenerator[ShopSite]:
    """Serve a new shop on a free port of 127.0.0.1. The port is closed on exit."""
    shop = Shop()
    server = _Server(_configure(shop))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_serve, server, listener)
            try:
                yield ShopSite(f"http://127.0.0.1:{listener.getsockname()[1]}", shop)
            finally:
                server.should_exit = True


def _make_site(shop: Shop) -> Starlette:
    """Return the application of a shop."""
    site = Starlette(
        routes=ROUTES, middleware=[Middleware(_Headers)], exception_handlers={404: answer_missing}
    )
    site.state.shop = shop
    return site


def _configure(shop: Shop) -> uvicorn.Config:
    return uvicorn.Config(
        _make_site(shop),
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
    )


async def _serve(server: uvicorn.Server, listener: socket.socket) -> None:
    # Shielded: the server ends by `should_exit`, so that it closes what it opened.
    with anyio.CancelScope(shield=True):
        await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that does not handle signals."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Headers:
    """Adds the headers of the site to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)
