"""How files come into the store: whole or not at all, never over one that is there, for this user only."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from footlight.knowledge.errors import KnowledgeError
from footlight.knowledge.naming import MILLISECOND

__all__ = ["UNFINISHED", "ensure_folder", "remove_unfinished", "replaced", "written_at_free_moment"]

UNFINISHED = ".tmp"
"""The end of the hidden names that files have while they are written."""
ABANDONED_S = 3600.0
"""Whoever writes a file for an hour is gone."""
MOST_MOMENTS = 10_000
IGNORE = "*\n"
"""All that is in here: no version control takes it up (R002-19)."""


def ensure_folder(root: Path, *below: str) -> Path:
    """With those above it. New ones from the root on are this user's alone.

    Raises:
        KnowledgeError: it cannot be made, or is a link to somewhere else.
    """
    try:
        _ensure_root(root)
        folder = root
        for name in below:
            folder /= name
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            if folder.is_symlink() or not folder.is_dir():
                raise KnowledgeError(f"{folder} is no folder, or a link", path=str(folder))
    except OSError as error:
        raise _failed(error, root) from error
    return folder


def _ensure_root(root: Path) -> None:
    if root.is_dir():
        return
    root.parent.mkdir(parents=True, exist_ok=True)
    root.mkdir(mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError), (root / ".gitignore").open("x", encoding="utf-8") as file:
        file.write(IGNORE)


def written_at_free_moment(
    folder: Path, at: datetime, name: Callable[[datetime], str], content: Callable[[datetime], bytes]
) -> tuple[Path, datetime]:
    """At `at`, or at the next millisecond whose name is free, also for other processes.

    Raises:
        KnowledgeError: the file cannot be written; nothing of it is left.
    """
    for _ in range(MOST_MOMENTS):
        path = folder / name(at)
        with contextlib.suppress(FileExistsError), _unfinished(folder, content(at)) as file:
            _put(file, path)
            return path, at
        at += MILLISECOND
    raise KnowledgeError(f"{folder} has a file for each of {MOST_MOMENTS} milliseconds", path=str(folder))


@contextmanager
def replaced(path: Path) -> Generator[Path]:
    """A file to write into, that takes the place of the one at `path` when all is in it.

    Raises:
        KnowledgeError: it cannot be written; what was there still is.
    """
    with _unfinished(path.parent, b"") as file:
        yield file
        file.replace(path)


def remove_unfinished(folder: Path, *, now: float | None = None) -> None:
    """What writers left that were killed."""
    before = (time.time() if now is None else now) - ABANDONED_S
    with contextlib.suppress(OSError):
        for file in folder.glob(f".*{UNFINISHED}"):
            with contextlib.suppress(OSError):
                if file.lstat().st_mtime < before:
                    file.unlink()


@contextmanager
def _unfinished(folder: Path, content: bytes) -> Generator[Path]:
    file = folder / f".{secrets.token_hex(8)}{UNFINISHED}"
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
        yield file
    except FileExistsError:
        raise
    except OSError as error:
        raise _failed(error, folder) from error
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)


def _put(file: Path, path: Path) -> None:
    """Raises FileExistsError where there is one."""
    if os.name == "nt":
        file.rename(path)  # does not overwrite there
        return
    try:
        os.link(file, path)
    except FileExistsError:
        raise
    except OSError:
        # No hard links on this file system: the name is taken first. A reader may see it empty, for a moment.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        file.replace(path)


def _failed(error: OSError, path: Path) -> KnowledgeError:
    return KnowledgeError(f"{path} cannot be written: {error.strerror or error}", path=str(path))
