"""Files and folders that only their owner can open: they hold what pages show, logins, and what was typed."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["ensure_private_folder", "make_private", "open_private", "remove_folder", "write_private_json"]

logger = logging.getLogger(__name__)

OTHERS = stat.S_IRWXG | stat.S_IRWXO
REMOVE_SECONDS = 5.0
RETRY_SECONDS = 0.05


def ensure_private_folder(folder: Path) -> None:
    """Make the folder with mode 0700; one that is there already is closed to everybody but its owner.

    Parents that are missing are made with the usual mode.

    Raises:
        OSError: it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_private(folder)


def make_private(path: Path) -> None:
    """Take the rights of the group and of others away from a file or folder.

    A path that is missing, is a link or a device, or belongs to another user stays as it is.
    """
    if os.name == "nt":  # The rights there are those of the folder above.
        return
    with contextlib.suppress(OSError):
        mode = path.lstat().st_mode
        if mode & OTHERS and (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            path.chmod(stat.S_IMODE(mode) & ~OTHERS)


def open_private(file: Path, flags: int) -> int:
    """Open a file to write, and return its descriptor. A new file gets mode 0600, an old one keeps no other.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(file, flags | os.O_CREAT | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
    make_private(file)
    return descriptor


def write_private_json(path: Path, data: Mapping[str, Any]) -> Path:
    """Write `data` as JSON to a file with mode 0600, whole or not at all, and return `path`.

    Raises:
        OSError: it cannot be written.
    """
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        ensure_private_folder(path.parent)
        with os.fdopen(open_private(unfinished, os.O_TRUNC), "w", encoding="utf-8") as file:
            json.dump(data, file)
        unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    return path


def remove_folder(folder: Path, *, timeout_s: float = REMOVE_SECONDS) -> bool:
    """Remove a folder with all that is in it, and return whether it is gone.

    The processes of a browser that was killed may write into its profile for another moment, so the removal
    is repeated until `timeout_s` has passed. Blocks the calling thread for that long at the most.
    """
    end = time.monotonic() + timeout_s
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return True
        if time.monotonic() >= end:
            logger.warning("the folder %s could not be removed", folder)
            return False
        time.sleep(RETRY_SECONDS)
