"""Pair elements that a page has re-rendered with the elements that they replaced.

A page that renders its content again shows nothing new, although every element in it has been replaced. Only
siblings are compared, in parents that are already paired.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from itertools import islice, takewhile

from footlight.browser.snapshot.places import find_entry
from footlight.browser.snapshot.subtrees import NEWS, number_subtrees
from footlight.browser.snapshot.tree import Tree

__all__ = ["RedrawnPairs"]

MAX_COMPARED_INSIDE = 100
"""The number of nodes that are compared in an element without a name."""
_READ = frozenset(("heading", "img", "meter", "paragraph", "progressbar"))
LEAST_ALIKE = 0.5
"""The share of these nodes that an element in its place must also have."""


class RedrawnPairs:
    """Finds the new children of an element that replace removed ones."""

    def __init__(self, before: Tree, after: Tree) -> None:
        self._before = before
        self._after = after
        numbers: dict[tuple[object, ...], int] = {}
        self._numbers = [
            [*([-1] * tree.start), *number_subtrees(tree.within_span, numbers)] for tree in (before, after)
        ]

    def pair(self, old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the pairs: equal elements, and elements that are identified by the same words."""
        left, left_new = set(old), set(new)
        for find_pairs in (self._pair_in_place, self._pair_equal, self._pair_called, self._pair_only):
            pairs = find_pairs(
                [each for each in old if each in left], [each for each in new if each in left_new]
            )
            for one, other in [*pairs]:
                left.discard(one)
                left_new.discard(other)
                yield one, other

    def _pair_in_place(self, old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield equal elements at equal positions, if the number of elements has not changed."""
        if len(old) == len(new):
            pairs = zip(old, new, strict=True)
            yield from (
                pair for pair in pairs if self._content_before(pair[0]) == self._content_after(pair[1])
            )

    def _pair_equal(self, old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield equal elements in their order, if their number has not changed."""
        gone, drawn = _group(old, self._content_before), _group(new, self._content_after)
        for content, found in drawn.items():
            if len(gone.get(content, ())) == len(found):
                yield from zip(gone[content], found, strict=True)

    def _content_before(self, index: int) -> Hashable:
        return self._numbers[0][index], _number_of_text(self._before, self._numbers[0], index)

    def _content_after(self, index: int) -> Hashable:
        return self._numbers[1][index], _number_of_text(self._after, self._numbers[1], index)

    def _pair_only(self, old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield empty elements that are only read, if they are the only ones of their role."""
        gone, drawn = (
            _group(old, partial(_role_to_read, self._before)),
            _group(new, partial(_role_to_read, self._after)),
        )
        for role, found in drawn.items():
            if role and len(found) == len(gone.get(role, ())) == 1:
                yield gone[role][0], found[0]

    def _pair_called(self, old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield elements that are the only ones identified by some words."""
        gone = _group(old, lambda index: _words_for(self._before, index))
        drawn = _group(new, lambda index: _words_for(self._after, index))
        for words, found in drawn.items():
            if len(found) == len(gone.get(words, ())) == 1:
                one, other = gone[words][0], found[0]
                if self._before.nodes[one].known_name or self._has_similar_content(one, other):
                    yield one, other

    def _has_similar_content(self, old: int, new: int) -> bool:
        before, after = self._numbers
        was = Counter(before[each] for each in _inside(self._before, old))
        now = Counter(after[each] for each in _inside(self._after, new))
        return (was & now).total() >= LEAST_ALIKE * min(was.total(), now.total())


def _group(indices: Sequence[int], key: Callable[[int], Hashable]) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index in indices:
        groups[key(index)].append(index)
    return groups


def _words_for(tree: Tree, index: int) -> Hashable:
    """Return the words that identify an element. A message equals no other, because it may be a new one."""
    node = tree.nodes[index]
    if node.role in NEWS:
        return object()
    return (
        node.role,
        find_entry(tree.nodes, index) or node.known_name,
        node.testid,
        node.placeholder,
        node.hint,
    )


def _number_of_text(tree: Tree, numbers: Sequence[int], index: int) -> int | None:
    """Return the number of the text before an element, which distinguishes it from similar elements."""
    is_text = index > tree.start and tree.nodes[index - 1].ref is None
    return numbers[index - 1] if is_text else None


def _role_to_read(tree: Tree, index: int) -> str:
    """Return the role of an element that is only read, or "" for other elements."""
    node = tree.nodes[index]
    is_read = node.role in _READ and "clickable" not in node.states
    return node.role if is_read and not any(_inside(tree, index)) else ""


def _inside(tree: Tree, index: int) -> Iterator[int]:
    depth = tree.nodes[index].depth
    inside = takewhile(lambda each: tree.nodes[each].depth > depth, range(index + 1, tree.end))
    return islice(inside, MAX_COMPARED_INSIDE)
