"""A logged value and a live one: what differs, in a few lines that can be read."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from footlight.client.replay.identifiers import Identifiers
from footlight.client.replay.leaves import Path, items_of, shown_path
from footlight.client.replay.volatile import Ignored, is_volatile_field, steady

__all__ = ["MISSING", "Difference", "compared", "same_text", "shown"]

MOST_SHOWN = 10
MOST_LINES = 12
MOST_COMPARED = 60
"""Lines, of two texts that differ."""
LONGEST = 160


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()
"""Where one of the two has no value."""


@dataclass(frozen=True, slots=True)
class Difference:
    """At a place of the result: what the log has there, and what was answered now."""

    path: Path
    logged: Any
    live: Any


def compared(logged: Any, live: Any, *, ids: Identifiers, ignored: Ignored) -> list[Difference]:
    """What is different, apart from what is so each time."""
    return list(_compared((), logged, live, ids, ignored))


def _compared(path: Path, was: Any, now: Any, ids: Identifiers, ignored: Ignored) -> Iterator[Difference]:
    if ignored.has(path):
        return
    before, after = items_of(was), items_of(now)
    if before is None or after is None or isinstance(was, list) is not isinstance(now, list):
        if not _same(path, was, now, ids):
            yield Difference(path, was, now)
        return
    for key in dict.fromkeys([*before, *after]):
        yield from _compared((*path, key), before.get(key, MISSING), after.get(key, MISSING), ids, ignored)


def _same(path: Path, was: Any, now: Any, ids: Identifiers) -> bool:
    if isinstance(was, bool) or isinstance(now, bool):
        return was is now
    if was == now or is_volatile_field(path, was, now):
        return True
    return isinstance(was, str) and isinstance(now, str) and same_text(was, now, ids)


def same_text(was: str, now: str, ids: Identifiers) -> bool:
    """Apart from ids that are others by now, and from what is another each time."""
    # Also without the ids: a session may be called as a word of the text.
    return steady(now) in (steady(was), steady(ids.in_text(was)))


def shown(differences: Sequence[Difference]) -> list[str]:
    """Lines: each place, with what was (-) and what is (+) below it."""
    lines = [line for each in differences[:MOST_SHOWN] for line in _shown(each)]
    more = len(differences) - MOST_SHOWN
    return [*lines, f"… and {more} more"] if more > 0 else lines


def _shown(difference: Difference) -> list[str]:
    was, now = difference.logged, difference.live
    place = shown_path(difference.path)
    if isinstance(was, str) and isinstance(now, str) and "\n" in was + now:
        return [place, *_diff(was, now)]
    return [place, *_marked("-", was), *_marked("+", now)]


def _diff(was: str, now: str) -> list[str]:
    """From the line before the first that differs. What is far below is left out: it could take minutes."""
    before, after = was.split("\n"), now.split("\n")
    pairs = enumerate(zip(before, after, strict=False))
    first = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
    start = max(0, first - 1)
    windows = before[start : start + MOST_COMPARED], after[start : start + MOST_COMPARED]
    changed = list(difflib.unified_diff(*windows, n=1, lineterm=""))[3:]
    lines = [_cut(f"  {line[0]} {line[1:]}") for line in changed[:MOST_LINES]]
    return [f"  line {start + 1}:", *lines, *(["  …"] if len(changed) > MOST_LINES else [])]


def _marked(mark: str, value: Any) -> list[str]:
    return [] if value is MISSING else [f"  {mark} {_cut(json.dumps(value, ensure_ascii=False))}"]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… [{len(text)} chars]"
