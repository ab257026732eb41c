"""End the background server: by a request first, then by signals. Other processes are never ended."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from footlight.daemon.errors import DaemonError, DaemonNotRunningError
from footlight.daemon.link import connect
from footlight.daemon.state import State, forget_state, read_state

if TYPE_CHECKING:
    import psutil

__all__ = ["end_process", "find_process", "stop"]

ASK_SECONDS = 16.0
"""Time for running calls to finish, which may take ten seconds, and for the browsers to close."""
SIGNAL_SECONDS = 6.0
LOOK_SECONDS = 0.02
SAME_SECONDS = 1.0
"""Maximum difference of start times. Two processes with the same id start further apart."""


def stop(folder: Path) -> State | None:
    """End the server and wait until it is gone. Return its state, or None if none was running.

    Raises:
        DaemonError: The server does not end.
    """
    state = read_state(folder)
    process = find_process(state) if state else None
    if state and process:
        _end(state, process)
    if state:
        forget_state(folder, state)
    return state if process else None


def find_process(state: State) -> psutil.Process | None:
    """Return the process of the state, or None if it is gone or another process has its number now."""
    import psutil

    try:
        process = psutil.Process(state.pid)
        same = abs(process.create_time() - state.started) < SAME_SECONDS
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.Error:
        return None


def _end(state: State, process: psutil.Process) -> None:
    if not (_request_stop(state) and _wait_until_ended(process, ASK_SECONDS)):
        end_process(process)


def end_process(process: psutil.Process) -> None:
    """End a server by signals.

    Raises:
        DaemonError: The process does not end.
    """
    import psutil

    with suppress(psutil.Error):
        process.terminate()
        if _wait_until_ended(process, SIGNAL_SECONDS):
            return
        for each in (*process.children(recursive=True), process):
            with suppress(psutil.Error):
                each.kill()
    if not _wait_until_ended(process, SIGNAL_SECONDS):
        raise DaemonError(f"The process {process.pid} does not end")


def _request_stop(state: State) -> bool:
    """Return whether the server heard the request and closed its end."""
    try:
        with connect(state, "stop") as link:
            link.limit(ASK_SECONDS)
            link.line()
    except (DaemonNotRunningError, OSError):
        return False
    return True


def _wait_until_ended(process: psutil.Process, seconds: float) -> bool:
    import psutil

    limit = time.monotonic() + seconds
    with suppress(psutil.NoSuchProcess):
        # An ended process may stay a zombie, because this process is not its parent.
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > limit:
                return False
            time.sleep(LOOK_SECONDS)
    return True
