"""Pair elements that a page has re-rendered with the elements that they replaced.

A page that renders its content again shows nothing new, although every element in it has been replaced. Only
siblings are compared, in parents that are already paired.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from itertools import islice, takewhile

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.places import ENTRIES_WITH_CONTENT, find_entry
from footlight.browser.snapshot.subtrees import ANNOUNCED_ROLES, number_subtrees, words_of
from footlight.browser.snapshot.tree import Tree

__all__ = ["CertainPairs", "RedrawnPairs"]

MAX_COMPARED_INSIDE = 100
"""The number of nodes that are compared in an element without a name."""
_READ = frozenset(("heading", "img", "meter", "paragraph", "progressbar"))
MIN_SHARED_WORDS = 0.5
"""The share of the compared nodes that an element in its place must have as well."""


class RedrawnPairs:
    """Finds the new children of an element that replace removed ones."""

    def __init__(self, before: Tree, after: Tree) -> None:
        self.before = before
        self.after = after
        numbers: dict[tuple[object, ...], int] = {}
        self.numbers = [
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

    def differ(self, old: int, new: int) -> bool:
        """Return whether anything in an element differs from the one that it is paired with."""
        return self.numbers[0][old] != self.numbers[1][new]

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
        return self.numbers[0][index], _number_of_text(self.before, self.numbers[0], index)

    def _content_after(self, index: int) -> Hashable:
        return self.numbers[1][index], _number_of_text(self.after, self.numbers[1], index)

    def _pair_only(self, old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield empty elements that are only read, if they are the only ones of their role."""
        gone, drawn = (
            _group(old, partial(_role_to_read, self.before)),
            _group(new, partial(_role_to_read, self.after)),
        )
        for role, found in drawn.items():
            if role and len(found) == len(gone.get(role, ())) == 1:
                yield gone[role][0], found[0]

    def _pair_called(self, old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield elements that are the only ones that a reader calls by some words."""
        gone = _group(old, lambda index: _words_for(self.before, index))
        drawn = _group(new, lambda index: _words_for(self.after, index))
        for words, found in drawn.items():
            if len(found) == len(gone.get(words, ())) == 1:
                one, other = gone[words][0], found[0]
                if self.before.nodes[one].known_name or self._has_similar_content(one, other):
                    yield one, other

    def _has_similar_content(self, old: int, new: int) -> bool:
        before, after = self.numbers
        was = Counter(before[each] for each in _inside(self.before, old))
        now = Counter(after[each] for each in _inside(self.after, new))
        return (was & now).total() >= MIN_SHARED_WORDS * min(was.total(), now.total())


class CertainPairs:
    """Tells which pairs are certain by their words: all that a reader sees and that does not change in use.

    `partners` holds for each element before the one that it is paired with, or -1.
    """

    def __init__(self, pairs: RedrawnPairs, partners: Sequence[int]) -> None:
        self._before = pairs.before
        self._after = pairs.after
        self._partners = partners
        numbers: dict[tuple[object, ...], int] = {}
        self._words = _number_words(pairs.before, numbers), _number_words(pairs.after, numbers)
        """The numbers of the elements, and at the end that of the whole page, which is the parent -1."""
        self._counts = Counter(self._words[0]), Counter(self._words[1])
        self._used = self._count_used(*pairs.numbers)

    def _count_used(self, before: Sequence[int], after: Sequence[int]) -> Counter[int]:
        """Count the children with other states or values by parent, where the words are as before."""
        used: Counter[int] = Counter()
        for index in self._before.indices:
            parent = self._before.parents[index]
            partner = self._partners[parent]
            if self._have_same_words(parent, partner):
                used[parent] += before[index] != after[index - parent + partner]
        return used

    def _have_same_words(self, old: int, new: int) -> bool:
        return self._words[0][old] == self._words[1][new]

    def is_only(self, old: int, new: int) -> bool:
        """Return whether no other element on both pages has the words, and its entries are as before."""
        return (
            self._have_same_words(old, new)
            and self._counts[0][self._words[0][old]] == self._counts[1][self._words[1][new]] == 1
            and _is_distinctive(self._before, old)
            and self._has_same_entries(old)
        )

    def _has_same_entries(self, old: int) -> bool:
        while (old := self._before.parents[old]) >= 0:
            is_entry = self._before.nodes[old].role in ENTRIES_WITH_CONTENT
            if is_entry and not self._have_same_words(old, self._partners[old]):
                return False
        return True

    def is_at_same_place(self, old: int, new: int) -> bool:
        """Return whether the parent of an element has the same words as before, with this element at the same
        place, and at most one part of it was used since. Two that changed may have changed places.
        """
        parent, new_parent = self._before.parents[old], self._after.parents[new]
        return (
            self._have_same_words(parent, new_parent)
            and old - parent == new - new_parent
            and self._used[parent] <= 1
        )


def _number_words(tree: Tree, numbers: dict[tuple[object, ...], int]) -> list[int]:
    page, *inside = number_subtrees([Node(-1, "", ""), *tree.nodes], numbers, content=words_of)
    return [*inside, page]


def _is_distinctive(tree: Tree, index: int) -> bool:
    """Return whether a reader knows an element by anything but its role."""
    node = tree.nodes[index]
    is_known = node.known_name or node.testid or node.hint or node.text or node.url or node.placeholder
    return bool(is_known) or any(True for _ in _inside(tree, index))


def _group(indices: Sequence[int], key: Callable[[int], Hashable]) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index in indices:
        groups[key(index)].append(index)
    return groups


def _words_for(tree: Tree, index: int) -> Hashable:
    """Return the words that identify an element. A message equals no other, because it may be a new one."""
    node = tree.nodes[index]
    if node.role in ANNOUNCED_ROLES:
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
