"""The contract of the tools, through a server whose browsers run on two workers of a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'footlight[ray]'")

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_tools_give_the_same_results_in_a_cluster() -> None:
    """Run every test of `FOOTLIGHT_TEST_FLEET` in the folder of the tools, or a sample."""
    share = os.environ.get("FOOTLIGHT_TEST_FLEET", "20")

    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb", "short"),
            *("-m", "not slow", "tests/toolsets/browser"),
        ],
        cwd=ROOT,
        env={**os.environ, "FOOTLIGHT_TEST_FLEET": share},
        capture_output=True,
        text=True,
        timeout=1_150,
        check=False,
    )

    assert run.returncode == 0, run.stdout
