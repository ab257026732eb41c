"""`make bench` can be started: it uses parts of the tests, which no other test would check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.goals import README_FIGURES, README_MARKS

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


def test_figures_of_the_readme_are_those_of_the_last_run() -> None:
    excerpt = (ROOT / "README.md").read_text("utf-8").split(README_MARKS[0])[1].split(README_MARKS[1])[0]
    figures = read_table((ROOT / "docs/performance.md").read_text("utf-8"))

    shown = read_table(excerpt)

    assert sorted(name.rsplit(" (", 1)[0] for name in shown) == sorted(README_FIGURES)
    for name, cells in shown.items():
        playwright, devtools, _, footlight = figures[name][:4]
        assert [cell.strip("*") for cell in cells] == [footlight, playwright, devtools], name


def read_table(text: str) -> dict[str, list[str]]:
    """Return the cells of the table's rows by the first one, without the lines of its head."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]
    return {name: cells for name, *cells in rows[2:]}
