"""The store writes whole files only, one for each step, in the folder of the session."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.errors import FootlightError
from footlight.knowledge.index.search import SearchQuery
from footlight.knowledge.naming import parse_step_name, safe_name, session_name, step_name
from footlight.knowledge.step_files import KnowledgeError
from footlight.knowledge.steps import RawStep, RepositoryFacts, StepObservation, TypedField
from footlight.knowledge.store import KnowledgeStore, KnownSession
from tests.knowledge.schemas import schema_violations

AT = datetime(2026, 1, 15, 12, 34, 56, 789_000, tzinfo=UTC)
MS = timedelta(milliseconds=1)

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from footlight.knowledge.steps import RawStep, RepositoryFacts
from footlight.knowledge.store import KnowledgeStore
store = KnowledgeStore(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(50):
    at = datetime(2026, 1, 15, 12, 34, 56, 789_000, tzinfo=UTC)
    store.record(RawStep(tool="mm_click", session_id="mm-abcdef", at=at, ok=True), RepositoryFacts())
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "test-artifacts" / "llm-knowledge"


@pytest.fixture
def store(root: Path) -> Generator[KnowledgeStore]:
    store = KnowledgeStore(root)
    yield store
    store.close()


def step(tool: str = "mm_click", **given: Any) -> RawStep:
    return RawStep(**{"tool": tool, "session_id": "mm-abcdef", "at": AT, "ok": True, **given})


def files(root: Path) -> list[str]:
    """Return the files of the store without the index, which is derived from the others."""
    found = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return sorted(name for name in found if not name.startswith("index."))


@contextmanager
def read_only(folder: Path) -> Generator[None]:
    """Also for root, whom modes do not hold: nothing can be made in what is no folder."""
    kept = folder.with_name("kept")
    folder.rename(kept)
    folder.write_text("", "utf-8")
    yield
    folder.unlink()
    kept.rename(folder)


def test_step_is_written_to_the_steps_folder_of_its_session(store: KnowledgeStore, root: Path) -> None:
    """There is no folder for screenshots."""
    path = store.record(step(), RepositoryFacts())

    assert path == root / "mm-abcdef" / "steps" / "20260115T123456.789Z-mm_click.json"
    assert files(root) == [".gitignore", "mm-abcdef/steps/20260115T123456.789Z-mm_click.json"]
    assert not (root / "mm-abcdef" / "screenshots").exists()
    assert (root / ".gitignore").read_text("utf-8") == "*\n"
    record = json.loads(path.read_bytes())
    assert record == store.read(path)
    assert record["timestamp"] == "2026-01-15T12:34:56.789Z"
    assert schema_violations(record) == []


def test_nothing_is_created_before_the_first_step(store: KnowledgeStore, root: Path) -> None:
    assert (store.sessions(), store.list_last(5)) == ([], [])
    assert not root.exists()


def test_step_without_a_session_goes_to_mm_none(store: KnowledgeStore, root: Path) -> None:
    assert store.record(step("mm_launch", session_id=None, ok=False)).parents[1] == root / "mm-none"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_files_are_accessible_only_to_the_owner(store: KnowledgeStore, root: Path) -> None:
    path = store.record(step())

    modes = [stat.S_IMODE(each.stat().st_mode) for each in (root, path.parents[1], path.parent, path)]
    assert modes == [0o700, 0o700, 0o700, 0o600]


@pytest.mark.parametrize("hostile", ["../../x", "/etc", "..", "a/../../b", "C:\\x", "x" * 5_000, "\ud800abc"])
def test_hostile_session_id_cannot_leave_the_root_folder(
    store: KnowledgeStore, root: Path, hostile: str
) -> None:
    path = store.record(step(hostile, session_id=hostile))

    assert path.parent.parent.parent == root
    assert path.resolve().is_relative_to(root.resolve())
    assert {each.name for each in root.parent.iterdir()} == {"llm-knowledge"}
    assert [session.id for session in store.sessions()] == [path.parents[1].name]


def test_symbolic_link_in_place_of_a_session_folder_is_refused(
    store: KnowledgeStore, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    root.mkdir(parents=True)
    (root / "mm-abcdef").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(KnowledgeError, match="is a link or not a folder"):
        store.record(step())
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert store.remove("mm-abcdef") is False


def test_steps_of_one_session_get_distinct_timestamps(store: KnowledgeStore) -> None:
    """The record says the same as the name."""
    paths = [store.record(step(tool)) for tool in ("mm_click", "mm_click", "mm_type", "mm_click")]

    assert [path.name for path in paths] == [
        "20260115T123456.789Z-mm_click.json",
        "20260115T123456.790Z-mm_click.json",
        "20260115T123456.791Z-mm_type.json",
        "20260115T123456.792Z-mm_click.json",
    ]
    records = [store.read(path) or {} for path in paths]
    assert [record["timestamp"][-4:] for record in records] == ["789Z", "790Z", "791Z", "792Z"]


def test_sessions_may_have_steps_with_equal_timestamps(store: KnowledgeStore) -> None:
    paths = [store.record(step(session_id=id)) for id in ("mm-one", "mm-two")]

    assert {path.name for path in paths} == {"20260115T123456.789Z-mm_click.json"}


def test_concurrent_processes_write_separate_files(store: KnowledgeStore, root: Path) -> None:
    """Each step has its own file."""
    command = [sys.executable, "-c", WRITER, str(root)]
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.communicate("go\n", timeout=60)

    names = sorted(path.name for path in (root / "mm-abcdef" / "steps").iterdir())
    assert [writer.returncode for writer in writers] == [0, 0]
    assert names == [step_name(AT + number * MS, "mm_click") for number in range(100)]
    for name in names:
        record = store.read(root / "mm-abcdef" / "steps" / name) or {}
        assert record["timestamp"] == f"2026-01-15T12:34:{name[13:19]}Z"


def test_store_works_without_hard_links(
    store: KnowledgeStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    paths = [store.record(step()), KnowledgeStore(root).record(step())]

    assert [path.name[13:19] for path in paths] == ["56.789", "56.790"]
    assert all(store.read(path) for path in paths)
    assert len(files(root)) == 3


def test_unwritable_store_is_reported_and_recovers(store: KnowledgeStore, root: Path) -> None:
    first = store.record(step())

    with (
        read_only(first.parent),
        pytest.raises(KnowledgeError, match="steps is a link or not a folder") as caught,
    ):
        store.record(step())

    assert isinstance(caught.value, FootlightError)
    assert (
        caught.value.suggestion
        == "Check that the folder of the store can be written, and that its disk has space."
    )
    assert store.record(step()).name == "20260115T123456.791Z-mm_click.json"
    assert len(files(root)) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_full_disk_leaves_no_partial_file(
    store: KnowledgeStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = store.record(step()).parent
    real = os.open

    def on_full_disk(path: Any, flags: int, mode: int = 0o777) -> int:
        os.close(real(path, flags, mode))
        return real("/dev/full", os.O_WRONLY)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", on_full_disk)
        with pytest.raises(KnowledgeError, match="No space left on device"):
            store.record(step())

    assert [path.name for path in folder.iterdir()] == ["20260115T123456.789Z-mm_click.json"]


def test_removed_session_is_created_again(store: KnowledgeStore, root: Path) -> None:
    first = store.record(step())
    KnowledgeStore(root).remove("mm-abcdef")
    assert not first.exists()

    assert store.record(step()).exists()


def test_old_temporary_files_of_killed_writers_are_removed(store: KnowledgeStore, root: Path) -> None:
    folder = root / "mm-abcdef" / "steps"
    folder.mkdir(parents=True)
    old, new = folder / ".0123.tmp", folder / ".4567.tmp"
    for file in (old, new):
        file.write_text('{"schema', "utf-8")
    os.utime(old, (1, 1))

    path = store.record(step())

    assert {each.name for each in folder.iterdir()} == {path.name, ".4567.tmp"}
    assert [session.steps for session in store.sessions()] == [1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("20260115T123456.789Z-mm_click.json", b'{"schemaVersion": 1, "time'),
        ("20260115T123456.789Z-mm_click.json", b""),
        ("20260115T123456.789Z-mm_click.json", b"\xff\xfe\x00"),
        ("20260115T123456.789Z-mm_click.json", b"[" * 100_000),
        ("20260115T123456.789Z-mm_click.json", b"[1]"),
        ("20260115T123456.789Z-mm_click.json", b'{"schemaVersion": 2}'),
        ("package.json", b'{"schemaVersion": 1}'),
        ("20260231T123456.789Z-mm_click.json", b'{"schemaVersion": 1}'),
    ],
)
def test_invalid_step_files_are_ignored(
    store: KnowledgeStore, tmp_path: Path, name: str, content: bytes
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    assert store.read(file) is None
    assert store.read(tmp_path / "20260115T123456.000Z-gone.json") is None


def test_sessions_are_listed_latest_first(store: KnowledgeStore, root: Path) -> None:
    """The latest first; what is no session is none."""
    for id, minutes in (("mm-early", (0, 1)), ("mm-late", (5,)), ("mm-long", (2, 3, 4))):
        for minute in minutes:
            store.record(step(session_id=id, at=AT + timedelta(minutes=minute)))
    (root / "mm-empty" / "steps").mkdir(parents=True)
    (root / "notes.txt").write_text("", "utf-8")

    at = [AT + timedelta(minutes=minute) for minute in range(6)]
    assert store.sessions() == [
        KnownSession(id="mm-late", first=at[5], last=at[5], steps=1),
        KnownSession(id="mm-long", first=at[2], last=at[4], steps=3),
        KnownSession(id="mm-early", first=at[0], last=at[1], steps=2),
    ]


def test_prune_removes_old_sessions(store: KnowledgeStore, root: Path) -> None:
    for number in range(5):
        store.record(step(session_id=f"mm-{number}", at=AT + timedelta(days=number)))

    assert store.prune(before=AT + timedelta(days=1)) == ["mm-0"]
    assert store.prune(keep=2) == ["mm-2", "mm-1"]
    assert store.prune() == []
    assert [session.id for session in store.sessions()] == ["mm-4", "mm-3"]
    assert [row["sessionId"] for row in store.list_last(9)] == ["mm-4", "mm-3"]


def test_remove_keeps_files_that_are_not_steps(store: KnowledgeStore, root: Path, tmp_path: Path) -> None:
    path = store.record(step())
    notes = path.parents[1] / "notes.txt"
    notes.write_text("mine", "utf-8")

    assert store.remove("../../" + tmp_path.name) is False
    assert store.remove("mm-abcdef") is True
    assert (notes.read_text("utf-8"), path.exists()) == ("mine", False)


def test_export_writes_steps_in_time_order(store: KnowledgeStore, tmp_path: Path) -> None:
    """A line for each step, in the order of time."""
    paths = [store.record(step(at=AT + timedelta(seconds=second))) for second in (2, 0, 1)]
    (paths[0].parent / "20260115T123456.000Z-torn.json").write_text("{", "utf-8")
    to = tmp_path / "steps.jsonl"
    to.write_text("old", "utf-8")

    assert store.export("mm-abcdef", to) == 3
    lines = to.read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [store.read(path) for path in sorted(paths)]
    with pytest.raises(KnowledgeError, match=r"Session mm-other has no steps\. Known sessions: mm-abcdef"):
        store.export("mm-other", to)
    with pytest.raises(KnowledgeError, match="cannot be written"):
        store.export("mm-abcdef", tmp_path / "missing" / "steps.jsonl")


def test_store_answers_search_summary_and_prior_queries(store: KnowledgeStore) -> None:
    looked = StepObservation(
        state={"currentScreen": "home"}, test_ids=[{"testId": "send-button", "tag": "button", "text": "Send"}]
    )
    store.record(step("mm_describe_screen", observation=looked))
    store.record(step(input={"testId": "send-button"}, observation=looked, at=AT + MS))

    assert [row["tool"] for row in store.list_last(1)] == ["mm_click"]
    assert [row["tool"] for row in store.list_last(5, session_id="mm-abcdef")] == [
        "mm_click",
        "mm_describe_screen",
    ]
    assert store.list_last(5, session_id="mm-other") == []
    assert store.summarize()["sessionId"] == store.summarize("mm-abcdef")["sessionId"] == "mm-abcdef"
    assert len(store.search(SearchQuery(text="send button"), now=AT)) == 2
    assert store.prior("home", now=AT).as_json() != {}


def test_damaged_index_loses_no_step(store: KnowledgeStore, root: Path) -> None:
    store.record(step())
    store.close()
    for file in root.glob("index.sqlite*"):
        file.write_bytes(b"no database" * 1_000)

    store.record(step())

    assert len(store.list_last(5)) == 2


# Screenshots


def test_screenshot_paths_are_unique_in_the_session_folder(store: KnowledgeStore, root: Path) -> None:
    """The folder is made for it; no two are the same."""
    paths = [store.screenshot_path("mm-abcdef", "after login", AT) for _ in range(2)]

    folder = root / "mm-abcdef" / "screenshots"
    assert paths == [
        folder / "20260115T123456.789Z-after_login.png",
        folder / "20260115T123456.790Z-after_login.png",
    ]
    assert folder.is_dir()
    assert list(folder.iterdir()) == []
    paths[0].write_bytes(b"")
    assert KnowledgeStore(root).screenshot_path("mm-abcdef", "after login", AT) == paths[1]


def test_secret_is_redacted_from_screenshot_names(store: KnowledgeStore) -> None:
    store.record(
        step("mm_type", input={"a11yRef": "e1", "text": "hunter2!"}, field=TypedField(type="password"))
    )

    assert store.screenshot_path("mm-abcdef", "hunter2!", AT).name == "20260115T123456.789Z-REDACTED.png"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("after-login.v2", "after-login.v2"),
        ("Nach dem Übergang 日本", "Nach_dem_Übergang_日本"),
        ("../../etc/passwd", "etc_passwd"),
        ("", "unnamed"),
        ("...", "unnamed"),
        ("\ud800\0", "unnamed"),
        ("CON", "_CON"),
        ("nul.png", "_nul.png"),
        ("console", "console"),
        ("x" * 300, "x" * 80),
        ("日" * 300, "日" * 26),
    ],
)
def test_names_are_made_safe_for_file_systems(name: str, kept: str) -> None:
    assert safe_name(name) == kept


@given(name=st.text())
def test_any_name_becomes_a_valid_file_name(name: str) -> None:
    kept = safe_name(name)

    assert 1 <= len(kept.encode()) <= 81
    assert not set(kept) & set('/\\:*?"<>| \0')
    assert kept[0] not in ".-"
    assert kept[-1] not in ". "
    assert safe_name(kept) == kept


@given(at=st.datetimes(), tool=st.text())
def test_step_file_name_encodes_its_timestamp(at: datetime, tool: str) -> None:
    moment = at.replace(microsecond=at.microsecond // 1000 * 1000, tzinfo=UTC)

    assert parse_step_name(step_name(moment, tool)) == moment


@given(id=st.none() | st.text())
def test_normalized_session_name_is_stable(id: str | None) -> None:
    assert session_name(session_name(id)) == session_name(id)
    assert len(session_name(id)) >= 4
