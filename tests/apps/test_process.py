"""A program beside an app, and its children, end together."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from footlight.apps.process import run_process

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups"),
]

CLEANING_UP = (
    "trap 'sleep 0.3; echo cleaned up > end; exit' TERM; echo begun > start; while :; do sleep 0.05; done"
)
"""A child that needs longer to clean up than its parent to end."""


async def test_child_may_clean_up_after_its_parent_has_ended(tmp_path: Path) -> None:
    script = tmp_path / "child.sh"
    script.write_text(CLEANING_UP)
    command = ["sh", "-c", f"sh {script} & wait"]
    async with run_process(command, name="test", cwd=tmp_path), asyncio.timeout(30):
        while not (tmp_path / "start").exists():  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.02)
    assert (tmp_path / "end").read_text() == "cleaned up\n"
