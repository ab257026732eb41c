"""The database of the index: its tables, and how it is opened, made anew or done without.

Everything in it is in the step files too, so whatever is wrong with it ends with another one.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from pathlib import Path

from footlight.errors import DependenciesMissing

__all__ = [
    "BUSY_SECONDS",
    "NAME",
    "VERSION",
    "connect",
    "in_memory",
    "is_broken",
    "is_outdated",
    "is_unwritable",
    "make",
    "remove",
]

logger = logging.getLogger(__name__)

NAME = "index.sqlite"
VERSION = 1
"""Of the tables, and of how texts become words. Another one in the file: it is made anew."""

BUSY_SECONDS = 15
FULL_TEXT = "fts5"

_TABLES = """
CREATE TABLE sessions (name TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE ignored (
  session TEXT, file TEXT, stamp TEXT NOT NULL, PRIMARY KEY (session, file)
) WITHOUT ROWID;
CREATE TABLE looks (
  id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, ids TEXT NOT NULL, names TEXT NOT NULL,
  seen BLOB NOT NULL
);
CREATE TABLE steps (
  id INTEGER PRIMARY KEY, session TEXT NOT NULL, file TEXT NOT NULL, stamp TEXT NOT NULL,
  tool TEXT NOT NULL, ok INTEGER NOT NULL, screen TEXT NOT NULL, before TEXT NOT NULL,
  target TEXT NOT NULL, facts TEXT NOT NULL, has_nodes INTEGER NOT NULL, look INTEGER NOT NULL,
  UNIQUE (session, file)
);
CREATE INDEX steps_of_session ON steps (session, id);
CREATE INDEX steps_on_screen ON steps (screen, id);
CREATE INDEX steps_from_screen ON steps (before, id);
CREATE INDEX steps_of_look ON steps (look);
CREATE TABLE words (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE found USING {full_text}(
  words, content='', columnsize=0, detail=none, tokenize='ascii'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(found, 'row');
"""
# `found` has neither texts nor positions: it only knows which step has which words. Where a word is, is
# part of the word (`within`), so that the steps that have it there are one list. All words were made by
# Python, and the tokenizer `ascii` splits them at spaces only.


def connect(root: Path) -> tuple[sqlite3.Connection, bool]:
    """Open the file, or memory where there can be none. Says which: True for the file."""
    if not root.is_dir():
        return _open(":memory:"), False  # A question does not make the folder.
    try:
        connection = _open(str(root / NAME))
    except sqlite3.DatabaseError as error:
        if is_broken(error):
            remove(root)
            return connect(root)
        if not is_unwritable(error):
            raise
        return in_memory(error), False
    return connection, True


def in_memory(error: sqlite3.Error) -> sqlite3.Connection:
    """Where no file can be written."""
    logger.warning("%s cannot be written: %s. The index is in memory only.", NAME, error)
    return _open(":memory:")


def make(connection: sqlite3.Connection) -> None:
    """Empty tables of this version, whatever there was."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if is_outdated(connection):  # Or another process was first.
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
                "ORDER BY sql NOT LIKE 'CREATE VIRTUAL%fts5vocab%', sql NOT LIKE 'CREATE VIRTUAL%'"
            ).fetchall():
                connection.execute(f'DROP TABLE IF EXISTS "{name}"')
            for statement in _TABLES.format(full_text=FULL_TEXT).split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def is_outdated(connection: sqlite3.Connection) -> bool:
    return connection.execute("PRAGMA user_version").fetchone()[0] != VERSION


def remove(root: Path) -> None:
    """The log goes first, so that nobody applies it to the next file."""
    logger.warning("%s is broken, and is made anew.", root / NAME)
    for ending in ("-wal", "-shm", ""):
        (root / f"{NAME}{ending}").unlink(missing_ok=True)


def is_broken(error: sqlite3.Error) -> bool:
    """The file, or a table that somebody took out of it."""
    name = _name_of(error)
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "no such table" in str(error)


def is_unwritable(error: sqlite3.Error) -> bool:
    return _name_of(error).startswith(
        ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR", "SQLITE_FULL", "SQLITE_AUTH")
    )


def _open(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        _use_log(connection)
        connection.execute("PRAGMA synchronous = NORMAL")  # Lost with the power at worst: it is in the files.
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA temp_store = MEMORY")
        if is_outdated(connection):
            make(connection)
    except BaseException as error:
        connection.close()
        if "no such module" in str(error):
            raise DependenciesMissing(
                f"SQLite {sqlite3.sqlite_version} of this Python is built without full-text search (FTS5).",
                suggestion="Use a Python whose SQLite has FTS5; those of python.org and of Debian do.",
            ) from error
        raise
    return connection


def _use_log(connection: sqlite3.Connection) -> None:
    """Somebody who does the same at this moment makes it fail at once, whatever the time limit is."""
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if not _name_of(error).startswith("SQLITE_BUSY") or time.monotonic() > give_up:
                raise
        time.sleep(0.01)


def _name_of(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "")
