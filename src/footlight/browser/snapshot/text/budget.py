"""Fit a whole snapshot into a budget of characters.

Similar siblings are folded first, and as many of them are shown as fit. If that is not enough, the most
important lines are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.compact import compact_lines, is_compactable
from footlight.browser.snapshot.text.fitting import FittedText, LinkTo, cut_mark
from footlight.browser.snapshot.text.folding import MIN_RUN_LENGTH, RunLimits, SiblingTree
from footlight.browser.snapshot.text.rendering import Line, make_lines, render_text
from footlight.browser.snapshot.text.selection import select_lines

__all__ = ["fit_snapshot"]

_FULL = 0.9
"""The share of the budget at which the search for a better use of it ends."""


def fit_snapshot(
    nodes: Sequence[Node],
    budget: int,
    link: LinkTo,
    *,
    folded: Sequence[Node] | None = None,
    row_share: float = 1.0,
) -> FittedText:
    """Return the whole text if it fits the budget, and otherwise its most important lines.

    The last line then has the number of lines shown, and the link to the whole text. `folded` are the nodes
    to choose from if the whole text does not fit. More than the minimum of table rows are shown only up to
    `row_share` of the budget.
    """
    text, total = _render(nodes)
    if len(text) <= budget:
        return FittedText(text, cut=False, lines=total)
    uri = link(text)
    if len(cut_mark("shortened", total, total, uri)) >= budget:
        uri = None
    room = budget - len(cut_mark("shortened", total, total, uri)) - 1
    tree = SiblingTree(nodes if folded is None else folded)
    fitting = _fold_into(tree, room, int(row_share * room)) if room > 0 else None
    if fitting is None:
        return FittedText(select_lines(tree, room, budget, total, uri), cut=True, lines=total)
    return FittedText(
        "\n".join([*fitting, cut_mark("shortened", len(fitting), total, uri)]), cut=True, lines=total
    )


def _render(nodes: Sequence[Node]) -> tuple[str, int]:
    """Return the text of the nodes, and its number of lines."""
    if not any(map(is_compactable, nodes)):
        return render_text(nodes), len(nodes)
    lines = compact_lines(make_lines(nodes))
    return "\n".join([line.render() for line in lines]), len(lines)


def _fold_into(tree: SiblingTree, room: int, room_with_rows: int) -> list[str] | None:
    """Return the lines with as many members of each run as fit, or None if even the fewest do not fit.

    Rows are added last, and only as long as the lines take at most `room_with_rows`.
    """
    if room_with_rows >= room:
        found = _grow(tree, room, lambda count: RunLimits(count, rows=count))
        return found and found[0]
    found = _grow(tree, room, lambda count: RunLimits(count, rows=MIN_RUN_LENGTH))
    if found is None:
        return None
    lines, count = found
    more = _grow(tree, room_with_rows, lambda rows: RunLimits(max(count, rows), rows=rows))
    return more[0] if more else lines


def _grow(tree: SiblingTree, room: int, limits: Callable[[int], RunLimits]) -> tuple[list[str], int] | None:
    """Return the lines for the greatest number that fits, and that number. None if the fewest do not fit."""
    best = None
    fits, too_many = MIN_RUN_LENGTH - 1, len(tree.nodes) + 1
    trial = MIN_RUN_LENGTH
    while too_many - fits > 1:
        lines = _render_within(tree.lines(limits(trial), most=room), room)
        if lines is None:
            too_many = trial
            trial = (fits + too_many) // 2
            if best is None:
                return None
        else:
            best, fits = (lines, trial), trial
            used = sum(map(len, lines)) + len(lines)
            if used >= _FULL * room:
                break
            trial = min(max(fits * room // used, fits + 1), too_many - 1)
    return best


def _render_within(lines: Sequence[Line], room: int) -> list[str] | None:
    rendered: list[str] = []
    room += 1
    for line in lines:
        text = line.render()
        room -= len(text) + 1
        if room < 0:
            return None
        rendered.append(text)
    return rendered
