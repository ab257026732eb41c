"""What an answer carries of the page after an action: what changed, or the whole of it, within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from footlight.browser.difference import Change, Difference, difference
from footlight.browser.fitting import LinkTo, fit, fold
from footlight.browser.rendering import Line, as_text, lines_of, quoted, shortened
from footlight.browser.snapshot import Node, Snapshot

__all__ = ["Observation", "observe", "render_difference"]

LONGEST_WAS = 80
"""Characters of what something was."""


@dataclass(frozen=True, slots=True)
class Observation:
    """`text` has at most as many characters as the budget; `lines` counts those of the uncut text.

    Of the same page it is empty.
    """

    kind: Literal["same", "diff", "full"]
    text: str = ""
    cut: bool = False
    lines: int = 0


def observe(
    before: Snapshot | None,
    after: Snapshot,
    *,
    mode: Literal["diff", "full"],
    budget: int,
    link: LinkTo,
) -> Observation:
    """What changed since `before`; the whole where that is shorter, or nothing is left of what was.

    `link` is called once where the text is cut, with the uncut text.
    """
    if mode == "full" or before is None:
        return _whole(after, budget, link)
    found = difference(before.nodes, after.nodes)
    if found is None:
        return Observation("same")
    lines = _lines(found)
    if _is_replaced(before, after) or _is_longer(lines, after.nodes):
        return _whole(after, budget, link)
    fitted = fit(lines, budget, link, folded=True)
    return Observation("diff", fitted.text, fitted.cut, fitted.lines)


def _whole(after: Snapshot, budget: int, link: LinkTo) -> Observation:
    fitted = fit(lines_of(after.nodes), budget, link)
    return Observation("full", fitted.text, fitted.cut, fitted.lines)


def _is_replaced(before: Snapshot, after: Snapshot) -> bool:
    return {node.ref for node in before.nodes if node.ref}.isdisjoint(node.ref for node in after.nodes)


def _is_longer(lines: Sequence[Line], nodes: Sequence[Node]) -> bool:
    """Than the whole, which is written only where that is in doubt: a node has three characters at least."""
    length = sum(len(line.written()) + 1 for line in fold(lines))
    return length > 3 * len(nodes) and length > len(as_text(nodes)) + 1


def render_difference(found: Difference) -> list[str]:
    """Lines marked `+`, `-` or `~`, under unmarked ones that say where; long runs are folded."""
    return [line.written() for line in fold(_lines(found))]


def _lines(found: Difference) -> list[Line]:
    return [_line(change) for change in found.changes]


def _line(change: Change) -> Line:
    return Line(change.depth, change.node, _MARKS[change.kind], _note(change))


_MARKS = {"kept": " ", "added": "+", "removed": "-", "changed": "~"}


def _note(change: Change) -> str:
    notes = [f"{change.inside} inside"] if change.inside else []
    if change.moved:
        notes.append("moved")
    if change.was is not None:
        changed = list(_what_changed(change.was, change.node))
        # Mostly another has it now, and says so.
        notes += [note for note in changed if note != "no longer focused"] or changed
    return f"({', '.join(notes)})" if notes else ""


def _what_changed(was: Node, now: Node) -> Iterator[str]:
    """The line says what is; this says what was."""
    if (was.value or "") != (now.value or ""):
        yield f"was {_words(was.value or '')}"
    if was.name != now.name:
        yield f"was {_words(was.name)}" if now.ref is None else f"name was {_words(was.name)}"
    if was.text != now.text:
        yield f"text was {_words(was.text)}"
    # That something has the focus now is in the line, and mostly what was just used has it.
    yield from (f"now {state}" for state in now.states if state not in was.states and state != "focused")
    yield from (f"no longer {state}" for state in was.states if state not in now.states)
    if was.role != now.role:
        yield f"role was {_words(was.role)}"
    if was.description != now.description:
        yield f"description was {_words(was.description)}"
    if was.url != now.url:
        yield f"link was {_words(was.url)}"
    if was.placeholder != now.placeholder:
        yield f"placeholder was {_words(was.placeholder)}"


def _words(text: str) -> str:
    return quoted(shortened(text, LONGEST_WAS))
