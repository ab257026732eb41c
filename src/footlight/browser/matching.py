"""Which node of a look at a page is which of the look before: by ref, or by place where there is none."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, compress, count, pairwise, repeat
from operator import attrgetter, is_not

from footlight.browser.snapshot import Node

__all__ = ["Match", "Tree", "differing", "in_order"]


def differing(before: Sequence[Node], after: Sequence[Node]) -> tuple[int, int, int] | None:
    """Where the lists begin to differ, and where each ends to do so; None where they are the same objects.

    What follows has no parent in between.
    """
    shorter = min(len(before), len(after))
    start = next(compress(count(), map(is_not, before, after)), shorter)
    if start == len(before) == len(after):
        return None
    backwards = map(is_not, reversed(before), reversed(after))
    same = min(next(compress(count(), backwards), shorter), shorter - start)
    end = len(after) - same
    inside = chain(before[start : len(before) - same], after[start:end])
    top = min(map(attrgetter("depth"), inside))
    end = next((index for index in range(end, len(after)) if after[index].depth <= top), len(after))
    return start, len(before) - (len(after) - end), end


class Tree:
    """The nodes from `start` to `end` of a list, and the index of each one's parent, -1 for none."""

    def __init__(self, nodes: Sequence[Node], start: int, end: int) -> None:
        self.nodes = nodes
        self.start = start
        self.end = end
        self.indices = range(start, end)
        self.inside = nodes[start:end]
        self.parents = [-1] * end
        self._ancestors = self._above_start()
        self._find_parents()

    def _above_start(self) -> list[int]:
        """The last node before `start`, and those above it: only they can have children from there on."""
        if not self.start:
            return []
        above = [self.start - 1]
        for index in range(self.start - 2, -1, -1):
            depth = self.nodes[above[-1]].depth
            if depth == 0:
                break
            if self.nodes[index].depth < depth:
                above.append(index)
        above.reverse()
        for outer, inner in pairwise(above):
            self.parents[inner] = outer
        return above

    def _find_parents(self) -> None:
        parents, above = self.parents, [-1, *self._ancestors]
        depths = [-1, *(self.nodes[index].depth for index in self._ancestors)]
        for index, node in enumerate(self.inside, self.start):
            depth = node.depth
            while depths[-1] >= depth:
                depths.pop()
                above.pop()
            parents[index] = above[-1]
            depths.append(depth)
            above.append(index)

    def ends(self) -> list[int]:
        """For each node, the index after the last one inside it."""
        ends = [self.end] * self.end
        above = list(self._ancestors)
        for index in self.indices:
            depth = self.nodes[index].depth
            while above and self.nodes[above[-1]].depth >= depth:
                ends[above.pop()] = index
            above.append(index)
        return ends


class Match:
    """Which node after is which node before: `partners` and `origins` hold the other's index, or -1.

    At their end is one -1 more, so that the parent -1 has the other's -1.
    """

    def __init__(self, before: Tree, after: Tree) -> None:
        self.before = before
        self.after = after
        self.partners, self.origins = _same_objects(before, after)
        self.pairs: list[tuple[int, int]] = []
        """Those that may say something else now."""
        self._match_refs()
        self._match_nameless()

    def _pair(self, old: int, new: int) -> None:
        self.partners[old] = new
        self.origins[new] = old
        self.pairs.append((old, new))

    def gone(self) -> list[int]:
        return [index for index in self.before.indices if self.partners[index] < 0]

    def added(self) -> list[int]:
        return [index for index in self.after.indices if self.origins[index] < 0]

    def _match_refs(self) -> None:
        nodes = self.before.nodes
        known = {nodes[index].ref: index for index in self.gone() if nodes[index].ref}
        for index in self.added():
            old = known.get(self.after.nodes[index].ref)
            if old is not None:
                self._pair(old, index)

    def _match_nameless(self) -> None:
        """From the root inwards: a parent without a ref is matched before its children are."""
        before, after = _nameless(self.before, self.gone()), _nameless(self.after, self.added())
        for parent, new in after.items():
            origin = self.origins[parent]
            if origin >= 0 or parent < 0:
                self._align(before.get(origin, ()), new)

    def _align(self, old: Sequence[int], new: Sequence[int]) -> None:
        """Those that say the same, in order, and between two of them those of the same role, in order."""
        same = _places_of_same(
            [self._likeness(self.before.nodes[index], self.partners[index]) for index in old],
            [self._likeness(self.after.nodes[index], self._known(index)) for index in new],
        )
        for (old_start, new_start), (old_end, new_end) in pairwise([(-1, -1), *same, (len(old), len(new))]):
            if new_start >= 0 and self.origins[new[new_start]] < 0:
                self._pair(old[old_start], new[new_start])
            self._align_by_role(old[old_start + 1 : old_end], new[new_start + 1 : new_end])

    def _known(self, new: int) -> int:
        return new if self.origins[new] >= 0 else -1

    def _likeness(self, node: Node, new: int) -> tuple[str, str, int]:
        """One that is matched already is like its partner only."""
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


def _same_objects(before: Tree, after: Tree) -> tuple[list[int], list[int]]:
    """Partners and origins of those that are the same object. Where there is one twice, all is left open."""
    known_before = dict(zip(map(id, before.inside), before.indices, strict=True))
    known_after = dict(zip(map(id, after.inside), after.indices, strict=True))
    if len(known_before) < len(before.inside) or len(known_after) < len(after.inside):
        known_before, known_after = dict.fromkeys(known_before, -1), dict.fromkeys(known_after, -1)
    partners = map(known_after.get, map(id, before.inside), repeat(-1))
    origins = map(known_before.get, map(id, after.inside), repeat(-1))
    same = range(before.start)
    return [*same, *partners, -1], [*same, *origins, -1]


def _nameless(tree: Tree, unmatched: Sequence[int]) -> dict[int, list[int]]:
    """What has no ref, by parent, in the order of the parents: of parents with one that is not matched."""
    parents = {tree.parents[index] for index in unmatched if tree.nodes[index].ref is None}
    children: dict[int, list[int]] = {parent: [] for parent in sorted(parents)}
    for index in tree.indices if parents else ():
        if tree.parents[index] in parents and tree.nodes[index].ref is None:
            children[tree.parents[index]].append(index)
    return children


def _places_of_same(old: Sequence[object], new: Sequence[object]) -> list[tuple[int, int]]:
    """The nth of the old is the nth of the new that is equal, as far as their order is the same."""
    places: defaultdict[object, list[int]] = defaultdict(list)
    for index in range(len(old) - 1, -1, -1):
        places[old[index]].append(index)
    pairs = [(places[key].pop(), index) for index, key in enumerate(new) if places.get(key)]
    return [pairs[index] for index in in_order([one for one, _ in pairs])]


def in_order(numbers: Sequence[int]) -> list[int]:
    """The indices of a longest rising subsequence; the numbers are distinct."""
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
