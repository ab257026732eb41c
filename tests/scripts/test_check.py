"""`scripts/check` and `.ci/run` in a folder of their own, with fake tools that succeed or fail."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = (
    ".venv/bin/ruff",
    ".venv/bin/pyright",
    ".venv/bin/lint-imports",
    ".venv/bin/python",
    "scripts/check-javascript",
    "scripts/gen",
)


def place(tool: Path, script: str) -> None:
    tool.parent.mkdir(parents=True, exist_ok=True)
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)


def run(*command: str | Path, path: str = os.environ["PATH"]) -> tuple[int, str]:
    done = subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for tool in TOOLS:
        place(tmp_path / tool, "echo fine")
    place(tmp_path / "scripts/setup", "exit 0")
    for script in ("scripts/check", ".ci/run"):
        (tmp_path / script).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / script, tmp_path / script)
    return tmp_path


def test_successful_checks_are_reported(checkout: Path) -> None:
    assert run(checkout / "scripts/check") == (
        0,
        "ok      format\n"
        "ok      lint\n"
        "ok      types\n"
        "ok      javascript\n"
        "ok      imports\n"
        "ok      generated\n"
        "ok      requirements\n"
        "\n"
        "All checks passed: format lint types javascript imports generated requirements\n",
    )


def test_failed_check_shows_its_output_and_the_others_run(checkout: Path) -> None:
    place(checkout / ".venv/bin/pyright", "echo 'shop.py:3: no such name'; exit 1")

    assert run(checkout / "scripts/check") == (
        1,
        "ok      format\n"
        "ok      lint\n"
        "FAILED  types: .venv/bin/pyright\n"
        "shop.py:3: no such name\n"
        "ok      javascript\n"
        "ok      imports\n"
        "ok      generated\n"
        "ok      requirements\n"
        "\n"
        "Failed: types. Passed: format lint javascript imports generated requirements.\n",
    )


@pytest.mark.parametrize("failing", ["check", "test-all", "nothing"])
def test_ci_runs_checks_and_tests_even_if_one_fails(checkout: Path, failing: str) -> None:
    place(checkout / "bin/make", f'echo "make $1"; [ "$1" != {failing} ]')

    status, output = run("bash", checkout / ".ci/run", path=f"{checkout}/bin:{os.environ['PATH']}")

    assert (status, output) == (int(failing != "nothing"), "make check\nmake test-all\n")
