"""Fit a whole snapshot into a budget of characters.

Similar siblings are folded first, and as many of them are shown as fit. If that is not enough, the most
important lines are kept: messages, dialogs and the focus come first, then the main content, then other
content, and last navigation, headers and footers. Within each of these, controls and headings come before
texts, and the headings of the highest levels before controls. In a log, the last lines come before the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.compact import compact_lines, is_compactable
from footlight.browser.snapshot.text.fitting import (
    MAX_WORD_CHARACTERS,
    MESSAGE_ROLES,
    FittedText,
    LinkTo,
    cut_mark,
)
from footlight.browser.snapshot.text.folding import MIN_RUN_LENGTH, RunLimits, SiblingTree
from footlight.browser.snapshot.text.landmarks import LANDMARK_ROLES
from footlight.browser.snapshot.text.narrowing import CONTROLS, is_active
from footlight.browser.snapshot.text.rendering import Line, make_lines, render_text

__all__ = ["fit_snapshot"]

_FULL = 0.9
"""The share of the budget at which the search for a better use of it ends."""
_ROWS = frozenset(("head", "row"))
_CHOSEN = frozenset(("gridcell", "row", "tab", "treeitem"))
"""Roles of elements that can be selected. A reader must know which of them is selected."""
_ANNOUNCED_RANK, _CHOSEN_RANK, _MAIN_RANK, _OTHER_RANK, _LANDMARK_RANK = 0, 1, 2, 4, 6
HEADINGS_IN_ROOM = 4
"""Headings come before controls until they take this share of the room."""
ROWS_IN_ROOM = 5
MIN_ROW_CHARACTERS = 80
"""The maximum length of a table row when lines are selected, unless this share of the room is more."""
MAX_ALIKE = 3
"""Further controls with the same role and name come after the others, such as "Reply" below each comment."""
CONTROLS_IN_ROUND = 5
"""After this many controls of a role, the same number of each other role comes first."""
MAX_LOOSE_TEXTS = 3
"""Up to this many texts outside all landmarks count as messages: pages put messages without a role there."""
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
    tree = SiblingTree(nodes if folded is None else folded)
    fitting = _fold_into(tree, room, int(row_share * room)) if room > 0 else None
    if fitting is None:
        return FittedText(_select_lines(tree, room, budget, total, uri), cut=True, lines=total)
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


@dataclass(slots=True)
class _Candidate:
    """A line that may be kept. A lower `rank` is more important; `above` is the index of its parent.

    Within a rank, lines of a lower `round` come first: the main headings have -1, the first five controls of
    each role and the first two rows of a table have 0.
    """

    text: str
    rank: int
    above: int
    round: int = 0
    is_kept: bool = False


def _select_lines(tree: SiblingTree, room: int, budget: int, total: int, uri: str | None) -> str:
    """Return the most important lines that fit, and the line that says how many of all are shown."""
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


def _candidates(tree: SiblingTree, room: int) -> list[_Candidate]:
    has_main = any(node.role == "main" for node in tree.nodes)
    found: list[_Candidate] = []
    above: list[tuple[int, int, int]] = []
    """Depth, index and area of the lines that may contain the next line."""
    longest_row = max(room // ROWS_IN_ROOM, MIN_ROW_CHARACTERS)
    lines = [
        _shorten_row(line, longest_row) for line in tree.lines(RunLimits(MIN_RUN_LENGTH, MIN_RUN_LENGTH))
    ]
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
        following = lines[index + 1].node if index + 1 < len(lines) else None
        labelled = following if rank == area + 1 and _labels(line.node, following) else None
        if labelled is not None:
            rank = area
        if index in loose or (index and _explains_error(lines[index - 1].node, line.node)):
            rank = _ANNOUNCED_RANK
        if rank == area and line.node is not None and not line.cells and is_active(line.node):
            words = _words_of(line.node, lines[index - 1].node if index else None)
            alike[words] += 1
            rank += alike[words] > MAX_ALIKE
        turn = roles[labelled.role] // CONTROLS_IN_ROUND if labelled is not None else 0
        if rank == area and line.node is not None and line.node.role in CONTROLS:
            turn = roles[line.node.role] // CONTROLS_IN_ROUND
            roles[line.node.role] += 1
        parent = above[-1][1] if above else -1
        if rank == area and line.cells and line.node is not None and line.node.role in _ROWS:
            turn = max(0, rows[parent] - 1)
            rows[parent] += 1
        text = replace(line, above=()).render(limit=MAX_WORD_CHARACTERS)
        found.append(_Candidate(text, rank, parent, turn))
        above.append((line.depth, index, area))
    _put_headings_first(found, lines, room // HEADINGS_IN_ROOM)
    _put_newest_first(found, lines)
    return found


def _shorten_row(line: Line, most: int) -> Line:
    """Return a table row with as many cells as fit `most` characters.

    A row whose last cell has controls is not cut, unless all its cells are links, as in a header.
    """
    is_row = line.node is not None and line.node.role in _ROWS and len(line.cells) > MIN_RUN_LENGTH
    length = len(line.render()) if is_row else 0
    if length <= most:
        return line
    is_of_links = all(len(parts) == 1 and parts[0].role == "link" for parts in line.cells)
    if not is_of_links and any(map(is_active, line.cells[-1])):
        return line
    shown = max(MIN_RUN_LENGTH, len(line.cells) * most // length)
    return replace(line, cells=line.cells[:shown], note=f"| … {len(line.cells) - shown} more cells")


def _put_headings_first(found: Sequence[_Candidate], lines: Sequence[Line], room: int) -> None:
    """Put headings before the controls of their area, those of the highest levels first, while they fit."""
    headings = [
        (
            found[index].rank,
            next((state for state in line.node.states if state.startswith("level=")), ""),
            index,
        )
        for index, line in enumerate(lines)
        if line.node is not None and line.node.role == "heading"
    ]
    for *_, index in sorted(headings):
        room -= len(found[index].text) + 1
        if room < 0:
            break
        found[index].round = -1


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
    if node.role in MESSAGE_ROLES:
        return _ANNOUNCED_RANK, _ANNOUNCED_RANK
    if "focused" in node.states or "invalid" in node.states:
        return _ANNOUNCED_RANK, area
    if "selected" in node.states and node.role in _CHOSEN:
        return min(area, _CHOSEN_RANK), area
    if node.role == "main" and area != _ANNOUNCED_RANK:
        return _MAIN_RANK, _MAIN_RANK
    if node.role in LANDMARK_ROLES and area != _ANNOUNCED_RANK:
        return _MAIN_RANK, _LANDMARK_RANK
    return (area if is_active(node) or node.role == "heading" else area + 1), area


def _is_important(node: Node) -> bool:
    return is_active(node) or node.role == "columnheader"


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
    if node is None or is_active(node):
        return False
    return node.role == "text" or (bool(node.text) and node.role in ("generic", "paragraph"))


def _explains_error(node: Node | None, following: Node | None) -> bool:
    """Return whether a text follows a field that the page marks as invalid."""
    return node is not None and "invalid" in node.states and _is_text(following)


def _labels(node: Node | None, following: Node | None) -> bool:
    """Return whether a text precedes a control without a name."""
    if node is None or following is None or following.name or following.role not in CONTROLS:
        return False
    return node.role == "text" or bool(node.text)


def _words_of(control: Node, before: Node | None) -> tuple[str, str, str]:
    """Return what distinguishes a control from others of its role: its words, or those of its label."""
    source = before if before is not None and _labels(before, control) else control
    return control.role, source.name, source.text
