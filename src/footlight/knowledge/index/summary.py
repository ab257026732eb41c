"""Summaries of recorded steps: the latest steps on one line each, or a session as a repeatable recipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from footlight.knowledge.index.index import Index
from footlight.knowledge.rows import UNKNOWN, RecordedView, StepRow, plain_tool_name, quote

__all__ = ["MAX_STEPS", "list_last", "make_recipe", "summarize", "write_note", "write_snippet"]

MAX_STEPS = 100
"""Maximum number of steps in a recipe. Earlier steps are only counted."""

MAX_READ = 600
MAX_NAMED = 3

_NAMED_ROLES = ("button", "link", "textbox", "checkbox", "radio", "switch", "combobox", "menuitem")
"""Interactive roles, which are listed before headings and other roles."""


def list_last(index: Index, n: int, *, session_id: str | None = None) -> list[dict[str, Any]]:
    """Return the latest steps, latest first, without their observations."""
    rows = index.list_latest(n, session_id=session_id)
    return [
        {
            "timestamp": row.timestamp,
            "tool": row.tool,
            "screen": row.screen,
            "snippet": write_snippet(row),
            "ok": row.ok,
            "sessionId": row.session_id,
        }
        for row in rows
    ]


def summarize(index: Index, *, session_id: str | None = None) -> dict[str, Any]:
    """Return a session as a recipe; None means the latest session. Without steps, `sessionId` is None."""
    rows = index.list_session(session_id, most=MAX_READ)
    name = rows[0].session_id if rows else session_id
    earlier = index.count_steps(name) - len(rows) if name is not None else 0
    return {"sessionId": name, **make_recipe(rows, earlier=earlier)}


def make_recipe(rows: Sequence[StepRow], *, earlier: int = 0) -> dict[str, Any]:
    """Return a recipe from steps in chronological order. `earlier` is the number of steps before them."""
    all_steps = [*_collapse(rows)]
    last_steps = all_steps[-MAX_STEPS:]
    first = len(all_steps) - len(last_steps) + 1
    omitted = earlier + sum(one.times for one in all_steps[: first - 1])
    steps: list[dict[str, Any]] = []
    known: RecordedView | None = None
    for number, one in enumerate(last_steps, first):
        steps.append(one.as_json(number, is_new=one.row.look != known))
        known = one.row.look if one.row.is_observation else known
    return {"steps": steps, **({"omittedBefore": omitted} if omitted else {})}


def write_note(row: StepRow, *, is_new: bool = True) -> str:
    """Describe a step with target, screen and result: `click testId=send ("Send") on home → send`.

    Observing tools also list what they saw, if `is_new` is true.
    """
    done = [plain_tool_name(row.tool), row.target.description if row.target else "", row.input]
    if row.text_length is not None:
        done.append(f"({row.text_length} characters, not kept)")
    if row.is_observation:
        done.append(f"on {row.screen}" if row.screen != UNKNOWN else "")
        action = _join_words(done)
        return _add_failure(
            f"{action}: {seen}" if row.ok and is_new and (seen := _describe_view(row.look)) else action, row
        )
    began = row.before or (row.screen if row.target else "")
    done.append(f"on {began}" if began and began != UNKNOWN else "")
    done.append(f"→ {row.screen}" if row.ok and row.screen not in (began, UNKNOWN) else "")
    return _add_failure(_join_words(done), row)


def write_snippet(row: StepRow) -> str:
    """Describe the target and the error of a step, or otherwise the elements on the page."""
    acted = _join_words([row.target.description if row.target else "", row.input])
    if row.ok:
        return acted or _describe_view(row.look)
    return _join_words([acted, "failed:", row.code, quote(row.message) if row.message else ""])


@dataclass(frozen=True, slots=True)
class _RecipeStep:
    row: StepRow
    times: int

    def as_json(self, number: int, *, is_new: bool) -> dict[str, Any]:
        repeated = f" ({self.times} times)" if self.times > 1 else ""
        fields = {
            "step": number,
            "tool": self.row.tool,
            "notes": write_note(self.row, is_new=is_new) + repeated,
        }
        return fields if self.row.ok else {**fields, "failed": True}


def _collapse(rows: Iterable[StepRow]) -> Iterator[_RecipeStep]:
    """Yield the steps. Repeated observations of one screen are merged into the last of them."""
    numbered = enumerate(rows)
    for _, group in groupby(numbered, lambda each: _group_key(*each)):
        same = [row for _, row in group]
        yield _RecipeStep(same[-1], len(same))


def _group_key(number: int, row: StepRow) -> tuple[object, ...]:
    if row.is_observation and not plain_tool_name(row.tool).startswith("screenshot"):
        return (row.tool, row.screen, row.ok, row.code)
    return (number,)


def _describe_view(look: RecordedView) -> str:
    ids = [seen.test_id for seen in look.test_ids]
    nodes = sorted((node for node in look.nodes if node.name), key=lambda node: node.role not in _NAMED_ROLES)
    named = [f"{node.role} {quote(node.name)}" for node in nodes]
    return "; ".join(
        f"{kind} {_name_some(all)}" for kind, all in (("test ids", ids), ("elements", named)) if all
    )


def _name_some(names: Iterable[str]) -> str:
    """Return the first names, and the number of further names."""
    different = [*dict.fromkeys(names)]
    more = len(different) - MAX_NAMED
    return ", ".join([*different[:MAX_NAMED], *([f"{more} more"] if more > 0 else [])])


def _add_failure(action: str, row: StepRow) -> str:
    if row.ok:
        return action
    return f"FAILED {action}: {row.code or 'no code'}{f' {quote(row.message)}' if row.message else ''}"


def _join_words(parts: Iterable[str]) -> str:
    return " ".join(part for part in parts if part)
