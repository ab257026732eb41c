"""Write files that other programs never see incomplete, even if the disk is full or the process is killed."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file, or leave it as it is if that fails.

    An existing file keeps its mode, and a symbolic link its target. A device or a pipe is written directly.

    Raises:
        OSError: the file cannot be written. `filename` is `path`.
    """
    target = path.resolve()
    unfinished = target.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            target.write_bytes(content)
            return
        unfinished.write_bytes(content)
        if mode is not None:
            unfinished.chmod(stat.S_IMODE(mode))
        unfinished.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
