"""A server of one's own over a network, and the SDK's client on it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

from mcp import Client, StdioServerParameters

from footlight.transports.websocket_client import connect_websocket
from tests.conftest import server_command
from tests.evidence import server_log

Transport = Literal["stdio", "http", "websocket"]

START_SECONDS = 60.0


@asynccontextmanager
async def listening(transport: Transport, *flags: str, **environment: str) -> AsyncGenerator[str]:
    """Start a server that listens on a free port; its URL. It is gone on return."""
    command = [*server_command("--transport", transport, "--port", "0"), *flags]
    with server_log() as log:
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**os.environ, **environment},
            stdout=asyncio.subprocess.PIPE,
            stderr=log.file,
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(START_SECONDS):
                while "listening on" not in (line := (await process.stdout.readline()).decode()):
                    assert line, "the server ended before it listened"
            yield line.split()[-1].removesuffix("/mcp")
        finally:
            if process.returncode is None:
                process.terminate()
            async with asyncio.timeout(START_SECONDS):
                await process.wait()


def address(transport: Transport, url: str) -> Any:
    """Return what the SDK's client connects to. On stdio it starts a server of its own."""
    if transport == "stdio":
        _, *arguments = server_command()
        return StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    return f"{url}/mcp" if transport == "http" else connect_websocket(url)


@asynccontextmanager
async def client_over(transport: Transport, url: str, *, mode: str) -> AsyncGenerator[Client]:
    async with Client(address(transport, url), mode=mode) as client:
        yield client
