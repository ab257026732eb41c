"""A page under audit, controlled through each supported server."""

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
"""Rules that report false alarms on a busy machine, which makes every page slow."""


@asynccontextmanager
async def connect_client(family: str, folder: Path) -> AsyncGenerator[MCPClient]:
    """Start a server in this folder, where it may write files, and connect a client to it."""
    async with MCPClient(config_of(family).transport(cwd=str(folder)), timeout_ms=TIMEOUT_MS) as client:
        yield client


def client_of(page: AuditedPage) -> MCPClient:
    assert isinstance(page, FootlightPage | PlaywrightMcpPage)
    return page.client


@pytest.fixture(scope="session")
async def page(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[AuditedPage]:
    """A page of our own server, shared by all tests: each opens its own URL."""
    async with connect_client("footlight", tmp_path_factory.mktemp("footlight")) as client:
        yield await page_of(client)


@pytest.fixture(scope="session", params=FAMILIES)
async def any_page(
    request: pytest.FixtureRequest, anyio_backend: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[AuditedPage]:
    """A page of each server in turn."""
    async with connect_client(request.param, tmp_path_factory.mktemp("server")) as client:
        yield await page_of(client)


@pytest.fixture(scope="session", params=VENDORS, ids=lambda vendor: vendor.name)
async def vendor_server(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncGenerator[VendorServer]:
    async with serve_vendor(request.param) as server:
        yield server


@pytest.fixture
def vendor(vendor_server: VendorServer) -> VendorServer:
    """The fake server of each model vendor in turn, without any scripted answers."""
    vendor_server.forget()
    return vendor_server
