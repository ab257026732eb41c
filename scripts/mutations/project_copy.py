"""Copies of the project, in which tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["ROOT", "copy_project", "run_pytest"]

ROOT = Path(__file__).parents[2]
INSTALLED = (".venv", ".peers")


def copy_project(copy: Path) -> None:
    """Copy the project. The copy shares what is installed."""
    ignored = shutil.ignore_patterns(
        ".git", ".mutation", *INSTALLED, "test-artifacts", ".hypothesis", ".pytest_cache"
    )
    shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
    for name in INSTALLED:
        (copy / name).symlink_to(ROOT / name)


def run_pytest(
    copy: Path,
    *arguments: str,
    under: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    limit_s: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run pytest on a copy of the project, under another module of Python if one is named."""
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}:{copy}", **(variables or {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    pytest = ("-m", "pytest", "-q", "-n", "0", "-p", "scripts.mutations.record_tests")
    command = [sys.executable, *under, *pytest, *arguments]
    return subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=limit_s
    )
