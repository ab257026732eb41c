"""Lock a kept session, so that two servers with the same folder of states do not both have it open."""

from __future__ import annotations

import logging
from pathlib import Path

from footlight.browser.launch.profile_lock import ProfileLock, find_holder, lock_file
from footlight.private_files import ensure_private_folder

__all__ = ["SessionLock", "lock_session"]

logger = logging.getLogger(__name__)


class SessionLock:
    """A lock that ends with its block, unless it is kept for the life of a session.

    `elsewhere` describes the server that has the session open, or is None.
    """

    def __init__(self, lock: ProfileLock | None = None, *, elsewhere: str | None = None) -> None:
        self._lock = lock
        self._kept = False
        self.elsewhere = elsewhere

    def keep(self) -> SessionLock:
        self._kept = True
        return self

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> SessionLock:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._kept:
            self.release()


def lock_session(path: Path) -> SessionLock:
    """Lock a session by a file beside its state."""
    try:
        ensure_private_folder(path.parent)
        lock = lock_file(path)
    except OSError as error:
        # Nothing can be saved there either, which is reported when the session ends.
        logger.warning("the session of %s is not locked: %s", path.name, error.strerror)
        return SessionLock()
    if lock is not None:
        return SessionLock(lock)
    holder = find_holder(path)
    return SessionLock(elsewhere="" if holder is None else f" (process {holder.pid} on {holder.host})")
