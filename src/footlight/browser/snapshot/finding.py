"""Search a snapshot for a text, and compare the texts of a page.

Matching lines are returned below the lines that identify their place.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.rendering import Line
from footlight.errors import InvalidParameterError
from footlight.patterns import LinearPattern, PatternError

__all__ = ["Likeness", "TextMatcher", "TextSearchResult", "find_lines", "make_matcher"]

MAX_COMPARED = 200
"""The number of characters of a text that are compared with another text."""

TextMatcher = Callable[[str], bool]
"""A function that returns whether a text matches."""


@dataclass(frozen=True, slots=True)
class TextSearchResult:
    """The result of a search: `count` is the number of all matches, `lines` has the first ones."""

    count: int
    lines: list[Line]


def make_matcher(text: str | None, regex: str | None) -> TextMatcher:
    """Return a matcher for a text, ignoring case and white space, or for a regular expression.

    Raises:
        InvalidParameterError: the expression cannot be compiled.
    """
    if regex is None:
        needle = _normalize(text or "")
        if not needle:
            return lambda candidate: any(map(str.isspace, candidate))
        return lambda candidate: needle in _normalize(candidate)
    try:
        return LinearPattern(regex).is_in
    except PatternError as error:
        raise InvalidParameterError(f"regex: {error}; or use text", parameter="regex") from None


def _normalize(text: str) -> str:
    return " ".join(text.split()).casefold()


def find_lines(nodes: Sequence[Node], matches: TextMatcher, limit: int) -> TextSearchResult:
    """Return the first matches, each below its ancestors that have a ref or a name."""
    found = [index for index, node in enumerate(nodes) if any(map(matches, _texts_of(node)))]
    depths: dict[int, int] = {}
    for index, above in _with_ancestors(nodes, found[:limit]):
        depth = 0
        for ancestor in (*above, index):
            depths.setdefault(ancestor, depth)
            depth = depths[ancestor] + 1
    return TextSearchResult(
        len(found), [Line(depth, nodes[index]) for index, depth in sorted(depths.items())]
    )


def _texts_of(node: Node) -> Iterator[str]:
    for words in (node.name, node.value, node.text, node.placeholder, node.description, node.testid):
        if words:
            yield words


def _with_ancestors(nodes: Sequence[Node], matches: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    remaining = iter(matches)
    next_match = next(remaining, None)
    above: list[int] = []
    for index, node in enumerate(nodes):
        while above and nodes[above[-1]].depth >= node.depth:
            above.pop()
        if index == next_match:
            yield index, [each for each in above if nodes[each].ref or nodes[each].name]
            next_match = next(remaining, None)
        above.append(index)


class Likeness:
    """Compares texts with one text by their pairs of adjacent characters, in linear time.

    difflib also compares the order of characters, which takes a millisecond for two texts with the same
    letters. That is too slow for many texts.
    """

    def __init__(self, text: str) -> None:
        self._pairs = _count_pairs(text)

    def to(self, text: str) -> float:
        """Return the share of pairs that the texts have in common, from 0 to 1."""
        pairs = _count_pairs(text)
        return 2 * (self._pairs & pairs).total() / (self._pairs.total() + pairs.total())


def _count_pairs(text: str) -> Counter[str]:
    beginning = f" {text[:MAX_COMPARED]} "
    return Counter(map("".join, itertools.pairwise(beginning)))
