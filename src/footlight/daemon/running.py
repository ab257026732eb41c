"""The server that runs: found by its state, and made to prove that it is the one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from footlight.daemon.errors import NoDaemon
from footlight.daemon.link import connect
from footlight.daemon.state import State, read_state

__all__ = ["NO_SERVER", "Status", "ask_status", "find_running", "serve_command", "serve_options"]

NO_SERVER = 3
"""The exit status of a command that has nobody to speak to."""
IDLE_SECONDS = 1800
BEGINNING = ("serve", "--transport", "http", "--port", "0", "--idle-exit", str(IDLE_SECONDS), "--log-file")
END = ("--local",)


class Status(NamedTuple):
    """`clients` are MCP clients on the local stream; `sessions` are everybody's."""

    clients: int
    sessions: int


def find_running(folder: Path) -> State | None:
    """Of the server whose state is in this folder, if it answers."""
    state = read_state(folder)
    return state if state and ask_status(state) else None


def ask_status(state: State) -> Status | None:
    """None where it does not answer, or cannot prove that it is the one."""
    try:
        with connect(state, "status") as link:
            return Status(int(link.facts["clients"]), int(link.facts["sessions"]))
    except (NoDaemon, KeyError):
        return None


def serve_command(options: Sequence[str], *, log: Path) -> list[str]:
    """How a server in the background is started. Where an option is given twice, the last one counts."""
    return [*BEGINNING, str(log), *options, *END]


def serve_options(command: Sequence[str]) -> list[str]:
    """Those of its user, in the command that one was started with."""
    own = [*command[1:]]
    if tuple(command[: len(BEGINNING)]) == BEGINNING:
        own = [*command[len(BEGINNING) + 1 :]]
    return [option for option in own if option not in END]
