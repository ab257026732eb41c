"""Run Pyright in strict mode on generated modules and on code that uses them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

ROOT = Path(__file__).parents[3]
PYRIGHT = Path(sys.executable).with_name("pyright")


def errors_in(folder: Path) -> list[tuple[str, int, str]]:
    """Return the file, line and message of each error. Skip the test if Pyright is not installed."""
    if not PYRIGHT.exists():
        pytest.skip("pyright is not installed: `uv sync` brings it")
    settings = {
        "include": ["."],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "extraPaths": [str(ROOT / "src")],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    node = str(Path(compute_driver_executable()[0]).parent)
    words = [str(PYRIGHT), "-p", str(folder), "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PATH": os.pathsep.join((node, os.environ.get("PATH", "")))},
    )
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        pytest.skip(f"pyright does not run here: {(done.stderr or done.stdout)[-500:]}")
    assert report["summary"]["filesAnalyzed"] > 0
    return [
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in report["generalDiagnostics"]
    ]
