"""The command `footlight daemon`: a background server that commands find by its state file and can stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import stat
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from footlight import __version__
from footlight.daemon import starting
from footlight.daemon.errors import DaemonError, DaemonNotRunningError
from footlight.daemon.folder import (
    SERVER_LOCK,
    ensure_daemon_folder,
    find_folder,
    is_locked,
    lock_folder,
)
from footlight.daemon.greeting import encode_line, make_proof, new_challenge, read_line
from footlight.daemon.link import connect
from footlight.daemon.running import ask_status, serve_command, serve_options
from footlight.daemon.state import State, read_state
from tests.cli.background import LIMIT_SECONDS, Background, Done, background
from tests.processes import descendants_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def own(tmp_path: Path) -> AsyncGenerator[Background]:
    """A folder in which nothing runs yet. The servers in it have no browser."""
    async with background(tmp_path, browser=False) as one:
        yield one


@pytest.fixture(scope="module")
async def running(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Background]:
    """One that runs, and that nobody stops."""
    async with background(tmp_path_factory.mktemp("running"), browser=False) as one:
        assert (await one.run("daemon", "start", "--tools", "all")).status == 0
        yield one


async def wait_until_gone(process: psutil.Process) -> None:
    """Nobody may collect it, so that one that has ended may still be listed."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_server_is_started_found_and_stopped(tmp_path: Path) -> None:
    async with background(tmp_path) as own:
        started = await own.run("daemon", "start")
        state, process = own.state, own.process
        reported = await own.status()
        shown = await own.run("daemon", "status")
        children = descendants_of(process)
        stopped = await own.run("daemon", "stop")
        after = await own.run("daemon", "status")

        assert (started.status, started.err) == (0, "")
        assert started.out == f"started: process {state.pid}, {state.url}\n"
        assert reported == {
            "running": True,
            "pid": state.pid,
            "version": __version__,
            "url": state.url,
            "token": str(own.folder / "token"),
            "log": str(own.folder / "server.log"),
            "directory": str(own.root),
            "options": "",
            "clients": 0,
            "sessions": 0,
        }
        assert "running    yes\n" in shown.out
        assert "options    none\n" in shown.out
        assert (stopped.status, stopped.out) == (0, f"stopped: process {state.pid}\n")
        assert (after.status, after.out) == (3, "No background server is running.\n")
        assert children
        for each in (process, *children):
            await wait_until_gone(each)
        assert {path.name for path in own.folder.iterdir()} == {"server.lock", "server.log", "start.lock"}


@pytest.mark.slow
async def test_server_files_are_private_to_the_user(running: Background) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in running.folder.iterdir()}

    assert stat.S_IMODE(running.folder.stat().st_mode) == 0o700
    assert {mode for name, mode in modes.items() if not name.endswith(".sock")} == {0o600}


async def test_folder_accessible_to_others_is_refused(own: Background) -> None:
    own.folder.mkdir(mode=0o755)

    done = await own.run("daemon", "start")

    assert done.status == 3
    assert "must be a folder that belongs to you and that only you can open" in done.err
    assert not own.servers()


@pytest.mark.parametrize(
    "command",
    ["call list_sessions", "call list_sessions --no-start", "serve --shared", "daemon status", "daemon stop"],
)
async def test_state_in_a_folder_accessible_to_others_is_not_trusted(
    own: Background, running: Background, command: str
) -> None:
    """Who makes the folder first could have the calls sent to a server of theirs, or a process ended."""
    own.folder.mkdir(mode=0o755)
    (own.folder / "state.json").write_bytes((running.folder / "state.json").read_bytes())

    done = await own.run(*command.split())

    assert (done.status, done.out) == (3, "")
    assert "must be a folder that belongs to you and that only you can open" in done.err
    assert running.process.is_running()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
async def test_folder_of_another_user_is_refused(own: Background, running: Background) -> None:
    own.folder.mkdir(mode=0o700)
    (own.folder / "state.json").write_bytes((running.folder / "state.json").read_bytes())
    os.chown(own.folder, 65534, 65534)

    done = await own.run("call", "list_sessions")

    assert (done.status, done.out) == (3, "")
    assert "must be a folder that belongs to you" in done.err


@pytest.mark.parametrize(
    "wrong", [{"pid": -1}, {"pid": "x"}, {"started": None}, {"socket": 5}, {"nonce": 7}, {"command": 2}]
)
def test_malformed_state_file_is_ignored(tmp_path: Path, wrong: dict[str, Any]) -> None:
    whole = State(1, 1.0, "1", "http://x", "/x", "n", "/", ["serve"])
    tmp_path.chmod(0o700)
    file = tmp_path / "state.json"

    file.write_text(json.dumps(whole._asdict()))
    assert read_state(tmp_path) == whole
    file.write_text(json.dumps(whole._asdict() | wrong))
    assert read_state(tmp_path) is None
    file.write_text("[" * 100_000)
    assert read_state(tmp_path) is None


def test_folder_is_the_same_with_and_without_xdg_runtime_dir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An MCP client gives its server few variables."""
    monkeypatch.setattr("footlight.daemon.folder.RUNTIME", tmp_path)
    runtime = tmp_path / str(os.getuid())
    without = find_folder({"TMPDIR": "/elsewhere"})
    runtime.mkdir()

    assert without == Path(f"/tmp/footlight-{os.getuid()}")
    assert find_folder({}) == find_folder({"XDG_RUNTIME_DIR": str(runtime)}) == runtime / "footlight"
    assert find_folder({"FOOTLIGHT_DAEMON_DIR": "/named", "XDG_RUNTIME_DIR": "/x"}) == Path("/named")


async def run_in_removed_folder(own: Background, command: str) -> Done:
    """Run it in a folder that is not there any more."""
    process = await asyncio.create_subprocess_shell(
        f"mkdir gone && cd gone && rmdir ../gone && exec {sys.executable} -P -m footlight {command}",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=own.root,
        env=own.environment(),
    )
    async with asyncio.timeout(LIMIT_SECONDS):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), err.decode())


async def test_shared_client_works_from_a_removed_working_directory(running: Background) -> None:
    shared = await run_in_removed_folder(running, "serve --shared")

    assert (shared.status, shared.out) == (0, "")
    assert "Traceback" not in shared.err


async def test_start_from_a_removed_working_directory_is_refused(own: Background) -> None:
    done = await run_in_removed_folder(own, "daemon start")

    assert (done.status, done.out) == (3, "")
    assert done.err.startswith("footlight: The current folder has been removed")


async def test_http_endpoint_requires_the_token(running: Background) -> None:
    token = (running.folder / "token").read_text().strip()
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Accept": "application/json, text/event-stream"}

    async with httpx2.AsyncClient() as http:
        without = await http.post(running.state.url, json=ping, headers=headers)
        given = await http.post(
            running.state.url, json=ping, headers={**headers, "Authorization": f"Bearer {token}"}
        )

    assert without.status_code == 401
    assert given.status_code != 401


@pytest.mark.slow
async def test_concurrent_starts_create_one_server(own: Background) -> None:
    done = await asyncio.gather(*(own.run("daemon", "start") for _ in range(3)))

    reported = f"process {own.state.pid}, {own.state.url}\n"
    assert sorted(each.out for each in done) == sorted(
        [f"started: {reported}", f"already running: {reported}", f"already running: {reported}"]
    )
    assert [each.pid for each in own.servers()] == [own.state.pid]


async def test_second_start_reports_ignored_options(running: Background) -> None:
    again = await running.run("daemon", "start", "--tools", "minimal")

    assert again.status == 0
    assert again.out.startswith("already running: ")
    assert again.err == (
        "footlight: the server keeps the options it was started with: --tools all. "
        "To change them, stop it first with `footlight daemon stop`.\n"
    )
    assert (await running.status())["options"] == "--tools all"


async def test_failed_start_reports_the_reason(own: Background) -> None:
    done = await own.run("daemon", "start", "--tools", "clik")

    assert (done.status, done.out) == (3, "")
    assert "The background server did not start" in done.err
    assert "there is no tool 'clik'; closest: click" in done.err
    assert read_state(own.folder) is None


async def test_second_server_started_by_hand_is_refused(running: Background) -> None:
    second = await running.run("serve", "--transport", "http", "--port", "0", "--local")

    assert second.status == 2
    assert f"already, as process {running.state.pid}" in second.err


@pytest.mark.slow
async def test_start_waits_for_a_server_that_is_starting(own: Background) -> None:
    """Its starter may have been killed, so it holds a lock itself."""
    ensure_daemon_folder(own.folder)
    lock = lock_folder(own.folder, SERVER_LOCK, seconds=0)
    assert lock is not None
    second = await own.run("serve", "--transport", "http", "--port", "0", "--local")
    starting = asyncio.create_task(own.run("daemon", "start"))
    async with asyncio.timeout(LIMIT_SECONDS):
        while not is_locked(own.folder, "start.lock"):  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.01)
    assert own.servers() == []
    os.close(lock)
    started = await starting

    assert second.status == 2
    assert f"a server is starting in {own.folder} already" in second.err
    assert started.out == f"started: process {own.state.pid}, {own.state.url}\n"


def test_server_that_does_not_become_ready_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python, pid = tmp_path / "python", tmp_path / "pid"
    python.write_text(f"#!/bin/sh\necho $$ > {pid}\nexec sleep 600\n")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(starting, "START_SECONDS", 0.5)

    with pytest.raises(DaemonError, match="The background server did not start"):
        starting.ensure_running(tmp_path / "daemon", [])

    with contextlib.suppress(psutil.NoSuchProcess):  # Some systems leave a zombie.
        assert psutil.Process(int(pid.read_text())).status() == psutil.STATUS_ZOMBIE


def test_suspended_start_of_another_process_is_not_waited_for_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ensure_daemon_folder(tmp_path / "daemon")
    lock = lock_folder(folder, "start.lock", seconds=0)
    assert lock is not None
    monkeypatch.setattr(starting, "LOCK_SECONDS", 0.1)

    with pytest.raises(
        DaemonError, match=r"Another process holds .*start\.lock and has not started a server"
    ):
        starting.ensure_running(folder, [])
    os.close(lock)


async def test_folder_that_cannot_be_written_to_is_named_with_its_variable(own: Background) -> None:
    (own.folder / "start.lock").mkdir(parents=True)
    own.folder.chmod(0o700)

    for command in (["daemon", "start"], ["serve", "--shared"]):
        done = await own.run(*command)
        assert done.status == 3, done
        lines = [line.removeprefix("footlight: ") for line in done.err.splitlines()]
        assert lines == [
            f"The background server cannot be started: {own.folder}/start.lock: Is a directory",
            "Set the variable FOOTLIGHT_DAEMON_DIR to another folder.",
        ]


def test_start_on_a_full_disk_is_refused_with_the_reason(tmp_path: Path) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, limits[1]))
    try:
        with pytest.raises(DaemonError, match=r"cannot be started: .*/space\..*: File too large"):
            starting.ensure_running(tmp_path / "daemon", [])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


async def test_local_mode_requires_http(own: Background) -> None:
    done = await own.run("serve", "--local")

    assert done.status == 2
    assert "setting 'daemon.local' needs 'transport' to be 'http'" in done.err


def write_stale_state(own: Background, state: State) -> None:
    own.folder.mkdir(mode=0o700, exist_ok=True)
    (own.folder / "state.json").write_text(json.dumps(state._asdict()))


@pytest.mark.slow
async def test_state_of_a_dead_server_is_replaced(own: Background) -> None:
    await own.run("daemon", "start")
    old, process = own.state, own.process
    process.kill()
    await wait_until_gone(process)

    status = await own.run("daemon", "status")
    started = await own.run("daemon", "start")

    assert status.status == 3
    assert started.out.startswith("started: ")
    assert own.state.nonce != old.nonce
    assert ask_status(own.state) is not None


async def test_unrelated_process_with_the_same_pid_is_not_stopped(own: Background) -> None:
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE
    )
    state = State(other.pid, 1.0, __version__, "http://localhost:1/mcp", "/nowhere", "00", "/", [])
    write_stale_state(own, state)

    stopped = await own.run("daemon", "stop")

    assert (stopped.status, stopped.out) == (0, "No background server is running.\n")
    assert other.returncode is None
    assert read_state(own.folder) is None
    other.kill()
    await other.wait()


@pytest.mark.slow
async def test_server_of_another_version_is_replaced(own: Background) -> None:
    await own.run("daemon", "start")
    old, process = own.state, own.process
    write_stale_state(own, old._replace(version="0.0.1"))

    called = await own.run("call", "list_sessions")

    assert "replacing the server of version 0.0.1" in called.err
    assert own.state.pid != old.pid
    await wait_until_gone(process)


@pytest.mark.slow
async def test_server_of_another_version_in_use_is_kept(own: Background) -> None:
    await own.run("daemon", "start")
    write_stale_state(own, own.state._replace(version="0.0.1"))

    with connect(own.state, "shared"):
        called = await own.run("call", "list_sessions")

    assert called.status == 3
    assert "A server of version 0.0.1 is in use, with 1 MCP client and 0 sessions" in called.err
    assert [each.pid for each in own.servers()] == [own.state.pid]


@pytest.mark.slow
async def test_server_of_another_version_with_a_session_is_kept(tmp_path: Path) -> None:
    async with background(tmp_path) as own:
        await own.call("create_session")
        write_stale_state(own, own.state._replace(version="0.0.1"))

        called = await own.run("call", "list_sessions")

        assert called.status == 3
        assert "A server of version 0.0.1 is in use, with 0 MCP clients and 1 session;" in called.err


async def test_client_with_a_wrong_nonce_is_refused(running: Background) -> None:
    with pytest.raises(DaemonNotRunningError, match="That is not the nonce of this server"):
        await asyncio.to_thread(connect, running.state._replace(nonce="00" * 32), "call")

    assert ask_status(running.state) is not None


async def test_server_without_the_nonce_is_not_trusted(own: Background) -> None:
    """It listens where the state says, and gives back what it was sent."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(encode_line({"challenge": new_challenge()}))
        hello = read_line(await reader.readline())
        writer.write(encode_line({"proof": hello["proof"], "clients": 0, "sessions": 0}))
        await writer.drain()
        writer.close()

    own.folder.mkdir(mode=0o700)
    address = str(own.folder / "false.sock")
    state = State(os.getpid(), 1.0, __version__, "http://localhost:1/mcp", address, "00" * 32, "/", [])
    async with await asyncio.start_unix_server(answer, address):
        found = await asyncio.to_thread(ask_status, state)

    assert found is None


async def test_invalid_greeting_closes_the_connection(running: Background) -> None:
    for said in (b"GET / HTTP/1.1\r\n\r\n", b"[1]\n", b'{"as": "stop"}\n', b"x" * 100_000):
        reader, writer = await asyncio.open_unix_connection(running.state.socket)
        challenge = read_line(await reader.readline())
        writer.write(said)
        async with asyncio.timeout(LIMIT_SECONDS):
            try:
                rest = await reader.read()
            except ConnectionResetError:
                rest = b""
        writer.close()
        assert set(challenge) == {"challenge"}
        assert b"proof" not in rest

    assert ask_status(running.state) is not None


@pytest.mark.slow
async def test_overlong_socket_path_is_handled(tmp_path: Path) -> None:
    deep = tmp_path / ("deep" * 30)
    deep.mkdir()
    async with background(deep) as own:
        started = await own.run("daemon", "start")
        socket = Path(own.state.socket)
        reported = await own.status()
        await own.run("daemon", "stop")

    assert started.status == 0
    assert reported["running"]
    assert not socket.parent.exists()


@pytest.mark.slow
async def test_idle_server_exits(own: Background) -> None:
    """Commands that only ask for it are nobody."""
    started = await own.run("daemon", "start", "--idle-exit", "0.5")

    async with asyncio.timeout(LIMIT_SECONDS):
        while own.servers():
            await own.run("daemon", "status")

    assert started.out.startswith("started: ")
    assert read_state(own.folder) is None


@pytest.mark.slow
async def test_stopping_waits_for_a_running_call(tmp_path: Path) -> None:
    words = ("wait_for_selector", "--selector", "h1", "--timeout", "2000")
    async with background(tmp_path) as own:
        await own.run("daemon", "start")
        waiting = asyncio.create_task(own.run("call", *words))
        async with asyncio.timeout(LIMIT_SECONDS):
            while not (await own.status())["sessions"]:
                pass
        stopped = await own.run("daemon", "stop")
        done = await waiting

    assert stopped.out.startswith("stopped: ")
    assert done.status == 1
    assert "h1" in done.err


@pytest.mark.slow
async def test_hung_server_can_be_stopped(own: Background) -> None:
    await own.run("daemon", "start")
    process = own.process
    process.send_signal(signal.SIGSTOP)

    status, started, second = await asyncio.gather(
        own.run("daemon", "status", "--format", "json"),
        own.run("daemon", "start"),
        own.run("serve", "--transport", "http", "--port", "0", "--local"),
    )
    stopped = await own.run("daemon", "stop")

    assert second.status == 2
    assert f"already, as process {process.pid}" in second.err
    assert (status.status, json.loads(status.out)) == (
        3,
        {"running": True, "pid": process.pid, "answers": False},
    )
    assert started.status == 3
    assert f"process {process.pid}, does not answer" in started.err
    assert stopped.out == f"stopped: process {process.pid}\n"
    await wait_until_gone(process)


def test_user_options_are_separated_from_internal_ones() -> None:
    given = ["--headed", "--tools", "all"]

    assert serve_options(serve_command(given, log=Path("/log"))) == given
    assert serve_options(["serve", "--transport", "http", "--local"]) == ["--transport", "http"]


def test_client_and_server_proofs_differ() -> None:
    assert make_proof("n", "c", of="client") != make_proof("n", "c", of="server")
