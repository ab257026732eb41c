"""The index follows the files, whoever writes them, and contains nothing else."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.app_errors import DependenciesMissingError
from footlight.knowledge.index import database
from footlight.knowledge.index.index import Index
from footlight.knowledge.index.search import SearchQuery, search
from footlight.knowledge.rows import StepRow, StepTarget, make_row
from tests.knowledge.recorded import record, space_by_seconds, write
from tests.tiers import examples

NOW = datetime(2026, 1, 16, tzinfo=UTC)

THREE = space_by_seconds(
    [
        record("mm_launch", screen="unlock"),
        record("mm_click", screen="home", a11yRef="e3"),
        record("mm_click", screen="home", ok=False, testId="send-nft"),
    ]
)


def tools(index: Index) -> list[str]:
    return [row.tool for row in index.list_session()]


def find_timestamps(index: Index, text: str) -> list[str]:
    return [hit.timestamp for hit in search(index, SearchQuery(text=text), now=NOW)]


def files_of(root: Path) -> bytes:
    """Return all that the index has written."""
    return b"".join(each.read_bytes() for each in root.glob("index.sqlite*"))


def test_added_step_is_available_at_once(tmp_path: Path) -> None:
    """With what was known when it was made: the screen before, and what the ref meant."""
    index = Index(tmp_path)
    for path, each in zip(write(tmp_path, *THREE), THREE, strict=True):
        index.add(path, each)
    clicked = index.list_session()[1]

    assert index.size == 3
    assert (clicked.before, clicked.screen, clicked.next_screen) == ("unlock", "home", "home")
    assert clicked.target == StepTarget(ref="e3", role="button", name="Unlock")


def test_rows_are_the_same_whether_added_or_read_from_files(tmp_path: Path) -> None:
    index = Index(tmp_path)
    for path, each in zip(write(tmp_path, *THREE), THREE, strict=True):
        index.add(path, each)
    added = index.list_session()
    index.close()
    for file in tmp_path.glob("index.sqlite*"):
        file.unlink()

    assert Index(tmp_path).list_session() == added


def test_queries_see_files_written_or_removed_by_others(tmp_path: Path) -> None:
    index = Index(tmp_path)
    paths = write(tmp_path, *THREE)
    before = tools(index)
    write(tmp_path, record("mm_type", at=NOW, testId="amount"))
    paths[0].unlink()

    after = tools(index)

    assert before == ["mm_launch", "mm_click", "mm_click"]
    assert after == ["mm_click", "mm_click", "mm_type"]


def test_replaced_step_file_is_read_again(tmp_path: Path) -> None:
    index = Index(tmp_path)
    write(tmp_path, record("mm_click", testId="first-thought"))
    before = find_timestamps(index, "thought")
    write(tmp_path, record("mm_click", testId="second-guess"))

    assert (len(before), find_timestamps(index, "thought"), len(find_timestamps(index, "guess"))) == (
        1,
        [],
        1,
    )


def test_unchanged_sessions_are_not_read_again(tmp_path: Path) -> None:
    """Their files are made unreadable here, which nobody notices."""
    write(tmp_path, *THREE)
    steps = tmp_path / "mm-one" / "steps"
    settled = (NOW - timedelta(days=1)).timestamp()
    os.utime(steps, (settled, settled))
    index = Index(tmp_path)
    index.refresh()
    for file in steps.iterdir():
        file.write_text("torn")
    os.utime(steps, (settled, settled))

    assert len(tools(index)) == 3


def test_torn_and_foreign_files_are_ignored(tmp_path: Path) -> None:
    steps = write(tmp_path, THREE[0])[0].parent
    whole = json.dumps(THREE[1])
    torn = steps / "20260115T120001.000Z-mm_click.json"
    torn.write_text(whole[:200])
    (steps / "list.json").write_text("[1, 2]")
    (steps / "other-version.json").write_text(json.dumps({**THREE[1], "schemaVersion": 2}))
    (steps / "deep.json").write_text("[" * 100_000)
    (steps / ".half-written.json").write_text("{")
    (steps / "notes.txt").write_text("mine")
    (tmp_path / "no-session").mkdir()
    index = Index(tmp_path)
    before = tools(index)
    torn.write_text(whole)

    assert (before, tools(index)) == (["mm_launch"], ["mm_launch", "mm_click"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
PATHS = [
    ("observation",),
    ("observation", "state"),
    ("observation", "state", "currentScreen"),
    ("observation", "testIds"),
    ("observation", "a11y", "nodes"),
    ("tool", "name"),
    ("tool", "target"),
    ("tool", "input"),
    ("tool", "textLength"),
    ("timing", "durationMs"),
    ("outcome", "error"),
    ("timestamp",),
    ("schemaVersion",),
]


@examples(200)
@given(
    path=st.sampled_from(PATHS),
    value=JSON | st.lists(st.dictionaries(st.sampled_from(["testId", "role"]), JSON)),
)
def test_any_malformed_record_gives_a_row_or_none(path: tuple[str, ...], value: Any) -> None:
    """And a row can be kept."""
    whole: Any = record("mm_click", testId="a")
    part = whole
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value

    row = make_row(whole, session_id="mm-one")

    assert row is None or isinstance(row, StepRow)


def test_lone_surrogates_are_stored_and_found(tmp_path: Path) -> None:
    """JSON can have them, a database cannot."""
    write(tmp_path, record("mm_click", screen="ho\ud800me", testId="pay\udfff-now", message="\ud83d"))

    index = Index(tmp_path)

    assert [row.target for row in index.list_session()] == [StepTarget(test_id="pay?-now")]
    assert len(find_timestamps(index, "now \ud800")) == 1


@pytest.mark.parametrize("damage", ["nonsense", "cut", "table", "version", "empty", "gone"])
def test_damaged_index_is_rebuilt(tmp_path: Path, damage: str) -> None:
    """It is derived: nothing is lost with it."""
    write(tmp_path, *THREE)
    index = Index(tmp_path)
    before = index.list_session()
    index.close()
    file = tmp_path / "index.sqlite"
    match damage:
        case "nonsense":
            file.write_bytes(b"no database at all" * 1000)
        case "cut":
            file.write_bytes(file.read_bytes()[:6000])
        case "empty":
            file.write_bytes(b"")
        case "gone":
            file.unlink()
        case _:
            with sqlite3.connect(file) as connection:
                connection.execute("DROP TABLE looks" if damage == "table" else "PRAGMA user_version = 999")
            connection.close()

    again = Index(tmp_path)

    assert (again.list_session(), again.is_kept, len(find_timestamps(again, "nft"))) == (before, True, 1)


def test_index_removed_while_open_is_rebuilt(tmp_path: Path) -> None:
    write(tmp_path, *THREE)
    index = Index(tmp_path)
    before = index.list_session()
    for file in tmp_path.glob("index.sqlite*"):
        file.unlink()

    assert index.list_session() == before
    assert (tmp_path / "index.sqlite").exists()


def test_index_damaged_while_open_is_rebuilt(tmp_path: Path) -> None:
    write(tmp_path, *THREE)
    index = Index(tmp_path)
    before = index.list_session()
    other = Index(tmp_path)
    other.refresh()
    other.close()
    index._connection.execute("DROP TABLE looks")  # type: ignore[union-attr]

    assert index.list_session() == before


def test_unwritable_index_file_is_replaced_by_an_index_in_memory(tmp_path: Path) -> None:
    """A folder of its name is in the way: root, who may run the tests, can write anywhere else."""
    paths = write(tmp_path, *THREE[:2])
    (tmp_path / "index.sqlite").mkdir()
    index = Index(tmp_path)
    first = tools(index)
    index.add(write(tmp_path, THREE[2])[0], THREE[2])

    assert (first, tools(index), index.is_kept) == (["mm_launch", "mm_click"], [*first, "mm_click"], False)
    assert len(find_timestamps(index, "nft")) == 1
    assert all(path.exists() for path in paths)


def test_query_creates_no_folder_and_finds_one_created_later(tmp_path: Path) -> None:
    root = tmp_path / "later"
    index = Index(root)
    first = index.list_session()
    exists = root.exists()
    write(root, *THREE)

    assert (first, exists, len(index.list_session()), index.is_kept) == ([], False, 3, True)


def test_missing_full_text_search_error_names_the_sqlite_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "FULL_TEXT", "fts_of_another_build")

    with pytest.raises(
        DependenciesMissingError, match=f"SQLite {sqlite3.sqlite_version} .* without full-text"
    ):
        Index(tmp_path).refresh()


def test_text_of_removed_files_is_erased_from_the_index(tmp_path: Path) -> None:
    """Somebody may have removed it for what it says."""
    kept, removed = THREE[0], record("mm_click", session_id="mm-two", at=NOW, testId="xylophone-zebra")
    write(tmp_path, kept, removed)
    index = Index(tmp_path)
    before = find_timestamps(index, "xylophone")
    there = b"xylophone" in files_of(tmp_path)
    shutil.rmtree(tmp_path / "mm-two")

    after = find_timestamps(index, "xylophone"), index.words_starting_with("xylo", 5)
    index.close()

    assert (len(before), there, after) == (1, True, ([], []))
    assert b"xylophone" not in files_of(tmp_path)


def test_index_contains_only_searchable_text_from_the_files(tmp_path: Path) -> None:
    """What was typed is not in a record, and input that nobody searches is not in the index."""
    write(tmp_path, record("mm_launch", input={"fixture": {"vault": "TOPSECRET"}, "text": "TOPSECRET"}))
    index = Index(tmp_path)
    index.refresh()
    index.close()

    assert b"TOPSECRET" not in files_of(tmp_path)
    assert b"topsecret" not in files_of(tmp_path)


def test_steps_of_the_same_millisecond_are_all_listed(tmp_path: Path) -> None:
    for number in range(50):
        folder = tmp_path / f"mm-{number:03}"
        write(folder.parent, record("mm_click", session_id=folder.name, testId=f"id-{number}"))

    index = Index(tmp_path)

    assert len({row.session_id for row in index.list_latest(50)}) == 50


_WRITER = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from footlight.knowledge.index.index import Index
from footlight.knowledge.index.search import SearchQuery, search
from tests.knowledge.recorded import START, record, write

root, name = Path(sys.argv[1]), sys.argv[2]
index = Index(root)
print("ready", flush=True)
sys.stdin.readline()
for number in range(150):
    at = START + timedelta(seconds=number)
    each = record("mm_click", at=at, session_id=name, testId=f"{name}-{number}")
    index.add(write(root, each)[0], each)
    if number % 10 == 0:
        mine = index.list_latest(200, session_id=name)
        assert len(mine) == number + 1, (len(mine), number)
        search(index, SearchQuery(text="send button"), now=datetime.now(UTC))
print(index.size >= 150, flush=True)
"""


def test_two_processes_can_write_and_query_at_once(tmp_path: Path) -> None:
    """Both begin with no index: one makes it, and neither is refused."""
    tmp_path = tmp_path / "root"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for name in ("mm-one", "mm-two")
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    reported = [process.communicate(timeout=100) for process in processes]

    index = Index(tmp_path)
    assert reported == [("True\n", "")] * 2
    assert (index.size, index.is_kept) == (300, True)
    assert [index.count_steps(name) for name in ("mm-one", "mm-two")] == [150, 150]
