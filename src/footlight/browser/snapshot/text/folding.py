"""Fold runs of similar siblings, so that a snapshot shows only some members of each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.compact import compact_lines
from footlight.browser.snapshot.text.fitting import MESSAGE_ROLES, fold_note
from footlight.browser.snapshot.text.joined_rows import MAX_CELLS, MAX_PARTS
from footlight.browser.snapshot.text.rendering import CELLS, Line

__all__ = ["MIN_RUN_LENGTH", "RunLimits", "SiblingTree"]

MIN_RUN_LENGTH = 3
"""The minimum number of similar siblings in a run that are shown, besides the last one."""
_ITEMS = frozenset(("row", "listitem", "option", "treeitem", "article", "menuitem", "term", "definition"))
"""Roles whose elements are similar as siblings, independent of their content."""
_SEEN_STATES = frozenset(("focused", "invalid", "selected"))
MAX_JOINED = 9
"""A cell with so many nodes, itself and its wrappers included, can be in one line with the others."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The numbers of similar siblings that are shown, besides the last one."""

    others: int
    rows: int


class SiblingTree:
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
            is_seen = node.role in MESSAGE_ROLES or not _SEEN_STATES.isdisjoint(node.states)
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

    def lines(self, limits: RunLimits, most: int | None = None) -> list[Line]:
        """Return the lines, with a limited number of each run and a note in place of the others.

        Of a run in a log, the last members are shown. Stop after `most` nodes.
        """
        return compact_lines(list(islice(self._fold(limits), most)))

    def _fold(self, limits: RunLimits) -> Iterator[Line]:
        nodes, sizes = self.nodes, self.sizes
        stack: list[Line | int | range] = [range(len(nodes))]
        """Lines, nodes with their content, and ranges of siblings with their content.

        The last is the next one.
        """
        log_end = 0
        while stack:
            item = stack.pop()
            if isinstance(item, Line):
                yield item
            elif isinstance(item, int):
                yield Line(nodes[item].depth, nodes[item])
                if nodes[item].role == "log":
                    log_end = max(log_end, item + sizes[item])
                stack.append(range(item + 1, item + sizes[item]))
            elif item:
                run = self._run(item)
                longest_run = self._longest_run(run, limits)
                stack.append(range(run[-1] + sizes[run[-1]], item.stop))
                if len(run) > longest_run + 2:
                    first = 0 if item.start < log_end else longest_run
                    last = len(run) - (longest_run + 1 - first)
                    note = fold_note([self._without_wrapper(index) for index in run[first:last]])
                    stack += reversed(run[last:])
                    stack.append(Line(nodes[item.start].depth, None, "", note))
                    run = run[:first]
                stack += reversed(run)

    def _without_wrapper(self, index: int) -> Node:
        """Return the node, or the only node inside it if its own line is left out."""
        node = self.nodes[index]
        inside = self.nodes[index + 1] if self.sizes[index] == 2 else node
        has_line = node.role != "generic" or node.name not in ("", inside.name)
        return node if has_line or not set(node.states) <= set(inside.states) else inside

    def _longest_run(self, run: Sequence[int], limits: RunLimits) -> int:
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
