"""Where the server in the background leaves what its user's commands need to find it.

The folder is the user's alone (0700): whoever can open the socket in it is the user, or root. That is why the
local stream is a Unix domain socket and no port on loopback, to which everybody on the machine could connect.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from footlight.daemon.errors import DaemonError

__all__ = ["LOG", "VARIABLE", "find_folder", "private_folder", "refuse_foreign"]

VARIABLE = "FOOTLIGHT_DAEMON_DIR"
LOG = "server.log"
RUNTIME = Path("/run/user")
"""The folder that contains XDG_RUNTIME_DIR, by user id."""


def find_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder, whether it exists or not.

    MCP clients start their servers with few variables. So it is the same where XDG_RUNTIME_DIR is missing,
    and TMPDIR does not count.
    """
    if given := environment.get(VARIABLE):
        return Path(given).expanduser().absolute()
    if runtime := environment.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "footlight"
    usual = RUNTIME / str(_user())
    return usual / "footlight" if usual.is_dir() else Path("/tmp") / f"footlight-{_user()}"


def private_folder(folder: Path) -> Path:
    """Make it, where it is not there.

    Raises:
        DaemonError: it is somebody else's, or open to others.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DaemonError(f"{folder} cannot be used: {error.strerror}", suggestion=_elsewhere()) from None
    refuse_foreign(folder)
    return folder


def refuse_foreign(folder: Path) -> bool:
    """Whether it is there; then what is in it may be believed. In /tmp, another user may have made it first.

    Raises:
        DaemonError: it is somebody else's, or open to others.
    """
    try:
        found = folder.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise DaemonError(f"{folder} cannot be used: {error.strerror}", suggestion=_elsewhere()) from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != _user() or stat.S_IMODE(found.st_mode) & 0o077:
        raise DaemonError(
            f"{folder} must be a folder of yours that nobody else can open (mode 0700)",
            suggestion=_elsewhere(),
        )
    return True


def _user() -> int:
    """Return the user id. Windows has none, and no such sockets in Python either."""
    if not hasattr(os, "getuid"):
        raise DaemonError("The server in the background needs Unix domain sockets, which are not here")
    return os.getuid()


def _elsewhere() -> str:
    return f"Name another folder in the variable {VARIABLE}."
