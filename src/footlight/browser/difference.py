"""What is new, gone, other or elsewhere between two looks at a page, in tree order.

Elements are matched by their refs; what has none, such as texts, among the children of a matched parent. It
takes time in proportion to the nodes, and most of them are told apart by identity: what has not changed since
the last look is the same object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from footlight.browser.matching import Match, Tree, differing, in_order
from footlight.browser.snapshot import Node

__all__ = ["Change", "Difference", "difference"]

Kind = Literal["kept", "added", "removed", "changed"]
"""What is `kept` says only where a change is."""

BARE = frozenset(("generic", "none", "presentation", "group", "paragraph", "document"))
"""Roles that without a name do not say where one is."""
FARTHEST = 20
"""Levels up, where a name is looked for."""


@dataclass(frozen=True, slots=True)
class Change:
    """`depth` is its level among what is told; `was` the node before, of what is other now.

    `inside` counts what was removed with a removed node, from inside it.
    """

    kind: Kind
    depth: int
    node: Node
    was: Node | None = None
    moved: bool = False
    inside: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    changes: tuple[Change, ...]


def difference(before: Sequence[Node], after: Sequence[Node]) -> Difference | None:
    """None where a reader would see none. Positions on the screen and test ids are not looked at."""
    span = differing(before, after)
    if span is None:
        return None
    start, end_before, end_after = span
    match = Match(Tree(before, start, end_before), Tree(after, start, end_after))
    changes = tuple(_Telling(match).changes())
    return Difference(changes) if changes else None


class _Telling:
    """Puts what differs in tree order, each below what says where it is."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._nodes = match.after.nodes
        self._parents = match.after.parents
        self._changed = _changed(match)
        self._moved = _moved(match)
        self._new = set(match.added())
        self._told: list[tuple[int, int]] = []
        """Index and level of the lines that the next one may be below, outermost first."""

    def changes(self) -> Iterator[Change]:
        removed = _removed(self._match)
        told = {*self._changed, *self._moved, *self._new, *self._in_new()}
        for index in sorted(told | removed.keys()):
            for where, old in removed.get(index, ()):
                yield from self._removal(where, old)
            if index in told:
                yield from self._change(index)

    def _in_new(self) -> list[int]:
        """What stayed, but is in something new now."""
        after = self._match.after.indices if self._new else ()
        return [index for index in after if self._parents[index] in self._new]

    def _removal(self, where: int, old: int) -> Iterator[Change]:
        yield from self._context(where)
        node = self._match.before.nodes[old]
        yield Change("removed", self._level(), node, inside=_inside(self._match, old))

    def _change(self, index: int) -> Iterator[Change]:
        yield from self._context(self._parents[index])
        moved, was = index in self._moved, self._changed.get(index)
        kind = "added" if index in self._new else "changed" if moved or was else "kept"
        yield Change(kind, self._level(), self._nodes[index], was, moved)
        self._told.append((index, self._level()))

    def _context(self, where: int) -> Iterator[Change]:
        """The nearest one from there upwards that says where it is, unless it has been told."""
        self._leave(where)
        last = self._told[-1][0] if self._told else -1
        for _ in range(FARTHEST):
            if where == last or _says_where(self._nodes[where]):
                break
            where = self._parents[where]
        if where > last:
            yield Change("kept", self._level(), self._nodes[where])
            self._told.append((where, self._level()))

    def _leave(self, where: int) -> None:
        """Forget the lines that are not above it."""
        while self._told:
            last = self._told[-1][0]
            while where > last:
                where = self._parents[where]
            if where == last:
                return
            self._told.pop()

    def _level(self) -> int:
        return self._told[-1][1] + 1 if self._told else 0


def _says_where(node: Node) -> bool:
    return bool(node.name) or node.role not in BARE


def _changed(match: Match) -> dict[int, Node]:
    """What each changed node was. That one lost the focus is not told where another has it now."""
    old, new = match.before.nodes, match.after.nodes
    changed = {index: old[origin] for origin, index in match.pairs if _differs(old[origin], new[index])}
    if any("focused" in new[index].states for index in (*changed, *match.added())):
        changed = {index: was for index, was in changed.items() if not _lost_focus(was, new[index])}
    return changed


def _differs(was: Node, now: Node) -> bool:
    return was is not now and _told_of(was) != _told_of(now)


def _told_of(node: Node) -> tuple[object, ...]:
    return (
        *(node.role, node.name, node.value or "", node.states, node.text),
        *(node.description, node.url, node.placeholder),
    )


def _lost_focus(was: Node, now: Node) -> bool:
    if "focused" not in was.states or "focused" in now.states:
        return False
    states = tuple(state for state in was.states if state != "focused")
    return (states, *_without_states(was)) == (now.states, *_without_states(now))


def _without_states(node: Node) -> tuple[object, ...]:
    told = _told_of(node)
    return *told[:3], *told[4:]


def _moved(match: Match) -> set[int]:
    """What has another parent among those that stayed, or another place among its siblings that stayed."""
    if _is_steady(match):
        return set()
    before = _kept_parents(match.before, match.partners)
    after = _kept_parents(match.after, match.origins)
    children: defaultdict[int, list[int]] = defaultdict(list)
    moved: set[int] = set()
    for index in match.after.indices:
        origin = match.origins[index]
        if origin >= 0 and match.partners[before[origin]] == after[index]:
            children[after[index]].append(index)
        elif origin >= 0:
            moved.add(index)
    for siblings in children.values():
        in_place = in_order([match.origins[index] for index in siblings])
        if len(in_place) < len(siblings):
            moved |= set(siblings) - {siblings[position] for position in in_place}
    return moved


def _is_steady(match: Match) -> bool:
    """Seen at a glance: all that stayed is in the same order, and in the same parents."""
    origins, parents, parents_before = match.origins, match.after.parents, match.before.parents
    stayed = [(index, origins[index]) for index in match.after.indices if origins[index] >= 0]
    return all(one[1] < other[1] for one, other in pairwise(stayed)) and all(
        origins[parents[index]] == parents_before[origin] for index, origin in stayed
    )


def _kept_parents(tree: Tree, others: Sequence[int]) -> list[int]:
    """The nearest one above each that is in both lists."""
    kept = list(tree.parents)
    for index in tree.indices:
        parent = tree.parents[index]
        if parent >= 0 > others[parent]:
            kept[index] = kept[parent]
    return kept


def _removed(match: Match) -> dict[int, list[tuple[int, int]]]:
    """What is gone, by the index after at which it is told, with the index after of what it was in.

    Only the outermost of what is gone, behind the sibling that it followed.
    """
    before, after = match.before, match.after
    gone = match.gone()
    if not gone:
        return {}
    ends, followed = after.ends(), _followed(match)
    removed: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for old in gone:
        parent = before.parents[old]
        where = match.partners[parent]
        if parent >= 0 > where:
            continue
        sibling = followed.get(old, -1)
        is_there = sibling > where and ends[sibling] <= (ends[where] if where >= 0 else after.end)
        at = ends[sibling] if is_there else where + 1
        removed[max(at, after.start)].append((where, old))
    for told in removed.values():
        told.sort(key=lambda pair: -pair[0])
    return removed


def _followed(match: Match) -> dict[int, int]:
    """The index after of the last sibling before each that stayed."""
    last: dict[int, int] = {}
    followed: dict[int, int] = {}
    for index in match.before.indices:
        parent = match.before.parents[index]
        if match.partners[index] >= 0:
            last[parent] = match.partners[index]
        elif parent in last:
            followed[index] = last[parent]
    return followed


def _inside(match: Match, old: int) -> int:
    """How many more went with it."""
    nodes, depth = match.before.nodes, match.before.nodes[old].depth
    found = 0
    for index in range(old + 1, match.before.end):
        if nodes[index].depth <= depth:
            break
        found += match.partners[index] < 0
    return found
