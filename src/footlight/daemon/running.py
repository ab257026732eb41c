"""Find the running background server by its state, and check that it is the right one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from footlight.daemon.errors import DaemonNotRunningError
from footlight.daemon.link import connect
from footlight.daemon.state import State, read_state

__all__ = ["NO_SERVER", "Status", "ask_status", "find_running", "serve_command", "serve_options"]

NO_SERVER = 3
"""The exit status of a command without a background server."""
IDLE_SECONDS = 1800
BEGINNING = ("serve", "--transport", "http", "--port", "0", "--idle-exit", str(IDLE_SECONDS), "--log-file")
END = ("--local",)


class Status(NamedTuple):
    """The numbers of MCP clients on the local stream, and of the sessions of all callers."""

    clients: int
    sessions: int


def find_running(folder: Path) -> State | None:
    """Return the state of the server of this folder, or None if it does not answer."""
    state = read_state(folder)
    return state if state and ask_status(state) else None


def ask_status(state: State) -> Status | None:
    """Return the server's status, or None if it does not answer or cannot prove its identity."""
    try:
        with connect(state, "status") as link:
            return Status(int(link.facts["clients"]), int(link.facts["sessions"]))
    except (DaemonNotRunningError, KeyError):
        return None


def serve_command(options: Sequence[str], *, log: Path) -> list[str]:
    """Return the command that starts a background server. If an option is repeated, the last one counts."""
    return [*BEGINNING, str(log), *options, *END]


def serve_options(command: Sequence[str]) -> list[str]:
    """Return the user's options from the command that started a server."""
    own = [*command[1:]]
    if tuple(command[: len(BEGINNING)]) == BEGINNING:
        own = [*command[len(BEGINNING) + 1 :]]
    return [option for option in own if option not in END]
