"""The memory of a repository: a file for each step, by session, and the questions that it answers.

    <root>/<session>/steps/<timestamp>-<tool>.json
    <root>/<session>/screenshots/<timestamp>-<name>.png      only if there is one
    <root>/index.sqlite                                      made of the files, for questions

Any number of processes may write. The calls block, for a millisecond or two where they write.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from footlight.errors import FootlightError
from footlight.knowledge import prior as prior_knowledge
from footlight.knowledge import search as searching
from footlight.knowledge import summary
from footlight.knowledge.errors import KnowledgeError
from footlight.knowledge.index import Index
from footlight.knowledge.naming import (
    MILLISECOND,
    in_milliseconds,
    moment_of,
    session_name,
    spelled_out,
    stamp,
    step_name,
    without_risk,
)
from footlight.knowledge.prior import Prior
from footlight.knowledge.records import Facts, Step, encoded, record_of
from footlight.knowledge.sanitising import Rules, Sanitiser
from footlight.knowledge.schema import SCREENS
from footlight.knowledge.search import Hit, Query
from footlight.knowledge.secret_texts import SecretTexts
from footlight.knowledge.step_files import STEPS, read_session, read_step, session_folders, step_files
from footlight.knowledge.step_writer import ensure_folder, remove_unfinished, replaced, written_at_free_moment

__all__ = ["DEFAULT_ROOT", "KnowledgeStore", "KnownSession"]

logger = logging.getLogger(__name__)

DEFAULT_ROOT = Path("test-artifacts/llm-knowledge")
"""Under the repository (R002-19)."""
SCREENSHOTS = "screenshots"
MOST_MOMENTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSession:
    """A session that has steps; `first` and `last` say when."""

    id: str
    first: datetime
    last: datetime
    steps: int


class KnowledgeStore:
    """`screens` are the names that a screen may have: None are the document's, an empty list any."""

    def __init__(
        self, root: Path, *, rules: Rules | None = None, screens: Sequence[str] | None = None
    ) -> None:
        self.root = root
        self._rules = rules or Rules()
        self._screens = SCREENS if screens is None else tuple(screens)
        self._secrets = SecretTexts(self._rules.known_texts)
        self._index = Index(root)
        self._lock = threading.Lock()
        self._folders: set[str] = set()
        self._moments: dict[tuple[str, datetime], None] = {}

    def record(self, step: Step, facts: Facts | None = None) -> Path:
        """Write it down, without what is secret. Blocks: a millisecond or two.

        Raises:
            KnowledgeError: it could not be written. The tool's call is not to fail for it.
        """
        with self._lock:
            record = record_of(
                step, facts or Facts(), self._rules, secrets=self._secrets, screens=self._screens
            )
            path = self._write(record, in_milliseconds(step.at))
        with _logged(f"{path.name} is not in the index yet"):
            self._index.add(path, record)
        return path

    def screenshot_path(self, session_id: str | None, name: str, at: datetime) -> Path:
        """Where to put a screenshot that was asked for. The folder is there then, the file is not.

        Raises:
            KnowledgeError: there can be no such folder.
        """
        session = session_name(session_id)
        folder = ensure_folder(self.root, session, SCREENSHOTS)
        with self._lock:
            said = Sanitiser(self._rules, self._secrets).text(name)
            moment = in_milliseconds(at)
            path = folder / f"{stamp(moment)}-{without_risk(said)}.png"
            while path.exists() or not self._is_free(str(path), moment):
                moment += MILLISECOND
                path = folder / f"{stamp(moment)}-{without_risk(said)}.png"
        return path

    def read(self, path: Path) -> dict[str, Any] | None:
        """A step; None where the file is torn, gone, or no step of ours."""
        record = read_step(path) if moment_of(path.name) else None
        return record if record and record.get("schemaVersion") == 1 else None

    def last(self, n: int, *, session_id: str | None = None) -> list[dict[str, Any]]:
        """The latest steps in a line each (R002-55), the latest first."""
        return summary.last(self._index, n, session_id=_name_or_none(session_id))

    def search(self, query: Query, *, now: datetime | None = None) -> list[Hit]:
        """Steps of all sessions (R002-56), the best first."""
        return searching.search(self._index, query, now=now or datetime.now(UTC))

    def summarize(self, session_id: str | None = None) -> dict[str, Any]:
        """A session, or the latest one, as a recipe (R002-57)."""
        return summary.summarize(self._index, session_id=_name_or_none(session_id))

    def prior(
        self, screen: str, *, now: datetime | None = None, window: timedelta = prior_knowledge.WINDOW
    ) -> Prior:
        """What earlier steps, of the last two days if not told otherwise, tell of a screen."""
        return prior_knowledge.prior(self._index, screen, now=now or datetime.now(UTC), window=window)

    def sessions(self) -> list[KnownSession]:
        """The latest first. From the names of the files alone."""
        found = [session for name in session_folders(self.root) if (session := self._find_session(name))]
        return sorted(found, key=lambda session: (session.last, session.id), reverse=True)

    def remove(self, session_id: str) -> bool:
        """All that the store has of a session. Whether there was anything; other files in its folder stay.

        Raises:
            KnowledgeError: it cannot be removed.
        """
        folder = self.root / session_name(session_id)
        if folder.is_symlink() or not folder.is_dir():
            return False
        # Before and after: the index has to know a session to see that it is gone, and to forget its texts.
        self._refresh()
        with self._lock:
            self._folders.discard(folder.name)
            try:
                for name in (STEPS, SCREENSHOTS):
                    if not (folder / name).is_symlink() and (folder / name).is_dir():
                        shutil.rmtree(folder / name)
                with contextlib.suppress(OSError):
                    folder.rmdir()
            except OSError as error:
                raise KnowledgeError(
                    f"{folder} cannot be removed: {error.strerror}", path=str(folder)
                ) from error
        self._refresh()
        return True

    def prune(self, *, before: datetime | None = None, keep: int | None = None) -> list[str]:
        """Remove sessions whose last step was earlier, and all but the latest so many. Which they were.

        Raises:
            KnowledgeError: one of them cannot be removed.
        """
        since = in_milliseconds(before) if before else None
        removed: list[str] = []
        for number, session in enumerate(self.sessions()):
            remove_unfinished(self.root / session.id / STEPS)
            is_old = since is not None and session.last < since
            if (is_old or (keep is not None and number >= keep)) and self.remove(session.id):
                removed.append(session.id)
        return removed

    def export(self, session_id: str, to: Path) -> int:
        """Write its steps as JSON Lines, in the order of time. How many they are.

        Raises:
            KnowledgeError: there is no such session, or the file cannot be written.
        """
        name = session_name(session_id)
        if self._find_session(name) is None:
            known = ", ".join(session.id for session in self.sessions()[:10]) or "none"
            raise KnowledgeError(
                f"There are no steps of session {session_id}. Known: {known}", suggestion="Give a known one."
            )
        count = 0
        with replaced(to) as unfinished, unfinished.open("w", encoding="utf-8") as file:
            for record in read_session(self.root, name):
                file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
                count += 1
        return count

    def close(self) -> None:
        self._index.close()

    def _write(self, record: dict[str, Any], at: datetime) -> Path:
        session, tool = record["sessionId"], record["tool"]["name"]

        def content(moment: datetime) -> bytes:
            record["timestamp"] = spelled_out(moment)
            return encoded(record)

        while not self._is_free(session, at):
            at += MILLISECOND
        for _ in range(2):
            folder = self._folder(session)
            try:
                path, moment = written_at_free_moment(
                    folder, at, lambda moment: step_name(moment, tool), content
                )
            except KnowledgeError:
                if folder.is_dir():
                    raise
                self._folders.discard(session)  # somebody removed the session: it begins again
                continue
            self._moments[session, moment] = None
            return path
        raise KnowledgeError(f"{self.root} is being removed while it is written", path=str(self.root))

    def _folder(self, session: str) -> Path:
        """Made by the first step of a session."""
        if session in self._folders:
            return self.root / session / STEPS
        folder = ensure_folder(self.root, session, STEPS)
        remove_unfinished(folder)
        self._folders.add(session)
        return folder

    def _is_free(self, owner: str, at: datetime) -> bool:
        """Two steps of one session are never at one moment, whatever their tools are."""
        if (owner, at) in self._moments:
            return False
        self._moments[owner, at] = None
        if len(self._moments) > MOST_MOMENTS:
            del self._moments[next(iter(self._moments))]
        return True

    def _refresh(self) -> None:
        with _logged("The index is behind"):
            self._index.refresh()

    def _find_session(self, name: str) -> KnownSession | None:
        moments = [moment for file in step_files(self.root, name) if (moment := moment_of(file))]
        if not moments:
            return None
        return KnownSession(id=name, first=moments[0], last=moments[-1], steps=len(moments))


@contextmanager
def _logged(what: str) -> Generator[None]:
    """The index is made of the files: whatever is wrong with it, nothing is lost."""
    try:
        yield
    except (FootlightError, sqlite3.Error) as error:
        logger.warning("%s: %s", what, error)


def _name_or_none(session_id: str | None) -> str | None:
    return None if session_id is None else session_name(session_id)
