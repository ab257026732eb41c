"""Applications of tests on a port of loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

__all__ = ["listening", "serving"]


def listening() -> socket.socket:
    """At a free port: `getsockname()[1]`."""
    return socket.create_server(("127.0.0.1", 0))


@asynccontextmanager
async def serving(app: ASGIApp, listener: socket.socket, **options: Any) -> AsyncGenerator[None]:
    """The port is closed on return, whoever still waits for an answer. The options are uvicorn's."""
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
