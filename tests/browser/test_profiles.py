"""Profiles on disk: their names, locks, creation and deletion."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from footlight.browser.launch.launch_options import LaunchOptions
from footlight.browser.launch.profile_lock import find_browser_holder
from footlight.browser.launch.profiles import ProfileInfo, ProfileLockHolder, ProfileStore
from footlight.errors import InvalidParameterError, ResourceExhaustedError, SessionNotFoundError

HOLDER = """
import sys
from pathlib import Path
from footlight.browser.launch.profiles import ProfileStore
lock = ProfileStore(Path(sys.argv[2])).lock(sys.argv[3])
print("locked", flush=True)
sys.stdin.read()
"""
"""Its first argument is the command that it says it is."""


@pytest.fixture
def store(tmp_path: Path) -> ProfileStore:
    return ProfileStore(tmp_path / "sessions")


def make_profile(store: ProfileStore, name: str, options: LaunchOptions | None = None) -> Path:
    """Return a profile that was opened once."""
    with store.lock(name):
        store.save_options(name, options or LaunchOptions())
    folder = store.folder(name)
    (folder / "Default").mkdir()
    (folder / "Default" / "Cookies").write_text("c")
    return folder


@contextmanager
def lock_elsewhere(store: ProfileStore, name: str) -> Generator[subprocess.Popen[str]]:
    """Let another process lock the profile until it is killed."""
    directory = str(store.folder(name).parent)
    command = [sys.executable, "-c", HOLDER, "serve", directory, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            yield process
        finally:
            process.kill()


def entries(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# Names


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../x", "a/b", "a\\b", "/etc", "C:x", "a..b", ".hidden", "trailing.", "x\n"),
        *("%2e%2e", "a b", "ä", "a\0b", "x" * 65, "~", "${HOME}", "a:b", "*"),
    ],
)
def test_invalid_profile_name_is_refused(store: ProfileStore, tmp_path: Path, name: str) -> None:
    """Nothing is made, and nothing is deleted, by such a name."""
    for use in (store.check_name, store.folder, store.lock, store.delete, store.find):
        with pytest.raises(InvalidParameterError, match=r"^sessionName: .*must be 1 to 64") as refused:
            use(name)
        assert refused.value.details == {"parameter": "sessionName"}
    assert entries(tmp_path) == []


@pytest.mark.parametrize("name", ["CON", "nul", "Aux.txt", "COM1", "lpt9.log.gz"])
def test_windows_device_name_is_refused(store: ProfileStore, name: str) -> None:
    with pytest.raises(InvalidParameterError, match="device on Windows"):
        store.check_name(name)


@pytest.mark.parametrize("name", ["p4n-test", "a", "A.b_c-1", "-x", "console", "com10", "x" * 64])
def test_valid_name_is_the_folder_name(store: ProfileStore, tmp_path: Path, name: str) -> None:
    assert store.folder(name) == tmp_path / "sessions" / name


def test_names_that_differ_only_in_case_are_refused(store: ProfileStore) -> None:
    """Some file systems would take them for one."""
    make_profile(store, "Shop")

    with pytest.raises(
        InvalidParameterError, match="shop differs from the profile Shop only in upper and lower"
    ):
        store.check_name("shop")
    store.check_name("Shop")


def test_symbolic_link_is_not_a_profile(store: ProfileStore, tmp_path: Path) -> None:
    """Whatever it leads to is neither opened nor removed."""
    outside = tmp_path / "outside"
    (outside / "Default").mkdir(parents=True)
    make_profile(store, "real")
    link = tmp_path / "sessions" / "link"
    link.symlink_to(outside)

    for use in (store.folder, store.lock, store.delete):
        with pytest.raises(InvalidParameterError, match="link is a link"):
            use("link")
    assert [info.name for info in store.list()] == ["real"]
    assert entries(outside) == ["Default"]
    assert link.is_symlink()


def test_unrelated_folder_is_not_a_profile(store: ProfileStore, tmp_path: Path) -> None:
    """The folder of the profiles may be one in which other things are kept."""
    papers = tmp_path / "sessions" / "papers"
    papers.mkdir(parents=True)
    (papers / "thesis.txt").write_text("…")

    with pytest.raises(InvalidParameterError, match="the folder papers among the profiles is not a profile"):
        store.delete("papers")
    assert store.list() == []
    assert entries(papers) == ["thesis.txt"]


# Ports


def test_port_is_derived_from_the_name(tmp_path: Path) -> None:
    """These numbers are documented, so they stay."""
    here, there = ProfileStore(tmp_path / "here"), ProfileStore(tmp_path / "there")

    assert [here.port_of(name) for name in ("p4n-test", "shop", "a")] == [20118, 28012, 26152]
    assert here.port_of("shop") == there.port_of("shop")
    assert here.below(".x").port_of("shop") != here.port_of("shop")
    assert all(20_000 <= here.port_of(f"n{number}") <= 29_999 for number in range(2_000))


# What is kept


def test_launch_options_of_a_profile_are_saved(store: ProfileStore) -> None:
    before = datetime.now(UTC)
    options = LaunchOptions(stealth=True, viewport=(800, 600), locale="de-DE", headless=False)
    make_profile(store, "shop", options)

    found = ProfileStore(store.folder("shop").parent).find("shop")

    assert found is not None
    assert before <= found.created == found.last_used <= datetime.now(UTC)
    assert found == ProfileInfo(
        name="shop", port=28012, created=found.created, last_used=found.last_used, options=options
    )
    assert store.load_options("shop") == options


def test_creation_time_of_a_profile_is_kept(store: ProfileStore) -> None:
    make_profile(store, "shop")
    first = store.find("shop")
    store.save_options("shop", LaunchOptions(stealth=True))
    second = store.find("shop")

    assert first is not None
    assert second is not None
    assert first.created == second.created < second.last_used


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"options": 7}', '{"options": {"preset": "?"}}', '{"created": "x"}']
)
def test_profile_with_damaged_metadata_is_still_listed(store: ProfileStore, text: str) -> None:
    folder = make_profile(store, "shop", LaunchOptions(stealth=True))
    (folder.parent / ".shop.json").write_text(text)

    assert [(info.name, info.options) for info in store.list()] == [("shop", LaunchOptions())]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX modes")
def test_profile_is_private_to_the_user(store: ProfileStore) -> None:
    folder = make_profile(store, "shop")

    modes = [path.stat().st_mode & 0o777 for path in (folder.parent, folder, folder.parent / ".shop.json")]

    assert modes == [0o700, 0o700, 0o600]


def test_principals_have_separate_profiles(store: ProfileStore) -> None:
    make_profile(store, "mine")
    theirs = store.below(".0123")
    make_profile(theirs, "theirs")

    assert [info.name for info in store.list()] == ["mine"]
    assert [info.name for info in theirs.list()] == ["theirs"]
    assert store.below("") is store


# Who has it


def test_profile_lock_is_exclusive(store: ProfileStore) -> None:
    """Lessons 2.0, 16: whoever takes it twice is refused, and does not wait for itself."""
    profile_in_use_error = f"profile shop is in use by process {os.getpid()} "
    with store.lock("shop"), pytest.raises(ResourceExhaustedError, match=profile_in_use_error):
        store.lock("shop")
    lock = store.lock("shop")
    lock.release()
    lock.release()

    assert entries(store.folder("shop").parent) == []


def test_profile_in_use_error_names_the_holder(store: ProfileStore) -> None:
    """Lessons 2.0: "profile in use" did not say by whom."""
    make_profile(store, "p4n-test")
    before = datetime.now(UTC).replace(microsecond=0)
    with lock_elsewhere(store, "p4n-test") as process:
        with pytest.raises(ResourceExhaustedError) as refused:
            store.lock("p4n-test")
        found = store.find("p4n-test")

    match = re.fullmatch(
        r"profile p4n-test is in use by process (\d+) \(footlight serve\) since (.*) UTC", str(refused.value)
    )
    assert match is not None
    assert int(match[1]) == process.pid
    assert before <= datetime.fromisoformat(match[2]).replace(tzinfo=UTC) <= datetime.now(UTC)
    host = socket.gethostname()
    assert refused.value.details == {"sessionName": "p4n-test", "pid": process.pid, "host": host}
    assert found is not None
    assert found.held_by is not None
    assert found.held_by == ProfileLockHolder(
        pid=process.pid, host=host, command="footlight serve", since=found.held_by.since
    )


def test_lock_of_a_killed_process_is_released(store: ProfileStore) -> None:
    make_profile(store, "shop")
    with lock_elsewhere(store, "shop") as process:
        process.kill()
        process.wait()

        found = store.find("shop")
        assert found is not None
        assert found.held_by is None
        assert (store.folder("shop").parent / ".shop.lock").exists()
        with store.lock("shop"):
            held = store.find("shop")
    assert held is not None
    assert held.held_by is not None
    assert held.held_by.pid == os.getpid()


def test_reused_process_id_does_not_hold_the_profile(store: ProfileStore) -> None:
    make_profile(store, "shop")
    host, long_ago = socket.gethostname(), datetime(2001, 1, 1, tzinfo=UTC)
    reported = {"pid": os.getpid(), "host": host, "command": "footlight", "since": long_ago.isoformat()}
    lock = store.folder("shop").parent / ".shop.lock"
    lock.write_text(json.dumps(reported | {"started": long_ago.timestamp()}))
    assert psutil.Process().create_time() > long_ago.timestamp()

    found = store.find("shop")

    assert found is not None
    assert found.held_by is None


def test_foreign_browser_in_a_profile_is_detected(store: ProfileStore) -> None:
    """By the mark that Chromium leaves in its profile."""
    folder = make_profile(store, "shop")
    mark = folder / "SingletonLock"
    mark.symlink_to(f"{socket.gethostname()}-{os.getpid()}")
    ours = find_browser_holder(folder)
    mark.unlink()
    mark.symlink_to("another.example-7")
    elsewhere = find_browser_holder(folder)

    assert ours is not None
    assert elsewhere is not None
    assert (ours.pid, ours.here, elsewhere.pid, elsewhere.host, elsewhere.here) == (
        os.getpid(),
        True,
        7,
        "another.example",
        False,
    )
    with pytest.raises(
        ResourceExhaustedError, match=r"in use by process 7 \(chromium\) on another\.example since"
    ):
        store.delete("shop")


def test_lock_of_a_crashed_browser_is_ignored(store: ProfileStore) -> None:
    folder = make_profile(store, "shop")
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    (folder / "SingletonLock").symlink_to(f"{socket.gethostname()}-{process.pid}")

    assert find_browser_holder(folder) is None


# Deleting


def test_deleted_profile_leaves_no_files(store: ProfileStore, tmp_path: Path) -> None:
    """Lessons 2.0: leftover directories. What a link in it leads to stays."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("k")
    folder = make_profile(store, "shop")
    make_profile(store, "shop.other")
    (folder / "way-out").symlink_to(outside)
    (folder.parent / ".shop.deleted-7").mkdir()

    store.delete("shop")

    assert entries(tmp_path / "sessions") == [
        ".shop.other.json",
        "shop.other",
        "shop.other/Default",
        "shop.other/Default/Cookies",
    ]
    assert entries(outside) == ["kept"]


def test_missing_profile_cannot_be_deleted(store: ProfileStore, tmp_path: Path) -> None:
    with pytest.raises(SessionNotFoundError, match='There is no profile "shop"'):
        store.delete("shop")
    assert entries(tmp_path / "sessions") == []


def test_a_profile_in_use_is_not_deleted(store: ProfileStore) -> None:
    folder = make_profile(store, "shop")
    profile_in_use_error = "profile shop is in use by process"
    with lock_elsewhere(store, "shop"), pytest.raises(ResourceExhaustedError, match=profile_in_use_error):
        store.delete("shop")
    assert (folder / "Default" / "Cookies").exists()
