"""Finding words in a snapshot: the lines that have them, below those that say where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from footlight.browser.rendering import Line
from footlight.browser.snapshot import Node
from footlight.errors import InvalidParameter

__all__ = ["Found", "found_lines", "pattern_of"]


@dataclass(frozen=True, slots=True)
class Found:
    """`count` is of all matches, `lines` are of the first ones."""

    count: int
    lines: list[Line]


def pattern_of(text: str | None, regex: str | None) -> re.Pattern[str]:
    """Text in any case with any white space, or a regular expression.

    Raises:
        InvalidParameter: the expression cannot be compiled.
    """
    if regex is None:
        words = (re.escape(word) for word in (text or "").split())
        return re.compile(r"\s+".join(words) or r"\s", re.IGNORECASE)
    try:
        return re.compile(regex)
    except re.error as error:
        raise InvalidParameter(
            f"regex: {error}; write it in Python's syntax, or use text", parameter="regex"
        ) from None


def found_lines(nodes: Sequence[Node], pattern: re.Pattern[str], limit: int) -> Found:
    """Each match below its ancestors that have a ref or a name; an ancestor once for neighbouring matches."""
    matches = [index for index, node in enumerate(nodes) if any(map(pattern.search, _said(node)))]
    shown: dict[int, int] = {}
    for index, above in _with_ancestors(nodes, matches[:limit]):
        depth = 0
        for ancestor in (*above, index):
            shown.setdefault(ancestor, depth)
            depth = shown[ancestor] + 1
    return Found(len(matches), [Line(depth, nodes[index]) for index, depth in sorted(shown.items())])


def _said(node: Node) -> Iterator[str]:
    for words in (node.name, node.value, node.text, node.placeholder, node.description, node.testid):
        if words:
            yield words


def _with_ancestors(nodes: Sequence[Node], wanted: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    left = iter(wanted)
    next_wanted = next(left, None)
    above: list[int] = []
    for index, node in enumerate(nodes):
        while above and nodes[above[-1]].depth >= node.depth:
            above.pop()
        if index == next_wanted:
            yield index, [each for each in above if nodes[each].ref or nodes[each].name]
            next_wanted = next(left, None)
        above.append(index)
