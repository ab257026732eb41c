"""Connections beyond the limit: each is refused with a reason, and open ones continue."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.server import Server

from footlight.config import ListenSettings
from footlight.transports.network.access import AccessControl
from footlight.transports.network.http_server import serve_http
from footlight.transports.network.websocket_server import serve_websocket

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0
MAX = 2
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n"
REFUSED = b"HTTP/1.1 503 Service Unavailable"
WHY = b"Too many connections (2)"


async def be_ready() -> str | None:
    return None


async def serve_connection(read: Any, write: Any) -> None:
    await asyncio.Event().wait()


@asynccontextmanager
async def serving(transport: str) -> AsyncGenerator[str]:
    """Yield the URL of a server that takes two connections."""
    listener = socket.create_server(("127.0.0.1", 0))
    settings = ListenSettings.model_validate({"shutdownTimeout": 0, "maxConnections": MAX})
    access_control = AccessControl(bound="127.0.0.1")
    if transport == "http":
        serving = serve_http(
            Server("tiny"), listener, settings=settings, access_control=access_control, ready=be_ready
        )
    else:
        serving = serve_websocket(
            listener,
            settings=settings,
            access_control=access_control,
            serve_connection=serve_connection,
            ready=be_ready,
        )
    async with serving as url:
        yield url.replace("ws:", "http:")


Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def open_line(url: str) -> Line:
    return await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))


async def exchange(line: Line, said: bytes) -> bytes:
    """Return everything that is answered until the connection ends. A reset is an error."""
    reader, writer = line
    with contextlib.suppress(ConnectionError):
        writer.write(said)
        await writer.drain()
    async with asyncio.timeout(LIMIT_SECONDS):
        answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("transport", ["http", "websocket"])
async def test_connections_above_the_limit_get_503(transport: str) -> None:
    """Of which most come while those before them are still there."""
    async with serving(transport) as url:
        silent = [await open_line(url) for _ in range(MAX if transport == "http" else 2 * MAX)]
        crowd = [await open_line(url) for _ in range(250)]
        answers = await asyncio.gather(*(exchange(line, HEALTH) for line in crowd))
        for _, writer in silent:
            writer.close()

    assert [answer.splitlines()[0] for answer in answers] == [REFUSED] * len(crowd)
    assert all(answer.endswith(WHY) for answer in answers)


async def test_a_large_request_above_the_limit_gets_503_too() -> None:
    """Its connection is not reset for what nobody has read of it."""
    async with serving("http") as url:
        open_ones = [await open_line(url) for _ in range(MAX)]
        answer = await exchange(await open_line(url), HEAD + b"x" * 3_000_000)
        async with httpx2.AsyncClient() as client:
            response = await client.post(f"{url}/mcp", content=b"x" * 3_000_000)
        for reader, writer in open_ones:
            writer.write(HEALTH)
            assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
            writer.close()

    assert answer.startswith(REFUSED)
    assert answer.endswith(WHY)
    assert (response.status_code, response.content, response.headers["retry-after"]) == (503, WHY, "1")
