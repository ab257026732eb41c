"""The temporary folder of a process: its browser profiles, downloads and recordings."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

from footlight.private_files import remove_folder

__all__ = ["create_run_folder", "run_folder"]

RUN_PREFIX = "footlight-run-"


@contextlib.contextmanager
def run_folder(root: Path | None = None) -> Generator[Path]:
    """Create the temporary folder of this process, and remove it at the end of the block."""
    folder = create_run_folder(root)
    try:
        yield folder
    finally:
        remove_folder(folder)


def create_run_folder(root: Path | None = None) -> Path:
    """Create the temporary folder of this process, and remove those of processes that have ended.

    Raises:
        OSError: the folder cannot be created.
    """
    root = root or Path(tempfile.gettempdir())
    for old in root.glob(f"{RUN_PREFIX}*"):
        if not _is_running(old.name.removeprefix(RUN_PREFIX).partition("-")[0]):
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{RUN_PREFIX}{os.getpid()}-", dir=root))


def _is_running(pid: str) -> bool:
    if not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
