"""Write files that other programs never see incomplete, even if the disk is full or the process is killed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

__all__ = ["real_path", "write_atomically"]


def real_path(path: Path) -> Path:
    """Return the absolute path without symbolic links. The file need not exist.

    Raises:
        OSError: the links are a loop.
    """
    try:
        return path.resolve()
    except RuntimeError:  # Python before 3.13 raises it for a loop.
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None


def write_atomically(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write a file, or leave it as it is if that fails.

    A symbolic link keeps its target. An existing file keeps its mode, but with `private`, only the owner can
    read the file afterwards. A device or a pipe is written directly.

    Raises:
        OSError: the file cannot be written. `filename` is `path`.
    """
    target = real_path(path)
    unfinished = target.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            target.write_bytes(content)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(unfinished, flags, 0o600 if private else 0o666), "wb") as file:
            file.write(content)
        if mode is not None and not private:
            unfinished.chmod(stat.S_IMODE(mode))
        unfinished.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
