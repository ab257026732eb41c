"""Write table rows in one line, and leave out what a neighbouring line says already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.rendering import CELLS, Line

__all__ = ["compact_lines", "is_compactable"]

MAX_CELLS = 60
"""A row with more cells has a line for each."""
_WRAPPERS = frozenset((*CELLS, "generic"))
_BESIDE = 3
"""How many lines before and after a node are searched for the text of its description."""


def is_compactable(node: Node) -> bool:
    """Return whether the line of the node may change; a fast check that spares most pages the rest."""
    return node.role == "row" or bool(node.description) or (bool(node.name) and node.role in _WRAPPERS)


def compact_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with plain rows in one line, and without names and descriptions that are repeated."""
    if not any(line.node is not None and is_compactable(line.node) for line in lines):
        return list(lines)
    return list(_compact(lines))


def _compact(lines: Sequence[Line]) -> Iterator[Line]:
    index = 0
    while index < len(lines):
        line = lines[index]
        node = line.node
        if node is None or line.note or node.box or line.mark not in ("", "+"):
            yield line
        elif node.role == "row" and (cells := _find_cells(lines, index)):
            end = index + 1 + sum(size for _, size in cells)
            row = replace(node, name="") if _repeats_cells(node, cells) else node
            yield replace(line, node=row, cells=tuple(cell for cell, _ in cells))
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


def _find_cells(lines: Sequence[Line], row: int) -> list[tuple[Node, int]]:
    """Return what to write for each cell, and its number of lines; nothing if the row needs several lines."""
    first = lines[row]
    assert first.node is not None
    if first.node.value or first.node.text or first.node.description:
        return []
    cells: list[tuple[Node, int]] = []
    index = row + 1
    while index < len(lines) and lines[index].depth > first.depth:
        line = lines[index]
        inside = _inside(lines, index)
        if not _is_plain(line, first) or line.depth != first.depth + 1 or len(cells) == MAX_CELLS:
            return []
        assert line.node is not None
        if line.node.role not in CELLS or inside > 1:
            return []
        cell = line.node
        if inside:
            child = lines[index + 1]
            if not _is_plain(child, first) or cell.states or cell.description or cell.value or cell.text:
                return []
            assert child.node is not None
            if cell.name not in ("", child.node.name):
                return []
            cell = child.node
        cells.append((cell, 1 + inside))
        index += 1 + inside
    return cells


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


def _repeats_cells(row: Node, cells: Sequence[tuple[Node, int]]) -> bool:
    return " ".join(cell.name for cell, _ in cells if cell.name) == row.name


def _is_beside(lines: Sequence[Line], index: int) -> bool:
    node = lines[index].node
    neighbours = (*lines[max(0, index - _BESIDE) : index], *lines[index + 1 : index + 1 + _BESIDE])
    return node is not None and any(
        node.description in (other.node.text, other.node.name if other.node.role == "text" else "")
        for other in neighbours
        if other.node is not None and other.mark == lines[index].mark
    )
