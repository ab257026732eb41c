"""List, read and atomically write the files of the store."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from footlight.errors import FootlightError
from footlight.knowledge.naming import MILLISECOND
from footlight.private_files import ensure_private_folder, make_private, open_private

__all__ = [
    "MAX_FILE_BYTES",
    "STEPS",
    "UNFINISHED",
    "KnowledgeError",
    "ensure_folder",
    "file_stamp",
    "read_session",
    "read_step",
    "remove_unfinished",
    "replace_file",
    "session_folders",
    "step_files",
    "write_step",
]


class KnowledgeError(FootlightError):
    """The store's folder cannot be read or written. A tool call must not fail because of it."""

    code = "KNOWLEDGE_ERROR"
    default_suggestion = "Check that the folder of the store can be written, and that its disk has space."


STEPS = "steps"

MAX_FILE_BYTES = 16 << 20


def session_folders(root: Path) -> dict[str, int]:
    """Return the modification time of each session's step folder, in nanoseconds."""
    found: dict[str, int] = {}
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                if _is_visible_name(entry.name):
                    try:
                        found[entry.name] = os.stat(f"{entry.path}/{STEPS}").st_mtime_ns  # noqa: PTH116 - quicker
                    except OSError:  # It is not a session, or it is being removed.
                        continue
    except FileNotFoundError:
        pass
    return found


def step_files(root: Path, session_id: str) -> dict[str, str]:
    """Return the names of step files in chronological order, each with a stamp that changes with the file."""
    stamps: dict[str, str] = {}
    try:
        with os.scandir(root / session_id / STEPS) as entries:
            for entry in entries:
                if entry.name.endswith(".json") and _is_visible_name(entry.name) and entry.is_file():
                    facts = entry.stat()
                    stamps[entry.name] = file_stamp(facts)
    except OSError:
        pass
    return dict(sorted(stamps.items()))


def file_stamp(facts: os.stat_result) -> str:
    return f"{facts.st_mtime_ns:x}-{facts.st_size:x}"


def read_step(path: Path) -> dict[str, Any] | None:
    """Return a record, or None if the file is incomplete, missing, too large or not a JSON object."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        record = json.loads(data) if len(data) <= MAX_FILE_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", record) if isinstance(record, dict) else None


def read_session(root: Path, session_id: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a session in chronological order."""
    for name in step_files(root, session_id):
        record = read_step(root / session_id / STEPS / name)
        if record is not None:
            yield record


def _is_visible_name(name: str) -> bool:
    """Return whether a name is printable and not hidden. Hidden files are still being written."""
    return not name.startswith(".") and name.isprintable()


UNFINISHED = ".tmp"
"""The suffix of the hidden names of files that are being written."""

ABANDONED_S = 3600.0
"""The age at which an unfinished file is considered abandoned."""

MAX_MOMENTS = 10_000

IGNORE = "*\n"
"""Content of the .gitignore: version control ignores the whole folder."""


def ensure_folder(root: Path, *below: str) -> Path:
    """Create a folder and its parents. The root and the folders below it are accessible only to this user.

    Raises:
        KnowledgeError: the folder cannot be created, or is a link.
    """
    try:
        _ensure_root(root)
        folder = root
        for name in below:
            folder /= name
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            if folder.is_symlink() or not folder.is_dir():
                raise KnowledgeError(f"{folder} is a link or not a folder", path=str(folder))
            make_private(folder)
    except OSError as error:
        raise _write_failure(error, root) from error
    return folder


def _ensure_root(root: Path) -> None:
    is_new = not root.is_dir()
    ensure_private_folder(root)
    if is_new:
        with contextlib.suppress(FileExistsError):
            os.write(descriptor := open_private(root / ".gitignore", os.O_EXCL), IGNORE.encode())
            os.close(descriptor)


def write_step(
    folder: Path, at: datetime, name: Callable[[datetime], str], content: Callable[[datetime], bytes]
) -> tuple[Path, datetime]:
    """Write a step file, named after `at` or the next millisecond that is free across processes.

    Raises:
        KnowledgeError: the file cannot be written. No part of it remains.
    """
    for _ in range(MAX_MOMENTS):
        path = folder / name(at)
        with contextlib.suppress(FileExistsError), _temporary_file(folder, content(at)) as file:
            _move_into_place(file, path)
            return path, at
        at += MILLISECOND
    raise KnowledgeError(
        f"{folder} already has files for {MAX_MOMENTS} consecutive milliseconds", path=str(folder)
    )


@contextmanager
def replace_file(path: Path) -> Generator[Path]:
    """Yield a temporary file that replaces the file at `path` on success.

    Raises:
        KnowledgeError: the file cannot be written. The previous file is kept.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise KnowledgeError(f"{path} is a device or a pipe", suggestion="Name another file.")
    with _temporary_file(path.parent, b"") as file:
        yield file
        file.replace(path)


def remove_unfinished(folder: Path) -> None:
    """Remove the temporary files of writers that were killed."""
    before = time.time() - ABANDONED_S
    with contextlib.suppress(OSError):
        for file in folder.glob(f".*{UNFINISHED}"):
            with contextlib.suppress(OSError):
                if file.lstat().st_mtime < before:
                    file.unlink()


@contextmanager
def _temporary_file(folder: Path, content: bytes) -> Generator[Path]:
    file = folder / f".{secrets.token_hex(8)}{UNFINISHED}"
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
        yield file
    except FileExistsError:
        raise
    except OSError as error:
        raise _write_failure(error, folder) from error
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)


def _move_into_place(file: Path, path: Path) -> None:
    """Move a file to `path`.

    Raises:
        FileExistsError: `path` already exists.
    """
    if os.name == "nt":
        file.rename(path)  # On Windows, this does not overwrite.
        return
    try:
        os.link(file, path)
    except FileExistsError:
        raise
    except OSError:
        # The file system has no hard links, so the name is reserved first. A reader may briefly see it empty.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        file.replace(path)


def _write_failure(error: OSError, path: Path) -> KnowledgeError:
    return KnowledgeError(f"{path} cannot be written: {error.strerror or error}", path=str(path))
