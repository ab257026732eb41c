"""Profiles on disk: a folder for each session that has a name, kept while its browser comes and goes.

Beside the folder `NAME` there are `.NAME.json`, how it was opened, and, while it is open, `.NAME.lock`. A
lock is the system's, so it ends with its process, however that ends.
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

from footlight.browser.launch_options import LaunchOptions
from footlight.browser.profile_lock import Holder, ProfileLock, find_browser_holder, find_holder, lock_file
from footlight.browser.storage import write_private
from footlight.errors import InvalidParameter, PermissionDenied, ResourceExhausted, SessionNotFound

__all__ = ["PORTS", "Holder", "ProfileInfo", "ProfileStore", "in_use"]

logger = logging.getLogger(__name__)

NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
"""Names that are no files on Windows, whatever follows the dot."""
PORTS = range(20_000, 30_000)
"""Where browsers listen for debuggers. No page reaches them: who does can read any file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileInfo:
    """What is known of a profile without opening it."""

    name: str
    port: int
    created: datetime
    last_used: datetime
    options: LaunchOptions
    held_by: Holder | None = None
    """Who has it open; it may be this process."""


class ProfileStore:
    """The profiles in a folder, which is made when there is a first one."""

    def __init__(self, directory: Path, *, scope: str = "") -> None:
        self._directory = directory.resolve()
        self._scope = scope

    def below(self, folder: str) -> ProfileStore:
        """A store apart from this one, with ports of its own."""
        return ProfileStore(self._directory / folder, scope=folder) if folder else self

    def check_name(self, name: str) -> None:
        """Whether a name can be a folder here, on every system (R000-86, R000-90).

        Raises:
            InvalidParameter: it would be another folder than it says, or one outside.
        """
        if not NAME.fullmatch(name) or ".." in name or name.endswith("."):
            raise _wrong(
                f"{_shown(name)} must be 1 to 64 letters, digits, dots, dashes and underscores, "
                "with no dot at its beginning or end, and no two in a row"
            )
        if DEVICES.fullmatch(name):
            raise _wrong(f"{name} is the name of a device on Windows")
        if twin := self._find_twin(name):
            raise _wrong(f"{name} differs from the profile {twin} only in upper and lower case")
        folder = self._directory / name
        if folder.is_symlink() or folder.resolve() != folder:
            raise _wrong(f"{name} is a link in the folder of the profiles, which leads out of it")
        if folder.exists() and not self._is_profile(folder):
            raise _wrong(f"there is a folder {name} among the profiles that is none")

    def folder(self, name: str) -> Path:
        """Where the browser keeps this profile. Raises InvalidParameter."""
        self.check_name(name)
        return self._directory / name

    def port_of(self, name: str) -> int:
        """Where its browser listens for debuggers: the same always, from the name alone (R000-86)."""
        told = f"{self._scope}/{name}" if self._scope else name
        return PORTS[int.from_bytes(hashlib.sha1(told.encode()).digest()) % len(PORTS)]

    def list(self) -> list[ProfileInfo]:
        """By name."""
        if not self._directory.is_dir():
            return []
        folders = sorted(each for each in self._directory.iterdir() if self._is_own(each))
        return [self._info(folder) for folder in folders]

    def find(self, name: str) -> ProfileInfo | None:
        """None where there is no such profile. Raises InvalidParameter."""
        folder = self.folder(name)
        return self._info(folder) if folder.is_dir() else None

    def load_options(self, name: str) -> LaunchOptions:
        """As it was opened last; none where that is not known."""
        return _options(self._read(name))

    def prepare(self, name: str) -> Path:
        """Its folder, which is made if need be. Raises PermissionDenied where it cannot be."""
        folder = self.folder(name)
        with _written():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def save_options(self, name: str, options: LaunchOptions) -> ProfileInfo:
        """Write down that it is used now, and how. Raises PermissionDenied where that cannot be."""
        folder = self.prepare(name)
        kept = self._read(name)
        now = datetime.now(UTC).isoformat()
        data = {"created": kept.get("created", now), "lastUsed": now, "options": options.to_json()}
        with _written():
            write_private(self._beside(name, "json"), data)
        return self._info(folder)

    def lock(self, name: str) -> ProfileLock:
        """Have the profile for this process alone, until the lock is released.

        Raises:
            InvalidParameter: the name is none.
            ResourceExhausted: says who has it.
            PermissionDenied: nothing can be written here.
        """
        self.check_name(name)
        path = self._beside(name, "lock")
        with _written():
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = lock_file(path)
        if lock is None:
            raise in_use(name, find_holder(path))
        for left in self._directory.glob(f".{name}.deleted-*"):
            shutil.rmtree(left, ignore_errors=True)
        return lock

    def delete(self, name: str) -> None:
        """Remove the profile, and nothing else.

        Raises:
            InvalidParameter: the name is none.
            SessionNotFound: there is no such profile.
            ResourceExhausted: somebody has it open.
            PermissionDenied: nothing can be written here.
        """
        folder = self.folder(name)
        with self.lock(name):
            if not folder.is_dir():
                raise SessionNotFound(
                    f'There is no profile "{name}"',
                    suggestion="session.list tells which there are.",
                    sessionName=name,
                )
            if holder := find_browser_holder(folder):
                raise in_use(name, holder)
            # Half a profile is never used: what cannot be removed now goes when the name is used again.
            left = folder.with_name(f".{name}.deleted-{os.getpid()}")
            with _written():
                folder.rename(left)
                self._beside(name, "json").unlink(missing_ok=True)
            shutil.rmtree(left, ignore_errors=True)

    def _beside(self, name: str, kind: str) -> Path:
        """No name begins with a dot, so this is no profile's."""
        return self._directory / f".{name}.{kind}"

    def _find_twin(self, name: str) -> str | None:
        if not self._directory.is_dir():
            return None
        names = (each.name for each in self._directory.iterdir())
        return next((each for each in names if each != name and each.lower() == name.lower()), None)

    def _is_own(self, folder: Path) -> bool:
        """Not what somebody else keeps here, nor what is behind a link."""
        named = NAME.fullmatch(folder.name) is not None
        return named and folder.is_dir() and not folder.is_symlink() and self._is_profile(folder)

    def _is_profile(self, folder: Path) -> bool:
        marks = (self._beside(folder.name, "json"), folder / "Local State", folder / "Default")
        return any(mark.exists() for mark in marks) or (folder.is_dir() and not any(folder.iterdir()))

    def _info(self, folder: Path) -> ProfileInfo:
        kept = self._read(folder.name)
        made = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
        return ProfileInfo(
            name=folder.name,
            port=self.port_of(folder.name),
            created=_moment(kept.get("created")) or made,
            last_used=_moment(kept.get("lastUsed")) or made,
            options=_options(kept),
            held_by=find_holder(self._beside(folder.name, "lock")),
        )

    def _read(self, name: str) -> dict[str, Any]:
        """What is damaged is as if it were not there: the profile itself is of use without it."""
        try:
            data: object = json.loads(self._beside(name, "json").read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("how the profile %s was opened could not be read: %s", name, error)
            return {}
        return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


@contextlib.contextmanager
def _written() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise PermissionDenied(
            f"The server cannot write where it keeps its profiles: {error.strerror}",
            suggestion="Whoever runs the server can correct the setting profiles.directory (--sessions-dir).",
            setting="profiles.directory",
        ) from error


def in_use(name: str, holder: Holder | None) -> ResourceExhausted:
    """The error that says by whom."""
    by = f"process {holder.pid} ({holder.command})" if holder else "another process"
    on = f" on {holder.host}" if holder and not holder.here else ""
    since = f" since {holder.since:%Y-%m-%d %H:%M:%S} UTC" if holder and holder.since else ""
    return ResourceExhausted(
        f"profile {name} is in use by {by}{on}{since}",
        suggestion="Close it there, or give another sessionName.",
        sessionName=name,
        pid=holder and holder.pid,
        host=holder and holder.host,
    )


def _options(kept: dict[str, Any]) -> LaunchOptions:
    options: object = kept.get("options")
    try:
        return LaunchOptions.from_json(cast("dict[str, Any]", options if isinstance(options, dict) else {}))
    except ValueError as error:
        logger.warning("the launch options of a profile are not used: %s", error)
        return LaunchOptions()


def _moment(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _shown(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:80]}…")


def _wrong(why: str) -> InvalidParameter:
    return InvalidParameter(f"sessionName: {why}", parameter="sessionName")
