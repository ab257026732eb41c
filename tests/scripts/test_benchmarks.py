"""`make bench` can be started: it uses parts of the tests, which no other test would check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 60


@pytest.mark.slow
def test_benchmark_command_starts_and_lists_its_parts() -> None:
    done = subprocess.run(
        (sys.executable, "-m", "benchmarks", "--help"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "watching" in done.stdout
