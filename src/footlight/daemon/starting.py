"""Start the background server. Concurrent requests start only one server."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from footlight import __version__
from footlight.atomic_files import write_atomically
from footlight.daemon.errors import DaemonError, DaemonNotRunningError
from footlight.daemon.folder import (
    LOG,
    SERVER_LOCK,
    VARIABLE,
    ensure_daemon_folder,
    is_locked,
    lock_folder,
    suggest_other_folder,
)
from footlight.daemon.greeting import Role
from footlight.daemon.link import DaemonLink, connect
from footlight.daemon.running import ask_status, find_running, serve_command
from footlight.daemon.state import State, read_state
from footlight.private_files import open_private

if TYPE_CHECKING:
    import psutil

__all__ = ["ensure_running", "reach"]

LOCK = "start.lock"
START_SECONDS = 60.0
LOCK_SECONDS = 90.0
"""The maximum wait for another process that starts a server. It may have been suspended."""
SPACE = 1 << 16
"""The number of bytes that a server needs at least for its state and the beginning of its log."""
LOOK_SECONDS = 0.1
LAST_LINES = 12

Say = Callable[[str], None]


def ignore(_: str) -> None:
    """Ignore a message, because the caller reports it."""


def reach(folder: Path, role: Role, *, options: Sequence[str] = (), say: Say) -> tuple[State, DaemonLink]:
    """Return a connection to the server of this folder. Start the server if none is running.

    Raises:
        DaemonError: The server does not start, does not answer, or is in use in another version.
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
        DaemonError: The server does not start, does not answer, or is in use in another version.
    """
    try:
        return _ensure_running(folder, options, say)
    except OSError as error:  # The folder cannot be written to, or the system has no resources left.
        described = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise DaemonError(
            f"The background server cannot be started: {described}",
            suggestion=suggest_other_folder() if error.filename else "",
        ) from None


def _ensure_running(folder: Path, options: Sequence[str], say: Say) -> tuple[State, bool]:
    with _one_at_a_time(ensure_daemon_folder(folder)):
        running = find_running(folder) or _wait_for_starting(folder)
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
    lock = lock_folder(folder, LOCK, seconds=LOCK_SECONDS)
    if lock is None:
        raise DaemonError(
            f"Another process holds {folder / LOCK} and has not started a server in {LOCK_SECONDS:.0f} s",
            suggestion="End that process if it is suspended.",
        )
    try:
        yield
    finally:
        os.close(lock)


def _wait_for_starting(folder: Path) -> State | None:
    """Return the server that another process has begun to start, or None if none is starting."""
    limit = time.monotonic() + START_SECONDS
    while is_locked(folder, SERVER_LOCK) and not _find_known_process(folder):
        if time.monotonic() > limit:
            raise DaemonError(
                f"Another server has been starting in {folder} for {START_SECONDS:.0f} seconds",
                suggestion="End its process.",
            )
        time.sleep(LOOK_SECONDS)
    return find_running(folder)


def _replace(folder: Path, running: State, say: Say) -> None:
    """Stop a server of another version of this package, unless it has clients or sessions."""
    from footlight.daemon.stopping import stop
    from footlight.figures import format_count

    status = ask_status(running)
    if status and (status.clients or status.sessions):
        raise DaemonError(
            f"A server of version {running.version} is in use, with "
            f"{format_count(status.clients, 'MCP client')} and {format_count(status.sessions, 'session')}; "
            f"this is version {__version__}",
            suggestion="End them, or stop the server with `footlight daemon stop`.",
        )
    say(f"replacing the server of version {running.version}")
    stop(folder)


def _refuse_if_silent(folder: Path) -> None:
    """Raise an error if a running server does not answer, because a second server would hide it."""
    if (process := _find_known_process(folder)) is not None:
        raise DaemonError(
            f"The background server, process {process.pid}, does not answer",
            suggestion="End it with `footlight daemon stop`.",
        )


def _find_known_process(folder: Path) -> psutil.Process | None:
    from footlight.daemon.stopping import find_process

    state = read_state(folder)
    return find_process(state) if state else None


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
    _check_space(folder)
    if log.exists():
        log.replace(log.with_suffix(".log.old"))
    # With -P, Python imports no modules from the current folder.
    command = [sys.executable, "-P", "-m", "footlight", *serve_command(options, log=log)]
    server, stdout = _detach(command, folder, log)
    if not _wait_until_listening(server, stdout):
        raise DaemonError(
            f"The background server did not start. The end of {log}:\n{_read_tail(log)}",
            suggestion="Run `footlight serve` with the same options to see the error.",
        )
    state = read_state(folder)
    if state is None:
        raise DaemonError(f"The background server has written no state to {folder}")
    return state


def _check_space(folder: Path) -> None:
    """Write and remove a file. On a full disk, a server could not even log why it does not start.

    Raises:
        OSError: The disk is full.
    """
    probe = folder / f"space.{os.getpid()}"
    write_atomically(probe, bytes(SPACE), private=True)
    probe.unlink()


def _detach(command: list[str], folder: Path, log: Path) -> tuple[int, IO[bytes]]:
    """Start a detached process, which also outlives this process group.

    Return its process id and its standard output.

    Raises:
        DaemonError: The system starts no further process.
    """
    read_end, write_end = os.pipe()
    log_file = open_private(log, os.O_APPEND)
    child = os.fork()
    if not child:
        try:
            os.setsid()
            if server := os.fork():
                os.write(write_end, f"{server}\n".encode())
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
    stdout = os.fdopen(read_end, "rb", buffering=0)
    server = stdout.readline()  # The child has written it before all output of the server.
    if not server:
        stdout.close()
        raise DaemonError("No process for the background server could be started")
    return int(server), stdout


def _wait_until_listening(server: int, stdout: IO[bytes]) -> bool:
    """Return whether the server reports that it is listening. End a server that takes too long."""
    import select

    poll = select.poll()
    poll.register(stdout, select.POLLIN)
    with stdout:
        if poll.poll(START_SECONDS * 1000):
            return b"listening" in stdout.readline()
    import psutil

    from footlight.daemon.stopping import end_process

    with suppress(psutil.NoSuchProcess):
        end_process(psutil.Process(server))
    return False


def _read_tail(log: Path) -> str:
    try:
        lines = log.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-LAST_LINES:])
