"""A page under audit, through each of the servers that one can be seen by."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from footlight import MCPClient
from footlight.audit.page.page import AuditedPage
from footlight.audit.page.server_page import FootlightPage, PlaywrightMcpPage, page_of
from tests.audit.vendors import VENDORS
from tests.audit.vendors.serving import VendorServer, serve_vendor
from tests.client.browser_servers import FAMILIES, config_of

TIMEOUT_MS = 60_000
WALL_CLOCK = {"speed/largest-paint", "speed/blocking", "speed/slow-answer"}
"""A busy machine makes every page slow, and these rules are right to say so."""


@asynccontextmanager
async def connected(family: str, folder: Path) -> AsyncGenerator[MCPClient]:
    """A client of a server that was started in this folder, where it may leave what it likes."""
    async with MCPClient(config_of(family).transport(cwd=str(folder)), timeout_ms=TIMEOUT_MS) as client:
        yield client


def client_of(page: AuditedPage) -> MCPClient:
    assert isinstance(page, FootlightPage | PlaywrightMcpPage)
    return page.client


@pytest.fixture(scope="session")
async def page(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[AuditedPage]:
    """Of our own server, the same for all tests: each opens what it looks at."""
    async with connected("footlight", tmp_path_factory.mktemp("footlight")) as client:
        yield await page_of(client)


@pytest.fixture(scope="session", params=FAMILIES)
async def any_page(
    request: pytest.FixtureRequest, anyio_backend: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[AuditedPage]:
    """Of each server in turn."""
    async with connected(request.param, tmp_path_factory.mktemp("server")) as client:
        yield await page_of(client)


@pytest.fixture(scope="session", params=VENDORS, ids=lambda vendor: vendor.name)
async def vendor_server(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncGenerator[VendorServer]:
    async with serve_vendor(request.param) as server:
        yield server


@pytest.fixture
def vendor(vendor_server: VendorServer) -> VendorServer:
    """The server of each vendor of models in turn, with nothing to say yet."""
    vendor_server.forget()
    return vendor_server
