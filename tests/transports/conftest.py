"""One server over HTTP, for all tests of a worker that do not change it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.http_client import HttpServer, Raw, raw, served


@pytest.fixture(scope="session")
async def http(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[HttpServer]:
    """The shared server. It requires no token and does not evaluate scripts."""
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 2}, "session": {"maxSessions": 60}}
    async with served(tmp_path_factory.mktemp("http"), config=config) as server:
        yield server


@pytest.fixture
async def client(http: HttpServer) -> AsyncGenerator[Raw]:
    """A client with its own connections to the shared server."""
    async with raw(http) as client:
        yield client


# Callers with tokens of their own


HOUSE = """
from mcp.server.auth.provider import AccessToken

CALLERS = {"token-of-ada": "ada", "another-token-of-ada": "ada", "token-of-bob": "bob"}


class House:
    async def verify_token(self, token):
        return AccessToken(token=token, client_id=CALLERS[token], scopes=[]) if token in CALLERS else None
"""


@asynccontextmanager
async def house_of_callers(folder: Path, config: Mapping[str, Any]) -> AsyncGenerator[HttpServer]:
    """Yield a server that knows Ada and Bob: the `house` of a module whose tests take `ada` and `bob`."""
    modules = folder / "modules"
    modules.mkdir()
    (modules / "house_of_callers.py").write_text(HOUSE)
    listen = {**config.get("listen", {}), "tokenVerifier": "house_of_callers:House"}
    async with served(folder, config={**config, "listen": listen}, PYTHONPATH=str(modules)) as server:
        yield server


@pytest.fixture
async def ada(house: HttpServer) -> AsyncGenerator[Raw]:
    async with raw(house, token="token-of-ada") as client:
        yield client


@pytest.fixture
async def bob(house: HttpServer) -> AsyncGenerator[Raw]:
    async with raw(house, token="token-of-bob") as client:
        yield client
