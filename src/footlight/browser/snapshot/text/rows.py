"""Leave out of the cells of a table row what the row, or the row above, already shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from footlight.browser.snapshot.nodes import Node

__all__ = [
    "have_numbered_urls",
    "is_day",
    "repeats_words",
    "with_names_of_row",
    "without_descriptions",
    "without_repeated_names",
    "without_repeated_urls",
]

_NUMBER = re.compile("[0-9]+")
_NOT_DIGITS = re.compile("[^0-9]+")
MAX_DAY = 3
"""The maximum length of a text such as the number of a day."""
_PRESSED = frozenset(("button", "link", "menuitem", "tab"))
MAX_MARK = 2
"""A text of at most so many characters in a control is a mark such as `»` if none is a letter or a digit."""
MAX_DATE = 80
"""The maximum length of a name that is compared with the previous one."""
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


def without_repeated_names(
    cells: tuple[tuple[Node, ...], ...], heads: Collection[str], above: Sequence[Sequence[str]]
) -> tuple[tuple[tuple[Node, ...], ...], Sequence[Sequence[str]]]:
    """Return the cells without names whose words are those of neighbours, apart from the text of the cell.

    In a calendar, this is "Monday, November 2nd, 2026" with the text 2, after "Sunday, November 1st, 2026"
    below the head "Monday", or below "Monday, October 26th, 2026". `heads` are the names of columns, and
    `above` the words of the names in the row above. Also return those of this row.
    """
    if not any([parts and parts[0].text and parts[0].name for parts in cells]):
        return cells, ()
    shown: list[tuple[Node, ...]] = []
    names: list[Sequence[str]] = []
    before = above[-1] if above else ()
    for column, cell in enumerate(cells):
        parts = cell
        node = parts[0] if len(parts) == 1 else None
        is_numbered = node is not None and node.ref and node.text.isdigit() and len(node.text) <= MAX_DAY
        words = node.name.split() if node and is_numbered and len(node.name) <= MAX_DATE else []
        higher = above[column] if column < len(above) else ()
        is_told = node is not None and _are_told(words, node.text, heads, before, higher)
        if node is not None and (is_told or repeats_words(node)):
            parts = (replace(node, name="") if is_told else replace(node, text=""),)
        shown.append(parts)
        before = words or before
        names.append(words)
    return tuple(shown), names


def repeats_words(node: Node) -> bool:
    """Return whether the text in a control has only words of its name in the same order, or is a mark."""
    if not (node.text and node.name and node.role in _PRESSED):
        return False
    if len(node.text) <= MAX_MARK and not any(map(str.isalnum, node.text)):
        return True
    words = iter(node.name.lower().split())
    return all(word in words for word in node.text.lower().split())


def is_day(text: str) -> bool:
    """Return whether a text is a short number."""
    return text.isdigit() and len(text) <= MAX_DAY


def _are_told(
    words: Sequence[str], text: str, heads: Collection[str], before: Sequence[str], above: Sequence[str]
) -> bool:
    """Return whether each word is the text of a cell, the name of a column, or that of a neighbour there."""
    if not words or len(words) != len(before):
        return False
    are_texts = [_NOT_DIGITS.sub("", word) == text for word in words]
    return any(are_texts) and all(
        is_text
        or word == before[at]
        or word == (above[at] if at < len(above) else "")
        or word.strip(",.") in heads
        for at, (word, is_text) in enumerate(zip(words, are_texts, strict=True))
    )


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
    """Return the cells of a row without descriptions that only repeat a name in the row.

    After "Sort by Name" of "Name", the description "Sort by Email" of "Email" is left out as well, and after
    "2031-05-01" of "1" that of "2".
    """
    if not any([node.description for parts in cells for node in parts]):
        return tuple(cells)
    names = {node.name for parts in cells for node in parts}
    patterns: set[tuple[str, str]] = set()

    def describe(node: Node) -> Node:
        around = _texts_around(node.name, node.description)
        is_repeated = node.description in names or not patterns.isdisjoint(around)
        patterns.update(around)
        return replace(node, description="") if is_repeated else node

    return tuple(tuple(describe(node) if node.description else node for node in parts) for parts in cells)


def _texts_around(name: str, description: str) -> list[tuple[str, str]]:
    """Return the texts before and after a name in a description, for each place of the number of a day."""
    if is_day(name):
        numbers = (each for each in _NUMBER.finditer(description) if each[0] in (name, f"0{name}"))
        return [(description[: each.start()], description[each.end() :]) for each in numbers]
    begin, found_name, end = description.partition(name) if name else ("", "", "")
    return [(begin, end)] if found_name and begin + end else []
