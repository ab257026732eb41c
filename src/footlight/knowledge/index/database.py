"""The database of the index: its tables, and how it is opened, recreated or replaced by one in memory.

All of its data is also in the step files, so a database with any problem is replaced.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
from pathlib import Path

from footlight.app_errors import DependenciesMissingError
from footlight.private_files import make_private, open_private

__all__ = [
    "BUSY_SECONDS",
    "NAME",
    "VERSION",
    "connect",
    "create_tables",
    "is_broken",
    "is_outdated",
    "is_unwritable",
    "open_in_memory",
    "remove_file",
]

logger = logging.getLogger(__name__)

NAME = "index.sqlite"
VERSION = 1
"""Version of the tables and of the word splitting. A file with another version is recreated."""

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
# `found` contains neither texts nor positions, only which step has which words. The field of a word is part
# of the stored word (`make_scoped_word`), so one list has all steps with a word in a field. Python splits the
# texts into words, and the tokenizer `ascii` only splits them at spaces.


def connect(root: Path) -> tuple[sqlite3.Connection, bool]:
    """Open the database file, or one in memory if no file is possible. Return it, and True for a file."""
    if not root.is_dir():
        return _open(":memory:"), False  # A query does not create the folder.
    try:
        _ensure_private(root)
        connection = _open(str(root / NAME))
    except sqlite3.DatabaseError as error:
        if is_broken(error):
            remove_file(root)
            return connect(root)
        if not is_unwritable(error):
            raise
        return open_in_memory(error), False
    return connection, True


def _ensure_private(root: Path) -> None:
    """Restrict the file to its owner. SQLite copies its mode to the files that it creates beside it."""
    with contextlib.suppress(OSError):  # If it cannot be written, opening it reports the reason.
        os.close(open_private(root / NAME, 0))
    for ending in ("-wal", "-shm"):
        make_private(root / f"{NAME}{ending}")


def open_in_memory(error: sqlite3.Error) -> sqlite3.Connection:
    """Log the error of an unwritable file and open a database in memory."""
    logger.warning("%s cannot be written: %s. The index is in memory only.", NAME, error)
    return _open(":memory:")


def create_tables(connection: sqlite3.Connection) -> None:
    """Replace all tables by empty tables of this version."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if is_outdated(connection):  # False if another process has just done it.
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


def remove_file(root: Path) -> None:
    """Remove a broken database. Its log is removed first, so that no process applies it to a new file."""
    logger.warning("%s is broken and is recreated.", root / NAME)
    for ending in ("-wal", "-shm", ""):
        (root / f"{NAME}{ending}").unlink(missing_ok=True)


def is_broken(error: sqlite3.Error) -> bool:
    """Return whether the file is corrupt, or a table is missing."""
    name = _error_name(error)
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "no such table" in str(error)


def is_unwritable(error: sqlite3.Error) -> bool:
    return _error_name(error).startswith(
        ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR", "SQLITE_FULL", "SQLITE_AUTH")
    )


def _open(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        _enable_wal(connection)
        connection.execute(
            "PRAGMA synchronous = NORMAL"
        )  # A power failure may lose data, but the step files still have it.
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA temp_store = MEMORY")
        if is_outdated(connection):
            create_tables(connection)
    except BaseException as error:
        connection.close()
        if "no such module" in str(error):
            raise DependenciesMissingError(
                f"SQLite {sqlite3.sqlite_version} of this Python is built without full-text search (FTS5).",
                suggestion="Use a Python whose SQLite has FTS5; those of python.org and of Debian do.",
            ) from error
        raise
    return connection


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Enable the write-ahead log.

    Retry, because a concurrent attempt fails immediately despite the timeout.
    """
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if not _error_name(error).startswith("SQLITE_BUSY") or time.monotonic() > give_up:
                raise
        time.sleep(0.01)


def _error_name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "")
