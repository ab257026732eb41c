"""One real MetaMask for all tests of a process, because it takes most of a minute to start."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.metamask.real_wallet import RealWallet, open_wallet, serve_test_dapp
from tests.site import Site


@pytest.fixture(scope="session")
async def wallet(
    anyio_backend: str, site: Site, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[RealWallet]:
    """Onboarded, with the chain as its network."""
    async with open_wallet(_dist(), tmp_path_factory.mktemp("repository"), site) as wallet:
        await wallet.onboard()
        await wallet.add_network()
        yield wallet


@pytest.fixture(scope="session")
async def connected_wallet(wallet: RealWallet, site: Site) -> RealWallet:
    """With a site that it knows."""
    await wallet.connect(serve_test_dapp(site))
    return wallet


def _dist() -> Path:
    return Path(os.environ["FOOTLIGHT_METAMASK_DIST"]).resolve()
