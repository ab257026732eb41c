"""What the log says of a result, and what was answered now, in one form (R000-68 to R000-72)."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from footlight.client.replay.leaves import is_deep, read_text
from footlight.client.results import ToolResult
from footlight.client.runtime.logger import kept_of

__all__ = ["Sidecars", "Written", "answered", "is_summary", "logged"]

_SUMMARY = re.compile(r"\[(?P<kind>[\w-]+) \d+ chars(?: → (?P<file>.+))?\]")
_SIDECAR = re.compile(r"\d+-[\w.-]+\.txt")
LARGEST_SIDECAR = 50_000_000
"""Bytes."""


class Written(NamedTuple):
    """Its kind (`text`, `image`, …; "" where there is nothing), and its value where that is known.

    `lines`: the value is a text's lines, as a file beside the log has them, and not what it says as JSON.
    """

    kind: str
    value: Any = None
    known: bool = False
    lines: bool = False


@dataclass(frozen=True, slots=True)
class Sidecars:
    """The files beside a log, wherever it is by now. Only names that a log gives are read."""

    log: Path | None = None

    def find(self, named: str) -> str | None:
        """The whole text of a result, if its file is there."""
        path = Path(named)
        if not _SIDECAR.fullmatch(path.name):
            return None
        beside = self.log.parent if self.log else Path()
        for place in (beside / path, beside / path.name, path):
            with contextlib.suppress(OSError):  # Its name may be too long, or it is not for us.
                if place.is_file() and place.stat().st_size <= LARGEST_SIDECAR:
                    return place.read_bytes().decode("utf-8", "replace")
        return None


def is_summary(result: Any) -> bool:
    return isinstance(result, str) and _SUMMARY.fullmatch(result) is not None


def logged(result: Any, sidecars: Sidecars) -> Written:
    """What the log has: the value, or its size, or a file with the whole."""
    found = _SUMMARY.fullmatch(result) if isinstance(result, str) else None
    if found is None:
        return Written("text", result, known=True)
    text = sidecars.find(found["file"]) if found["file"] else None
    if text is None:
        return Written(found["kind"])
    value = read_text(text)
    return Written(found["kind"], value, known=True, lines=isinstance(value, list))


def answered(result: ToolResult, *, lines: bool) -> Written:
    """What came now; with `lines` as a file beside the log would have it."""
    kept = kept_of(result)
    if kept is None:
        return Written("")
    shown = kept.whole if is_deep(kept.shown) else kept.shown
    return Written(kept.kind, read_text(kept.whole) if lines else shown, known=True, lines=lines)
