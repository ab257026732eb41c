"""Convert logged and live results to the same form, so that they can be compared."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from footlight.client.handles.call_log import summarize_result
from footlight.client.replay.json_paths import is_deep, read_text
from footlight.protocol.results import ToolResult

__all__ = ["ComparableResult", "Sidecars", "is_summary", "read_answer", "read_logged"]

_SUMMARY = re.compile(r"\[(?P<kind>[\w-]+) \d+ chars(?: → (?P<file>.+))?\]")
_SIDECAR = re.compile(r"\d+-[\w.-]+\.txt")
MAX_SIDECAR_BYTES = 50_000_000
"""The maximum size of a file beside the log, in bytes."""


class ComparableResult(NamedTuple):
    """A result in the form in which results are compared.

    `kind` is `text`, `image` and so on, or "" if there is no result. `known`: `value` is the result's
    content. `lines`: the value is a list of the lines of a text from a file beside the log.
    """

    kind: str
    value: Any = None
    known: bool = False
    lines: bool = False


@dataclass(frozen=True, slots=True)
class Sidecars:
    """The result files beside a log. They are also found if the log was moved together with them.

    Only files whose names have the format of a log's result files are read.
    """

    log: Path | None = None

    def find(self, named: str) -> str | None:
        """Return the whole text of a result, or None if its file is missing."""
        path = Path(named)
        if not _SIDECAR.fullmatch(path.name):
            return None
        folder = self.log.parent if self.log else Path()
        for place in (folder / path, folder / path.name, path):
            with contextlib.suppress(OSError):  # The name may be too long, or the file not readable.
                if place.is_file() and place.stat().st_size <= MAX_SIDECAR_BYTES:
                    return place.read_bytes().decode("utf-8", "replace")
        return None

    def text_of(self, result: Any) -> str | None:
        """Return the text of a logged result from its file, or None if there is no file or it has JSON."""
        found = _SUMMARY.fullmatch(result) if isinstance(result, str) else None
        if found is None or found["kind"] != "text" or not found["file"]:
            return None
        text = self.find(found["file"])
        return None if text is None or text.lstrip().startswith(("{", "[")) else text


def is_summary(result: Any) -> bool:
    return isinstance(result, str) and _SUMMARY.fullmatch(result) is not None


def read_logged(result: Any, sidecars: Sidecars) -> ComparableResult:
    """Return a logged result. Only its kind is known if the log has its size and no file with the text."""
    found = _SUMMARY.fullmatch(result) if isinstance(result, str) else None
    if found is None:
        return ComparableResult("text", result, known=True)
    text = sidecars.find(found["file"]) if found["file"] else None
    if text is None:
        return ComparableResult(found["kind"])
    value = read_text(text)
    return ComparableResult(found["kind"], value, known=True, lines=isinstance(value, list))


def read_answer(result: ToolResult, *, lines: bool) -> ComparableResult:
    """Return the live result. With `lines`, its text is parsed as that of a file beside the log."""
    summary = summarize_result(result)
    if summary is None:
        return ComparableResult("")
    value = summary.whole if is_deep(summary.value) else summary.value
    return ComparableResult(
        summary.kind, read_text(summary.whole) if lines else value, known=True, lines=lines
    )
