"""Compute what was added, removed, changed or moved between two snapshots, in tree order.

Elements are matched by their refs. Nodes without refs, such as texts, are matched among the children of a
matched parent. Most nodes are compared by identity, because a node that did not change is the same object in
both snapshots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile, zip_longest
from typing import Literal

from footlight.browser.snapshot.matching import Match, find_changed_span, longest_increasing
from footlight.browser.snapshot.nodes import Node, Snapshot
from footlight.browser.snapshot.places import find_places
from footlight.browser.snapshot.tree import Tree

__all__ = ["NodeChange", "SnapshotDifference", "compute_difference", "find_redrawn"]

ChangeKind = Literal["kept", "added", "removed", "changed"]
"""A `kept` node did not change. It shows where the changes below it are."""

ROLES_WITHOUT_PLACE = frozenset(("generic", "none", "presentation", "group", "paragraph", "document"))
"""Roles that do not identify a place on the page, unless they have a name."""
CELLS = frozenset(("cell", "gridcell"))
"""Their names are their contents, so the row identifies the place better."""
MAX_NODES_IN_ROW = 100
"""The number of nodes of a table row that are searched for the names of rows and columns."""
ENTRIES = frozenset(("article", "listitem", "row", "treeitem"))
"""Roles of elements that are identified by their first words if they have no name."""
_CONTROLS = frozenset(("button", "checkbox", "radio", "switch"))
"""Controls that are usually alike in all entries."""
_CARD_STATES = frozenset(("clickable", "draggable"))
"""States of elements without a role that are entries as well."""
ENOUGH_CHARACTERS = 8
"""The number of characters that identify a removed or moved entry."""
MAX_LEVELS_UP = 20
"""The maximum number of ancestors that are searched for one that identifies the place of a change."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """One entry of a difference. `depth` is its level in it; `was` is the previous state of a changed node.

    `inside` counts the descendants of a removed node that were removed with it.
    """

    kind: ChangeKind
    depth: int
    node: Node
    was: Node | None = None
    moved: bool = False
    inside: int = 0
    place: str = ""
    """The first words of a table row, or of a removed or moved entry, without a name; or the column header of
    a changed cell, or of a changed field without a name in a cell.
    """
    is_below: bool = False
    """Whether `place` is not a column header, but the text of the cell in the first row."""


@dataclass(frozen=True, slots=True)
class SnapshotDifference:
    """What a reader sees of a difference.

    `successors` maps the refs of elements that were re-rendered to those of their certain replacements.
    """

    changes: tuple[NodeChange, ...]
    successors: Mapping[str, str] = field(default_factory=dict[str, str])


def compute_difference(
    before: Sequence[Node], after: Sequence[Node], *, match_redrawn: bool = False
) -> SnapshotDifference | None:
    """Return the difference, or None if there is none. Boxes and test ids are ignored.

    With `match_redrawn`, elements of the same document that were re-rendered are the same to a reader.
    """
    span = find_changed_span(before, after)
    if span is None:
        return None
    start, end_before, end_after = span
    trees = Tree(before, start, end_before), Tree(after, start, end_after)
    match = Match(*trees, match_redrawn=match_redrawn)
    changes = tuple(_ChangeWriter(match).changes())
    return SnapshotDifference(changes, match.successors) if changes or match.successors else None


def find_redrawn(before: Snapshot, after: Snapshot, ref: str) -> str | None:
    """Return the ref of the element that replaced an element, if the page has only re-rendered it."""
    if (before.document, before.url) != (after.document, after.url):
        return None
    found = compute_difference(before.nodes, after.nodes, match_redrawn=True)
    successor = found.successors.get(ref) if found else None
    if successor is None or find_places(before.nodes)[ref] != find_places(after.nodes)[successor]:
        return None
    return successor


class _ChangeWriter:
    """Puts the changes in tree order, each below the lines that identify its place."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._nodes = match.after.nodes
        self._parents = match.after.parents
        self._changed = _find_changed(match)
        self._moved = _find_moved(match)
        self._new = set(match.find_added())
        self._path: list[tuple[int, int]] = []
        """Index and level of the written lines that are ancestors of the current line, outermost first."""

    def changes(self) -> Iterator[NodeChange]:
        removed = _find_removed(self._match)
        written = {*self._changed, *self._moved, *self._new, *self._find_kept_in_new()}
        for index in sorted(written | removed.keys()):
            for where, old in removed.get(index, ()):
                yield from self._write_removal(where, old)
            if index in written:
                yield from self._write_change(index)

    def _find_kept_in_new(self) -> list[int]:
        """Return the nodes that existed before and are now inside a new node."""
        after = self._match.after.indices if self._new else ()
        return [index for index in after if self._parents[index] in self._new]

    def _write_removal(self, where: int, old: int) -> Iterator[NodeChange]:
        yield from self._write_context(where)
        before = self._match.before
        node, inside = before.nodes[old], _count_removed_inside(self._match, old)
        yield NodeChange("removed", self._level(), node, inside=inside, place=_first_words(before, old))

    def _write_change(self, index: int) -> Iterator[NodeChange]:
        yield from self._write_context(self._parents[index])
        moved, was = index in self._moved, self._changed.get(index)
        kind = "added" if index in self._new else "changed" if moved or was else "kept"
        column, is_below = self._find_column(index) if was else ("", False)
        if was and not (column or self._nodes[index].name):
            column, is_below = self._find_column(self._parents[index])
        place = column or (_first_words(self._match.after, index) if moved else "")
        yield NodeChange(kind, self._level(), self._nodes[index], was, moved, place=place, is_below=is_below)
        self._path.append((index, self._level()))

    def _write_context(self, where: int) -> Iterator[NodeChange]:
        """Write the nearest ancestor that identifies the place of a change, unless already written."""
        self._leave_closed(where)
        last = self._path[-1][0] if self._path else -1
        for _ in range(MAX_LEVELS_UP):
            if where == last or self._identifies_place(where):
                break
            where = self._parents[where]
        if where > last:
            yield NodeChange("kept", self._level(), self._nodes[where], place=self._row_name(where))
            self._path.append((where, self._level()))

    def _identifies_place(self, index: int) -> bool:
        """Return whether a reader finds a place by this node. For a list of messages, this is the log."""
        node, parent = self._nodes[index], self._parents[index]
        if node.role == "list" and not node.name and parent >= 0 and self._nodes[parent].role == "log":
            return False
        return node.role not in CELLS and (bool(node.name) or node.role not in ROLES_WITHOUT_PLACE)

    def _row_name(self, row: int) -> str:
        """Return the first words in a table row that has no name, or "" for other nodes."""
        nodes = self._nodes
        if nodes[row].role != "row" or nodes[row].name:
            return ""
        following = nodes[row + 1 : row + 1 + MAX_NODES_IN_ROW]
        inside = list(takewhile(lambda node: node.depth > nodes[row].depth, following))
        named = (node.name for node in (*_without_controls(inside), *inside))
        return next(filter(None, named), "")

    def _find_column(self, cell: int) -> tuple[str, bool]:
        """Return the column header above a table cell, or the text in the first row and True, or "".

        Of a table without headers it is not known whether the first row has the names of columns.
        """
        nodes, row = self._nodes, self._parents[cell]
        if nodes[cell].role not in CELLS or row < 0 or cell - row > MAX_NODES_IN_ROW:
            return "", False
        table = self._parents[row]
        if table < 0 or nodes[row].role != "row":
            return "", False
        position = sum(node.depth == nodes[cell].depth for node in nodes[row + 1 : cell])
        first, *following = nodes[table + 1 : table + 2 + MAX_NODES_IN_ROW]
        heads = [*takewhile(lambda node: node.depth > first.depth, following)]
        direct = [node for node in heads if node.depth == first.depth + 1]
        has_headers = any(node.role == "columnheader" for node in direct)
        names = [
            node.name
            for node in (direct if has_headers else heads)
            if has_headers or node.role == "columnheader"
        ]
        is_below = not names and first.role == "row" and table + 1 != row
        if is_below:
            names = [node.name for node in direct]
        return (names[position], is_below) if position < len(names) else ("", False)

    def _leave_closed(self, where: int) -> None:
        """Remove the lines from the path that are not ancestors of the node."""
        while self._path:
            last = self._path[-1][0]
            while where > last:
                where = self._parents[where]
            if where == last:
                return
            self._path.pop()

    def _level(self) -> int:
        return self._path[-1][1] + 1 if self._path else 0


def _first_words(tree: Tree, index: int) -> str:
    """Return the first words inside an entry without a name, value and text, or "" for other nodes."""
    entry = tree.nodes[index]
    words = ""
    is_entry = entry.role in ENTRIES or not _CARD_STATES.isdisjoint(entry.states)
    if is_entry and not (entry.name or entry.value or entry.text):
        following = tree.nodes[index + 1 : min(index + 1 + MAX_NODES_IN_ROW, tree.end)]
        inside = list(takewhile(lambda node: node.depth > entry.depth, following))
        others = _without_controls(inside)
        for node in others if any(node.name or node.text for node in others) else inside:
            words = f"{words} {node.name or node.text}".strip()
            if len(words) >= ENOUGH_CHARACTERS:
                break
    return words


def _without_controls(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes without controls that are alike in all entries, and without the cells of these."""
    return [
        node
        for node, inside in zip_longest(nodes, nodes[1:])
        if node.role not in _CONTROLS
        and not (
            inside and inside.role in _CONTROLS and inside.depth > node.depth and inside.name == node.name
        )
    ]


def _find_changed(match: Match) -> dict[int, Node]:
    """Return the previous state of each changed node.

    A node that lost the focus is left out if another node now has the focus.
    """
    old, new = match.before.nodes, match.after.nodes
    changed = {index: old[origin] for origin, index in match.pairs if _differs(old[origin], new[index])}
    if any("focused" in new[index].states for index in (*changed, *match.find_added())):
        changed = {index: was for index, was in changed.items() if not _has_only_lost_focus(was, new[index])}
    return changed


def _differs(was: Node, now: Node) -> bool:
    return was is not now and _visible_values(was) != _visible_values(now)


def _visible_values(node: Node) -> tuple[object, ...]:
    return (
        # The name of a cell or a row may contain the values of its fields, which have their own lines.
        *(node.role, node.known_name, node.value or "", node.states, node.text),
        *(node.description, node.url, node.placeholder),
    )


def _has_only_lost_focus(was: Node, now: Node) -> bool:
    if "focused" not in was.states or "focused" in now.states:
        return False
    states = tuple(state for state in was.states if state != "focused")
    return (states, *_values_without_states(was)) == (now.states, *_values_without_states(now))


def _values_without_states(node: Node) -> tuple[object, ...]:
    values = _visible_values(node)
    return *values[:3], *values[4:]


def _find_moved(match: Match) -> set[int]:
    """Return the kept nodes that have another parent, or another position among their kept siblings."""
    if _has_same_order(match):
        return set()
    before = _find_kept_parents(match.before, match.partners)
    after = _find_kept_parents(match.after, match.origins)
    children: defaultdict[int, list[int]] = defaultdict(list)
    moved: set[int] = set()
    for index in match.after.indices:
        origin = match.origins[index]
        if origin >= 0 and match.partners[before[origin]] == after[index]:
            children[after[index]].append(index)
        elif origin >= 0:
            moved.add(index)
    for siblings in children.values():
        in_place = longest_increasing([match.origins[index] for index in siblings])
        if len(in_place) < len(siblings):
            moved |= set(siblings) - {siblings[position] for position in in_place}
    return moved


def _has_same_order(match: Match) -> bool:
    """Return whether all kept nodes are in the same order and in the same parents. This check is fast."""
    origins, parents, parents_before = match.origins, match.after.parents, match.before.parents
    stayed = [(index, origins[index]) for index in match.after.indices if origins[index] >= 0]
    return all(one[1] < other[1] for one, other in pairwise(stayed)) and all(
        origins[parents[index]] == parents_before[origin] for index, origin in stayed
    )


def _find_kept_parents(tree: Tree, others: Sequence[int]) -> list[int]:
    """Return for each node its nearest ancestor that is in both lists."""
    parents = list(tree.parents)
    for index in tree.indices:
        parent = tree.parents[index]
        if parent >= 0 > others[parent]:
            parents[index] = parents[parent]
    return parents


def _find_removed(match: Match) -> dict[int, list[tuple[int, int]]]:
    """Return the outermost removed nodes by the new index at which they are written.

    Each comes with the new index of its former parent. It is written after the sibling that it followed.
    """
    before, after = match.before, match.after
    indices = match.find_removed()
    if not indices:
        return {}
    ends, followed = after.ends(), _list_preceding_siblings(match)
    removed: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for old in indices:
        parent = before.parents[old]
        where = match.partners[parent]
        if parent >= 0 > where:
            continue
        sibling = followed.get(old, -1)
        is_there = sibling > where and ends[sibling] <= (ends[where] if where >= 0 else after.end)
        at = ends[sibling] if is_there else where + 1
        removed[max(at, after.start)].append((where, old))
    for places in removed.values():
        places.sort(key=lambda pair: -pair[0])
    return removed


def _list_preceding_siblings(match: Match) -> dict[int, int]:
    """Return for each removed node the new index of the last kept sibling before it."""
    last: dict[int, int] = {}
    followed: dict[int, int] = {}
    for index in match.before.indices:
        parent = match.before.parents[index]
        if match.partners[index] >= 0:
            last[parent] = match.partners[index]
        elif parent in last:
            followed[index] = last[parent]
    return followed


def _count_removed_inside(match: Match, old: int) -> int:
    """Return the number of descendants that were removed with the node."""
    nodes, depth = match.before.nodes, match.before.nodes[old].depth
    found = 0
    for index in range(old + 1, match.before.end):
        if nodes[index].depth <= depth:
            break
        found += match.partners[index] < 0
    return found
