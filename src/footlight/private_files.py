"""Files and folders that only their owner can open. They contain page content, logins and typed text."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = [
    "ensure_private_folder",
    "make_private",
    "open_private",
    "remove_folder",
    "write_private_json",
    "write_private_text",
]

OTHERS = stat.S_IRWXG | stat.S_IRWXO
REMOVE_SECONDS = 5.0
RETRY_SECONDS = 0.05


def ensure_private_folder(folder: Path) -> None:
    """Create the folder with mode 0700, or restrict an existing folder to its owner.

    Missing parents are created with the usual mode.

    Raises:
        OSError: The folder cannot be created.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_private(folder)


def make_private(path: Path) -> None:
    """Remove the permissions of the group and of others from a file or folder.

    A path that is missing, is a link or a device, or belongs to another user stays as it is.
    """
    if os.name == "nt":  # On Windows a file has the permissions of its parent folder.
        return
    with contextlib.suppress(OSError):
        mode = path.lstat().st_mode
        if mode & OTHERS and (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            path.chmod(stat.S_IMODE(mode) & ~OTHERS)


def open_private(file: Path, flags: int) -> int:
    """Open a file for writing and return its descriptor. New and existing files get mode 0600.

    Raises:
        OSError: The file cannot be opened.
    """
    descriptor = os.open(file, flags | os.O_CREAT | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
    make_private(file)
    return descriptor


def write_private_json(path: Path, data: Mapping[str, Any]) -> Path:
    """Write `data` as JSON, as in `write_private_text`."""
    return write_private_text(path, json.dumps(data))


def write_private_text(path: Path, text: str) -> Path:
    """Write the text atomically to a file with mode 0600, and return `path`.

    Raises:
        OSError: The file cannot be written.
    """
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        ensure_private_folder(path.parent)
        with os.fdopen(open_private(unfinished, os.O_TRUNC), "w", encoding="utf-8") as file:
            file.write(text)
        unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    return path


def remove_folder(folder: Path, *, timeout_s: float = REMOVE_SECONDS) -> bool:
    """Remove a folder with its contents, and return whether it is gone.

    The processes of a killed browser may still write to its profile for a moment, so the removal is repeated
    until `timeout_s` has passed. The call blocks the thread for at most that time.
    """
    end = time.monotonic() + timeout_s
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return True
        if time.monotonic() >= end:
            import logging  # Rarely used, and its import would delay the start of the driver.

            logging.getLogger(__name__).warning("the folder %s could not be removed", folder)
            return False
        time.sleep(RETRY_SECONDS)
