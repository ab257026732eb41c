"""What the commands do when the pipe that they write to is closed, as by `head`, and on a full disk."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from footlight.cli.main import main


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["call", "--help"], 0),
        (["replay", "log.jsonl", "--dry-run"], 1),
        (["export", "log.jsonl", "--to", "pytest"], 0),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else None,
)
def test_closed_output_pipe_causes_no_error_message(tmp_path: Path, words: list[str], status: int) -> None:
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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "words",
    [["--help"], ["call", "--help"], ["daemon", "status"], ["export", "log.jsonl", "--to", "pytest"]],
    ids=" ".join,
)
def test_a_full_disk_is_one_line(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "log.jsonl").write_text('{"name":"fill","arguments":{"value":"Macbeth"}}\n')
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "footlight", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            cwd=tmp_path,
            text=True,
        )

    assert done.returncode == 1
    assert done.stderr == "footlight: the output could not be written: No space left on device\n"


def test_an_error_about_a_named_file_is_not_one_of_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/profile")

    monkeypatch.setattr("footlight.cli.commands.cli", fail)
    monkeypatch.setattr(sys, "argv", ["footlight", "doctor"])

    with pytest.raises(OSError, match="/tmp/profile"):
        main()
