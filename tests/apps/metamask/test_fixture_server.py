"""The server of the extension's initial state."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import httpx2
import psutil
import pytest

from footlight.app_errors import PortInUseError
from footlight.apps.metamask.fixture_server import FixtureServer, serve_fixture
from tests.client.peers import free_port

pytestmark = pytest.mark.anyio

STATE = {"data": {"KeyringController": {"vault": "Grüße 🙂"}}, "meta": {"version": 1}}
WAIT_SECONDS = 10.0


@pytest.fixture
async def fixtures() -> AsyncGenerator[FixtureServer]:
    async with serve_fixture(STATE, port=free_port()) as server:
        yield server


async def test_state_is_served_as_json_with_cors_header(fixtures: FixtureServer) -> None:
    """A page of the extension in Firefox needs the header."""
    answer = await _ask("GET", f"http://localhost:{fixtures.port}/state.json")

    assert answer.json() == STATE
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["access-control-allow-origin"] == "*"


async def test_first_read_of_the_state_is_reported(fixtures: FixtureServer) -> None:
    assert (fixtures.reads, fixtures.was_read.is_set()) == (0, False)

    await _ask("GET", fixtures.url)
    async with asyncio.timeout(WAIT_SECONDS):
        await fixtures.was_read.wait()
    assert fixtures.reads == 1

    await asyncio.gather(*(_ask("GET", f"{fixtures.url}?again") for _ in range(5)))
    assert fixtures.reads == 6


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/state.json/", 404),
        ("GET", "/../state.json", 404),
        ("POST", "/other", 404),
        ("POST", "/state.json", 405),
        ("HEAD", "/state.json", 405),
        ("OPTIONS", "/state.json", 405),
        ("DELETE", "/state.json", 405),
    ],
)
async def test_other_paths_and_methods_are_refused(
    fixtures: FixtureServer, method: str, path: str, status: int
) -> None:
    answer = await _ask(method, f"http://127.0.0.1:{fixtures.port}", path=path, body=b"x" * 100_000)

    assert (answer.status_code, answer.content) == (status, b"")
    assert answer.headers.get("allow") == ("GET" if status == 405 else None)
    assert fixtures.reads == 0


async def test_non_http_connection_is_closed(fixtures: FixtureServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", fixtures.port)
    writer.write(b"\x16\x03\x01 hello\r\n\r\n")

    async with asyncio.timeout(WAIT_SECONDS):
        with suppress(ConnectionError):
            assert await reader.read() == b""

    writer.close()
    assert (await _ask("GET", fixtures.url)).status_code == 200


async def test_server_listens_on_loopback_only(fixtures: FixtureServer) -> None:
    mine = psutil.Process().net_connections("tcp")

    assert [each.laddr for each in mine if each.laddr[1] == fixtures.port] == [("127.0.0.1", fixtures.port)]


async def test_served_state_is_a_copy_of_the_given_one() -> None:
    state: dict[str, Any] = {"data": {}}
    async with serve_fixture(state, port=free_port()) as server:
        state["data"]["later"] = True

        assert (await _ask("GET", server.url)).json() == {"data": {}}


async def test_server_stops_at_once_despite_open_connections() -> None:
    """A client that says nothing, one in the middle of its question, and one that does not read."""
    async with serve_fixture({"data": "x" * 50_000_000}, port=free_port()) as server:
        streams = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(3)]
        streams[1][1].write(b"GET /state.json HTTP/1.1\r\nHo")
        streams[2][1].write(b"GET /state.json HTTP/1.1\r\nHost: a\r\n\r\n")
        async with asyncio.timeout(WAIT_SECONDS):
            await streams[2][0].readexactly(1)
        begun = time.monotonic()

    assert time.monotonic() - begun < WAIT_SECONDS
    assert not server.was_read.is_set()
    for _, writer in streams:
        writer.transport.abort()
    socket.create_server(("127.0.0.1", server.port)).close()


async def test_port_in_use_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        with pytest.raises(
            PortInUseError, match=f"^port {port}, which the fixture server .* process {os.getpid()} "
        ):
            async with serve_fixture(STATE, port=port):
                pytest.fail("it started")


async def test_cancelled_server_frees_its_port() -> None:
    port = free_port()
    started = asyncio.Event()

    async def serve() -> None:
        async with serve_fixture(STATE, port=port):
            started.set()
            await asyncio.Event().wait()

    serving = asyncio.create_task(serve())
    await started.wait()
    serving.cancel()

    with pytest.raises(asyncio.CancelledError):
        await serving
    socket.create_server(("127.0.0.1", port)).close()


async def _ask(method: str, url: str, *, path: str = "", body: bytes | None = None) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=WAIT_SECONDS) as client:
        request = client.build_request(method, url, content=body)
        if path:
            request.extensions["target"] = path.encode()
        return await client.send(request)
