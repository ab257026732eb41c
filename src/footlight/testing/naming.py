"""Names of sessions and files, made from the id of a test."""

from __future__ import annotations

import hashlib
import re

__all__ = ["file_name", "session_name"]

MAX_FILE_NAME = 120
MAX_TITLE = 40

_UNFIT = re.compile(r"[^A-Za-z0-9_]+")


def session_name(nodeid: str, *, worker: str | None, run: str = "") -> str:
    """Return a session name that is unique for each test and worker process. It is also a valid profile name.

    `run` distinguishes concurrent runs, because the debugging port of a session is derived from its name.
    """
    title = _plain(nodeid.rpartition("::")[2]).lower()[:MAX_TITLE]
    # The name begins with a word, so it is neither a reserved name on Windows nor hidden.
    return "-".join(filter(None, ("test", title.removeprefix("test_"), _digest(f"{run}{nodeid}"), worker)))


def file_name(nodeid: str) -> str:
    """Return a file name without an ending, made from the id of the test."""
    path, _, test = nodeid.replace(".py::", "::").partition("::")
    parts = (*path.split("/"), *test.split("::"))
    name = "-".join(_plain(part) for part in parts if part)
    shortened = len(name) > MAX_FILE_NAME or any(_UNFIT.search(part) for part in parts)
    return f"{name[:MAX_FILE_NAME]}-{_digest(nodeid)}" if shortened else name


def _plain(text: str) -> str:
    return _UNFIT.sub("-", text).strip("-")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
