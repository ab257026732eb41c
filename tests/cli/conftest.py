"""A call log that is recorded once for all tests that replay or export it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from footlight.demo.shop.site import serve_shop
from tests.cli.shop_log import record_order


@dataclass(frozen=True)
class Order:
    """The log of an order, and the URL of the shop in which it was made."""

    log: Path
    url: str


@pytest.fixture(scope="session")
async def order(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> Order:
    """The log of an order in a shop that no longer runs."""
    log = tmp_path_factory.mktemp("shop") / "order.jsonl"
    async with serve_shop() as site:
        await record_order(site, log)
        return Order(log, site.url)
