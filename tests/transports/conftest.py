"""One server over HTTP for all tests of a worker that do it no harm."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.http_client import HttpServer, Raw, raw, served


@pytest.fixture(scope="session")
async def http(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[HttpServer]:
    """Nobody needs a token, and scripts are not evaluated."""
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 2}, "session": {"maxSessions": 60}}
    async with served(tmp_path_factory.mktemp("http"), config=config) as server:
        yield server


@pytest.fixture
async def client(http: HttpServer) -> AsyncGenerator[Raw]:
    """Connections of its own to the shared server."""
    async with raw(http) as client:
        yield client
