"""The index over the step files of a store, which makes queries fast.

The index is derived from the files. If it is missing, broken or of another version, it is rebuilt. Each query
first reads the files that have changed; a session is skipped if its step folder has not changed. Processes
share the file of the index. Each process has its own `Index`, which any of its threads may use.

`find_candidates`, `words_starting_with` and `load_rows` are for `search` and do not refresh the index: call
`refresh` once before them.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from footlight.knowledge.index import database
from footlight.knowledge.index.indexing import (
    FROM,
    SAME_MILLISECOND,
    catch_up,
    insert_step,
    load_view,
    transaction,
)
from footlight.knowledge.naming import NO_SESSION
from footlight.knowledge.rows import UNKNOWN, RecordedView, StepRow, StepTarget, make_row
from footlight.knowledge.step_files import file_stamp

__all__ = ["Candidate", "Index"]

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_ROW = "s.session, s.tool, s.ok, s.screen, s.before, s.facts, s.id, l.seen"

_SEEN_BEFORE = (
    ", (SELECT b.seen FROM steps p JOIN looks b ON b.id = p.look "
    "WHERE p.session = s.session AND p.id < s.id ORDER BY p.id DESC LIMIT 1)"
)

Candidate = tuple[int, str, str, str, str, str]
"""Id, tool and screen, then the words of the target, of the visible test ids, and of the roles and names."""

_LATEST = "coalesce((SELECT session FROM steps WHERE session != ? ORDER BY id DESC LIMIT 1), ?)"


class Index:
    """The index of a store. The first query opens its file."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._place: tuple[bool, int | None] | None = None
        self._is_kept = False

    @property
    def is_kept(self) -> bool:
        """Return whether the index is in a file, not only in memory. Valid after the first query."""
        return self._is_kept

    @property
    def size(self) -> int:
        """The number of steps."""
        return self._ask(lambda to: to.execute("SELECT count(*) FROM steps").fetchone()[0])

    def add(self, path: Path, record: Mapping[str, Any]) -> None:
        """Add a step whose file was just written. If this fails, the next query finds the file."""
        row = make_row(record, session_id=path.parents[1].name)
        if row is None:
            return
        try:
            facts = path.stat()
            with self._lock, transaction(self._open()) as connection:
                insert_step(connection, row, path.name, file_stamp(facts))
        except (OSError, sqlite3.Error) as error:
            logger.warning("%s is not in the index yet: %s", path.name, error)

    def list_latest(self, n: int, *, session_id: str | None = None) -> list[StepRow]:
        where, values = ("WHERE s.session = ?", (session_id,)) if session_id is not None else ("", ())
        return self._select_rows(f"{where} ORDER BY s.id DESC LIMIT ?", (*values, n))

    def list_session(self, session_id: str | None = None, *, most: int | None = None) -> list[StepRow]:
        """Return the steps of a session in chronological order, at most the latest `most`.

        Without an id, return the steps of the latest session, or otherwise the steps without a session.
        """
        chosen, values = ("?", (session_id,)) if session_id is not None else (_LATEST, (NO_SESSION,) * 2)
        rows = self._select_rows(
            f"WHERE s.session = {chosen} ORDER BY s.id DESC LIMIT ?", (*values, -1 if most is None else most)
        )
        return rows[::-1]

    def count_steps(self, session_id: str) -> int:
        return self._ask(
            lambda to: to.execute("SELECT count(*) FROM steps WHERE session = ?", (session_id,)).fetchone()[0]
        )

    def list_around(self, screen: str, *, since_ms: int, most: int, looks: int) -> list[StepRow]:
        """Return the steps that began or ended on the screen, latest first.

        Only the first `looks` steps include their observations. For a screen without a name, all steps
        include them, also those from before the step, because nothing else identifies such a screen.
        """
        by_look = screen == UNKNOWN
        of = "SELECT id FROM steps WHERE {} = ? AND id >= ? ORDER BY id DESC LIMIT ?"
        ids = " UNION ".join(f"SELECT * FROM ({of.format(column)})" for column in ("screen", "before"))
        each = (screen, since_ms * SAME_MILLISECOND, most)
        return self._ask(
            lambda to: [
                _load_row(found, with_look=by_look or place < looks)
                for place, found in enumerate(
                    to.execute(
                        f"SELECT {_ROW}{_SEEN_BEFORE if by_look else ''} {FROM} WHERE s.id IN ({ids}) "
                        "ORDER BY s.id DESC LIMIT ?",
                        (*each, *each, most),
                    )
                )
            ]
        )

    def find_candidates(
        self,
        choose: Callable[[Callable[[str], Sequence[int]]], Iterable[Sequence[int]]],
        *,
        since_ms: int | None,
        each: int,
    ) -> list[Candidate]:
        """Return the steps whose ids `choose` returns.

        `choose` receives a function that returns the ids of the latest `each` steps for a full-text
        expression.
        """
        first = 0 if since_ms is None else since_ms * SAME_MILLISECOND
        latest = "SELECT rowid FROM found WHERE found MATCH ? AND rowid >= ? ORDER BY rowid DESC LIMIT ?"

        def question(to: sqlite3.Connection) -> list[Candidate]:
            lists = choose(lambda match: [id for (id,) in to.execute(latest, (match, first, each))])
            return to.execute(
                "SELECT s.id, s.tool, s.screen, s.target, l.ids, l.names "
                f"{FROM} WHERE s.id IN (SELECT value FROM json_each(?))",
                (json.dumps([*{id for ids in lists for id in ids}]),),
            ).fetchall()

        return self._ask(question, refresh=False)

    def words_starting_with(self, prefix: str, most: int) -> list[str]:
        """Return known words that start with the prefix and are longer, shortest first."""
        return self._ask(
            lambda to: [
                word
                for (word,) in to.execute(
                    "SELECT word FROM words WHERE word > ? AND word < ? ORDER BY length(word), word LIMIT ?",
                    (prefix, f"{prefix}\U0010ffff", most),
                )
            ],
            refresh=False,
        )

    def load_rows(self, ids: Sequence[int]) -> dict[int, StepRow]:
        return self._ask(
            lambda to: {
                found[6]: _load_row(found)
                for found in to.execute(
                    f"SELECT {_ROW} {FROM} WHERE s.id IN (SELECT value FROM json_each(?))",
                    (json.dumps([*ids]),),
                )
            },
            refresh=False,
        )

    def refresh(self) -> None:
        """Update the index from the files."""
        self._ask(lambda _: None)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _select_rows(self, rest: str, values: Sequence[object]) -> list[StepRow]:
        return self._ask(lambda to: [*map(_load_row, to.execute(f"SELECT {_ROW} {FROM} {rest}", values))])

    def _ask(self, question: Callable[[sqlite3.Connection], Answer], *, refresh: bool = True) -> Answer:
        """Run a query on an up-to-date index. A broken index is rebuilt once."""
        with self._lock:
            try:
                return self._answer(question, refresh=refresh)
            except sqlite3.DatabaseError as error:
                if not (database.is_broken(error) or database.is_unwritable(error)):
                    raise
                self._reset(error)
                return self._answer(question, refresh=True)

    def _answer(self, question: Callable[[sqlite3.Connection], Answer], *, refresh: bool) -> Answer:
        connection = self._open()
        if refresh:
            catch_up(connection, self._root)
        return question(connection)

    def _reset(self, error: sqlite3.Error) -> None:
        self.close()
        if not database.is_broken(error):
            self._connection, self._place, self._is_kept = (
                database.open_in_memory(error),
                self._locate_file(),
                False,
            )
        elif self._is_kept:
            database.remove_file(self._root)

    def _open(self) -> sqlite3.Connection:
        """Open the index, and reopen it if its file was removed, replaced or created since."""
        if self._connection is not None and self._place != self._locate_file():
            self.close()
        if self._connection is None:
            self._connection, self._is_kept = database.connect(self._root)
            self._place = self._locate_file()
        elif database.is_outdated(self._connection):
            database.create_tables(self._connection)
        return self._connection

    def _locate_file(self) -> tuple[bool, int | None]:
        """Return whether the folder exists, and the inode number of the index file."""
        try:
            return True, (self._root / database.NAME).stat().st_ino
        except OSError:
            return self._root.is_dir(), None


def _load_row(found: tuple[Any, ...], *, with_look: bool = True) -> StepRow:
    session, tool, ok, screen, before, facts, id, seen, *seen_before = found
    fields = json.loads(facts)
    target = fields.pop("target", None)
    return StepRow(
        session_id=session,
        at_ms=id // SAME_MILLISECOND,
        tool=tool,
        ok=bool(ok),
        screen=screen,
        before=before,
        target=StepTarget(**target) if target else None,
        look=load_view(seen) if with_look else RecordedView(),
        seen_before=load_view(seen_before[0]) if seen_before and seen_before[0] else RecordedView(),
        **fields,
    )
