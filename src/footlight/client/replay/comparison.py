"""Compare logged results with live ones, and track ids that the server generates in each run.

A string in a logged result is treated as such an id if the live result has another string at the same path,
if it has at least 8 characters, and if an argument of a later call equals it. It is replaced by the live id
in later arguments and when results are compared.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from footlight.client.replay.calls import LoggedCall
from footlight.client.replay.json_paths import Path, format_path, items_of, leaves
from footlight.client.replay.variables import map_strings, replace_keys, strings_of
from footlight.client.replay.volatile import IgnoredValues, is_volatile_field, normalize_text

__all__ = [
    "MISSING",
    "Identifiers",
    "ReplayDifference",
    "compare_results",
    "format_differences",
    "is_same_text",
]

MAX_SHOWN = 10
MAX_LINES = 12
MAX_COMPARED = 60
"""The maximum number of lines in the diff of two texts."""
MAX_LENGTH = 160


class _MissingValue:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _MissingValue()
"""A marker for a value that only the other result has."""


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A difference at a path of the result: the logged value, and the value of this run."""

    path: Path
    logged: Any
    live: Any


def compare_results(
    logged: Any, live: Any, *, ids: Identifiers, ignored: IgnoredValues
) -> list[ReplayDifference]:
    """Return the differences between two results, except for values that change with each run."""
    return list(_find_differences((), logged, live, ids, ignored))


def _find_differences(
    path: Path, was: Any, now: Any, ids: Identifiers, ignored: IgnoredValues
) -> Iterator[ReplayDifference]:
    if ignored.has(path):
        return
    before, after = items_of(was), items_of(now)
    if before is None or after is None or isinstance(was, list) is not isinstance(now, list):
        if not _is_same(path, was, now, ids):
            yield ReplayDifference(path, was, now)
        return
    for key in dict.fromkeys([*before, *after]):
        yield from _find_differences(
            (*path, key), before.get(key, MISSING), after.get(key, MISSING), ids, ignored
        )


def _is_same(path: Path, was: Any, now: Any, ids: Identifiers) -> bool:
    if isinstance(was, bool) or isinstance(now, bool):
        return was is now
    if was == now or is_volatile_field(path, was, now):
        return True
    return isinstance(was, str) and isinstance(now, str) and is_same_text(was, now, ids)


def is_same_text(was: str, now: str, ids: Identifiers) -> bool:
    """Return whether two texts are equal apart from ids and values that change with each run."""
    # Compare also without replacing ids, because the name of a session may be a word of the text.
    return normalize_text(now) in (
        normalize_text(was),
        normalize_text(ids.translate_text(was)),
    )


def format_differences(differences: Sequence[ReplayDifference]) -> list[str]:
    """Return lines for the differences: each path, and below it the old value (-) and the new one (+)."""
    lines = [line for each in differences[:MAX_SHOWN] for line in _render_difference(each)]
    more = len(differences) - MAX_SHOWN
    return [*lines, f"… and {more} more"] if more > 0 else lines


def _render_difference(difference: ReplayDifference) -> list[str]:
    was, now = difference.logged, difference.live
    place = format_path(difference.path)
    if isinstance(was, str) and isinstance(now, str) and "\n" in was + now:
        return [place, *_diff(was, now)]
    return [place, *_mark_line("-", was), *_mark_line("+", now)]


def _diff(was: str, now: str) -> list[str]:
    """Return a diff that starts one line before the first difference.

    Only a limited number of lines is compared, because comparing long texts could take minutes.
    """
    before, after = was.split("\n"), now.split("\n")
    pairs = enumerate(zip(before, after, strict=False))
    first = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
    start = max(0, first - 1)
    windows = before[start : start + MAX_COMPARED], after[start : start + MAX_COMPARED]
    changed = list(difflib.unified_diff(*windows, n=1, lineterm=""))[3:]
    lines = [_cut(f"  {line[0]} {line[1:]}") for line in changed[:MAX_LINES]]
    return [f"  line {start + 1}:", *lines, *(["  …"] if len(changed) > MAX_LINES else [])]


def _mark_line(mark: str, value: Any) -> list[str]:
    return [] if value is MISSING else [f"  {mark} {_cut(json.dumps(value, ensure_ascii=False))}"]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}… [{len(text)} chars]"


MIN_LENGTH = 8


class Identifiers:
    """Maps the ids in the log to the ids of this run."""

    def __init__(self, calls: Iterable[LoggedCall]) -> None:
        self._live: dict[str, str] = {}
        self._needed: dict[str, int] = {}
        """For each string in the arguments, the line of the last call that uses it."""
        for call in calls:
            self._needed |= dict.fromkeys(strings_of(call.arguments), call.line)

    def note(self, logged: str, live: str) -> None:
        """Map a session's logged id to its current one, because results may contain it."""
        self._live[logged] = live

    def learn(self, call: LoggedCall, logged: Any, live: Any) -> None:
        """Learn ids from the logged and the new result of a call."""
        now = dict(leaves(live))
        for path, was in leaves(logged):
            new = now.get(path)
            if isinstance(was, str) and isinstance(new, str) and was != new and self._is_id(was, call.line):
                self._live[was] = new

    def _is_id(self, text: str, line: int) -> bool:
        return len(text) >= MIN_LENGTH and self._needed.get(text, 0) > line

    def translate_arguments(self, arguments: Any) -> Any:
        """Return a copy in which strings that are logged ids are replaced.

        Short session names are not replaced, because they may be ordinary words.
        """
        return map_strings(
            arguments, lambda text: self._live.get(text, text) if len(text) >= MIN_LENGTH else text
        )

    def translate_text(self, text: str) -> str:
        """Return a logged text with all ids in it replaced by those of this run."""
        return self._live.get(text) or replace_keys(text, self._live)
