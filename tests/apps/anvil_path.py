"""Where the tests have anvil."""

from __future__ import annotations

import os
from pathlib import Path

PEERS = Path(__file__).parents[2] / ".peers"


def anvil_path() -> Path:
    """What `scripts/peers` has installed. Without it a test fails: there is nothing to take its place."""
    executable = PEERS / "node_modules/.bin/anvil"
    assert os.access(executable, os.X_OK), (
        "there is no anvil in .peers: scripts/peers, which `make test` runs, installs it where there is npm"
    )
    return executable
