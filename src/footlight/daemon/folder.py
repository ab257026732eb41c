"""The folder through which the commands of a user find the background server.

Only the user has access to the folder (0700), so only the user and root can open the socket in it. For this
reason the local stream is a Unix domain socket. Any user of the machine could connect to a port on loopback.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path

from footlight.daemon.errors import DaemonError
from footlight.private_files import open_private

__all__ = [
    "LOG",
    "SERVER_LOCK",
    "VARIABLE",
    "check_folder",
    "ensure_daemon_folder",
    "find_folder",
    "is_locked",
    "lock_folder",
    "suggest_other_folder",
]

VARIABLE = "FOOTLIGHT_DAEMON_DIR"
LOG = "server.log"
SERVER_LOCK = "server.lock"
"""The lock that a server holds while it starts and runs, so that a folder has one server."""
RETRY_SECONDS = 0.02
RUNTIME = Path("/run/user")
"""The folder that contains XDG_RUNTIME_DIR, by user id."""


def find_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder, whether it exists or not.

    MCP clients start their servers with few variables. The folder is therefore the same without
    XDG_RUNTIME_DIR, and TMPDIR is ignored.
    """
    if folder := environment.get(VARIABLE):
        return Path(folder).expanduser().absolute()
    if runtime := environment.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "footlight"
    usual = RUNTIME / str(_user())
    return usual / "footlight" if usual.is_dir() else Path("/tmp") / f"footlight-{_user()}"


def ensure_daemon_folder(folder: Path) -> Path:
    """Create the folder if it does not exist, and return it.

    Raises:
        DaemonError: The folder belongs to another user, or other users have access to it.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DaemonError(
            f"{folder} cannot be used: {error.strerror}", suggestion=suggest_other_folder()
        ) from None
    check_folder(folder)
    return folder


def check_folder(folder: Path) -> bool:
    """Return whether the folder exists. Its contents can then be trusted.

    In /tmp, another user may have created the folder first.

    Raises:
        DaemonError: The folder belongs to another user, or other users have access to it.
    """
    try:
        found = folder.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise DaemonError(
            f"{folder} cannot be used: {error.strerror}", suggestion=suggest_other_folder()
        ) from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != _user() or stat.S_IMODE(found.st_mode) & 0o077:
        raise DaemonError(
            f"{folder} must be a folder that belongs to you and that only you can open (mode 0700)",
            suggestion=suggest_other_folder(),
        )
    return True


def lock_folder(folder: Path, name: str, *, seconds: float) -> int | None:
    """Take a lock, and return its descriptor. Closing it, or the end of the process, releases the lock.

    Wait at most `seconds`. Return None if another process keeps the lock.
    """
    import fcntl

    lock = open_private(folder / name, 0)
    limit = time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock
            except BlockingIOError:
                if time.monotonic() >= limit:
                    os.close(lock)
                    return None
                time.sleep(RETRY_SECONDS)
    except BaseException:
        os.close(lock)
        raise


def is_locked(folder: Path, name: str) -> bool:
    lock = lock_folder(folder, name, seconds=0)
    if lock is not None:
        os.close(lock)
    return lock is None


def _user() -> int:
    """Return the user id. Windows has no user ids, and Python has no Unix domain sockets there."""
    if not hasattr(os, "getuid"):
        raise DaemonError("The background server needs Unix domain sockets, which this system does not have")
    return os.getuid()


def suggest_other_folder() -> str:
    return f"Set the variable {VARIABLE} to another folder."
