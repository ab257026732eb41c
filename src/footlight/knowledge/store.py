"""The knowledge store of a repository: one file for each step, by session, and queries over all steps.

    <root>/<session>/steps/<timestamp>-<tool>.json
    <root>/<session>/screenshots/<timestamp>-<name>.png      if the step has one
    <root>/index.sqlite                                      built from the files, for queries

Any number of processes may write. Calls block; a write takes a few milliseconds.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from footlight.errors import FootlightError
from footlight.knowledge.index import prior as prior_knowledge
from footlight.knowledge.index import search as searching
from footlight.knowledge.index import summary
from footlight.knowledge.index.index import Index
from footlight.knowledge.index.prior import PriorKnowledge
from footlight.knowledge.index.search import SearchHit, SearchQuery
from footlight.knowledge.naming import (
    MILLISECOND,
    format_stamp,
    format_timestamp,
    parse_step_name,
    safe_name,
    session_name,
    step_name,
    to_milliseconds,
)
from footlight.knowledge.records import MAX_ID_CHARS, SCREENS, encode_record, make_record
from footlight.knowledge.redaction_rules import RedactionRules
from footlight.knowledge.rows import RecordedView
from footlight.knowledge.sanitiser import Sanitiser
from footlight.knowledge.secret_texts import SecretTexts
from footlight.knowledge.step_files import (
    STEPS,
    KnowledgeError,
    ensure_folder,
    read_session,
    read_step,
    remove_unfinished,
    replace_file,
    session_folders,
    step_files,
    write_step,
)
from footlight.knowledge.steps import RawStep, RepositoryFacts

__all__ = ["DEFAULT_ROOT", "KnowledgeStore", "KnownSession"]

logger = logging.getLogger(__name__)

DEFAULT_ROOT = Path("test-artifacts/llm-knowledge")
"""The default folder, relative to the repository."""
SCREENSHOTS = "screenshots"
MAX_MOMENTS = 1_000


def _keep_value(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSession:
    """A session with steps. `first` and `last` are the times of its first and last step."""

    id: str
    first: datetime
    last: datetime
    steps: int


class KnowledgeStore:
    """The knowledge store in the folder `root`.

    `screens` are the allowed screen names. None allows those of the schema, an empty list allows any name.
    """

    def __init__(
        self,
        root: Path,
        *,
        rules: RedactionRules | None = None,
        screens: Sequence[str] | None = None,
        mask: Callable[[Any], Any] = _keep_value,
    ) -> None:
        """Create the store. `mask` removes the server's secrets from every value before it is written."""
        self.root = root
        self._rules = rules or RedactionRules()
        self.mask = mask
        self._screens = SCREENS if screens is None else tuple(screens)
        self._secrets = SecretTexts(self._rules.known_texts)
        self._revealing: set[str] = set()
        self._index = Index(root)
        self._lock = threading.Lock()
        self._folders: set[str] = set()
        self._moments: dict[tuple[str, datetime], None] = {}

    def record(self, step: RawStep, facts: RepositoryFacts | None = None) -> Path:
        """Write a step without its secrets, and return its path. Blocks for a few milliseconds.

        Raises:
            KnowledgeError: the step could not be written. The tool call must not fail because of it.
        """
        step, common = self.mask((step, facts or RepositoryFacts()))
        with self._lock:
            record = make_record(
                step,
                common,
                self._rules,
                secrets=self._secrets,
                screens=self._screens,
                revealing=self._revealing,
            )
            path = self._write(record, to_milliseconds(step.at))
        with _log_index_errors(f"{path.name} is not in the index yet"):
            self._index.add(path, record)
        return path

    def screenshot_path(self, session_id: str | None, name: str, at: datetime) -> Path:
        """Return an unused path for a screenshot, and create its folder.

        Raises:
            KnowledgeError: the folder cannot be created.
        """
        session = session_name(session_id)
        folder = ensure_folder(self.root, session, SCREENSHOTS)
        with self._lock:
            sanitiser = Sanitiser(self._rules, self._secrets, reveals=session in self._revealing)
            name_part = sanitiser.clean_identifier(self.mask(name), MAX_ID_CHARS)
            moment = to_milliseconds(at)
            path = folder / f"{format_stamp(moment)}-{safe_name(name_part)}.png"
            while path.exists() or not self._is_free(str(path), moment):
                moment += MILLISECOND
                path = folder / f"{format_stamp(moment)}-{safe_name(name_part)}.png"
        return path

    def read(self, path: Path) -> dict[str, Any] | None:
        """Return the record of a step, or None if the file is incomplete, missing or not a step record."""
        record = read_step(path) if parse_step_name(path.name) else None
        return record if record and record.get("schemaVersion") == 1 else None

    def list_last(self, n: int, *, session_id: str | None = None) -> list[dict[str, Any]]:
        """Return the latest steps, one line each, latest first."""
        return summary.list_last(self._index, n, session_id=_folder_name(session_id))

    def search(self, query: SearchQuery, *, now: datetime | None = None) -> list[SearchHit]:
        """Return the matching steps of all sessions, best first."""
        asked = replace(query, session_id=_folder_name(query.session_id))
        return searching.search(self._index, asked, now=now or datetime.now(UTC))

    def summarize(self, session_id: str | None = None) -> dict[str, Any]:
        """Return a session, by default the latest one, as a recipe."""
        return summary.summarize(self._index, session_id=_folder_name(session_id))

    def prior(
        self,
        screen: str,
        *,
        look: RecordedView | None = None,
        now: datetime | None = None,
        window: timedelta = prior_knowledge.WINDOW,
    ) -> PriorKnowledge:
        """Return prior knowledge of a screen from earlier steps, by default of the last two days.

        `look` is the current content of the screen. A screen without a name can only be identified by it.
        """
        now = now or datetime.now(UTC)
        return prior_knowledge.find_prior(self._index, screen, now=now, window=window, look=look)

    def sessions(self) -> list[KnownSession]:
        """Return the sessions, latest first. Only file names are read."""
        found = [session for name in session_folders(self.root) if (session := self._find_session(name))]
        return sorted(found, key=lambda session: (session.last, session.id), reverse=True)

    def remove(self, session_id: str) -> bool:
        """Remove a session, and return whether it existed. Other files in its folder are kept.

        Raises:
            KnowledgeError: the session cannot be removed.
        """
        folder = self.root / session_name(session_id)
        if folder.is_symlink() or not folder.is_dir():
            return False
        # Refresh before and after: the index must know a session to detect its removal and drop its texts.
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
        """Remove sessions that ended before `before`, and all but the latest `keep`. Return their ids.

        Raises:
            KnowledgeError: a session cannot be removed.
        """
        since = to_milliseconds(before) if before else None
        removed: list[str] = []
        for number, session in enumerate(self.sessions()):
            remove_unfinished(self.root / session.id / STEPS)
            is_old = since is not None and session.last < since
            if (is_old or (keep is not None and number >= keep)) and self.remove(session.id):
                removed.append(session.id)
        return removed

    def export(self, session_id: str, to: Path) -> int:
        """Write the steps of a session as JSON Lines in chronological order, and return their number.

        Raises:
            KnowledgeError: the session does not exist, or the file cannot be written.
        """
        name = session_name(session_id)
        if self._find_session(name) is None:
            known = ", ".join(session.id for session in self.sessions()[:10]) or "none"
            raise KnowledgeError(
                f"Session {session_id} has no steps. Known sessions: {known}",
                suggestion="Give the id of a known session.",
            )
        count = 0
        with replace_file(to) as unfinished, unfinished.open("w", encoding="utf-8") as file:
            for record in read_session(self.root, name):
                file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
                count += 1
        return count

    def close(self) -> None:
        self._index.close()

    def _write(self, record: dict[str, Any], at: datetime) -> Path:
        session, tool = record["sessionId"], record["tool"]["name"]

        def content(moment: datetime) -> bytes:
            record["timestamp"] = format_timestamp(moment)
            return encode_record(record)

        while not self._is_free(session, at):
            at += MILLISECOND
        for _ in range(2):
            folder = self._folder(session)
            try:
                path, moment = write_step(folder, at, lambda moment: step_name(moment, tool), content)
            except KnowledgeError:
                if folder.is_dir():
                    raise
                self._folders.discard(
                    session
                )  # The session was removed in the meantime, so its folder is created again.
                continue
            self._moments[session, moment] = None
            return path
        raise KnowledgeError(f"{self.root} is removed while it is being written", path=str(self.root))

    def _folder(self, session: str) -> Path:
        """Return the step folder of a session, which is created by its first step."""
        if session in self._folders:
            return self.root / session / STEPS
        folder = ensure_folder(self.root, session, STEPS)
        remove_unfinished(folder)
        self._folders.add(session)
        return folder

    def _is_free(self, owner: str, at: datetime) -> bool:
        """Reserve a millisecond for a step or screenshot, and return whether it was free."""
        if (owner, at) in self._moments:
            return False
        self._moments[owner, at] = None
        if len(self._moments) > MAX_MOMENTS:
            del self._moments[next(iter(self._moments))]
        return True

    def _refresh(self) -> None:
        with _log_index_errors("The index is behind"):
            self._index.refresh()

    def _find_session(self, name: str) -> KnownSession | None:
        moments = [moment for file in step_files(self.root, name) if (moment := parse_step_name(file))]
        if not moments:
            return None
        return KnownSession(id=name, first=moments[0], last=moments[-1], steps=len(moments))


@contextmanager
def _log_index_errors(what: str) -> Generator[None]:
    """Log errors of the index. No data is lost, because the index is built from the files."""
    try:
        yield
    except (FootlightError, sqlite3.Error) as error:
        logger.warning("%s: %s", what, error)


def _folder_name(session_id: str | None) -> str | None:
    return None if session_id is None else session_name(session_id)
