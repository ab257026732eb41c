"""The commands when the pipe that they write to is closed, as by `head`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["call", "--help"], 0),
        (["replay", "log.jsonl", "--dry-run"], 1),
        (["export", "log.jsonl", "--to", "pytest"], 0),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else None,
)
def test_nothing_is_said_where_nobody_reads(tmp_path: Path, words: list[str], status: int) -> None:
    """Only a replay has not done what was wanted."""
    (tmp_path / "log.jsonl").write_text('{"name":"fill","arguments":{"value":"Macbeth"}}\n')
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "footlight", *words],
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    os.close(write)

    assert (done.returncode, done.stderr) == (status, b"")
