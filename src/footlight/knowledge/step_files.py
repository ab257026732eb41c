"""The step files of a root: which there are, and what is in one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

__all__ = ["LARGEST_FILE", "STEPS", "read_session", "read_step", "session_folders", "stamp", "step_files"]

STEPS = "steps"
LARGEST_FILE = 16 << 20


def session_folders(root: Path) -> dict[str, int]:
    """When files came into or left the folder of each session's steps, in nanoseconds."""
    found: dict[str, int] = {}
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                if _is_name(entry.name):
                    try:
                        found[entry.name] = os.stat(f"{entry.path}/{STEPS}").st_mtime_ns  # noqa: PTH116 - quicker
                    except OSError:  # No session, or one that is being removed.
                        continue
    except FileNotFoundError:
        pass
    return found


def step_files(root: Path, session_id: str) -> dict[str, str]:
    """Names in the order of time, each with a stamp that is another when the file is."""
    stamps: dict[str, str] = {}
    try:
        with os.scandir(root / session_id / STEPS) as entries:
            for entry in entries:
                if entry.name.endswith(".json") and _is_name(entry.name) and entry.is_file():
                    facts = entry.stat()
                    stamps[entry.name] = stamp(facts)
    except OSError:
        pass
    return dict(sorted(stamps.items()))


def stamp(facts: os.stat_result) -> str:
    return f"{facts.st_mtime_ns:x}-{facts.st_size:x}"


def read_step(path: Path) -> dict[str, Any] | None:
    """None where the file is torn, gone, too large or no JSON object."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        record = json.loads(data) if len(data) <= LARGEST_FILE else None
    except (OSError, ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", record) if isinstance(record, dict) else None


def read_session(root: Path, session_id: str) -> Iterator[dict[str, Any]]:
    """Its records as they were written, in the order of time."""
    for name in step_files(root, session_id):
        record = read_step(root / session_id / STEPS / name)
        if record is not None:
            yield record


def _is_name(name: str) -> bool:
    """Hidden files are somebody's who is not done; a name that is no text cannot be told."""
    return not name.startswith(".") and name.isprintable()
