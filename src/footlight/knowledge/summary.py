"""What was done: the latest steps in a line each, or a session as a recipe that can be followed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from footlight.knowledge.index import Index
from footlight.knowledge.rows import UNKNOWN, Look, Row, quoted, verb

__all__ = ["MOST_STEPS", "last", "note", "recipe", "snippet", "summarize"]

MOST_STEPS = 100
"""Of a recipe: the last ones are told, and how many came before."""

MOST_READ = 600
MOST_NAMED = 3

_NAMED_ROLES = ("button", "link", "textbox", "checkbox", "radio", "switch", "combobox", "menuitem")
"""What one can do something with, before headings and the like."""


def last(index: Index, n: int, *, session_id: str | None = None) -> list[dict[str, Any]]:
    """The latest first, without what was seen."""
    rows = index.last(n, session_id=session_id)
    return [
        {
            "timestamp": row.timestamp,
            "tool": row.tool,
            "screen": row.screen,
            "snippet": snippet(row),
            "ok": row.ok,
            "sessionId": row.session_id,
        }
        for row in rows
    ]


def summarize(index: Index, *, session_id: str | None = None) -> dict[str, Any]:
    """A session as a recipe; None is the latest. `sessionId` is None where there is no step."""
    rows = index.session(session_id, most=MOST_READ)
    name = rows[0].session_id if rows else session_id
    earlier = index.count(name) - len(rows) if name is not None else 0
    return {"sessionId": name, **recipe(rows, earlier=earlier)}


def recipe(rows: Sequence[Row], *, earlier: int = 0) -> dict[str, Any]:
    """Of the steps of a session in the order of time. `earlier` ones are not among them."""
    told = [*_collapsed(rows)]
    shown = told[-MOST_STEPS:]
    first = len(told) - len(shown) + 1
    omitted = earlier + sum(one.times for one in told[: first - 1])
    steps: list[dict[str, Any]] = []
    known: Look | None = None
    for number, one in enumerate(shown, first):
        steps.append(one.as_json(number, is_new=one.row.look != known))
        known = one.row.look if one.row.is_observation else known
    return {"steps": steps, **({"omittedBefore": omitted} if omitted else {})}


def note(row: Row, *, is_new: bool = True) -> str:
    """What was done to what, where, and what came of it: `click testId=send ("Send") on home → send`.

    What was seen is told by tools that look, unless it is known from the one before.
    """
    done = [verb(row.tool), row.target.told if row.target else "", row.input]
    if row.text_length is not None:
        done.append(f"({row.text_length} characters, not kept)")
    if row.is_observation:
        done.append(f"on {row.screen}" if row.screen != UNKNOWN else "")
        told = _words(done)
        return _with_failure(
            f"{told}: {seen}" if row.ok and is_new and (seen := _seen(row.look)) else told, row
        )
    began = row.before or (row.screen if row.target else "")
    done.append(f"on {began}" if began and began != UNKNOWN else "")
    done.append(f"→ {row.screen}" if row.ok and row.screen not in (began, UNKNOWN) else "")
    return _with_failure(_words(done), row)


def snippet(row: Row) -> str:
    """What the step acted on, what it said, or else what was there to be seen."""
    acted = _words([row.target.told if row.target else "", row.input])
    if row.ok:
        return acted or _seen(row.look)
    return _words([acted, "failed:", row.code, quoted(row.message) if row.message else ""])


@dataclass(frozen=True, slots=True)
class _Told:
    row: Row
    times: int

    def as_json(self, number: int, *, is_new: bool) -> dict[str, Any]:
        repeated = f" ({self.times} times)" if self.times > 1 else ""
        told = {"step": number, "tool": self.row.tool, "notes": note(self.row, is_new=is_new) + repeated}
        return told if self.row.ok else {**told, "failed": True}


def _collapsed(rows: Iterable[Row]) -> Iterator[_Told]:
    """Looking again and again at the same screen is one step, of which the last look is told."""
    numbered = enumerate(rows)
    for _, group in groupby(numbered, lambda each: _kind(*each)):
        same = [row for _, row in group]
        yield _Told(same[-1], len(same))


def _kind(number: int, row: Row) -> tuple[object, ...]:
    if row.is_observation and not verb(row.tool).startswith("screenshot"):
        return (row.tool, row.screen, row.ok, row.code)
    return (number,)


def _seen(look: Look) -> str:
    ids = [seen.test_id for seen in look.test_ids]
    nodes = sorted((node for node in look.nodes if node.name), key=lambda node: node.role not in _NAMED_ROLES)
    named = [f"{node.role} {quoted(node.name)}" for node in nodes]
    return "; ".join(f"{kind} {_some(all)}" for kind, all in (("test ids", ids), ("elements", named)) if all)


def _some(names: Iterable[str]) -> str:
    """The first of them, and how many more there are."""
    different = [*dict.fromkeys(names)]
    more = len(different) - MOST_NAMED
    return ", ".join([*different[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def _with_failure(told: str, row: Row) -> str:
    if row.ok:
        return told
    return f"FAILED {told}: {row.code or 'no code'}{f' {quoted(row.message)}' if row.message else ''}"


def _words(parts: Iterable[str]) -> str:
    return " ".join(part for part in parts if part)
