"""Match the nodes of two snapshots: by ref, and by position if they have no ref or were re-rendered."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, pairwise, repeat
from operator import attrgetter, itemgetter

from footlight.browser.snapshot.nodes import Node, find_changed_range
from footlight.browser.snapshot.redrawn import CertainPairs, RedrawnPairs
from footlight.browser.snapshot.tree import Tree

__all__ = ["Match", "find_changed_span", "longest_increasing"]


def find_changed_span(before: Sequence[Node], after: Sequence[Node]) -> tuple[int, int, int] | None:
    """Return where two lists begin to differ and where that ends in each, or None if they are equal.

    Nodes are compared by identity. No node after the end has its parent inside the span.
    """
    found = find_changed_range(before, after)
    if found is None:
        return None
    start, end_before, end = found
    within_span = chain(before[start:end_before], after[start:end])
    top = min(map(attrgetter("depth"), within_span))
    end = next((index for index in range(end, len(after)) if after[index].depth <= top), len(after))
    return start, len(before) - (len(after) - end), end


class Match:
    """The pairs of nodes of two snapshots: `partners` and `origins` have the index of the other node, or -1.

    Both lists end with an additional -1, so that the parent -1 is matched with -1. With `match_redrawn`,
    elements of the same document that were re-rendered are matched as well.
    """

    def __init__(self, before: Tree, after: Tree, *, match_redrawn: bool = False) -> None:
        self.before = before
        self.after = after
        self.partners, self.origins = _match_same_objects(before, after)
        self.pairs: list[tuple[int, int]] = []
        """The pairs of nodes whose values may have changed."""
        self.successors: dict[str, str] = {}
        """The refs of elements that were re-rendered, with those of their certain replacements."""
        self._match_refs()
        self._match_by_place(match_redrawn=match_redrawn)

    def _pair(self, old: int, new: int) -> None:
        self.partners[old] = new
        self.origins[new] = old
        self.pairs.append((old, new))

    def find_removed(self) -> list[int]:
        return [index for index in self.before.indices if self.partners[index] < 0]

    def find_added(self) -> list[int]:
        return [index for index in self.after.indices if self.origins[index] < 0]

    def _match_refs(self) -> None:
        nodes = self.before.nodes
        known = {nodes[index].ref: index for index in self.find_removed() if nodes[index].ref}
        for index in self.find_added():
            old = known.get(self.after.nodes[index].ref)
            if old is not None:
                self._pair(old, index)

    def _match_by_place(self, *, match_redrawn: bool) -> None:
        """Match nodes without refs, and elements that were re-rendered, parents before their children.

        In a table whose rows were mostly replaced, such as a calendar with the next month, a row that only
        begins with the same words as an earlier one is another row.
        """
        removed, added = self.find_removed(), self.find_added()
        before, after = (
            _children_without_refs(self.before, removed),
            _children_without_refs(self.after, added),
        )
        gone = _children_with_refs(self.before, removed) if match_redrawn else {}
        drawn = _children_with_refs(self.after, added) if gone else {}
        pairs = RedrawnPairs(self.before, self.after) if drawn else None
        for parent in sorted({*after, *drawn}):
            origin = self.origins[parent]
            if parent >= 0 > origin:
                continue
            if parent in after:
                self._align(before.get(origin, ()), after[parent])
            if pairs and parent in drawn and origin in gone:
                found = [*pairs.pair(gone[origin], drawn[parent])]
                is_other = 2 * len(found) < min(len(gone[origin]), len(drawn[parent]))
                for old, new in found:
                    if not (is_other and self.before.nodes[old].role == "row" and pairs.differ(old, new)):
                        self._pair(old, new)
        if pairs:
            self._find_successors(CertainPairs(pairs, self.partners))

    def _find_successors(self, certain: CertainPairs) -> None:
        """Find the elements that are certainly the same to a reader, parents before their children."""
        doubtful: set[int] = set()
        for old, new in sorted(self.pairs, key=itemgetter(1)):
            was, now = self.before.nodes[old], self.after.nodes[new]
            if was.ref and was.ref == now.ref:
                continue
            around = self.before.parents[old]
            is_inside = self.partners[around] == self.after.parents[new] and around not in doubtful
            if certain.is_only(old, new) or (is_inside and certain.is_at_same_place(old, new)):
                if was.ref and now.ref:
                    self.successors[was.ref] = now.ref
            else:
                doubtful.add(old)

    def _align(self, old: Sequence[int], new: Sequence[int]) -> None:
        """Match equal nodes in order, and between them nodes of the same role in order."""
        same = _pair_equal(
            [self._likeness_key(self.before.nodes[index], self.partners[index]) for index in old],
            [self._likeness_key(self.after.nodes[index], self._find_match(index)) for index in new],
        )
        for (old_start, new_start), (old_end, new_end) in pairwise([(-1, -1), *same, (len(old), len(new))]):
            if new_start >= 0 and self.origins[new[new_start]] < 0:
                self._pair(old[old_start], new[new_start])
            self._align_by_role(old[old_start + 1 : old_end], new[new_start + 1 : new_end])

    def _find_match(self, new: int) -> int:
        return new if self.origins[new] >= 0 else -1

    def _likeness_key(self, node: Node, new: int) -> tuple[str, str, int]:
        """Return a key that is equal for nodes that may be matched.

        A node that is matched has a unique key.
        """
        return node.role, node.name, new

    def _align_by_role(self, old: Sequence[int], new: Sequence[int]) -> None:
        waiting: defaultdict[str, list[int]] = defaultdict(list)
        for index in reversed(old):
            if self.partners[index] < 0:
                waiting[self.before.nodes[index].role].append(index)
        last = -1
        for index in new:
            candidates = waiting[self.after.nodes[index].role] if self.origins[index] < 0 else []
            while candidates and candidates[-1] < last:
                candidates.pop()
            if candidates:
                last = candidates.pop()
                self._pair(last, index)


def _match_same_objects(before: Tree, after: Tree) -> tuple[list[int], list[int]]:
    """Return the partners and origins of nodes that are the same object.

    If an object occurs twice in a list, nothing is matched.
    """
    known_before = dict(zip(map(id, before.within_span), before.indices, strict=True))
    known_after = dict(zip(map(id, after.within_span), after.indices, strict=True))
    if len(known_before) < len(before.within_span) or len(known_after) < len(after.within_span):
        known_before, known_after = dict.fromkeys(known_before, -1), dict.fromkeys(known_after, -1)
    partners = map(known_after.get, map(id, before.within_span), repeat(-1))
    origins = map(known_before.get, map(id, after.within_span), repeat(-1))
    same = range(before.start)
    return [*same, *partners, -1], [*same, *origins, -1]


def _children_without_refs(tree: Tree, unmatched: Sequence[int]) -> dict[int, list[int]]:
    """Return the children without refs by parent, for parents with an unmatched one, in tree order."""
    parents = {tree.parents[index] for index in unmatched if tree.nodes[index].ref is None}
    children: dict[int, list[int]] = {parent: [] for parent in sorted(parents)}
    for index in tree.indices if parents else ():
        if tree.parents[index] in parents and tree.nodes[index].ref is None:
            children[tree.parents[index]].append(index)
    return children


def _children_with_refs(tree: Tree, unmatched: Sequence[int]) -> dict[int, list[int]]:
    """Return the unmatched children with refs by parent, without the documents of frames."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for index in unmatched:
        if tree.nodes[index].ref is not None and not _is_top_of_frame(tree, index):
            children[tree.parents[index]].append(index)
    return children


def _is_top_of_frame(tree: Tree, index: int) -> bool:
    """Return whether only nodes without refs are between a node and the frame that it is in."""
    at = tree.parents[index]
    while at >= 0 and tree.nodes[at].ref is None:
        at = tree.parents[at]
    return at >= 0 and tree.nodes[at].is_frame


def _pair_equal(old: Sequence[object], new: Sequence[object]) -> list[tuple[int, int]]:
    """Pair the nth old key with the nth equal new key, as far as both lists have the same order."""
    find_places: defaultdict[object, list[int]] = defaultdict(list)
    for index in range(len(old) - 1, -1, -1):
        find_places[old[index]].append(index)
    pairs = [(find_places[key].pop(), index) for index, key in enumerate(new) if find_places.get(key)]
    return [pairs[index] for index in longest_increasing([one for one, _ in pairs])]


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Return the indices of a longest increasing subsequence of distinct numbers."""
    if all(one < other for one, other in pairwise(numbers)):
        return list(range(len(numbers)))
    tails: list[int] = []
    tail_indices: list[int] = []
    previous: list[int] = []
    for index, number in enumerate(numbers):
        length = bisect_left(tails, number)
        previous.append(tail_indices[length - 1] if length else -1)
        tails[length : length + 1] = [number]
        tail_indices[length : length + 1] = [index]
    rising: list[int] = []
    index = tail_indices[-1]
    while index >= 0:
        rising.append(index)
        index = previous[index]
    return rising[::-1]
