"""Names that are made of a test's: of its session, and of its files."""

from __future__ import annotations

import hashlib
import re

__all__ = ["file_name", "session_name"]

LONGEST_FILE = 120
LONGEST_TITLE = 40

_UNFIT = re.compile(r"[^A-Za-z0-9_]+")


def session_name(nodeid: str, *, worker: str | None, run: str = "") -> str:
    """One that no other test has, nor the same test in another process; fit to be that of a profile.

    `run` tells two runs apart that go on at once: the debugging port of a session follows from its name.
    """
    title = _plain(nodeid.rpartition("::")[2]).lower()[:LONGEST_TITLE]
    # A word first: neither a name that Windows keeps for itself, nor a dot.
    return "-".join(filter(None, ("test", title.removeprefix("test_"), _digest(f"{run}{nodeid}"), worker)))


def file_name(nodeid: str) -> str:
    """Without an ending. The test's own name as far as a file can have it."""
    path, _, test = nodeid.replace(".py::", "::").partition("::")
    parts = (*path.split("/"), *test.split("::"))
    name = "-".join(_plain(part) for part in parts if part)
    lost = len(name) > LONGEST_FILE or any(_UNFIT.search(part) for part in parts)
    return f"{name[:LONGEST_FILE]}-{_digest(nodeid)}" if lost else name


def _plain(text: str) -> str:
    return _UNFIT.sub("-", text).strip("-")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
