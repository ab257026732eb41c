"""What a running server writes down for its user's commands, and nobody else can read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from footlight import __version__
from footlight.daemon.errors import DaemonError
from footlight.daemon.folder import refuse_foreign
from footlight.private_files import open_private

__all__ = ["TOKEN", "State", "forget_state", "make_state", "read_state", "read_tools", "write_state"]

STATE = "state.json"
TOOLS = "tools.json"
TOKEN = "token"
"""A file of its own, for those who come over HTTP."""

KINDS = (int, (int, float), str, str, str, str, str, list)
"""The types of the fields of a state."""

Tools = list[dict[str, Any]]


class State(NamedTuple):
    """A tuple and no dataclass: those take 8 ms to import."""

    pid: int
    started: float
    """When the process began, by the system: with `pid` it is that very process."""
    version: str
    """The version of this package."""
    url: str
    """The URL of MCP over HTTP."""
    socket: str
    nonce: str
    """Proves at each end of the local stream that the other end can read this file."""
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
    """Return the state, or None if there is none that we have written.

    Raises:
        DaemonError: others can write there, so that it may be of a server that listens for this user's calls.
    """
    if not refuse_foreign(folder):
        return None
    try:
        given: Any = json.loads((folder / STATE).read_bytes())
        # Another version may have written more.
        fields = [given[field] for field in State._fields]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    fits = all(isinstance(field, kinds) for field, kinds in zip(fields, KINDS, strict=True))
    state = State(*fields)
    return state if fits and state.pid > 0 else None


def write_state(folder: Path, state: State, *, tools: Tools, token: str | None) -> None:
    """Write the whole file or nothing, the state last, because the rest is found by it.

    `token` is the one that is asked for over HTTP, where the user gave none.
    """
    _write(folder / TOOLS, json.dumps({"nonce": state.nonce, "tools": tools}))
    if token is not None:
        _write(folder / TOKEN, f"{token}\n")
    _write(folder / STATE, json.dumps(state._asdict()))


def read_tools(folder: Path, state: State) -> Tools | None:
    """Return the list of tools of this server."""
    try:
        given: Any = json.loads((folder / TOOLS).read_bytes())
        return cast("Tools", given["tools"]) if given["nonce"] == state.nonce else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def forget_state(folder: Path, state: State) -> None:
    """Remove it, unless another server has taken its place."""
    with suppress(DaemonError):  # What others can write to by now is left to them.
        if read_state(folder) == state:
            for name in (STATE, TOKEN, TOOLS):
                (folder / name).unlink(missing_ok=True)


def _write(file: Path, text: str) -> None:
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(open_private(draft, os.O_TRUNC), "w") as stream:
        stream.write(text)
    draft.replace(file)
