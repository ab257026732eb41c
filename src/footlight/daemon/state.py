"""The state file of a running background server, which only the commands of its user can read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from footlight import __version__
from footlight.daemon.errors import DaemonError
from footlight.daemon.folder import check_folder
from footlight.private_files import open_private

__all__ = ["TOKEN", "State", "forget_state", "make_state", "read_state", "read_tools", "write_state"]

STATE = "state.json"
TOOLS = "tools.json"
TOKEN = "token"
"""The file with the token, for clients over HTTP."""

KINDS = (int, (int, float), str, str, str, str, str, list)
"""The types of the fields of a state."""

Tools = list[dict[str, Any]]


class State(NamedTuple):
    """The state of a server. It is a tuple, because the import of dataclasses takes 8 ms."""

    pid: int
    started: float
    """The start time of the process according to the system. With `pid` it identifies the process."""
    version: str
    """The version of this package."""
    url: str
    """The URL of MCP over HTTP."""
    socket: str
    nonce: str
    """A secret with which each end of the local stream proves that it can read this file."""
    directory: str
    """The working directory of the server: relative paths in calls begin here."""
    command: list[str]
    """The words that were typed after `footlight`."""


def make_state(url: str, socket: str, *, command: Sequence[str]) -> State:
    """Return the state of this process."""
    import psutil

    return State(
        pid=os.getpid(),
        started=psutil.Process().create_time(),
        version=__version__,
        url=url,
        socket=socket,
        nonce=os.urandom(32).hex(),
        directory=str(Path.cwd()),
        command=list(command),
    )


def read_state(folder: Path) -> State | None:
    """Return the state, or None if there is no valid state.

    Raises:
        DaemonError: Other users can write there, so the state may be that of a malicious server.
    """
    if not check_folder(folder):
        return None
    try:
        data: Any = json.loads((folder / STATE).read_bytes())
        # Another version may have written further fields.
        fields = [data[field] for field in State._fields]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    fits = all(isinstance(field, kinds) for field, kinds in zip(fields, KINDS, strict=True))
    state = State(*fields)
    return state if fits and state.pid > 0 else None


def write_state(folder: Path, state: State, *, tools: Tools, token: str | None) -> None:
    """Write each file atomically. The state is written last, because readers of the state need the others.

    `token` is the generated token for HTTP, or None if the user gave one.
    """
    _write(folder / TOOLS, json.dumps({"nonce": state.nonce, "tools": tools}))
    if token is not None:
        _write(folder / TOKEN, f"{token}\n")
    _write(folder / STATE, json.dumps(state._asdict()))


def read_tools(folder: Path, state: State) -> Tools | None:
    """Return the list of tools of this server."""
    try:
        data: Any = json.loads((folder / TOOLS).read_bytes())
        return cast("Tools", data["tools"]) if data["nonce"] == state.nonce else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def forget_state(folder: Path, state: State) -> None:
    """Remove the state, unless it belongs to another server by now."""
    with suppress(DaemonError, OSError):  # A folder to which others can write by now is left alone.
        if read_state(folder) == state:
            for name in (STATE, TOKEN, TOOLS):
                (folder / name).unlink(missing_ok=True)


def _write(file: Path, text: str) -> None:
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(open_private(draft, os.O_TRUNC), "w") as stream:
        stream.write(text)
    draft.replace(file)
