"""The path of anvil for tests."""

from __future__ import annotations

import os
from pathlib import Path

PEERS = Path(__file__).parents[2] / ".peers"


def anvil_path() -> Path:
    """Return the path of anvil, which `scripts/setup-tests` installs; fail where there is none."""
    executable = PEERS / "node_modules/.bin/anvil"
    assert os.access(executable, os.X_OK), (
        "there is no anvil in .peers: install npm, then run scripts/setup-tests"
    )
    return executable
