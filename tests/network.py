"""A server over a network for one test, and the SDK's client for it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from mcp import Client, StdioServerParameters

from footlight.transports.websocket_client import connect_websocket
from tests.conftest import server_command
from tests.evidence import server_log

Transport = Literal["stdio", "http", "websocket"]

START_SECONDS = 60.0


@asynccontextmanager
async def run_server(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    limit_s: float = START_SECONDS,
) -> AsyncGenerator[tuple[str, asyncio.subprocess.Process]]:
    """Run a server, and yield its URL and its process as soon as it listens. It has ended on return."""
    with server_log() as log:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log.file,
            cwd=cwd,
            env=environment,
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(limit_s):
                while "listening on" not in (line := (await process.stdout.readline()).decode()):
                    assert line, "the server ended before it listened"
            yield line.split()[-1], process
        finally:
            if process.returncode is None:
                process.terminate()
            async with asyncio.timeout(START_SECONDS):
                await process.wait()


@asynccontextmanager
async def listening(transport: Transport, *flags: str, **environment: str) -> AsyncGenerator[str]:
    """Start a server on a free port, and yield its URL. It has ended on return."""
    command = [*server_command("--transport", transport, "--port", "0"), *flags]
    async with run_server(command, environment={**os.environ, **environment}) as (url, _):
        yield url.removesuffix("/mcp")


def address(transport: Transport, url: str) -> Any:
    """Return the target for the SDK's client, which starts a server of its own over stdio."""
    if transport == "stdio":
        _, *arguments = server_command()
        return StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    return f"{url}/mcp" if transport == "http" else connect_websocket(url)


@asynccontextmanager
async def client_over(transport: Transport, url: str, *, mode: str) -> AsyncGenerator[Client]:
    async with Client(address(transport, url), mode=mode) as client:
        yield client
