"""Leave out of the cells of a table row what the row, or the row above, already shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from footlight.browser.snapshot.nodes import Node

__all__ = ["have_numbered_urls", "with_names_of_row", "without_descriptions", "without_repeated_urls"]

_NUMBER = re.compile("[0-9]+")
MAX_WORDS_OF_ROW = 8
"""The maximum number of words in a name that may come from the name of its row."""


def with_names_of_row(
    above: Sequence[Sequence[Node]], cells: Sequence[Sequence[Node]]
) -> Sequence[Sequence[Node]]:
    """Return the cells above, with the names of the cells below if only the name of the row differs.

    "Choose Tea" in the row of "Tea" counts as equal to "Choose Milk" in the row of "Milk".
    """
    rows = (_names_in(above), _names_in(cells))
    return tuple(
        tuple(
            replace(was, name=now.name) if _is_named_alike(was, now, rows) else was
            for was, now in zip(old, new, strict=True)
        )
        if len(old) == len(new)
        else old
        for old, new in zip(above, cells, strict=True)
    )


def _names_in(cells: Sequence[Sequence[Node]]) -> frozenset[str]:
    return frozenset(node.name for parts in cells for node in parts if node.name)


def _is_named_alike(was: Node, now: Node, rows: tuple[frozenset[str], frozenset[str]]) -> bool:
    """Return whether both names begin in the same way and end with the name of another part of their row."""
    if was.name == now.name or not (was.ref and now.ref) or was.role != now.role:
        return False
    begin = len(now.name)
    for _ in range(MAX_WORDS_OF_ROW):
        begin = now.name.rfind(" ", 0, begin)
        if begin < 0:
            return False
        if not was.name.startswith(now.name[: begin + 1]):
            continue
        if was.name[begin + 1 :] in rows[0] and now.name[begin + 1 :] in rows[1]:
            return True
    return False


def without_repeated_urls(
    cells: Sequence[tuple[Node, ...]], *, only_first: bool
) -> tuple[tuple[Node, ...], ...]:
    """Return the cells of a row with each target only once, or with only the first target."""
    urls = [node.url for parts in cells for node in parts if node.url]
    if len(urls) < 2 or not (only_first or len(set(urls)) < len(urls)):
        return tuple(cells)
    known: set[str] = set()
    shown: list[tuple[Node, ...]] = []
    for parts in cells:
        kept: list[Node] = []
        for node in parts:
            is_left_out = node.url and known and (only_first or node.url in known)
            kept.append(replace(node, url="", path="") if is_left_out else node)
            if node.url:
                known.add(node.url)
        shown.append(tuple(kept))
    return tuple(shown)


def have_numbered_urls(one: Sequence[tuple[Node, ...]], other: Sequence[tuple[Node, ...]]) -> bool:
    """Return whether the targets of two rows are the same except for the numbers in them."""
    was, now = (
        [_NUMBER.sub("0", node.url) for parts in cells for node in parts if node.url]
        for cells in (one, other)
    )
    return bool(was) and was == now


def without_descriptions(cells: Sequence[tuple[Node, ...]]) -> tuple[tuple[Node, ...], ...]:
    """Return the cells of a row without descriptions that only repeat a name in the row."""
    if not any([node.description for parts in cells for node in parts]):
        return tuple(cells)
    names = {node.name for parts in cells for node in parts}
    return tuple(
        tuple(replace(node, description="") if node.description in names else node for node in parts)
        for parts in cells
    )
