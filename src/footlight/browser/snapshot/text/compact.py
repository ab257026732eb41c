"""Write table rows in one line, and leave out what a neighbouring line says already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, pairwise, takewhile

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.chrome import CHROME
from footlight.browser.snapshot.text.rendering import CELLS, Line
from footlight.browser.snapshot.text.rows import (
    have_numbered_urls,
    without_descriptions,
    without_repeated_urls,
)

__all__ = ["compact_lines", "is_compactable"]

MAX_CELLS = 60
"""A row with more cells has a line for each."""
_WRAPPERS = frozenset((*CELLS, "generic"))
_ROWS = frozenset(("row", "listitem"))
_BARE = frozenset(("caption", "form", "generic", "group", "list", "listitem", "paragraph"))
_NEEDLESS = frozenset(("caption", "generic", "group", "paragraph"))
"""Roles of which a line says nothing if it has no ref and only one line inside."""
_TITLED = frozenset(("article", "complementary", "form", "group", "list", "navigation", "region", "table"))
"""Roles of which the name is not written if the first line inside is a title with this name."""
_TITLES = frozenset(("button", "caption", "heading", "link"))
_CONTROLS = frozenset(
    (
        *("button", "checkbox", "combobox", "link", "radio", "searchbox", "slider", "spinbutton", "switch"),
        *("menuitem", "menuitemcheckbox", "menuitemradio", "tab", "textbox"),
    )
)
"""Roles that are clicked instead of a nameless element around them, such as their label."""
_SEPARATORS = frozenset("|/\\›»>·•—–-,()[]▾▸:;")
ROWS_WITH_URLS = 2
"""So many rows of a table, or items of a list, show the targets of their links. If the targets of the second
differ from those of the first only by numbers, it shows none.
"""
MAX_ITEMS = 30
MAX_ITEM_CHARACTERS = 600
"""A list with more items, or longer names in them, has a line for each item."""
MAX_ITEM_PARTS = 2
FEWEST_REPEATED = 4
"""So many options that a drop-down before has as well are not written again."""
MAX_PARTS = 4
"""A cell or a list item with more elements and texts has a line for each."""
MAX_CONTROLS = 8
"""A row with more controls, of which only these are shown, has a line for each."""
_FIELDS = frozenset(
    ("checkbox", "combobox", "listbox", "radio", "searchbox", "slider", "spinbutton", "switch", "textbox")
)
_LABEL_ENDS = " :"
_SPOTS = (("clickable",), ("disabled",))
FEWEST_SPOTS = 4
MAX_SPOTS = 42
MAX_SPOT_CHARACTERS = 24
"""Elements without a role that can be clicked are one line if there are several with such short texts."""
MAX_LABELS = 2
"""So many lines after a text are searched for the field that it names."""
_BESIDE = 3
"""How many lines before and after a node are searched for the text of its description."""


def is_compactable(node: Node) -> bool:
    """Return whether the line of the node may change; a fast check that spares most pages the rest."""
    return (
        node.role in _ROWS
        or (node.role in _NEEDLESS and (node.ref is None or (node.role == "generic" and not node.name)))
        or node.role in ("heading", "option")
        or node.role in CHROME
        or (node.role in _FIELDS and bool(node.name))
        or bool(node.description)
        or (bool(node.name) and (node.role in _WRAPPERS or node.role in _TITLED))
    )


def _is_separator(node: Node) -> bool:
    """Return whether a text is only a mark between its neighbours, such as `|`."""
    return node.is_text and node.name in _SEPARATORS


def compact_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with plain rows in one line, and without names and descriptions that are repeated."""
    if not any(line.node is not None and is_compactable(line.node) for line in lines):
        return list(lines)
    return list(_compact(lines))


def _compact(lines: Sequence[Line]) -> Iterator[Line]:
    lines = list(lines)
    index = 0
    run = _Run()
    options = _Options()
    while index < len(lines):
        line = lines[index]
        node = line.node
        run.leave(line.depth)
        if node is None or line.note or node.box or line.mark not in ("", "+"):
            yield line
        elif _is_separator(node) or _is_label(node, lines, index) or _is_empty_landmark(lines, index):
            pass
        elif node.role == "generic" and (size := _count_spots(lines, index)):
            yield _join_spots(lines[index : index + size])
            index += size
            continue
        elif node.role == "option" and (size := _count_options(lines, index)):
            joined, size = options.join(lines, range(index, index + size))
            yield joined
            index += size
            continue
        elif node.role in _ROWS and (cells := _find_cells(lines, index) or _find_controls(lines, index)):
            size = 1 + sum(size for _, size in cells)
            yield run.join(lines, range(index, index + size), [parts for parts, _ in cells])
            index += size
            continue
        elif node.role == "list" and (items := _find_items(lines, index)):
            yield _join_items(line, [parts for parts, _ in items])
            index += 1 + sum(size for _, size in items)
            continue
        elif (
            node.role in _NEEDLESS
            and _is_wrapper(node)
            and _inside(lines, index) == 1
            and _is_plain(lines[index + 1], line)
            and (node.ref is None or (node.role == "generic" and _is_control(lines[index + 1].node)))
        ):
            index += 1
            lines[index] = Line(line.depth, lines[index].node, line.mark)
            continue
        elif node.name and node.role in _WRAPPERS and (child := _only_child(lines, index)):
            if node.role == "generic" and not node.states:
                yield replace(line, node=child.node)
                index += 2
                continue
            yield replace(line, node=replace(node, name=""))
        elif node.role == "heading" and (child := _only_child(lines, index)) and _is_control(child.node):
            assert child.node is not None
            yield replace(line, node=replace(node, name="", ref=None), cells=((child.node,),))
            index += 2
            continue
        elif node.name and node.role in _TITLED and _has_title(lines, index):
            yield replace(line, node=replace(node, name=""))
        elif node.description and _is_beside(lines, index):
            yield replace(line, node=replace(node, description=""))
        else:
            yield line
        index += 1


def _is_empty_landmark(lines: Sequence[Line], index: int) -> bool:
    """Return whether a footer or the like has no words and nothing inside."""
    line, node = lines[index], lines[index].node
    if node is None or node.role not in CHROME or line.mark:
        return False
    if node.name or node.states or node.text or node.description or node.testid:
        return False
    return index + 1 == len(lines) or lines[index + 1].depth <= line.depth


class _Run:
    """Rows of one table, or items of one list, that are one line each."""

    def __init__(self) -> None:
        self._depth = -1
        self._count = 0
        self._end = 0
        self._cells: tuple[tuple[Node, ...], ...] = ()
        self._urls: Sequence[tuple[Node, ...]] = ()

    def leave(self, depth: int) -> None:
        """Forget the rows if a line at this depth is not inside their table."""
        if depth < self._depth:
            self._depth, self._count, self._cells = -1, 0, ()

    def join(self, lines: Sequence[Line], span: range, cells: Sequence[tuple[Node, ...]]) -> Line:
        """Return the lines of a row as one."""
        line, inside = lines[span.start], lines[span.start + 1 : span.stop]
        assert line.node is not None
        is_next = self._depth == line.depth and all(
            each.node is None for each in lines[self._end : span.start]
        )
        roles = {each.node.role for each in inside if each.node is not None}
        is_header = "columnheader" in roles
        if self._depth != line.depth:
            self._count = 0
        self._count += not is_header
        shown = without_repeated_urls(without_descriptions(cells), only_first=self._count == ROWS_WITH_URLS)
        if is_next and self._count == ROWS_WITH_URLS and have_numbered_urls(self._urls, cells):
            shown = _without_urls(shown)
        has_urls = not is_header and self._count <= ROWS_WITH_URLS
        self._urls = () if is_header else cells
        above = self._cells if is_next and len(self._cells) == len(shown) else ()
        self._depth, self._end, self._cells = line.depth, span.stop, () if is_header else shown
        row = _name_row(line.node, shown, has_grid_cells="gridcell" in roles)
        return Line(line.depth, row, line.mark, cells=shown, has_urls=has_urls, above=above)


class _Options:
    """The options of the drop-downs so far."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], str] = {}

    def join(self, lines: Sequence[Line], options: range) -> tuple[Line, int]:
        """Return the options of a drop-down as one line, and how many lines they were.

        A note that some are left out, and the last option after it, are in the line too.
        """
        line = lines[options.start]
        nodes = [each.node for each in lines[options.start : options.stop] if each.node is not None]
        note = ""
        rest = lines[options.stop : options.stop + 2]
        if len(rest) == 2 and rest[0].node is None and rest[0].note and rest[0].depth == line.depth:
            last = rest[1].node
            if last is not None and last.role == "option" and rest[1].depth == line.depth:
                note = rest[0].note
                nodes.append(last)
        size = len(nodes) + bool(note)
        owner = lines[options.start - 1].node if options.start else None
        if owner is not None and owner.role == "combobox" and owner.ref and owner.value:
            if [node.name for node in nodes if node.states == ("selected",)] == [owner.value]:
                nodes = [replace(node, states=()) if node.name == owner.value else node for node in nodes]
            key = (note, *(node.name for node in nodes))
            known = self._known.setdefault(key, owner.ref)
            if known != owner.ref and len(nodes) >= FEWEST_REPEATED:
                return Line(line.depth, None, line.mark, f"options like {known}"), size
        return Line(line.depth, None, line.mark, note, cells=tuple((node,) for node in nodes)), size


def _is_label(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether a text is only the name of the field behind it, or the value of a drop-down."""
    if not _says_only_text(node):
        return False
    depth, mark = lines[index].depth, lines[index].mark
    text = (node.text or node.name).rstrip(_LABEL_ENDS)
    said = [text]
    for following in lines[index + 1 : index + 1 + MAX_LABELS]:
        field = following.node
        if field is None or (following.depth, following.mark) != (depth, mark):
            return False
        if field.role in _FIELDS:
            shown = field.value if field.role == "combobox" else None  # A library draws it in its own list.
            known = (field.name.rstrip(_LABEL_ENDS), shown)
            return bool(field.name) and all(each in known for each in said)
        if not _says_only_text(field):
            return False
        said.append((field.text or field.name).rstrip(_LABEL_ENDS))
    return False


def _says_only_text(node: Node) -> bool:
    """Return whether a line is a text, of which a test id may be known."""
    if node.is_text:
        return True
    is_plain = node.role in ("generic", "paragraph") and bool(node.text)
    return is_plain and not (node.name or node.states or node.value or node.description or node.box)


def _count_spots(lines: Sequence[Line], index: int) -> int:
    """Return how many lines are short texts that are clicked, such as days; 0 if there are only a few."""
    first = lines[index]

    def is_spot(line: Line) -> bool:
        node = line.node
        return (
            node is not None
            and (line.depth, line.mark, line.note) == (first.depth, first.mark, "")
            and (node.role, node.name, node.states) == ("generic", "", first.node and first.node.states)
            and node.ref is not None
            and len(node.text) <= MAX_SPOT_CHARACTERS
            and not (node.hint or node.description or node.testid or node.box)
        )

    assert first.node is not None
    if first.node.states not in _SPOTS:
        return 0
    count = sum(1 for _ in takewhile(is_spot, islice(lines, index, index + MAX_SPOTS)))
    if count and index + count < len(lines) and lines[index + count].depth > first.depth:
        count -= 1
    return count if count >= FEWEST_SPOTS else 0


def _join_spots(lines: Sequence[Line]) -> Line:
    nodes = [line.node for line in lines if line.node is not None]
    cells = tuple((replace(node, name=node.text, text="", states=()),) for node in nodes)
    return replace(lines[0], node=replace(nodes[0], ref=None, text=""), cells=cells)


def _join_items(line: Line, items: Sequence[tuple[Node, ...]]) -> Line:
    """Return a list and its items as one line."""
    with_urls = 1 if have_numbered_urls(items[:1], items[1:2]) else ROWS_WITH_URLS
    cells = (*items[:with_urls], *_without_urls(items[with_urls:]))
    return replace(line, cells=cells, above=((), *cells[:-1]))


def _without_urls(cells: Sequence[tuple[Node, ...]]) -> tuple[tuple[Node, ...], ...]:
    return tuple(tuple(replace(node, url="") if node.url else node for node in parts) for parts in cells)


def _name_row(row: Node, cells: Sequence[tuple[Node, ...]], *, has_grid_cells: bool) -> Node:
    """Return a row without the name that its cells repeat, and without its ref if only what is in it acts."""
    if row.text:  # The first words of a row of which only the controls are shown.
        return replace(row, name=row.name or row.text, text="", ref=row.ref if row.states else None)
    is_named = bool(row.name)
    if is_named and " ".join([part.name for parts in cells for part in parts if part.name]) == row.name:
        is_named = False
    has_refs = any([node.ref is not None and node.role not in CELLS for parts in cells for node in parts])
    if has_refs and not (is_named or has_grid_cells or row.states or row.testid):
        return _plain_row(row.depth, row.role)
    return row if is_named or not row.name else replace(row, name="")


@lru_cache(maxsize=100)
def _plain_row(depth: int, role: str) -> Node:
    """Return a row without a ref, which is one object for all, so that its line is rendered once."""
    return Node(depth, role, "")


def _find_items(lines: Sequence[Line], index: int) -> list[tuple[tuple[Node, ...], int]]:
    """Return the parts of each item of a short list of controls, and its number of lines, or nothing."""
    first = lines[index]
    items: list[tuple[tuple[Node, ...], int]] = []
    characters = 0
    at = index + 1
    while at < len(lines) and lines[at].depth > first.depth:
        node = lines[at].node
        if node is None or node.role != "listitem" or not _is_plain(lines[at], first):
            break
        if node.name or node.states or node.box or lines[at].depth != first.depth + 1:
            break
        cells = _find_cells(lines, at)
        parts = tuple(part for cell, _ in cells for part in cell)
        characters += sum(len(part.name) for part in parts)
        if not any(part.ref for part in parts) or len(parts) > MAX_ITEM_PARTS:
            break
        if len(items) == MAX_ITEMS or characters > MAX_ITEM_CHARACTERS:
            return []
        size = 1 + sum(size for _, size in cells)
        items.append((parts, size))
        at += size
    return items


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


def _find_controls(lines: Sequence[Line], row: int) -> list[tuple[tuple[Node, ...], int]]:
    """Return the controls in a row of which only these and its first words are shown; nothing for others."""
    first = lines[row]
    assert first.node is not None
    if not first.node.text or first.node.value or first.node.description:
        return []
    inside = list(takewhile(lambda line: line.depth > first.depth, islice(lines, row + 1, None)))
    are_leaves = all(line.depth == first.depth + 1 and _is_plain(line, first) for line in inside)
    if not are_leaves or len(inside) > MAX_CONTROLS or not all(_is_control(line.node) for line in inside):
        return []
    return [((line.node,), 1) for line in inside if line.node is not None]


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


def _is_control(node: Node | None) -> bool:
    return node is not None and node.ref is not None and node.role in _CONTROLS


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


def _has_title(lines: Sequence[Line], index: int) -> bool:
    """Return whether the first line inside a line has its name."""
    line = lines[index]
    for child in lines[index + 1 : index + 3]:
        if child.node is None or line.node is None or child.depth <= line.depth or not _is_plain(child, line):
            return False
        if not _is_wrapper(child.node):
            return child.node.role in _TITLES and child.node.name == line.node.name
    return False


def _is_beside(lines: Sequence[Line], index: int) -> bool:
    node = lines[index].node
    neighbours = (*lines[max(0, index - _BESIDE) : index], *lines[index + 1 : index + 1 + _BESIDE])
    return node is not None and any(
        node.description in (other.node.text, other.node.name if other.node.role == "text" else "")
        for other in neighbours
        if other.node is not None and other.mark == lines[index].mark
    )
