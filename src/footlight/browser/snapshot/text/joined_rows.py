"""Write a row of a table, or a short list, on one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, pairwise, takewhile

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.rendering import CELLS, Line
from footlight.browser.snapshot.text.rows import (
    have_numbered_urls,
    without_descriptions,
    without_repeated_names,
    without_repeated_urls,
)

__all__ = [
    "MAX_CELLS",
    "RowRun",
    "find_cells",
    "find_controls",
    "find_items",
    "is_control",
    "is_plain",
    "is_wrapper",
    "join_items",
    "says_only_text",
]

_TEXTS = frozenset(("generic", "paragraph", "time"))
"""Roles that add nothing to the text inside."""
MAX_CELLS = 60
"""A row with more cells has one line per cell."""
_BARE = frozenset(("caption", "form", "generic", "group", "list", "listitem", "paragraph"))
_CONTROLS = frozenset(
    (
        *("button", "checkbox", "combobox", "link", "radio", "searchbox", "slider", "spinbutton", "switch"),
        *("menuitem", "menuitemcheckbox", "menuitemradio", "tab", "textbox"),
    )
)
"""Roles that are clicked instead of a nameless element around them, such as their label."""
ROWS_WITH_URLS = 2
"""The number of table rows or list items that show the targets of their links. If the targets of the second
one differ from those of the first only in numbers, it shows none.
"""
MAX_ITEMS = 30
MAX_ITEM_CHARACTERS = 600
"""A list with more items, or with longer names in them, has one line per item."""
MAX_ITEM_PARTS = 2
MAX_LABEL = 60
"""The maximum length of the name of a cell that is written beside controls with other names."""
MAX_PARTS = 4
"""A cell with more elements and texts has one line for each of them."""
MAX_ENTRY_PARTS = 8
MAX_ENTRY_CHARACTERS = 240
"""A list item, an article or a card with more parts, or with longer texts, has one line for each part."""
MIN_REPEATED_CELLS = 2
"""The head of a table with at least this many columns is written only once for several tables."""
_LINES_ABOVE_HEAD = 4
"""The number of lines before the head of a table, such as its caption, in which the table is searched."""
MAX_CONTROLS = 8
"""A row that shows only its controls has one line per control if it has more."""


class RowRun:
    """Consecutive rows of a table, or items of a list, that are one line each."""

    def __init__(self) -> None:
        self._depth = -1
        self._count = 0
        self._end = 0
        self._cells: tuple[tuple[Node, ...], ...] = ()
        self._urls: Sequence[tuple[Node, ...]] = ()
        self._heads: frozenset[str] = frozenset()
        self._names: Sequence[Sequence[str]] = ()
        self._tables: dict[tuple[str | None, ...], str] = {}

    def leave(self, depth: int) -> None:
        """Reset the run if a line at this depth is not inside its table."""
        if depth < self._depth:
            self._depth, self._count, self._cells = -1, 0, ()

    def join(self, lines: Sequence[Line], span: range, cells: Sequence[tuple[Node, ...]]) -> Line:
        """Join the lines of a row to one line."""
        line, inside = lines[span.start], lines[span.start + 1 : span.stop]
        assert line.node is not None
        is_next = self._depth == line.depth and all(
            each.node is None for each in lines[self._end : span.start]
        )
        roles = {each.node.role for each in inside if each.node is not None}
        is_header = "columnheader" in roles
        if is_header and (known := self._find_head(lines, span.start, cells)):
            return Line(line.depth, None, line.mark, f"head like {known}")
        if self._depth != line.depth:
            self._count = 0
        self._count += not is_header
        shown = without_repeated_urls(without_descriptions(cells), only_first=self._count == ROWS_WITH_URLS)
        is_numbered = is_next and self._count == ROWS_WITH_URLS and have_numbered_urls(self._urls, cells)
        if is_numbered:
            shown = _without_urls(shown)
        if is_header:
            self._heads = frozenset(part.name for parts in cells for part in parts)
        shown, self._names = without_repeated_names(shown, self._heads, self._names if is_next else ())
        above = self._cells if is_next and len(self._cells) == len(shown) else ()
        has_urls = not is_header and self._count <= ROWS_WITH_URLS and not (is_numbered and above)
        self._urls = () if is_header else cells
        self._depth, self._end, self._cells = line.depth, span.stop, () if is_header else shown
        row = _name_row(line.node, cells, has_grid_cells="gridcell" in roles)
        if roles == {"columnheader"} and not (row.name or row.states or row.testid):
            row = Node(row.depth, "head", "")
        return Line(line.depth, row, line.mark, cells=shown, has_urls=has_urls, above=above)

    def _find_head(self, lines: Sequence[Line], row: int, cells: Sequence[tuple[Node, ...]]) -> str | None:
        """Return the ref of an earlier table with the same plain head, or remember the table of this head."""
        names = tuple(_plain_name(parts) for parts in cells)
        above = lines[max(0, row - _LINES_ABOVE_HEAD) : row]
        table = next((each.node for each in reversed(above) if each.depth < lines[row].depth), None)
        if len(names) < MIN_REPEATED_CELLS or None in names or table is None or table.ref is None:
            return None
        known = self._tables.setdefault(names, table.ref)
        return known if known != table.ref else None


def _plain_name(parts: Sequence[Node]) -> str | None:
    """Return the name of a cell that has nothing else, or None."""
    return (
        parts[0].name
        if len(parts) == 1 and parts[0] == Node(parts[0].depth, "columnheader", parts[0].name, parts[0].ref)
        else None
    )


def _name_row(row: Node, cells: Sequence[tuple[Node, ...]], *, has_grid_cells: bool) -> Node:
    """Return a row without a name that its cells repeat, and without a ref if only its content is active."""
    if row.text:  # The first words of a row that shows only its controls.
        return replace(row, name=row.name or row.text, text="", ref=row.ref if row.states else None)
    words = [part.name or part.value or part.text for parts in cells for part in parts]
    is_named = "".join(row.name.split()) not in ("", "".join("".join(words).split()))
    has_refs = any([node.ref is not None and node.role not in CELLS for parts in cells for node in parts])
    if has_refs and not (is_named or has_grid_cells or row.states or row.testid):
        return _plain_row(row.depth, row.role)
    return row if is_named or not row.name else replace(row, name="")


@lru_cache(maxsize=100)
def _plain_row(depth: int, role: str) -> Node:
    """Return a row without a ref. All such rows are one object, so that its line is rendered only once."""
    return Node(depth, role, "")


def _without_urls(cells: Sequence[tuple[Node, ...]]) -> tuple[tuple[Node, ...], ...]:
    return tuple(tuple(replace(node, url="") if node.url else node for node in parts) for parts in cells)


def find_cells(lines: Sequence[Line], row: int) -> list[tuple[tuple[Node, ...], int]]:
    """Return the parts to write for each cell, and its number of lines. Empty if the row needs several lines.

    An entry, such as a list item or a card, is a row without cells: each element or text in it counts as one.
    """
    first = lines[row]
    assert first.node is not None
    if first.node.value or first.node.text or first.node.description:
        return []
    cells: list[tuple[tuple[Node, ...], int]] = []
    is_row = first.node.role == "row"
    most = MAX_CELLS if is_row else MAX_ENTRY_PARTS
    index = row + 1
    while index < len(lines) and lines[index].depth > first.depth:
        found = _find_parts(lines, index, first)
        if found is None or len(cells) == most:
            return []
        cells.append(found)
        index += found[1]
    return cells if is_row or _is_short(cells) else []


def _is_short(cells: Sequence[tuple[tuple[Node, ...], int]]) -> bool:
    """Return whether the parts of an entry fit on a line."""
    parts = [part for cell, _ in cells for part in cell]
    characters = sum([len(part.name) + len(part.text) + len(part.value or "") for part in parts])
    return len(parts) <= MAX_ENTRY_PARTS and characters <= MAX_ENTRY_CHARACTERS


def find_controls(lines: Sequence[Line], row: int) -> list[tuple[tuple[Node, ...], int]]:
    """Return the controls in a row that shows only its first words and controls. Empty for other rows."""
    first = lines[row]
    assert first.node is not None
    if not first.node.text or first.node.value or first.node.description:
        return []
    inside = list(takewhile(lambda line: line.depth > first.depth, islice(lines, row + 1, None)))
    are_leaves = all(line.depth == first.depth + 1 and is_plain(line, first) for line in inside)
    if not are_leaves or len(inside) > MAX_CONTROLS or not all(is_control(line.node) for line in inside):
        return []
    return [((line.node,), 1) for line in inside if line.node is not None]


def _find_parts(lines: Sequence[Line], index: int, row: Line) -> tuple[tuple[Node, ...], int] | None:
    """Return the parts of a cell, or of an element in a list item, and its number of lines, or None."""
    assert row.node is not None
    line = lines[index]
    if not is_plain(line, row) or line.depth != row.depth + 1 or line.node is None:
        return None
    if index + 1 == len(lines) or lines[index + 1].depth <= line.depth:
        return (_as_part(line.node),), 1
    is_cell = line.node.role in CELLS
    if row.node.role == "row" and not is_cell:
        return None
    following = lines[index + 1 : index + 2 + MAX_PARTS * 2]
    inside = list(takewhile(lambda other: other.depth > line.depth, following))
    parts = _parts_of(inside, row)
    if parts is None or len(inside) > MAX_PARTS * 2 or not (is_cell or is_wrapper(line.node)):
        return None
    cell = line.node
    if cell.value or cell.text:
        return None
    if cell.description and not any([cell.description in (part.name, part.text) for part in parts]):
        return None
    shown = _parts_of_cell(cell, parts)
    return (shown, 1 + len(inside)) if shown else None


def _parts_of_cell(cell: Node, parts: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the parts to write for a cell: the cell itself if it has states, its controls and its texts.

    Empty if these do not fit on a line, or do not say what the name of the cell says.
    """
    # A cell is named by the values of the fields in it, and by the texts of other parts.
    words = [part.value or part.name or part.text for part in parts]
    names = [part.name for part in parts]
    if cell.name in ("", " ".join(names), " ".join(words), *names):
        shown = parts
        name = ""
    else:
        pieces = _split_name(cell.name, words)
        if pieces is None and len(cell.name) > MAX_LABEL:
            return ()
        pieces = pieces or [cell.name, *("" for _ in parts)]
        name = " ".join(filter(None, pieces))
        texts = [Node(cell.depth + 1, "text", piece) if piece else None for piece in pieces]
        with_texts = zip(texts, (*parts, None), strict=True)
        shown = tuple(part for pair in with_texts for part in pair if part is not None)
    if cell.states:
        shown = (replace(cell, name=name), *parts)
    return shown if len(shown) <= MAX_PARTS else ()


def _split_name(name: str, words: Sequence[str]) -> list[str] | None:
    """Return the texts before, between and after the words in a name, or None if it does not have them so."""
    pieces: list[str] = []
    end = 0
    for at, each in enumerate(words):
        # The texts around controls without a name are written before the last of these.
        begin = _find_words(name, each, end) if each else end if any(words[at:]) else len(name)
        if begin < 0:
            return None
        pieces.append(name[end:begin].strip())
        end = begin + len(each)
    return [*pieces, name[end:].strip()]


def _find_words(name: str, words: str, start: int) -> int:
    """Return where whole words begin in a name, or -1."""
    while (begin := name.find(words, start)) >= 0:
        end = begin + len(words)
        if not (name[begin - 1 : begin].isalnum() or name[end : end + 1].isalnum()):
            return begin
        start = begin + 1
    return -1


def _parts_of(inside: Sequence[Line], row: Line) -> tuple[Node, ...] | None:
    """Return the nodes in a cell, without empty wrappers. None if a node needs its own line."""
    parts: list[Node] = []
    for line, following in pairwise([*inside, None]):
        if line is None or not is_plain(line, row) or line.node is None:
            return None
        if following is None or following.depth <= line.depth:
            parts.append(_as_part(line.node))
        elif not (is_wrapper(line.node) or _is_named_like(line.node, following.node)):
            return None
    return tuple(parts) if 0 < len(parts) <= MAX_PARTS else None


def _is_named_like(node: Node, child: Node | None) -> bool:
    """Return whether an element without a role, such as a label, only repeats the name of what is in it."""
    is_bare = node.role == "generic" and not (node.states or node.value or node.text or node.description)
    return is_bare and child is not None and child.name == node.name


def _as_part(node: Node) -> Node:
    """Return an element that is only a text as a text, which a row writes in quotes."""
    if node.ref or node.role not in _TEXTS or not says_only_text(node):
        return node
    return replace(node, role="text", name=node.text, text="")


def says_only_text(node: Node) -> bool:
    """Return whether a line is only a text, with or without a test id."""
    if node.is_text:
        return True
    is_bare = not (node.name or node.states or node.value or node.description or node.box)
    return is_bare and node.role in _TEXTS and bool(node.text)


def find_items(lines: Sequence[Line], index: int) -> list[tuple[tuple[Node, ...], int]]:
    """Return the parts of each item of a short list of controls, and its number of lines. Empty otherwise."""
    first = lines[index]
    items: list[tuple[tuple[Node, ...], int]] = []
    characters = 0
    at = index + 1
    while at < len(lines) and lines[at].depth > first.depth:
        node = lines[at].node
        if node is None or node.role != "listitem" or not is_plain(lines[at], first):
            break
        if node.name or node.states or node.box or lines[at].depth != first.depth + 1:
            break
        cells = find_cells(lines, at)
        parts = tuple(part for cell, _ in cells for part in cell)
        characters += sum(len(part.name) for part in parts)
        size = 1 + sum(size for _, size in cells)
        is_only = not items and (at + size == len(lines) or lines[at + size].depth <= first.depth)
        most = MAX_ENTRY_PARTS if is_only else MAX_ITEM_PARTS
        if not any(part.ref for part in parts) or len(parts) > most:
            break
        if len(items) == MAX_ITEMS or characters > MAX_ITEM_CHARACTERS:
            return []
        items.append((parts, size))
        at += size
    return items


def join_items(line: Line, items: Sequence[tuple[Node, ...]]) -> Line:
    """Join a list and its items to one line."""
    with_urls = 1 if have_numbered_urls(items[:1], items[1:2]) else ROWS_WITH_URLS
    items = without_descriptions(items)
    cells = (*items[:with_urls], *_without_urls(items[with_urls:]))
    return replace(line, cells=cells, above=((), *cells[:-1]))


def is_wrapper(node: Node) -> bool:
    """Return whether a line only shows that its contents belong together."""
    is_bare = not (node.name or node.states or node.value or node.text or node.description or node.testid)
    return is_bare and node.role in _BARE


def is_control(node: Node | None) -> bool:
    return node is not None and node.ref is not None and node.role in _CONTROLS


def is_plain(line: Line, row: Line) -> bool:
    return line.node is not None and line.mark == row.mark and not line.note and not line.node.is_frame
