"""Building the extension from small repositories, with a fake `yarn` in PATH."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from footlight.app_errors import BuildFailedError, DependenciesMissingError, InvalidConfigError
from footlight.apps.metamask.build import DIST, build
from footlight.apps.process import PIECE_BYTES
from tests.processes import descendants_of

pytestmark = pytest.mark.anyio

WAIT_SECONDS = 20.0
MANIFEST = '{"name": "Wallet", "version": "1.0", "manifest_version": 3}'
MAKE = f"mkdir -p dist/chrome\necho '{MANIFEST}' > dist/chrome/manifest.json\n"
HANG = "echo $$ $! > started\nwait\n"
"""Says through a named pipe who runs; the process before it is a grandchild."""

Yarn = Callable[[str], None]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "a repository"
    (root / "node_modules").mkdir(parents=True)
    (root / "package.json").write_text('{"scripts": {"build:test": "sh build.sh"}}')
    return root


@pytest.fixture
def yarn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Yarn:
    """Puts a `yarn` first in PATH, which does this."""
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)

    def place(script: str) -> None:
        (tools / "yarn").write_text(f"#!/bin/sh\necho ran >> runs\n{script}")
        (tools / "yarn").chmod(0o755)

    return place


async def test_extension_is_built_by_yarn_in_the_repository(repository: Path, yarn: Yarn) -> None:
    yarn(f'echo "$@" > asked\n{MAKE}')

    assert await build(repository) == repository / DIST == repository / "dist/chrome"
    assert (repository / "asked").read_text() == "build:test\n"


async def test_existing_build_is_reused_unless_forced(repository: Path, yarn: Yarn) -> None:
    yarn(MAKE)

    folders = [await build(repository), await build(repository), await build(repository, force=True)]

    assert folders == [repository / DIST] * 3
    assert _runs(repository) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
async def test_build_whose_process_was_killed_is_built_again(repository: Path, yarn: Yarn) -> None:
    yarn(f"{MAKE}kill -9 $BUILDER\n")
    script = (
        "import asyncio, os, pathlib, sys\n"
        "from footlight.apps.metamask.build import build\n"
        "os.environ['BUILDER'] = str(os.getpid())\n"
        "asyncio.run(build(pathlib.Path(sys.argv[1])))"
    )
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", script, repository)
    assert await killed.wait() < 0
    assert (repository / DIST / "manifest.json").exists()

    yarn(MAKE)
    folders = [await build(repository), await build(repository)]

    assert folders == [repository / DIST] * 2
    assert _runs(repository) == 2


async def test_existing_build_needs_no_yarn(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / DIST).mkdir(parents=True)
    (repository / DIST / "manifest.json").write_text(MANIFEST)
    shutil.rmtree(repository / "node_modules")
    monkeypatch.setenv("PATH", "")

    assert await build(repository) == repository / DIST


@pytest.mark.parametrize("gone", ["package.json", "node_modules"])
async def test_missing_dependency_is_named(repository: Path, yarn: Yarn, gone: str) -> None:
    yarn(MAKE)
    (repository / gone).rename(repository / "elsewhere")

    with pytest.raises(DependenciesMissingError) as raised:
        await build(repository)

    assert raised.value.message == f"there is no {gone} in {repository}"
    assert raised.value.details == {"missing": gone}
    assert _runs(repository) == 0


async def test_missing_yarn_error_explains_installation(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(repository))

    with pytest.raises(DependenciesMissingError) as raised:
        await build(repository)

    assert (raised.value.message, raised.value.details) == ("yarn is not in PATH", {"missing": "yarn"})
    assert raised.value.suggestion == "Install Node.js, then run `corepack enable`."


async def test_unknown_build_type_is_refused(repository: Path, yarn: Yarn) -> None:
    yarn(MAKE)

    with pytest.raises(InvalidConfigError, match=r"^buildType must be one of build:test, not --cwd=/$"):
        await build(repository, build_type="--cwd=/")

    assert _runs(repository) == 0


async def test_failed_build_error_contains_last_output_lines(repository: Path, yarn: Yarn) -> None:
    yarn(
        "for n in $(seq 1 100); do echo line $n; done\nprintf '\\033[31mno such module\\033[0m' >&2\nexit 3\n"
    )

    with pytest.raises(BuildFailedError) as raised:
        await build(repository)

    lines = raised.value.details.pop("output").split("\n")
    assert raised.value.message == "yarn build:test ended with exit code 3"
    assert raised.value.details == {"exitCode": 3}
    assert lines == [*(f"line {number}" for number in range(62, 101)), "no such module"]


async def test_successful_exit_without_manifest_is_a_failed_build(repository: Path, yarn: Yarn) -> None:
    yarn("exit 0\n")

    with pytest.raises(BuildFailedError, match=r"succeeded, but did not create dist/chrome/manifest\.json$"):
        await build(repository)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [("{", r"is not valid JSON"), ("{}", r"it has no name$"), ('{"name": "Wallet"}', r"it has no version$")],
)
async def test_a_build_with_a_broken_manifest_has_failed(
    repository: Path, yarn: Yarn, manifest: str, said: str
) -> None:
    yarn(MAKE.replace(MANIFEST, manifest))

    with pytest.raises(BuildFailedError, match=f"^yarn build:test succeeded, but .*{said}"):
        await build(repository)

    # It is not taken for built, unless somebody else puts it there.
    (repository / DIST / "manifest.json").write_text(manifest)
    with pytest.raises(InvalidConfigError, match=said) as raised:
        await build(repository)
    assert raised.value.suggestion == "Build it again, with force: true."


@pytest.mark.parametrize("force", [False, True])
async def test_path_that_no_browser_accepts_is_refused_before_the_build(
    repository: Path, yarn: Yarn, force: bool
) -> None:
    yarn(MAKE)
    moved = repository.with_name("a, b")
    shutil.copytree(repository, moved)
    (moved / DIST).mkdir(parents=True)
    (moved / DIST / "manifest.json").write_text(MANIFEST)

    with pytest.raises(InvalidConfigError, match="has a comma in its path") as raised:
        await build(moved, force=force)

    assert raised.value.suggestion == "Move the extension, or give a copy of it elsewhere."
    assert (moved / DIST / "manifest.json").exists()
    assert _runs(moved) == 0


async def test_leftovers_of_failed_build_are_not_reused(repository: Path, yarn: Yarn) -> None:
    yarn(f"{MAKE}exit 1\n")
    with pytest.raises(BuildFailedError):
        await build(repository)

    yarn(MAKE)
    await build(repository)

    assert _runs(repository) == 2


async def test_previous_build_survives_an_early_build_failure(repository: Path, yarn: Yarn) -> None:
    yarn(MAKE)
    await build(repository)
    yarn("exit 1\n")
    with pytest.raises(BuildFailedError):
        await build(repository, force=True)

    assert await build(repository) == repository / DIST
    assert _runs(repository) == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("stubborn", ["", "trap '' TERM\n"])
async def test_build_timeout_kills_the_whole_process_tree(
    repository: Path, yarn: Yarn, stubborn: str
) -> None:
    """SIGTERM, then SIGKILL."""
    yarn(f"{stubborn}echo begun\nsh -c '{stubborn}sleep 300 & sleep 300; wait' &\n{HANG}")
    before = _children()
    pipe = _pipe(repository)
    building = asyncio.create_task(build(repository, timeout_s=1))
    family = await read_started_processes(pipe)

    with pytest.raises(BuildFailedError) as raised:
        await building

    assert raised.value.message == "yarn build:test did not finish within 1 s"
    assert raised.value.details == {"output": "begun"}
    assert len(family) >= 2
    assert not any(map(_lives, family))
    assert _children() == before


async def test_cancelled_build_ends_its_processes_before_raising(repository: Path, yarn: Yarn) -> None:
    yarn(f"{MAKE}sleep 300 &\n{HANG}")
    pipe = _pipe(repository)
    building = asyncio.create_task(build(repository))
    family = await read_started_processes(pipe)
    begun = time.monotonic()
    building.cancel()

    with pytest.raises(asyncio.CancelledError):
        await building

    assert not any(map(_lives, family))
    assert time.monotonic() - begun < 30
    assert not (repository / DIST / "manifest.json").exists()


async def test_daemon_that_outlives_build_is_killed(repository: Path, yarn: Yarn) -> None:
    """A daemon of a build tool, which holds the output open."""
    yarn(f"{MAKE}sleep 300 &\necho $! > left\n")

    await build(repository)

    left = int((repository / "left").read_text())
    assert not psutil.pid_exists(left) or not _lives(psutil.Process(left))


async def test_build_output_is_logged_line_by_line(
    repository: Path, yarn: Yarn, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="footlight.apps.process")
    bar = "10%%\\r50%%\\r100%%\\n"
    yarn(f"{MAKE}printf 'Gr\\303\\274\\303\\237e\\n{bar}\\033]0;title\\007\\n\\377\\nlast'\n")

    await build(repository)

    assert [record.getMessage() for record in caplog.records] == [
        "yarn build:test: Grüße",
        "yarn build:test: 100%",
        "yarn build:test: \\x1b]0;title\\x07",
        "yarn build:test: \ufffd",
        "yarn build:test: last",
    ]


async def test_endless_output_line_is_truncated(repository: Path, yarn: Yarn) -> None:
    yarn("head -c 5000000 /dev/zero | tr '\\0' x\nexit 1\n")

    with pytest.raises(BuildFailedError) as raised:
        await build(repository)

    assert len(raised.value.details["output"]) < 100_000


@pytest.mark.slow
async def test_flood_of_build_output_does_not_block_event_loop(
    repository: Path, yarn: Yarn, caplog: pytest.LogCaptureFixture
) -> None:
    """The turns of the event loop are counted, because a busy machine makes any of them long."""
    caplog.set_level(logging.INFO, logger="footlight.apps.process")
    yarn("yes '' | head -n 20000\nexit 1\n")
    turns = 0
    lines_in_turn = Counter[int]()

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def count_line(_: logging.LogRecord) -> bool:
        lines_in_turn[turns] += 1
        return True

    logger = logging.getLogger("footlight.apps.process")
    logger.addFilter(count_line)
    counting = asyncio.create_task(count_turns())
    try:
        with pytest.raises(BuildFailedError):
            await build(repository)
    finally:
        counting.cancel()
        logger.removeFilter(count_line)

    assert lines_in_turn.total() == 20_000
    assert max(lines_in_turn.values()) <= PIECE_BYTES


BUILD = """
import asyncio, logging, sys
from pathlib import Path
from footlight.apps.metamask.build import build
logging.basicConfig(level=logging.INFO)
asyncio.run(build(Path(sys.argv[1])))
"""


def test_build_writes_nothing_to_stdout(repository: Path, yarn: Yarn) -> None:
    """That belongs to the protocol."""
    yarn(f"{MAKE}echo on stdout\necho on stderr >&2\n")

    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(repository)], capture_output=True, text=True, timeout=WAIT_SECONDS
    )

    assert (done.returncode, done.stdout) == (0, "")
    assert "yarn build:test: on stdout\n" in done.stderr
    assert "yarn build:test: on stderr\n" in done.stderr


async def test_build_ends_with_its_parent_process(repository: Path, yarn: Yarn) -> None:
    """Even where that has no time for anything."""
    yarn(f"sh -c 'sleep 300 & sleep 300' &\n{HANG}")
    pipe = _pipe(repository)
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", BUILD, str(repository))
    family = await read_started_processes(pipe)

    server.kill()

    async with asyncio.timeout(WAIT_SECONDS):
        await server.wait()
        while any(map(_lives, family)):  # noqa: ASYNC110 - the system tells of none
            await asyncio.sleep(0.01)


def _pipe(repository: Path) -> Path:
    pipe = repository / "started"
    os.mkfifo(pipe)
    return pipe


async def read_started_processes(pipe: Path) -> list[psutil.Process]:
    """Return the processes that wrote to the pipe, with their descendants."""
    async with asyncio.timeout(WAIT_SECONDS):
        reported = await asyncio.to_thread(pipe.read_text)
    yarn = psutil.Process(int(reported.split()[0]))
    return [yarn, *descendants_of(yarn)]


def _runs(repository: Path) -> int:
    runs = repository / "runs"
    return len(runs.read_text().split()) if runs.exists() else 0


def _children() -> set[psutil.Process]:
    return set(descendants_of(psutil.Process()))


def _lives(process: psutil.Process) -> bool:
    """Return whether a process runs. One that has ended stays listed until its parent asks for its status."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
