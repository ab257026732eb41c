"""Applications of tests on a port of loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

__all__ = ["listen_on_free_port", "serve_app"]


def listen_on_free_port() -> socket.socket:
    """Return a socket that listens on a free port: `getsockname()[1]`."""
    return socket.create_server(("127.0.0.1", 0))


@asynccontextmanager
async def serve_app(app: ASGIApp, listener: socket.socket, **options: Any) -> AsyncGenerator[None]:
    """Serve the application with options of uvicorn.

    The port is closed on return, also to clients that wait for an answer.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        lifespan="off",
        timeout_graceful_shutdown=1,
        **options,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve([listener]))
    try:
        yield
    finally:
        server.should_exit = True
        server.force_exit = True
        await running
