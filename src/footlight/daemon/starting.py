"""Start the background server. Concurrent requests start only one server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from footlight import __version__
from footlight.daemon.errors import DaemonError, DaemonNotRunningError
from footlight.daemon.folder import LOG, VARIABLE, ensure_daemon_folder
from footlight.daemon.greeting import Role
from footlight.daemon.link import DaemonLink, connect
from footlight.daemon.running import ask_status, find_running, serve_command
from footlight.daemon.state import State, read_state
from footlight.private_files import open_private

__all__ = ["ensure_running", "reach"]

LOCK = "start.lock"
START_SECONDS = 60.0
LAST_LINES = 12

Say = Callable[[str], None]


def ignore(_: str) -> None:
    """Ignore a message, because the caller reports it."""


def reach(folder: Path, role: Role, *, options: Sequence[str] = (), say: Say) -> tuple[State, DaemonLink]:
    """Return a connection to the server of this folder. Start the server if none is running.

    Raises:
        DaemonError: The server does not start, or a server of another version is in use.
    """
    state = read_state(folder)
    if state and state.version == __version__:
        try:
            return state, connect(state, role)
        except DaemonNotRunningError:
            pass  # The state belongs to a server that is not running any more.
    state, _ = ensure_running(folder, options, say=say)
    return state, connect(state, role)


def ensure_running(folder: Path, options: Sequence[str], *, say: Say = ignore) -> tuple[State, bool]:
    """Return the state of the server of this folder, and whether it was started now.

    Raises:
        DaemonError: The server does not start, or a server of another version is in use.
    """
    with _one_at_a_time(ensure_daemon_folder(folder)):
        running = find_running(folder)
        if running and running.version != __version__:
            _replace(folder, running, say)
            running = None
        if running:
            return running, False
        _refuse_if_silent(folder)
        _refuse_without_current_folder()
        say("starting a background server")
        return _start(folder, options), True


@contextmanager
def _one_at_a_time(folder: Path) -> Generator[None]:
    """Hold the lock of the folder. The system releases it when this process ends in any way."""
    import fcntl

    lock = open_private(folder / LOCK, 0)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _replace(folder: Path, running: State, say: Say) -> None:
    """Stop a server of another version of this package, unless it has clients or sessions."""
    from footlight.daemon.stopping import stop

    status = ask_status(running)
    if status and status.clients:
        raise DaemonError(
            f"A server of version {running.version} is in use by {status.clients} MCP clients; "
            f"this is version {__version__}",
            suggestion="End the clients, or stop the server with `footlight daemon stop`.",
        )
    say(f"replacing the server of version {running.version}")
    stop(folder)


def _refuse_if_silent(folder: Path) -> None:
    """Raise an error if a running server does not answer, because a second server would hide it."""
    from footlight.daemon.stopping import find_process

    state = read_state(folder)
    if state and find_process(state):
        raise DaemonError(
            f"The background server, process {state.pid}, does not answer",
            suggestion="End it with `footlight daemon stop`.",
        )


def _refuse_without_current_folder() -> None:
    try:
        Path.cwd()
    except FileNotFoundError:
        raise DaemonError(
            "The current folder has been removed, so a background server cannot start in it",
            suggestion="Start the server in another folder.",
        ) from None


def _start(folder: Path, options: Sequence[str]) -> State:
    log = folder / LOG
    if log.exists():
        log.replace(log.with_suffix(".log.old"))
    # With -P, Python imports no modules from the current folder.
    command = [sys.executable, "-P", "-m", "footlight", *serve_command(options, log=log)]
    if not _wait_until_listening(_detach(command, folder, log)):
        raise DaemonError(
            f"The background server did not start. The end of {log}:\n{_read_tail(log)}",
            suggestion="Run `footlight serve` with the same options to see the error.",
        )
    state = read_state(folder)
    if state is None:
        raise DaemonError(f"The background server has written no state to {folder}")
    return state


def _detach(command: list[str], folder: Path, log: Path) -> int:
    """Start a detached process, which also outlives this process group. Return the read end of its stdout."""
    read_end, write_end = os.pipe()
    log_file = open_private(log, os.O_APPEND)
    child = os.fork()
    if not child:
        try:
            os.setsid()
            if os.fork():
                os._exit(0)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(write_end, 1)
            os.dup2(log_file, 2)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            os.execve(command[0], command, {**os.environ, VARIABLE: str(folder)})
        finally:
            os._exit(127)
    os.waitpid(child, 0)
    os.close(write_end)
    os.close(log_file)
    return read_end


def _wait_until_listening(stdout: int) -> bool:
    """Wait until the server reports that it is listening. Return False if it ends before or takes too
    long.
    """
    import select

    poll = select.poll()
    poll.register(stdout, select.POLLIN)
    with os.fdopen(stdout, "rb", buffering=0) as stream:
        return bool(poll.poll(START_SECONDS * 1000)) and b"listening" in stream.readline()


def _read_tail(log: Path) -> str:
    try:
        lines = log.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-LAST_LINES:])
