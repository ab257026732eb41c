"""Measure the setup of the pytest fixture `mcp`, after the first test of a process."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.goals import FOOTLIGHT, Figures

__all__ = ["FIGURE", "measure_fixtures"]

FIGURE = "setup of a test's session"
TESTS = 20

_CONFTEST = """
import json, pathlib

TIMES = {"setup": [], "teardown": []}

def pytest_runtest_logreport(report):
    if report.when in TIMES:
        TIMES[report.when].append(report.duration * 1000)
    elif report.failed:
        TIMES["failed"] = report.longreprtext

def pytest_sessionfinish():
    pathlib.Path("times.json").write_text(json.dumps(TIMES))
"""

_TEST = """
import pytest

@pytest.mark.parametrize("number", range(%d))
def test_title(sync_mcp, number):
    sync_mcp.root.navigate(url="data:text/html,<title>Title</title>")
"""


def measure_fixtures(figures: Figures) -> None:
    """Print the setup and teardown of the tests in one process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(_CONFTEST)
        (folder / "test_title.py").write_text(_TEST % TESTS)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:hypothesispytest",
        ]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        times = json.loads((folder / "times.json").read_text())
    first, *setups = times["setup"]
    figures.add(FIGURE, FOOTLIGHT, *setups)
    print(f"\npytest, {TESTS} tests with `sync_mcp` in one process (ms)")
    print(f"  first setup, with the server    {first:8.0f}")
    for label, values in (("later setups", setups), ("teardowns", times["teardown"][:-1])):
        p95 = statistics.quantiles(values, n=20)[-1]
        print(f"  {label:<15} median, p95     {statistics.median(values):8.0f} {p95:8.0f}")
