"""The folders of the test apps, and a wallet with ports of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["DAPP", "READER", "WALLET", "production_wallet", "wallet"]

WALLET = Path(__file__).parent / "wallet"
READER = Path(__file__).parent / "reader"
DAPP = Path(__file__).parent / "dapp/index.html"
"""A page that uses the wallet. It must be served over HTTP from loopback."""


def wallet(folder: Path, *, fixture_port: int = 12345, rpc_port: int = 8545) -> Path:
    """Copy the wallet below `folder`, with these ports for its state and its chain."""
    copy = folder / "wallet"
    shutil.copytree(WALLET, copy)
    (copy / "config.js").write_text(
        f"export const FIXTURE_PORT = {fixture_port};\nexport const RPC_PORT = {rpc_port};\n",
        encoding="utf-8",
    )
    return copy


def production_wallet(folder: Path, *, rpc_port: int) -> Path:
    """Copy the wallet as a production build: it requests no state, and opens a tab when installed."""
    return wallet(folder, fixture_port=0, rpc_port=rpc_port)
