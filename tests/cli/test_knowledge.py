"""The command `footlight knowledge`."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import run
from tests.knowledge.recorded import START, make_long_session, record, space_by_seconds, write

ROOT = Path("test-artifacts/llm-knowledge")

SESSION = space_by_seconds(
    [
        record("mm_launch", screen="unlock"),
        record("mm_click", screen="home", testId="unlock-submit"),
        record("mm_click", screen="home", ok=False, testId="send-nft", message="\x1b[31mNothing"),
    ]
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """In which it is run: with two sessions, a day apart."""
    write(tmp_path / ROOT, *SESSION)
    later = record("mm_launch", screen="home", session_id="mm-two", at=START + timedelta(days=1))
    write(tmp_path / ROOT, later)
    return tmp_path


def run_knowledge(folder: Path, *words: str) -> str:
    """Return the output of a command that succeeds and writes no error."""
    done = run("knowledge", *words, cwd=folder)
    assert (done.status, done.err) == (0, "")
    return done.out


def read(folder: Path, *words: str) -> Any:
    return json.loads(run_knowledge(folder, *words, "--json"))


def check_refused(folder: Path, *words: str) -> str:
    """Check that the exit status is that of bad usage, and return the error."""
    done = run("knowledge", *words, cwd=folder)
    assert (done.status, done.out) == (2, "")
    assert "Traceback" not in done.err
    return " ".join(done.err.partition("Error: ")[2].split())


def test_the_latest_steps_are_listed(folder: Path) -> None:
    assert run_knowledge(folder, "last", "-n", "2", "--session", "mm-one") == (
        "2026-01-15T12:00:02.000Z  mm_click  home  "
        'FAILED  testId=send-nft failed: MM_TARGET_NOT_FOUND "\\u001b[31mNothing"\n'
        '2026-01-15T12:00:01.000Z  mm_click  home  testId=unlock-submit ("Unlock")\n'
    )
    assert [step["sessionId"] for step in read(folder, "last")] == ["mm-two", "mm-one", "mm-one", "mm-one"]


def test_steps_are_found_by_search_words(folder: Path) -> None:
    """What is found stands under where it was."""
    assert run_knowledge(folder, "search", "collectible", "--tool", "click").splitlines()[:2] == [
        "  9.8  2026-01-15T12:00:02.000Z  mm-one  mm_click  home  FAILED",
        "       testId=send-nft",
    ]
    assert [hit["target"] for hit in read(folder, "search", "click", "--outcome", "ok")] == [
        'testId=unlock-submit ("Unlock")'
    ]
    assert read(folder, "search", "launch", "--since", "2026-01-16")[0]["sessionId"] == "mm-two"
    assert read(folder, "search", "launch", "--since", "1h") == []


def test_empty_search_result_is_reported(folder: Path) -> None:
    done = run("knowledge", "search", "xylophone", cwd=folder)

    assert (done.status, done.out, done.err) == (0, "", "Nothing was found.\n")


def test_session_is_summarised_as_a_recipe(folder: Path) -> None:
    assert run_knowledge(folder, "summarize", "mm-one") == (
        "mm-one\n"
        "   1. launch → unlock\n"
        '   2. click testId=unlock-submit ("Unlock") on unlock → home\n'
        '   3. FAILED click testId=send-nft on home: MM_TARGET_NOT_FOUND "\\u001b[31mNothing"\n'
    )
    assert read(folder, "summarize")["sessionId"] == "mm-two"


def test_session_is_exported_unchanged(folder: Path) -> None:
    said = run_knowledge(folder, "export", "mm-one", "--out", "one.jsonl")

    assert said == "one.jsonl: 3 steps\n"
    assert [json.loads(line) for line in (folder / "one.jsonl").read_text("utf-8").splitlines()] == SESSION
    assert "one.jsonl exists; use --force to overwrite it." in check_refused(
        folder, "export", "mm-one", "--out", "one.jsonl"
    )
    assert (
        run_knowledge(folder, "export", "mm-two", "--out", "one.jsonl", "--force") == "one.jsonl: 1 steps\n"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_named_pipe_is_not_replaced_by_a_file(folder: Path) -> None:
    os.mkfifo(folder / "pipe")

    done = run("knowledge", "export", "mm-one", "--out", "pipe", "--force", cwd=folder)

    assert done.status != 0
    assert "pipe is a device or a pipe" in done.err
    assert (folder / "pipe").is_fifo()


def test_report_is_a_standalone_page(folder: Path) -> None:
    write(folder / ROOT, *make_long_session())

    said = run_knowledge(folder, "report", "mm-long", "--out", "report.html")
    page = (folder / "report.html").read_text("utf-8")

    assert said == "report.html\n"
    assert (page.startswith("<!doctype html>"), page.count('<li id="step-')) == (True, 40)
    assert "report.html exists" in check_refused(folder, "report", "mm-one", "--out", "report.html")
    assert "cannot be written" in check_refused(folder, "report", "mm-one", "--out", "nowhere/report.html")


def test_old_sessions_are_removed_after_confirmation(folder: Path) -> None:
    """And leave the index with it."""
    unconfirmed = check_refused(folder, "prune", "--keep", "1")
    kept = read(folder, "prune", "--before", "2026-01-15", "--yes")
    removed = run_knowledge(folder, "prune", "--keep", "1", "--yes")
    again = run_knowledge(folder, "prune", "--keep", "1")

    assert unconfirmed == "This removes 1 of 2 sessions, 3 steps. Confirm with --yes."
    assert (kept, removed, again) == (
        {"removed": []},
        "mm-one\n1 sessions removed\n",
        "0 sessions removed\n",
    )
    assert sorted(each.name for each in (folder / ROOT).iterdir() if each.is_dir()) == ["mm-two"]
    assert b"nft" not in (folder / ROOT / "index.sqlite").read_bytes()


def test_another_folder_can_be_selected(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "mine", record("mm_launch", session_id="mm-mine"))

    assert read(folder, "summarize", "--root", "mine")["sessionId"] == "mm-mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["last", "-n", "0"], "0 is not in the range 1<=x<=200"),
        (["last", "-n", "201"], "201 is not in the range 1<=x<=200"),
        (["last", "--session", "mm-nine"], "There is no session 'mm-nine'. The latest: mm-two, mm-one"),
        (["last", "--root", "nowhere"], "There is no folder nowhere: no session was recorded here."),
        (["search"], "Missing argument 'QUERY...'"),
        (["search", "x", "--limit", "101"], "101 is not in the range 1<=x<=100"),
        (
            ["search", "x", "--since", "soon"],
            "'soon' is neither a time (2026-01-15T12:00:00Z) nor a duration",
        ),
        (["search", "x", "--since", "999999999w"], "'999999999w' is neither a time"),
        (["search", "x", "--outcome", "maybe"], "'maybe' is not one of 'ok', 'failed'"),
        (["summarize", "../mm-one"], "There is no session '../mm-one'"),
        (["export", "mm-nine", "--out", "x"], "There is no session 'mm-nine'"),
        (["report", "..", "--out", "x"], "There is no session '..'"),
        (["report", "mm-one"], "Missing option '--out'"),
        (["prune"], "Say which sessions to remove: --before TIME, --keep N, or both."),
        (["prune", "--keep", "-1"], "-1 is not in the range x>=0"),
        (["learn"], "No such command 'learn'"),
    ],
)
def test_invalid_arguments_are_refused(folder: Path, words: list[str], said: str) -> None:
    assert said in check_refused(folder, *words)
