"""A cluster and a server that uses it, for the tests of one module."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest

from tests.cluster.ray_cluster import Cluster, connect_browser, front, ray_cluster
from tests.conftest import Browser
from tests.site import Site


@pytest.fixture(scope="module")
async def cluster(anyio_backend: str) -> AsyncGenerator[Cluster]:
    async with ray_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
async def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fleet")


@pytest.fixture(scope="module")
def settings() -> Mapping[str, str]:
    """Return the environment variables of the server. A module may override them."""
    return {}


@pytest.fixture(scope="module")
async def url(cluster: Cluster, folder: Path, settings: Mapping[str, str]) -> AsyncGenerator[str]:
    async with front(cluster, folder, **settings) as url:
        yield url


@pytest.fixture
async def browser(url: str, site: Site) -> AsyncGenerator[Browser]:
    async with connect_browser(url, site) as browser:
        yield browser
