"""Fit a whole snapshot into a budget of characters.

Similar siblings are folded first, and as many of them are shown as fit. If that is not enough, the most
important lines are kept: news, dialogs and the focus, then the main content, then other content, and last
navigation, headers and footers. Within each of these, controls and headings come before texts. In a log, the
last lines come before the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.compact import compact_lines, is_compactable
from footlight.browser.snapshot.text.fitting import (
    MAX_WORD_CHARACTERS,
    FittedText,
    LinkTo,
    cut_mark,
    fold_note,
)
from footlight.browser.snapshot.text.joined_rows import MAX_CELLS, MAX_PARTS
from footlight.browser.snapshot.text.landmarks import LANDMARK_ROLES
from footlight.browser.snapshot.text.narrowing import ACTIVE_STATES, CONTROLS
from footlight.browser.snapshot.text.rendering import CELLS, Line, make_lines, render_text

__all__ = ["fit_snapshot"]

MIN_RUN_LENGTH = 3
"""The minimum number of similar siblings in a run that are shown, besides the last one."""
_FULL = 0.9
"""The share of the budget at which the search for a better use of it ends."""
_ITEMS = frozenset(("row", "listitem", "option", "treeitem", "article", "menuitem", "term", "definition"))
"""Roles whose elements are similar as siblings, independent of their content."""
_NEWS = frozenset(("alert", "alertdialog", "dialog", "status"))
_SEEN_STATES = frozenset(("focused", "invalid", "selected"))
_CHOSEN = frozenset(("gridcell", "row", "tab", "treeitem"))
"""Roles of elements that can be selected. A reader must know which of them is selected."""
_ANNOUNCED_RANK, _CHOSEN_RANK, _MAIN_RANK, _OTHER_RANK, _LANDMARK_RANK = 0, 1, 2, 4, 6
ROWS_IN_ROOM = 5
MIN_ROW_CHARACTERS = 80
"""The maximum length of a table row when lines are selected, unless this share of the room is more."""
MAX_JOINED = 9
"""A cell with so many nodes, itself and its wrappers included, can be in one line with the others."""
MAX_ALIKE = 3
"""Further controls with the same role and name come after the others, such as "Reply" below each comment."""
CONTROLS_IN_ROUND = 10
"""After this many controls of a role, the same number of each other role comes first."""
MAX_LOOSE_TEXTS = 3
"""Up to this many texts outside all landmarks are news: pages put messages without a role there."""
MAX_MESSAGE_CHARS = 160
"""Longer texts are not messages."""


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
    tree = _Siblings(nodes if folded is None else folded)
    fitting = _fold_into(tree, room, int(row_share * room)) if room > 0 else None
    if fitting is None:
        return FittedText(_select(tree, room, budget, total, uri), cut=True, lines=total)
    return FittedText(
        "\n".join([*fitting, cut_mark("shortened", len(fitting), total, uri)]), cut=True, lines=total
    )


def _render(nodes: Sequence[Node]) -> tuple[str, int]:
    """Return the text of the nodes, and its number of lines."""
    if not any(map(is_compactable, nodes)):
        return render_text(nodes), len(nodes)
    lines = compact_lines(make_lines(nodes))
    return "\n".join([line.render() for line in lines]), len(lines)


@dataclass(frozen=True, slots=True)
class _Limits:
    """The numbers of similar siblings that are shown, besides the last one."""

    others: int
    rows: int


class _Siblings:
    """The nodes with the size of each subtree, and a key that similar siblings share."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.sizes = [1] * len(nodes)
        self.keys: list[object] = [None] * len(nodes)
        """None for a node that must be shown, or that contains such a node."""
        self._measure()

    def _measure(self) -> None:
        nodes, sizes, keys = self.nodes, self.sizes, self.keys
        inside: dict[int, list[int]] = {}
        for index in range(len(nodes) - 1, -1, -1):
            node = nodes[index]
            children = inside.pop(node.depth + 1, None)
            is_seen = node.role in _NEWS or not _SEEN_STATES.isdisjoint(node.states)
            key: object = node.role
            if children:
                sizes[index] += sum([sizes[child] for child in children])
                is_seen = is_seen or None in [keys[child] for child in children]
                if node.role not in _ITEMS:
                    key = (node.role, *[nodes[child].role for child in children[:8]])
            keys[index] = None if is_seen else key
            siblings = inside.get(node.depth)
            if siblings is None:
                inside[node.depth] = [index]
            else:
                siblings.append(index)

    def lines(self, limits: _Limits, most: int | None = None) -> list[Line]:
        """Return the lines, with a limited number of each run and a note in place of the others.

        Stop after `most` nodes.
        """
        return compact_lines(list(islice(self._fold(limits), most)))

    def _fold(self, limits: _Limits) -> Iterator[Line]:
        nodes, sizes = self.nodes, self.sizes
        stack: list[Line | int | range] = [range(len(nodes))]
        """Lines, nodes with their content, and ranges of siblings with their content.

        The last is the next one.
        """
        while stack:
            item = stack.pop()
            if isinstance(item, Line):
                yield item
            elif isinstance(item, int):
                yield Line(nodes[item].depth, nodes[item])
                stack.append(range(item + 1, item + sizes[item]))
            elif item:
                run = self._run(item)
                longest_run = self._longest_run(run, limits)
                stack.append(range(run[-1] + sizes[run[-1]], item.stop))
                if len(run) > longest_run + 2:
                    note = fold_note([nodes[index] for index in run[longest_run:-1]])
                    stack += (run[-1], Line(nodes[item.start].depth, None, "", note))
                    run = run[:longest_run]
                stack += reversed(run)

    def _longest_run(self, run: Sequence[int], limits: _Limits) -> int:
        """Return how many members of a run are shown. For a row that is one line, these are all cells."""
        first = self.nodes[run[0]]
        is_joined = first.role in CELLS and len(run) <= MAX_CELLS
        if is_joined and all(map(self._is_joined_cell, run)):
            return MAX_CELLS
        return limits.rows if first.role == "row" else limits.others

    def _is_joined_cell(self, cell: int) -> bool:
        sizes = self.sizes[cell : cell + self.sizes[cell]]
        return len(sizes) <= MAX_JOINED and sizes.count(1) <= MAX_PARTS

    def _run(self, siblings: range) -> list[int]:
        """Return the first of the siblings, and the siblings after it that are similar to it."""
        sizes, keys = self.sizes, self.keys
        run = [siblings.start]
        key = keys[siblings.start]
        at = siblings.start + sizes[siblings.start]
        while key is not None and at < siblings.stop and keys[at] == key:
            run.append(at)
            at += sizes[at]
        return run


def _fold_into(tree: _Siblings, room: int, room_with_rows: int) -> list[str] | None:
    """Return the lines with as many members of each run as fit, or None if even the fewest do not fit.

    Rows are added last, and only as long as the lines take at most `room_with_rows`.
    """
    if room_with_rows >= room:
        found = _grow(tree, room, lambda count: _Limits(count, rows=count))
        return found and found[0]
    found = _grow(tree, room, lambda count: _Limits(count, rows=MIN_RUN_LENGTH))
    if found is None:
        return None
    lines, count = found
    more = _grow(tree, room_with_rows, lambda rows: _Limits(max(count, rows), rows=rows))
    return more[0] if more else lines


def _grow(tree: _Siblings, room: int, limits: Callable[[int], _Limits]) -> tuple[list[str], int] | None:
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


@dataclass(slots=True)
class _Candidate:
    """A line that may be kept. A lower `rank` is more important; `above` is the index of its parent.

    Within a rank, lines of a lower `round` come first: the first ten controls of each role and the first two
    rows of a table have 0.
    """

    text: str
    rank: int
    above: int
    round: int = 0
    is_kept: bool = False


def _select(tree: _Siblings, room: int, budget: int, total: int, uri: str | None) -> str:
    candidates = _candidates(tree, room)
    by_rank: list[list[int]] = [[] for _ in range(_LANDMARK_RANK + 2)]
    for index, candidate in enumerate(candidates):
        by_rank[candidate.rank].append(index)
    for ranked in by_rank:
        ranked.sort(key=lambda index: candidates[index].round)
    for index in (index for ranked in by_rank for index in ranked):
        chain = list(_lines_to_keep(candidates, index))
        cost = sum([len(candidates[at].text) + 1 for at in chain])
        if cost > room:
            break
        room -= cost
        for at in chain:
            candidates[at].is_kept = True
    lines = [candidate.text for candidate in candidates if candidate.is_kept]
    return "\n".join([*lines, cut_mark("cut", len(lines), total, uri)])[: max(budget, 0)]


def _lines_to_keep(candidates: Sequence[_Candidate], index: int) -> Iterator[int]:
    """Yield a line and its ancestors, without those that are already kept."""
    while index >= 0 and not candidates[index].is_kept:
        yield index
        index = candidates[index].above


def _candidates(tree: _Siblings, room: int) -> list[_Candidate]:
    has_main = any(node.role == "main" for node in tree.nodes)
    found: list[_Candidate] = []
    above: list[tuple[int, int, int]] = []
    """Depth, index and area of the lines that may contain the next line."""
    longest_row = max(room // ROWS_IN_ROOM, MIN_ROW_CHARACTERS)
    lines = [_shorten_row(line, longest_row) for line in tree.lines(_Limits(MIN_RUN_LENGTH, MIN_RUN_LENGTH))]
    loose = _find_loose_texts(lines, has_main=has_main)
    alike: Counter[tuple[str, str, str]] = Counter()
    roles: Counter[str] = Counter()
    rows: Counter[int] = Counter()
    for index, line in enumerate(lines):
        while above and above[-1][0] >= line.depth:
            above.pop()
        area = above[-1][2] if above else (_OTHER_RANK if has_main else _MAIN_RANK)
        rank, area = _rank(line.node, area)
        if rank == area + 1 and any(_is_important(node) for parts in line.cells for node in parts):
            rank = area
        if rank == area + 1 and index + 1 < len(lines) and _labels(line.node, lines[index + 1].node):
            rank = area
        if index in loose or (index and _explains_error(lines[index - 1].node, line.node)):
            rank = _ANNOUNCED_RANK
        if rank == area and line.node is not None and not line.cells and _is_control(line.node):
            words = (line.node.role, line.node.name, line.node.text)
            alike[words] += 1
            rank += alike[words] > MAX_ALIKE
        turn = 0
        if rank == area and line.node is not None and line.node.role in CONTROLS:
            turn = roles[line.node.role] // CONTROLS_IN_ROUND
            roles[line.node.role] += 1
        parent = above[-1][1] if above else -1
        if rank == area and line.cells and line.node is not None and line.node.role == "row":
            turn = max(0, rows[parent] - 1)
            rows[parent] += 1
        text = replace(line, above=()).render(limit=MAX_WORD_CHARACTERS)
        found.append(_Candidate(text, rank, parent, turn))
        above.append((line.depth, index, area))
    _put_newest_first(found, lines)
    return found


def _shorten_row(line: Line, most: int) -> Line:
    """Return a table row with as many cells as fit `most` characters.

    A row whose last cell has controls is not cut, unless all its cells are links, as in a header.
    """
    is_row = line.node is not None and line.node.role == "row" and len(line.cells) > MIN_RUN_LENGTH
    length = len(line.render()) if is_row else 0
    if length <= most:
        return line
    is_of_links = all(len(parts) == 1 and parts[0].role == "link" for parts in line.cells)
    if not is_of_links and any(map(_is_control, line.cells[-1])):
        return line
    shown = max(MIN_RUN_LENGTH, len(line.cells) * most // length)
    return replace(line, cells=line.cells[:shown], note=f"| … {len(line.cells) - shown} more cells")


def _put_newest_first(found: Sequence[_Candidate], lines: Sequence[Line]) -> None:
    """Rank the last lines of a log before its first lines, and all of them below the controls beside it."""
    inside: int | None = None
    for index, line in enumerate(lines):
        if inside is not None and line.depth <= inside:
            inside = None
        if inside is not None and found[index].rank > _CHOSEN_RANK:
            found[index].rank |= 1  # Like the texts of its area, which have odd ranks.
            found[index].round = len(lines) - index
        if inside is None and line.node is not None and line.node.role == "log":
            inside = line.depth


def _rank(node: Node | None, area: int) -> tuple[int, int]:
    """Return the rank of a line in an area, and the area inside it."""
    if node is None:
        return area, area
    if node.role in _NEWS:
        return _ANNOUNCED_RANK, _ANNOUNCED_RANK
    if "focused" in node.states or "invalid" in node.states:
        return _ANNOUNCED_RANK, area
    if "selected" in node.states and node.role in _CHOSEN:
        return min(area, _CHOSEN_RANK), area
    if node.role == "main" and area != _ANNOUNCED_RANK:
        return _MAIN_RANK, _MAIN_RANK
    if node.role in LANDMARK_ROLES and area != _ANNOUNCED_RANK:
        return _MAIN_RANK, _LANDMARK_RANK
    return (area if _is_control(node) or node.role == "heading" else area + 1), area


def _is_important(node: Node) -> bool:
    return _is_control(node) or node.role == "columnheader"


def _find_loose_texts(lines: Sequence[Line], *, has_main: bool) -> set[int]:
    """Return the texts outside the main content, or without main content the last lines if they are texts."""
    outside = [index for index, line in enumerate(lines) if line.depth == 0 and not line.cells]
    if not has_main:
        outside = [index for index in outside if index >= len(lines) - 2]
    loose = [index for index in outside if _is_text(lines[index].node)]
    if len(loose) > MAX_LOOSE_TEXTS:
        return set()
    return {index for index in loose if _count_characters(lines[index].node) <= MAX_MESSAGE_CHARS}


def _count_characters(node: Node | None) -> int:
    return len(node.name) + len(node.text) if node is not None else 0


def _is_text(node: Node | None) -> bool:
    if node is None or _is_control(node):
        return False
    return node.role == "text" or (bool(node.text) and node.role in ("generic", "paragraph"))


def _explains_error(node: Node | None, following: Node | None) -> bool:
    """Return whether a text follows a field that the page marks as invalid."""
    return node is not None and "invalid" in node.states and _is_text(following)


def _is_control(node: Node) -> bool:
    return node.role in CONTROLS or not ACTIVE_STATES.isdisjoint(node.states)


def _labels(node: Node | None, following: Node | None) -> bool:
    """Return whether a text precedes a control without a name."""
    if node is None or following is None or following.name or following.role not in CONTROLS:
        return False
    return node.role == "text" or bool(node.text)
