"""Add steps to the index and remove them, one by one or by comparing the index with the files."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Generator, Iterable, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Literal

from footlight.knowledge.index.words import join_words, split_words
from footlight.knowledge.rows import (
    UNKNOWN,
    PageNode,
    RecordedTestId,
    RecordedView,
    StepRow,
    StepTarget,
    make_row,
    plain_tool_name,
)
from footlight.knowledge.step_files import STEPS, read_step, session_folders, step_files

__all__ = [
    "FROM",
    "SAME_MILLISECOND",
    "catch_up",
    "insert_step",
    "load_view",
    "make_facet",
    "make_scoped_word",
    "transaction",
]

SETTLED_NS = 2_000_000_000
"""A folder that changed this recently may change again with the same time, so it is checked again."""

SAME_MILLISECOND = 1 << 12
"""Number of ids per millisecond. Ids sort by time, so a time range is a range of ids."""

CHECK_AGAIN = -1
BATCH = 200

FROM = "FROM steps s JOIN looks l ON l.id = s.look"

Scope = Literal["tool", "screen", "target", "ids", "strong", "anywhere"]
_SCOPES: Mapping[Scope, str] = {
    "tool": "0",
    "screen": "1",
    "target": "2",
    "ids": "3",
    "strong": "4",  # Any of the first three.
    "anywhere": "5",
}


def make_facet(kind: str, value: str) -> str:
    """Return an index word for a filter of a search. Texts never contain such a word."""
    return f"{kind}x{value.encode('utf-8', 'replace').hex()}"


def make_scoped_word(scope: Scope, word: str) -> str:
    """Return the index word for a word in a field."""
    return _SCOPES[scope] + word


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def catch_up(connection: sqlite3.Connection, root: Path) -> None:
    """Update the index from the files.

    The index is read before the files are listed, here and in `_scan_session`. In the opposite order, a step
    that another process adds in between would look as if its file had been removed.
    """
    known = dict[str, int](connection.execute("SELECT name, mtime_ns FROM sessions").fetchall())
    present = session_folders(root)
    dropped = sum(_drop_session(connection, name) for name in known.keys() - present.keys())
    for name in sorted(present):
        if known.get(name) != present[name]:
            dropped += _scan_session(
                connection, root, name, changed_ns=present[name], known_ns=known.get(name)
            )
    if dropped:
        _drop_unused(connection)


def _scan_session(
    connection: sqlite3.Connection, root: Path, session: str, *, changed_ns: int, known_ns: int | None
) -> int:
    """Update the steps of one session, and return the number of removed steps."""
    now = time.time_ns()
    listed = (f"SELECT file, stamp FROM {table} WHERE session = ?1" for table in ("steps", "ignored"))
    indexed = dict[str, str](connection.execute(" UNION ALL ".join(listed), (session,)).fetchall())
    files = step_files(root, session)
    removed = [file for file, its in indexed.items() if files.get(file) != its]
    new = [file for file, its in files.items() if indexed.get(file) != its]
    if removed:
        with transaction(connection):
            _drop_steps(connection, session, removed)
    for start in range(0, len(new), BATCH):
        some = {file: read_step(root / session / STEPS / file) for file in new[start : start + BATCH]}
        with transaction(connection):
            for file, record in some.items():
                _take_record(connection, session, file, files[file], record)
    has_ignored = connection.execute("SELECT 1 FROM ignored WHERE session = ? LIMIT 1", (session,)).fetchone()
    mtime_ns = changed_ns if now - changed_ns > SETTLED_NS and not has_ignored else CHECK_AGAIN
    if mtime_ns != known_ns:
        connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?)", (session, mtime_ns))
    return len(removed)


def _take_record(connection: sqlite3.Connection, session: str, file: str, its: str, record: object) -> None:
    row = make_row(record, session_id=session)
    if row is None:
        connection.execute("INSERT OR REPLACE INTO ignored VALUES (?, ?, ?)", (session, file, its))
    else:
        insert_step(connection, row, file, its)


def insert_step(connection: sqlite3.Connection, row: StepRow, file: str, its: str) -> None:
    """Add a step, unless it is already in the index."""
    if connection.execute(
        "SELECT 1 FROM steps WHERE session = ? AND file = ?", (row.session_id, file)
    ).fetchone():
        return
    id = _free_id(connection, row.at_ms)
    row = row.with_context(*_find_before(connection, row, id))
    look, ids, names = _save_view(connection, row.look)
    target = _target_words(row.target)
    facts = {
        "timestamp": row.timestamp,
        "target": row.target and asdict(row.target),
        "code": row.code,
        "message": row.message,
        "input": row.input,
        "text_length": row.text_length,
        "duration_ms": row.duration_ms,
    }
    connection.execute(
        "INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(id, row.session_id, file, its, row.tool, row.ok, row.screen, row.before, target),
            *(json.dumps({name: fact for name, fact in facts.items() if fact}), bool(row.look.nodes), look),
        ),
    )
    text = _index_text(row.session_id, row.tool, row.ok, row.screen, target, ids, names)
    connection.execute("INSERT INTO found(rowid, words) VALUES (?, ?)", (id, text))
    _save_words(connection, {*target.split(), *split_words(row.tool), *split_words(row.screen)})


def _free_id(connection: sqlite3.Connection, at_ms: int) -> int:
    first = at_ms * SAME_MILLISECOND
    while True:
        end = first + SAME_MILLISECOND
        last_id = connection.execute(
            "SELECT max(id) FROM steps WHERE id >= ? AND id < ?", (first, end)
        ).fetchone()[0]
        if last_id is None:
            return first
        if last_id + 1 < end:
            return last_id + 1
        first = end


def _find_before(connection: sqlite3.Connection, row: StepRow, id: int) -> tuple[str, RecordedView]:
    earlier = "WHERE s.session = ? AND s.id < ? {} ORDER BY s.id DESC LIMIT 1"
    values = (row.session_id, id)
    # A step without a page did not change the screen.
    saw = earlier.format("AND (s.screen != ? OR l.digest != ?)")
    nothing = _digest(_encode_view(RecordedView()))
    screen = connection.execute(f"SELECT s.screen {FROM} {saw}", (*values, UNKNOWN, nothing)).fetchone()
    seen = (
        row.target
        and connection.execute(
            f"SELECT l.seen {FROM} {earlier.format('AND s.has_nodes' if row.target.ref else '')}", values
        ).fetchone()
    )
    return screen[0] if screen else "", load_view(seen[0]) if seen else RecordedView()


def _save_view(connection: sqlite3.Connection, look: RecordedView) -> tuple[int, str, str]:
    """Store a view, and return its id, the words of its test ids and the words of its nodes."""
    seen = _encode_view(look)
    digest = _digest(seen)
    known = connection.execute("SELECT id, ids, names FROM looks WHERE digest = ?", (digest,)).fetchone()
    if known:
        return known
    ids = join_words(each.test_id for each in look.test_ids)
    names = join_words(text for node in look.nodes for text in (node.role, node.name))
    made = connection.execute(
        "INSERT INTO looks(digest, ids, names, seen) VALUES (?, ?, ?, ?)",
        (digest, ids, names, zlib.compress(seen, 1)),
    )
    _save_words(connection, {*ids.split(), *names.split()})
    assert made.lastrowid is not None
    return made.lastrowid, ids, names


def _encode_view(look: RecordedView) -> bytes:
    """Return a view in the form in which it is stored, before compression."""
    return json.dumps(
        [
            [(each.test_id, each.text) for each in look.test_ids],
            [(n.ref, n.role, n.name) for n in look.nodes],
        ],
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode()


def _digest(seen: bytes) -> bytes:
    return hashlib.blake2b(seen, digest_size=16).digest()


def _save_words(connection: sqlite3.Connection, some: Iterable[str]) -> None:
    connection.executemany("INSERT OR IGNORE INTO words VALUES (?)", ((word,) for word in some))


def _target_words(target: StepTarget | None) -> str:
    if target is None:
        return ""
    return join_words((target.test_id, target.selector, *((target.role, target.name) if target.ref else ())))


def _index_text(session: str, tool: str, ok: bool, screen: str, target: str, ids: str, names: str) -> str:
    """Return all index words of a step. Its removal needs the same text."""
    words: dict[Scope, Set[str]] = {
        "tool": split_words(plain_tool_name(tool)),
        "screen": split_words(screen) if screen != UNKNOWN else frozenset(),
        "target": {*target.split()},
        "ids": {*ids.split()},
    }
    words["strong"] = words["tool"] | words["screen"] | words["target"]
    words["anywhere"] = words["strong"] | words["ids"] | {*names.split()}
    facets = {
        make_facet("outcome", "ok" if ok else "failed"),
        make_facet("session", session),
        make_facet("screen", screen),
        make_facet("tool", tool),
        make_facet("tool", plain_tool_name(tool)),
    }
    scoped = {make_scoped_word(scope, word) for scope, some in words.items() for word in some}
    return " ".join(facets | scoped)


def _drop_session(connection: sqlite3.Connection, session: str) -> int:
    with transaction(connection):
        files = connection.execute("SELECT file FROM steps WHERE session = ?", (session,)).fetchall()
        _drop_steps(connection, session, [file for (file,) in files])
        connection.execute("DELETE FROM ignored WHERE session = ?", (session,))
        connection.execute("DELETE FROM sessions WHERE name = ?", (session,))
    return len(files)


def _drop_steps(connection: sqlite3.Connection, session: str, files: Sequence[str]) -> None:
    for file in files:
        step = connection.execute(
            f"SELECT s.id, s.session, s.tool, s.ok, s.screen, s.target, l.ids, l.names {FROM} "
            "WHERE s.session = ? AND s.file = ?",
            (session, file),
        ).fetchone()
        if step:
            id, *its = step
            connection.execute(
                "INSERT INTO found(found, rowid, words) VALUES ('delete', ?, ?)", (id, _index_text(*its))
            )
            connection.execute("DELETE FROM steps WHERE id = ?", (id,))
        connection.execute("DELETE FROM ignored WHERE session = ? AND file = ?", (session, file))


def _drop_unused(connection: sqlite3.Connection) -> None:
    """Remove unused views and words. A session may have been removed because of its contents."""
    with transaction(connection):
        connection.execute("DELETE FROM looks WHERE id NOT IN (SELECT look FROM steps)")
        connection.execute("INSERT INTO found(found) VALUES ('optimize')")
        known = "SELECT term FROM vocabulary"
        connection.execute(f"DELETE FROM words WHERE ? || word NOT IN ({known})", (_SCOPES["anywhere"],))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@lru_cache(maxsize=256)
def load_view(seen: bytes) -> RecordedView:
    test_ids, nodes = json.loads(zlib.decompress(seen))
    return RecordedView(tuple(map(RecordedTestId._make, test_ids)), tuple(map(PageNode._make, nodes)))
