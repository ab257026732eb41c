"""Count the bytes that sessions have written to the disk as downloads and output files, and limit them."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from footlight.errors import QuotaExceededError

__all__ = ["FileQuota", "SessionFiles"]

NO_LIMIT = 0


@dataclass(slots=True)
class _CountedFile:
    session_id: str
    bytes: int


class FileQuota:
    """Counts the files of all sessions. Only this class has the size of what each session has written.

    Removed files are detected when a limit is reached, so removing files makes room.
    """

    def __init__(self, *, total: int = NO_LIMIT, session: int = NO_LIMIT) -> None:
        """Create the quota with limits in bytes, for all sessions together and for each session."""
        self._total = total
        self._session = session
        self._files: dict[Path, _CountedFile] = {}
        self._by_session: Counter[str] = Counter()

    def of_session(self, session_id: str) -> SessionFiles:
        """Return the view of one session."""
        return SessionFiles(self, session_id)

    def set_size(self, session_id: str, path: Path, size: int) -> None:
        """Record the current size of a file.

        Raises:
            QuotaExceededError: a limit is exceeded.
        """
        self.forget(path)
        self._files[path] = _CountedFile(session_id, size)
        self._by_session[session_id] += size
        self.check(session_id)

    def forget(self, path: Path) -> None:
        """Stop counting a file that was removed."""
        if counted := self._files.pop(path, None):
            self._by_session[counted.session_id] -= counted.bytes
            if not self._by_session[counted.session_id]:
                del self._by_session[counted.session_id]

    def check(self, session_id: str, *, room: int = 0) -> None:
        """Check that `room` more bytes are allowed.

        Raises:
            QuotaExceededError: a limit is exceeded.
        """
        if self._find_excess(session_id, room) is not None:
            self._forget_removed()
        excess = self._find_excess(session_id, room)
        if excess is not None:
            raise excess

    def _find_excess(self, session_id: str, room: int) -> QuotaExceededError | None:
        own, total = self._by_session[session_id], self._by_session.total()
        if self._session and own + room > self._session:
            return QuotaExceededError(
                f"The files of this session would have {own + room:,} bytes, and it may write "
                f"{self._session:,}",
                suggestion="Delete files of this session that are not needed, or continue in a new session. "
                "The server operator can raise browser.sessionFileQuota.",
                used=own,
                limit=self._session,
                setting="browser.sessionFileQuota",
            )
        if self._total and total + room > self._total:
            return QuotaExceededError(
                f"The files of all sessions would have {total + room:,} bytes, and the server may write "
                f"{self._total:,}",
                suggestion="Delete files that are not needed from the folders for downloads and output. The "
                "server operator can raise browser.fileQuota.",
                used=total,
                limit=self._total,
                setting="browser.fileQuota",
            )
        return None

    def _forget_removed(self) -> None:
        for path in list(self._files):
            if not path.is_file():
                self.forget(path)


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """One session's view of the quota. It reserves and counts the bytes of the session's files."""

    _quota: FileQuota
    _session_id: str

    def check(self) -> None:
        """Check that the session may write another file.

        Raises:
            QuotaExceededError: a limit is reached.
        """
        self._quota.check(self._session_id, room=1)

    def set_size(self, path: Path, size: int) -> None:
        """Record the current size of a file that grows.

        Raises:
            QuotaExceededError: a limit is exceeded.
        """
        self._quota.set_size(self._session_id, path, size)

    def count(self, path: Path) -> None:
        """Count a complete file. It is removed if a limit is exceeded.

        Raises:
            QuotaExceededError: a limit is exceeded.
        """
        try:
            self.set_size(path, path.stat().st_size)
        except QuotaExceededError:
            self.remove(path)
            raise

    def remove(self, path: Path) -> None:
        """Remove a file, and stop counting it."""
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        self._quota.forget(path)
