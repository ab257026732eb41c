"""Store storage states on disk by name."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from footlight.browser.context.storage_state import SessionState
from footlight.browser.driver.output_folder import translate_write_errors
from footlight.errors import InvalidParameterError, ResourceExhaustedError
from footlight.private_files import write_private_json, write_private_text

__all__ = ["StateStore"]

MAX_STATE_BYTES = 20_000_000
MAX_STATE_VALUES = 50_000
"""The number of cookies and items in a state. Restoring a larger state would delay other sessions."""

_OTHER_FOLDER = "Ask the server operator for another folder (--state-directory), or save without a name."


class StateStore:
    """Stores each state in a file that only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, name: str, state: SessionState) -> Path:
        """Store the state. Raise PermissionDeniedError or ResourceExhaustedError if it cannot be written.

        A state that is too large to be restored is not written either.
        """
        path = self._path(name)
        text = json.dumps(state.to_json())
        if excess := _find_excess(state, len(text)):
            raise ResourceExhaustedError(
                f"the state is not saved: it has {excess}",
                retryable=False,
                suggestion="Remove what the login does not need, with storage or delete_cookies "
                "(group storage).",
            )
        with translate_write_errors("The folder of saved states", remedy=_OTHER_FOLDER):
            return write_private_text(path, text)

    def find(self, name: str) -> SessionState | None:
        data = _read(self._path(name), name)
        if data is None:
            return None
        state = SessionState.from_json(data)
        if excess := _find_excess(state):
            raise _unusable_state_error(name, f"it has {excess}")
        return state

    def save_details(self, name: str, details: Mapping[str, Any]) -> None:
        """Store additional data of a session with this state, such as its options."""
        with translate_write_errors("The folder of saved states", remedy=_OTHER_FOLDER):
            write_private_json(self._details_path(name), details)

    def find_details(self, name: str) -> Mapping[str, Any]:
        return _read(self._details_path(name), name) or {}

    def get(self, name: str) -> SessionState:
        """Return the state. Otherwise raise InvalidParameterError, which lists the existing names."""
        if state := self.find(name):
            return state
        known = ", ".join(self.names()) or "none"
        raise InvalidParameterError(
            f"state.name: no state named {name!r} is saved; saved: {known}", parameter="state"
        )

    def names(self) -> Sequence[str]:
        return sorted(path.stem for path in self._folder.glob("*.json"))

    def below(self, folder: str) -> StateStore:
        """Return a separate store in a subfolder."""
        return StateStore(self._folder / folder) if folder else self

    def forget(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)
        self._details_path(name).unlink(missing_ok=True)

    def lock_path(self, name: str) -> Path:
        """Return the path of the file that a session with this state locks while it is open."""
        return self._path(name).with_suffix(".lock")

    def _details_path(self, name: str) -> Path:
        """Return the path of the additional data. It must not match `*.json`, because it is not a state."""
        path = self._path(name)
        return path.with_name(f"{path.stem}.details")

    def _path(self, name: str) -> Path:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
            raise InvalidParameterError(
                f"name: {name!r} must begin with a letter or digit, and have only letters, digits, dots, "
                "dashes and underscores, at most 100 characters",
                parameter="name",
            )
        return self._folder / f"{name}.json"


def _read(path: Path, name: str) -> dict[str, Any] | None:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # Reading a named pipe would block forever.
            raise _unusable_state_error(name, "it is not a file")
        if found.st_size > MAX_STATE_BYTES:
            raise _unusable_state_error(name, f"it has more than {MAX_STATE_BYTES:,} bytes")
        data: object = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise _unusable_state_error(name, str(error)) from None
    if not isinstance(data, dict):
        raise _unusable_state_error(name, "it is not a JSON object")
    return cast("dict[str, Any]", data)


def _find_excess(state: SessionState, size: int = 0) -> str | None:
    """Return the limit for restoring that the state exceeds, or None."""
    storages = [*state.local_storage.values(), *state.session_storage.values()]
    if len(state.cookies) + sum(map(len, storages)) > MAX_STATE_VALUES:
        return f"more than {MAX_STATE_VALUES:,} cookies and items"
    return f"more than {MAX_STATE_BYTES:,} bytes" if size > MAX_STATE_BYTES else None


def _unusable_state_error(name: str, why: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"state: the saved state {name!r} cannot be restored: {why}", parameter="state"
    )
