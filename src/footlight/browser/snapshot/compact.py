"""Write table rows in one line, and leave out what a neighbouring line says already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, takewhile

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.rendering import CELLS, Line

__all__ = ["compact_lines", "is_compactable"]

MAX_CELLS = 60
"""A row with more cells has a line for each."""
_WRAPPERS = frozenset((*CELLS, "generic"))
_ROWS = frozenset(("row", "listitem"))
_BARE = frozenset(("form", "generic", "group", "list", "listitem", "paragraph"))
_SEPARATORS = frozenset("|/\\›»>·•—–-,")
ROWS_WITH_URLS = 3
"""So many rows of a table, or items of a list, show the targets of their links."""
MAX_PARTS = 4
"""A cell or a list item with more elements and texts has a line for each."""
_BESIDE = 3
"""How many lines before and after a node are searched for the text of its description."""


def is_compactable(node: Node) -> bool:
    """Return whether the line of the node may change; a fast check that spares most pages the rest."""
    return (
        node.role in _ROWS
        or node.role == "option"
        or bool(node.description)
        or (bool(node.name) and node.role in _WRAPPERS)
    )


def _is_separator(node: Node) -> bool:
    """Return whether a text is only a mark between its neighbours, such as `|`."""
    return node.role == "text" and node.ref is None and node.name in _SEPARATORS


def compact_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with plain rows in one line, and without names and descriptions that are repeated."""
    if not any(line.node is not None and is_compactable(line.node) for line in lines):
        return list(lines)
    return list(_compact(lines))


def _compact(lines: Sequence[Line]) -> Iterator[Line]:
    index = 0
    run, run_depth = 0, -1
    while index < len(lines):
        line = lines[index]
        node = line.node
        if line.depth < run_depth:
            run, run_depth = 0, -1
        if node is None or line.note or node.box or line.mark not in ("", "+"):
            yield line
        elif _is_separator(node):
            pass
        elif node.role == "option" and (size := _count_options(lines, index)):
            options = tuple((each.node,) for each in lines[index : index + size] if each.node is not None)
            yield Line(line.depth, None, line.mark, cells=options)
            index += size
            continue
        elif node.role in _ROWS and (cells := _find_cells(lines, index)):
            end = index + 1 + sum(size for _, size in cells)
            row = replace(node, name="") if _repeats_cells(node, cells) else node
            run = run + 1 if run_depth == line.depth else 1
            run_depth = line.depth
            has_urls = run <= ROWS_WITH_URLS
            parts = tuple([parts for parts, _ in cells])
            yield Line(line.depth, row, line.mark, cells=parts, has_urls=has_urls)
            index = end
            continue
        elif node.name and node.role in _WRAPPERS and (child := _only_child(lines, index)):
            if node.role == "generic" and not node.states:
                yield replace(line, node=child.node)
                index += 2
                continue
            yield replace(line, node=replace(node, name=""))
        elif node.description and _is_beside(lines, index):
            yield replace(line, node=replace(node, description=""))
        else:
            yield line
        index += 1


def _count_options(lines: Sequence[Line], index: int) -> int:
    """Return how many lines are options of one drop-down, which have no refs; 0 if there is only one."""
    depth, mark = lines[index].depth, lines[index].mark
    options = takewhile(
        lambda line: (
            line.node is not None
            and (line.node.role, line.node.ref, line.depth, line.mark, line.note)
            == ("option", None, depth, mark, "")
        ),
        islice(lines, index, None),
    )
    count = sum(1 for _ in options)
    return count if count > 1 else 0


def _find_cells(lines: Sequence[Line], row: int) -> list[tuple[tuple[Node, ...], int]]:
    """Return what to write for each cell, and its number of lines; nothing if the row needs several lines.

    A list item is a row without cells: each element or text in it is one.
    """
    first = lines[row]
    assert first.node is not None
    if first.node.value or first.node.text or first.node.description:
        return []
    cells: list[tuple[tuple[Node, ...], int]] = []
    index = row + 1
    while index < len(lines) and lines[index].depth > first.depth:
        found = _find_parts(lines, index, first)
        if found is None or len(cells) == MAX_CELLS:
            return []
        parts, size = found
        cells.append((parts, size))
        index += size
    return (
        [] if first.node.role == "listitem" and sum(len(parts) for parts, _ in cells) > MAX_PARTS else cells
    )


def _find_parts(lines: Sequence[Line], index: int, row: Line) -> tuple[tuple[Node, ...], int] | None:
    """Return what to write for a cell or for an element in a list item, and its number of lines, or None."""
    assert row.node is not None
    line = lines[index]
    if not _is_plain(line, row) or line.depth != row.depth + 1 or line.node is None:
        return None
    is_cell = line.node.role in CELLS
    if row.node.role == "row" and not is_cell:
        return None
    if index + 1 == len(lines) or lines[index + 1].depth <= line.depth:
        return (line.node,), 1
    following = lines[index + 1 : index + 2 + MAX_PARTS * 2]
    inside = list(takewhile(lambda other: other.depth > line.depth, following))
    parts = _parts_of(inside, row)
    if parts is None or len(inside) > MAX_PARTS * 2 or not (is_cell or _is_wrapper(line.node)):
        return None
    cell = line.node
    names = [part.name for part in parts]
    is_named_otherwise = cell.name not in ("", " ".join(names), *names)
    if is_named_otherwise or cell.states or cell.description or cell.value or cell.text:
        return None
    return parts, 1 + len(inside)


def _parts_of(inside: Sequence[Line], row: Line) -> tuple[Node, ...] | None:
    """Return the nodes in a cell, without wrappers that say nothing; None if one needs a line of its own."""
    parts: list[Node] = []
    for line, following in pairwise([*inside, None]):
        if line is None or not _is_plain(line, row) or line.node is None:
            return None
        if following is None or following.depth <= line.depth:
            parts.append(line.node)
        elif not _is_wrapper(line.node):
            return None
    return tuple(parts) if 0 < len(parts) <= MAX_PARTS else None


def _is_wrapper(node: Node) -> bool:
    """Return whether a line says nothing besides that its contents belong together."""
    is_bare = not (node.name or node.states or node.value or node.text or node.description or node.testid)
    return is_bare and node.role in _BARE


def _is_plain(line: Line, row: Line) -> bool:
    return line.node is not None and line.mark == row.mark and not line.note and not line.node.is_frame


def _inside(lines: Sequence[Line], index: int) -> int:
    """Return the number of lines inside a line, at most 2."""
    depth = lines[index].depth
    following = lines[index + 1 : index + 3]
    if not following or following[0].depth <= depth:
        return 0
    return 1 if len(following) < 2 or following[1].depth <= depth else 2


def _only_child(lines: Sequence[Line], index: int) -> Line | None:
    """Return the line inside a line, if it is the only one and has the same name."""
    if _inside(lines, index) != 1:
        return None
    line, child = lines[index], lines[index + 1]
    if child.node is None or child.note or child.mark != line.mark or child.node.box:
        return None
    return child if line.node is not None and child.node.name == line.node.name else None


def _repeats_cells(row: Node, cells: Sequence[tuple[Sequence[Node], int]]) -> bool:
    return " ".join(part.name for parts, _ in cells for part in parts if part.name) == row.name


def _is_beside(lines: Sequence[Line], index: int) -> bool:
    node = lines[index].node
    neighbours = (*lines[max(0, index - _BESIDE) : index], *lines[index + 1 : index + 1 + _BESIDE])
    return node is not None and any(
        node.description in (other.node.text, other.node.name if other.node.role == "text" else "")
        for other in neighbours
        if other.node is not None and other.mark == lines[index].mark
    )
