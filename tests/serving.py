"""Serve ASGI applications of tests on a port of loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import uvicorn
from starlette.types import ASGIApp

__all__ = ["listen_on_free_port", "serve_app"]


def listen_on_free_port() -> socket.socket:
    """Return a socket that listens on a free port: `getsockname()[1]`."""
    return socket.create_server(("127.0.0.1", 0))


class _Server(uvicorn.Server):
    """A server that ends at once, and leaves signals alone. Uvicorn's own takes up to 0.2 seconds.

    Each of several servers in one process would restore the signal handler that it found, which may be that
    of a server that has ended. sse-starlette takes this for the end of the process, and ends each event
    stream at its start from then on.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def main_loop(self) -> None:
        second = 0
        while not await self.on_tick(10 * second):  # The date in the headers changes at every tenth tick.
            second += 1
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self.ended.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for each in sockets or ():
            each.close()
        for connection in [*self.server_state.connections]:
            connection.shutdown()
        tasks = [*self.server_state.tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
        **options,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve([listener]))
    try:
        yield
    finally:
        server.should_exit = True
        server.ended.set()
        await running
