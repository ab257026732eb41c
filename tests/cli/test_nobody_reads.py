"""What the commands do when the pipe that they write to is closed, as by `head`, and on a full disk."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from footlight.cli.main import main

SERVER = r"""
import json, sys
name = {"name": "x", "version": "1"}
hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": name}
results = {
    "initialize": hello,
    "tools/list": {"tools": [{"name": "x", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "x"}]},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = results.get(request["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("output", [[], ["--output", "/dev/full"]], ids=" ".join)
def test_a_call_whose_result_cannot_be_written_has_failed(tmp_path: Path, output: list[str]) -> None:
    """Status 2 would mean that nothing was done."""
    (tmp_path / "server.py").write_text(SERVER)
    command = f"{sys.executable} {tmp_path / 'server.py'}"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "footlight", "call", "x", "--server", command, *output],
            stdout=subprocess.PIPE if output else full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            text=True,
        )

    what = output[-1] if output else "the output"
    assert done.returncode == 1
    assert done.stderr == f"footlight: {what} could not be written: No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of the size of files")
def test_a_full_disk_keeps_the_file_that_was_to_be_replaced(tmp_path: Path) -> None:
    log, test = tmp_path / "log.jsonl", tmp_path / "test_log.py"
    log.write_text('{"name":"fill","arguments":{"value":"Macbeth"}}\n')
    test.write_text("mine = 1\n")
    for words in (["export", str(log), "--to", "pytest"], ["report", str(log)]):
        command = [sys.executable, "-m", "footlight", *words, "--out", str(test), "--force"]
        done = subprocess.run(
            ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *command],
            capture_output=True,
            timeout=60,
            check=False,
            text=True,
        )

        assert (done.returncode, "File too large" in done.stderr) == (2, True)
        assert test.read_text() == "mine = 1\n"
    assert {file.name for file in tmp_path.iterdir()} == {"log.jsonl", "test_log.py"}
