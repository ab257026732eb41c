"""A part of a snapshot as a tree: the parent of each node."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from footlight.browser.snapshot.nodes import Node

__all__ = ["Tree"]


class Tree:
    """The nodes from `start` to `end` of a list, and the index of the parent of each (-1 for none)."""

    def __init__(self, nodes: Sequence[Node], start: int, end: int) -> None:
        self.nodes = nodes
        self.start = start
        self.end = end
        self.indices = range(start, end)
        self.within_span = nodes[start:end]
        self.parents = [-1] * end
        self._ancestors = self._ancestors_of_start()
        self._find_parents()

    def _ancestors_of_start(self) -> list[int]:
        """Return the last node before `start` and its ancestors: the possible parents outside the span."""
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
        for index, node in enumerate(self.within_span, self.start):
            depth = node.depth
            while depths[-1] >= depth:
                depths.pop()
                above.pop()
            parents[index] = above[-1]
            depths.append(depth)
            above.append(index)

    def ends(self) -> list[int]:
        """Return for each node the index after its last descendant."""
        ends = [self.end] * self.end
        above = list(self._ancestors)
        for index in self.indices:
            depth = self.nodes[index].depth
            while above and self.nodes[above[-1]].depth >= depth:
                ends[above.pop()] = index
            above.append(index)
        return ends
