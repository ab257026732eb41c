"""Profiles on disk: a folder for each named session, which remains after its browser has ended.

Beside the folder `NAME`, `.NAME.json` stores its options and its last use, and `.NAME.lock` exists while it
is open. The system releases the lock when the process ends in any way.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from footlight.browser.driver.output_folder import translate_write_errors
from footlight.browser.launch.chromium_flags import DEBUGGING_PORTS
from footlight.browser.launch.launch_options import LaunchOptions
from footlight.browser.launch.profile_lock import (
    ProfileLock,
    ProfileLockHolder,
    find_browser_holder,
    find_holder,
    lock_file,
)
from footlight.errors import (
    InvalidParameterError,
    PermissionDeniedError,
    ResourceExhaustedError,
    SessionNotFoundError,
)
from footlight.private_files import ensure_private_folder, write_private_json

__all__ = ["ProfileInfo", "ProfileLockHolder", "ProfileStore", "profile_in_use_error"]

logger = logging.getLogger(__name__)

NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
RESERVED_NAMES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
"""Names that are devices and not files on Windows, with any extension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileInfo:
    """The data of a profile that are available without opening it."""

    name: str
    port: int
    created: datetime
    last_used: datetime
    options: LaunchOptions
    held_by: ProfileLockHolder | None = None
    """The process that has it open, which may be this one."""


class ProfileStore:
    """The profiles in a folder, which is created with the first profile."""

    def __init__(self, directory: Path, *, scope: str = "") -> None:
        self._directory = directory.resolve()
        self._scope = scope

    def below(self, folder: str) -> ProfileStore:
        """Return a separate store in a subfolder, with different ports."""
        return ProfileStore(self._directory / folder, scope=folder) if folder else self

    def check_name(self, name: str) -> None:
        """Check that the name can be a folder name on every system.

        Raises:
            InvalidParameterError: the name is invalid, or would lead to another folder or out of the store.
        """
        if not NAME.fullmatch(name) or ".." in name or name.endswith("."):
            raise _name_error(
                f"{_shorten(name)} must be 1 to 64 letters, digits, dots, dashes and underscores, "
                "with no dot at its beginning or end, and no two in a row"
            )
        if RESERVED_NAMES.fullmatch(name):
            raise _name_error(f"{name} is the name of a device on Windows")
        if twin := self._find_twin(name):
            raise _name_error(f"{name} differs from the profile {twin} only in upper and lower case")
        folder = self._directory / name
        if folder.is_symlink() or folder.resolve() != folder:
            raise _name_error(f"{name} is a link in the folder of the profiles, which leads out of it")
        if folder.exists() and not self._is_profile(folder):
            raise _name_error(f"the folder {name} among the profiles is not a profile")

    def folder(self, name: str) -> Path:
        """Return the folder of the profile. Raise InvalidParameterError for an invalid name."""
        self.check_name(name)
        return self._directory / name

    def port_of(self, name: str) -> int:
        """Return the port for debuggers, which depends only on the name."""
        scoped_name = f"{self._scope}/{name}" if self._scope else name
        return DEBUGGING_PORTS[
            int.from_bytes(hashlib.sha1(scoped_name.encode()).digest()) % len(DEBUGGING_PORTS)
        ]

    def list(self) -> list[ProfileInfo]:
        """Return all profiles, sorted by name."""
        if not self._directory.is_dir():
            return []
        folders = sorted(each for each in self._directory.iterdir() if self._is_own(each))
        return [self._info(folder) for folder in folders]

    def find(self, name: str) -> ProfileInfo | None:
        """Return the profile, or None. Raise InvalidParameterError for an invalid name."""
        folder = self.folder(name)
        return self._info(folder) if folder.is_dir() else None

    def load_options(self, name: str) -> LaunchOptions:
        """Return the options that were saved last, or defaults."""
        return _options(self._read(name))

    def prepare(self, name: str) -> Path:
        """Create the folder if necessary and return it. Raise PermissionDeniedError if that fails."""
        folder = self.folder(name)
        with _translate_write_errors():
            ensure_private_folder(folder)
        return folder

    def save_options(self, name: str, options: LaunchOptions) -> ProfileInfo:
        """Save the options and the time of use. Raise PermissionDeniedError if that fails."""
        folder = self.prepare(name)
        stored = self._read(name)
        now = datetime.now(UTC).isoformat()
        data = {"created": stored.get("created", now), "lastUsed": now, "options": options.to_json()}
        with _translate_write_errors():
            write_private_json(self._path_beside(name, "json"), data)
        return self._info(folder)

    def lock(self, name: str) -> ProfileLock:
        """Lock the profile for this process until the lock is released.

        Raises:
            InvalidParameterError: the name is invalid.
            ResourceExhaustedError: another process has locked it; the error names that process.
            PermissionDeniedError: the folder of the profiles cannot be written.
        """
        self.check_name(name)
        path = self._path_beside(name, "lock")
        with _translate_write_errors():
            ensure_private_folder(self._directory)
            lock = lock_file(path)
        if lock is None:
            raise profile_in_use_error(name, find_holder(path))
        for leftover in self._directory.glob(f".{name}.deleted-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        return lock

    def delete(self, name: str) -> None:
        """Remove the profile and its files beside it.

        Raises:
            InvalidParameterError: the name is invalid.
            SessionNotFoundError: the profile does not exist.
            ResourceExhaustedError: it is open.
            PermissionDeniedError: the folder of the profiles cannot be written.
        """
        folder = self.folder(name)
        with self.lock(name):
            if not folder.is_dir():
                raise SessionNotFoundError(
                    f'There is no profile "{name}"',
                    suggestion="Call session.list to list the profiles.",
                    sessionName=name,
                )
            if holder := find_browser_holder(folder):
                raise profile_in_use_error(name, holder)
            # The folder is renamed first, so that a partly removed profile is never used. Files that cannot
            # be removed now are removed when the name is used again.
            trash = folder.with_name(f".{name}.deleted-{os.getpid()}")
            with _translate_write_errors():
                folder.rename(trash)
                self._path_beside(name, "json").unlink(missing_ok=True)
            shutil.rmtree(trash, ignore_errors=True)

    def _path_beside(self, name: str, kind: str) -> Path:
        """Return the path of a file beside the profile. Profile names never begin with a dot."""
        return self._directory / f".{name}.{kind}"

    def _find_twin(self, name: str) -> str | None:
        if not self._directory.is_dir():
            return None
        names = (each.name for each in self._directory.iterdir())
        return next((each for each in names if each != name and each.lower() == name.lower()), None)

    def _is_own(self, folder: Path) -> bool:
        """Return whether this server created the folder, and it is not a link."""
        named = NAME.fullmatch(folder.name) is not None
        return named and folder.is_dir() and not folder.is_symlink() and self._is_profile(folder)

    def _is_profile(self, folder: Path) -> bool:
        marks = (self._path_beside(folder.name, "json"), folder / "Local State", folder / "Default")
        return any(mark.exists() for mark in marks) or (folder.is_dir() and not any(folder.iterdir()))

    def _info(self, folder: Path) -> ProfileInfo:
        stored = self._read(folder.name)
        made = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
        return ProfileInfo(
            name=folder.name,
            port=self.port_of(folder.name),
            created=_parse_time(stored.get("created")) or made,
            last_used=_parse_time(stored.get("lastUsed")) or made,
            options=_options(stored),
            held_by=find_holder(self._path_beside(folder.name, "lock")),
        )

    def _read(self, name: str) -> dict[str, Any]:
        """Return the saved data. Empty if it is damaged, because the profile can be used without it."""
        try:
            data: object = json.loads(self._path_beside(name, "json").read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("how the profile %s was opened could not be read: %s", name, error)
            return {}
        return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


_REMEDY = "Ask the server operator to correct the setting profiles.directory (--sessions-dir)."


@contextlib.contextmanager
def _translate_write_errors() -> Generator[None]:
    try:
        with translate_write_errors("The folder of the profiles", remedy=_REMEDY):
            yield
    except (PermissionDeniedError, ResourceExhaustedError) as error:
        error.details["setting"] = "profiles.directory"
        raise


def profile_in_use_error(name: str, holder: ProfileLockHolder | None) -> ResourceExhaustedError:
    """Return the error that names the holder of the profile."""
    by = f"process {holder.pid} ({holder.command})" if holder else "another process"
    host = f" on {holder.host}" if holder and not holder.here else ""
    since = f" since {holder.since:%Y-%m-%d %H:%M:%S} UTC" if holder and holder.since else ""
    return ResourceExhaustedError(
        f"profile {name} is in use by {by}{host}{since}",
        suggestion="Close it there, or give another sessionName.",
        sessionName=name,
        pid=holder and holder.pid,
        host=holder and holder.host,
    )


def _options(stored: dict[str, Any]) -> LaunchOptions:
    options: object = stored.get("options")
    try:
        return LaunchOptions.from_json(cast("dict[str, Any]", options if isinstance(options, dict) else {}))
    except ValueError as error:
        logger.warning("the launch options of a profile are not used: %s", error)
        return LaunchOptions()


def _parse_time(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _shorten(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:80]}…")


def _name_error(why: str) -> InvalidParameterError:
    return InvalidParameterError(f"sessionName: {why}", parameter="sessionName")
