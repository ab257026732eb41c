"""The folder to which tools write files: PDFs, recordings, baselines.

Files are only written inside it, and are never overwritten.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from footlight.browser.driver.file_quota import FileQuota, SessionFiles
from footlight.browser.driver.playwright_api import Error, file_error
from footlight.errors import (
    FootlightError,
    InvalidParameterError,
    PermissionDeniedError,
    ResourceExhaustedError,
)

__all__ = [
    "MAX_NAME_BYTES",
    "OutputFolder",
    "cut_to_bytes",
    "disk_full_error",
    "fill_reserved",
    "open_new",
    "reserve_again",
    "translate_write_errors",
    "write_error",
    "write_new",
]

MAX_NAME_BYTES = 200
"""The maximum length of a file name without number and suffix. File systems allow 255 bytes in total."""
WHAT = "The output folder"
REMEDY = "Ask the server operator for another folder (--output-path)."

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """A folder that is created when the first file is reserved."""

    path: Path
    files: SessionFiles = field(default_factory=lambda: FileQuota().of_session(""))
    """Counts the bytes that are written to the folder."""

    def below(self, folder: str) -> OutputFolder:
        """Return a separate subfolder."""
        return replace(self, path=self.path / folder) if folder else self

    def reserve(self, name: str, suffix: str, *, parameter: str = "name") -> Path:
        """Create an empty file with this name, plus a number if the name is taken, and return its real path.

        Raises:
            InvalidParameterError: the name, a value of `parameter`, is not that of a plain file.
            PermissionDeniedError: the folder cannot be written to.
            ResourceExhaustedError: the disk is full.
            QuotaExceededError: the session has written as much as it may.
        """
        _check_name(name, parameter)
        self.files.check()
        stem = name.removesuffix(suffix)
        with translate_write_errors(WHAT, remedy=REMEDY):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _reserve(self.path.resolve(), stem, suffix)

    @contextlib.contextmanager
    def fill(self, path: Path) -> Generator[Path]:
        """Fill a reserved file of this folder in this block, and count it. It is removed if the block fails.

        Raises:
            QuotaExceededError: the session has written more than it may.
        """
        with fill_reserved(path):
            yield path
            self.files.count(path)

    def find(self, name: str) -> Path | None:
        """Return the file with this name in the folder, or None. Links are not followed."""
        if not _is_name(name):
            return None
        path = self.path.resolve() / name
        return path if path.is_file() and not path.is_symlink() else None


@contextlib.contextmanager
def fill_reserved(path: Path) -> Generator[Path]:
    """Fill a reserved file in this block. The file is removed if the block fails.

    Raises:
        PermissionDeniedError, ResourceExhaustedError: as in `translate_write_errors`.
    """
    try:
        with translate_write_errors(WHAT, remedy=REMEDY):
            yield path
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def translate_write_errors(what: str, *, remedy: str) -> Generator[None]:
    """Translate errors of the file system in this block to errors with suggestions.

    Raises:
        PermissionDeniedError: `what` cannot be written to.
        ResourceExhaustedError: the disk is full.
    """
    try:
        yield
    except (OSError, Error) as error:
        if found := write_error(error, what, remedy=remedy):
            raise found from error
        raise


def write_error(error: Exception, what: str, *, remedy: str) -> FootlightError | None:
    """Translate an error of the file system, or return None for any other error."""
    found = file_error(error) if isinstance(error, Error) else error
    if not isinstance(found, OSError) or found.errno is None:
        return None  # A timeout is an OSError too.
    reason = os.strerror(found.errno)
    if found.errno in _DISK_FULL:
        return ResourceExhaustedError(
            f"{what} has no space left: {reason}", suggestion=f"Free some space on its disk. {remedy}"
        )
    return PermissionDeniedError(f"{what} cannot be written to: {reason}", suggestion=remedy)


def disk_full_error(error: Exception) -> FootlightError | None:
    """Return the error for a full disk of the server, or None for any other error."""
    found = write_error(error, "The server's disk", remedy="It may be the disk of its temporary folder.")
    return found if isinstance(found, ResourceExhaustedError) else None


def cut_to_bytes(text: str, limit: int) -> str:
    """Return the beginning of the text, at most `limit` bytes in UTF-8."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def reserve_again(path: Path) -> Path:
    """Create an empty file in place of one that `fill_reserved` removed, with a number if the name is taken.

    Raises:
        PermissionDeniedError, ResourceExhaustedError: as in `translate_write_errors`.
    """
    with translate_write_errors(WHAT, remedy=REMEDY):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _reserve(path.parent, path.stem, path.suffix)


def write_new(path: Path, data: bytes) -> None:
    """Write data to a reserved file."""
    with open_new(path) as file:
        file.write(data)


def open_new(path: Path) -> BinaryIO:
    """Open a reserved file. If a link has replaced it, the link is not followed."""
    flags = os.O_RDWR | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags), "w+b")


def _reserve(folder: Path, stem: str, suffix: str) -> Path:
    number = 0
    while True:
        path = folder / (f"{stem}-{number}{suffix}" if number else f"{stem}{suffix}")
        try:
            path.touch(mode=0o600, exist_ok=False)  # This also fails for a broken link with that name.
        except FileExistsError:
            number += 1
        else:
            return path


def _is_name(name: str) -> bool:
    """Return whether the name is a plain file name on every system: no folder, no hidden file."""
    plain = re.fullmatch(r"\w[\w.\- ()]{0,99}", name) is not None and not name.endswith((".", " "))
    return plain and len(name.encode()) <= MAX_NAME_BYTES


def _check_name(name: str, parameter: str) -> None:
    if not _is_name(name):
        raise InvalidParameterError(
            f"{parameter}: {name[:100]!r} is not a plain file name; give one such as checkout-2, without "
            "a folder, of at most 100 letters, digits, dots, dashes, underscores and spaces "
            f"({MAX_NAME_BYTES} bytes in UTF-8)",
            parameter=parameter,
        )
