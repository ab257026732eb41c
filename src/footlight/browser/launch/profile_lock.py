"""Lock profiles. The system releases a lock when its process ends. The lock file names the holder."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

__all__ = ["ProfileLock", "ProfileLockHolder", "find_browser_holder", "find_holder", "lock_file"]

LOCK_OFFSET = 1 << 30
"""The locked byte is beyond the end of the file, because on Windows others cannot read locked bytes."""
CLOCK_SECONDS = 2.0
"""The maximum difference between the clocks of the system and of the file system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLockHolder:
    """The process that uses a profile."""

    pid: int
    host: str
    command: str
    since: datetime | None = None

    @property
    def here(self) -> bool:
        """Return whether the process is on this machine."""
        return self.host == socket.gethostname()


class ProfileLock:
    """A lock that is held until `release`, or until the end of the block."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._released = False

    def release(self) -> None:
        """Release the lock. It may be called more than once."""
        if self._released:
            return
        self._released = True
        # The file is removed before the lock is released, so that the file of another holder is not removed.
        # Windows does not remove an open file.
        with contextlib.suppress(OSError):
            self._path.unlink()
        os.close(self._descriptor)

    def __enter__(self) -> ProfileLock:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def lock_file(path: Path) -> ProfileLock | None:
    """Return the lock, or None if it is held elsewhere in this process or by another process."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            if not _try(descriptor):
                os.close(descriptor)
                return None
            if not _is_still(path, descriptor):  # Its last holder has removed the file in the meantime.
                os.close(descriptor)
                continue
            _write(descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                os.close(descriptor)
            raise
        return ProfileLock(path, descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _write(descriptor: int) -> None:
    import psutil

    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": _command(),
        "since": datetime.now(UTC).isoformat(),
        "started": psutil.Process().create_time(),
    }
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, json.dumps(holder).encode())


def _command() -> str:
    """Return the beginning of the command. The remaining arguments may contain a token."""
    return " ".join(["footlight", *(word for word in sys.argv[1:2] if word.isalpha())])


if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> bool:
        os.lseek(descriptor, LOCK_OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def find_holder(path: Path) -> ProfileLockHolder | None:
    """Return the holder that the lock file names, or None if that process has ended."""
    try:
        data: object = json.loads(path.read_text("utf-8"))
        fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        holder = ProfileLockHolder(
            pid=int(fields["pid"]),
            host=str(fields["host"]),
            command=str(fields["command"]),
            since=datetime.fromisoformat(fields["since"]),
        )
        started = float(fields["started"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # The file names no holder, or its holder is still writing it.
    return holder if not holder.here or _runs(holder.pid, until=started + CLOCK_SECONDS) else None


def find_browser_holder(folder: Path) -> ProfileLockHolder | None:
    """Return the browser that runs on a profile, no matter which process started it.

    The headless shell does not create Chromium's lock, so it is found by its command line.
    """
    return _find_by_mark(folder / "SingletonLock") or next(_find_by_command(folder), None)


def _find_by_mark(mark: Path) -> ProfileLockHolder | None:
    """Find the holder by Chromium's own lock, a link to `host-pid`."""
    try:
        match = re.fullmatch(r"(.+)-(\d+)", str(mark.readlink()))
        made = mark.lstat().st_mtime
    except OSError:
        return None
    if match is None:
        return None
    holder = ProfileLockHolder(
        pid=int(match[2]), host=match[1], command="chromium", since=datetime.fromtimestamp(made, UTC)
    )
    return holder if not holder.here or _runs(holder.pid, until=made + CLOCK_SECONDS) else None


def _find_by_command(folder: Path) -> Iterator[ProfileLockHolder]:
    import psutil

    switch = f"--user-data-dir={folder}"
    for process in psutil.process_iter(["cmdline", "name", "create_time", "status"]):
        words = cast("list[str]", process.info["cmdline"] or [])
        if switch in words and not any(word.startswith("--type=") for word in words):
            began = datetime.fromtimestamp(process.info["create_time"], UTC)
            yield ProfileLockHolder(
                pid=process.pid, host=socket.gethostname(), command=process.info["name"], since=began
            )


def _runs(pid: int, *, until: float) -> bool:
    """Return whether the process is running, and is not a later process with the same id."""
    import psutil

    try:
        process = psutil.Process(pid)
        return process.create_time() <= until and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
