"""The recorded facts about a repository, which cannot delay a session."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import psutil
import pytest

from footlight.knowledge.facts import read_repository_facts
from footlight.knowledge.steps import RepositoryFacts
from tests.processes import wait_until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(os.name == "nt", reason="the programs here are shell scripts"),
    pytest.mark.skipif(shutil.which("git") is None, reason="there is no git"),
]

GIT = shutil.which("git") or "git"
HANGING = "tail -f /dev/null & wait"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that the test's programs find: put there what there is to be."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("sh", "tail"):
        (folder / name).symlink_to(shutil.which(name) or "")
    (folder / "git").symlink_to(GIT)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--initial-branch", "feature/one")
    (folder / "file").write_text("1", "utf-8")
    git(folder, "add", "file")
    git(folder, "commit", "--message", "First")
    return folder


def git(folder: Path, *arguments: str) -> str:
    own = ("-c", "user.name=Tester", "-c", "user.email=tester@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(
        [GIT, *own, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).unlink(missing_ok=True)
    (folder / name).write_text(f"#!{folder}/sh\n{script}\n", "utf-8")
    (folder / name).chmod(0o700)


async def test_facts_of_a_repository_are_read(programs: Path, repository: Path) -> None:
    program(programs, "node", "echo v24.1.0")
    program(programs, "yarn", "echo 4.9.1")

    assert await read_repository_facts(repository) == RepositoryFacts(
        environment={"platform": sys.platform, "nodeVersion": "v24.1.0", "yarnVersion": "4.9.1"},
        git={"branch": "feature/one", "commit": git(repository, "rev-parse", "HEAD").strip(), "dirty": False},
    )


async def test_changed_working_tree_is_dirty(programs: Path, repository: Path) -> None:
    (repository / "new").write_text("", "utf-8")

    assert (await read_repository_facts(repository)).git["dirty"] is True


async def test_a_detached_head_has_no_branch(programs: Path, repository: Path) -> None:
    git(repository, "checkout", "--detach")

    assert set((await read_repository_facts(repository)).git) == {"commit", "dirty"}


async def test_repository_without_a_commit_has_only_a_branch(programs: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--initial-branch", "main", "empty")

    assert (await read_repository_facts(tmp_path / "empty")).git == {"branch": "main", "dirty": False}


async def test_missing_repository_or_programs_leave_facts_out(programs: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    nothing = RepositoryFacts(environment={"platform": sys.platform})

    assert await read_repository_facts(plain) == nothing
    (programs / "git").unlink()
    assert await read_repository_facts(plain) == nothing
    assert await read_repository_facts(tmp_path / "missing") == nothing


async def test_failing_programs_leave_facts_out(programs: Path, tmp_path: Path) -> None:
    program(programs, "node", "echo v24.1.0; exit 1")
    program(programs, "yarn", "echo broken >&2; exit 127")
    program(programs, "git", "exit 128")

    assert await read_repository_facts(tmp_path) == RepositoryFacts(environment={"platform": sys.platform})


async def test_hanging_programs_are_killed_with_their_children(programs: Path, tmp_path: Path) -> None:
    """With their children."""
    for name in ("git", "node"):
        program(programs, name, f"echo $$ > {tmp_path}/$$.pid; {HANGING}")
    program(programs, "yarn", "echo 4.9.1")

    with anyio.fail_after(20):
        facts = await read_repository_facts(tmp_path, timeout_s=1)

    assert facts == RepositoryFacts(environment={"platform": sys.platform, "yarnVersion": "4.9.1"})
    groups = _groups(tmp_path)
    assert len(groups) == 4
    await wait_until(lambda: not _alive_in(groups))


def _alive_in(groups: set[int]) -> list[psutil.Process]:
    """Return the processes of some groups. A dead one that its system has not collected yet is left out."""
    alive = [each for each in psutil.process_iter(["status"]) if each.info["status"] != psutil.STATUS_ZOMBIE]
    return [each for each in alive if _group(each.pid) in groups]


def _groups(folder: Path) -> set[int]:
    return {int(file.stem) for file in folder.glob("*.pid")}


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


async def test_git_ignores_the_git_dir_variable(
    programs: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))

    assert (await read_repository_facts(repository)).git["branch"] == "feature/one"
