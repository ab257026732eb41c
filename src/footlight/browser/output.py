"""The folder that tools write files to: prints, recordings, baselines.

Nothing is written elsewhere, or over anything.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from footlight.errors import InvalidParameter, PermissionDenied

__all__ = ["OutputFolder", "write_new"]


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """It is made when there is something to put into it."""

    path: Path

    def below(self, folder: str) -> OutputFolder:
        """A folder apart from this one."""
        return OutputFolder(self.path / folder) if folder else self

    def reserve(self, name: str, suffix: str, *, parameter: str = "name") -> Path:
        """A new empty file of that name, with a number where there is one already, by its real path.

        Raises:
            InvalidParameter: the name, given as this parameter, is not that of a plain file.
            PermissionDenied: the folder cannot be written to.
        """
        _check_name(name, parameter)
        stem = name.removesuffix(suffix)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            return _reserved(self.path.resolve(), stem, suffix)
        except OSError as error:
            raise PermissionDenied(
                f"The output folder cannot be written to: {error.strerror}",
                suggestion="Whoever runs the server can give it another with --output-path.",
            ) from None

    def find(self, name: str) -> Path | None:
        """The file of that name in the folder; not one that a link leads to."""
        if not _is_name(name):
            return None
        path = self.path.resolve() / name
        return path if path.is_file() and not path.is_symlink() else None


def write_new(path: Path, data: bytes) -> None:
    """Fill a file that was reserved; what took its place meanwhile is not followed anywhere."""
    flags = os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "wb") as file:
        file.write(data)


def _reserved(folder: Path, stem: str, suffix: str) -> Path:
    number = 0
    while True:
        path = folder / (f"{stem}-{number}{suffix}" if number else f"{stem}{suffix}")
        try:
            path.touch(mode=0o600, exist_ok=False)  # Also where a link of that name leads to nothing.
        except FileExistsError:
            number += 1
        else:
            return path


def _is_name(name: str) -> bool:
    """No folder, no hidden file, nothing that any system reads as more than a name."""
    return re.fullmatch(r"\w[\w.\- ()]{0,99}", name) is not None and not name.endswith((".", " "))


def _check_name(name: str, parameter: str) -> None:
    if not _is_name(name):
        raise InvalidParameter(
            f"{parameter}: {name[:100]!r} is no plain file name; give one such as checkout-2, without "
            "a folder, of at most 100 letters, digits, dots, dashes, underscores and spaces",
            parameter=parameter,
        )
