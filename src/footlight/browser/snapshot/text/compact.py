"""Join lines that belong together, and leave out what an adjacent line already shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.joined_choices import OptionLists, count_options, count_spots, join_spots
from footlight.browser.snapshot.text.joined_rows import (
    RowRun,
    find_cells,
    find_controls,
    find_items,
    is_control,
    is_plain,
    is_wrapper,
    join_items,
    says_only_text,
)
from footlight.browser.snapshot.text.landmarks import LANDMARK_ROLES, without_target
from footlight.browser.snapshot.text.rendering import CELLS, Line, is_action_url
from footlight.browser.snapshot.text.rows import is_day, repeats_words

__all__ = ["compact_lines", "is_compactable"]

_WRAPPERS = frozenset((*CELLS, "generic"))
_ROWS = frozenset(("article", "listitem", "row"))
_CARD_STATES = frozenset(("clickable", "draggable"))
_NEEDLESS = frozenset(("caption", "form", "generic", "group", "paragraph"))
"""Roles whose line has no information if it has no ref, or a control inside, and only one line inside."""
_WITH_REF = frozenset(("form", "generic"))
"""The roles among these whose nodes may have a ref."""
_TITLED = frozenset(("article", "complementary", "form", "group", "list", "navigation", "region", "table"))
"""Roles whose name is not written if the first line inside is a title with the same name."""
_TITLES = frozenset(("button", "caption", "heading", "link"))
_BEGUN = _TITLED | {"dialog", "heading", "radiogroup", "tabpanel", "treeitem"}
"""Roles in which a first text that equals the name is not written."""
_SEPARATORS = frozenset("|/\\›»>·•—–-,()[]▾▸:;")
_FIELDS = frozenset(
    ("checkbox", "combobox", "listbox", "radio", "searchbox", "slider", "spinbutton", "switch", "textbox")
)
_BOXES = frozenset(("checkbox", "radio", "switch"))
_LABEL_ENDS = " :"
MAX_LABELS = 2
"""The number of lines after a text that are searched for the field that it labels."""
MIN_REPEATED = 40
"""A longer description is written only once for all elements with the same role."""
MAX_ARRANGED = 12
"""A paragraph with more controls and texts has a line of its own."""
_BESIDE = 3
"""The number of lines before and after a node that are searched for the text of its description."""


def is_compactable(node: Node) -> bool:
    """Return whether the line of the node may change.

    A fast check, after which most pages need no more work.
    """
    return (
        node.role in _ROWS
        or (node.role in _NEEDLESS and (node.ref is None or (node.role in _WITH_REF and not node.name)))
        or node.role in ("heading", "img", "option", "separator")
        or repeats_words(node)
        or (node.role == "button" and is_day(node.name))
        or node.role in LANDMARK_ROLES
        or (node.role in _FIELDS and bool(node.name))
        or bool(node.description)
        or (bool(node.name) and (node.role in _WRAPPERS or node.role in _BEGUN))
    )


def _is_separator(node: Node) -> bool:
    """Return whether a text such as `|`, or a line that nobody can move, only separates its neighbours."""
    if node.role == "separator":
        return not (node.ref or node.name or node.value or node.text or node.testid)
    return node.is_text and node.name in _SEPARATORS


def compact_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with plain rows on one line, and without repeated names and descriptions."""
    if not any(line.node is not None and is_compactable(line.node) for line in lines):
        return list(lines)
    return list(_without_repeated_targets(_compact(lines)))


def _without_repeated_targets(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines, in which a link with the name and target of an earlier one has no target."""
    known: set[tuple[str, str, str]] = set()

    def shorten(node: Node) -> Node:
        link = (node.name, node.url, node.description)
        if not (node.url and node.name) or node.box or link not in known:
            known.add(link)
            return node
        return without_target(node)

    for line in lines:
        if line.mark not in ("", "+"):
            yield line
        elif line.node is not None and line.node.url:
            yield replace(line, node=shorten(line.node))
        elif line.cells and line.has_urls and any([part.url for parts in line.cells for part in parts]):
            yield replace(line, cells=tuple(tuple(map(shorten, parts)) for parts in line.cells))
        else:
            yield line


def _compact(lines: Sequence[Line]) -> Iterator[Line]:
    lines = [
        _without_repeated_text(line, before) if line.node and line.node.text else line
        for line, before in zip(lines, [None, *lines], strict=False)
    ]
    index = 0
    run = RowRun()
    options = OptionLists()
    described: set[tuple[str, str]] = set()
    while index < len(lines):
        line = lines[index]
        node = line.node
        run.leave(line.depth)
        if node is None or line.note or node.box or line.mark not in ("", "+"):
            yield line
        elif node.role == "link" and _is_repeated(lines, index):
            index += 1 + _inside(lines, index)
            continue
        elif (
            _is_separator(node)
            or _repeats_around(node, lines, index)
            or _is_label(node, lines, index)
            or _labels_box(node, lines, index)
            or _is_empty(lines, index)
            or _is_only_choice(node, lines, index)
        ):
            pass
        elif title := _find_title(lines, index):
            yield replace(line, node=replace(node, text=title, hint=""))
        elif node.role in ("button", "generic") and (size := count_spots(lines, index)):
            yield join_spots(lines[index : index + size])
            index += size
            continue
        elif node.role == "option" and (size := count_options(lines, index)):
            joined, size = options.join(lines, range(index, index + size))
            yield joined
            index += size
            continue
        elif cells := _find_entry(lines, index):
            size = 1 + sum(size for _, size in cells)
            yield run.join(lines, range(index, index + size), [parts for parts, _ in cells])
            index += size
            continue
        elif node.role == "list" and (items := find_items(lines, index)):
            yield join_items(line, [parts for parts, _ in items])
            index += 1 + sum(size for _, size in items)
            continue
        elif (
            node.role in _NEEDLESS
            and is_wrapper(
                _without_states_of(lines[index + 1].node if index + 1 < len(lines) else None, node)
            )
            and _inside(lines, index) == 1
            and is_plain(lines[index + 1], line)
            and (node.ref is None or (node.role in _WITH_REF and is_control(lines[index + 1].node)))
        ):
            index += 1
            lines[index] = Line(line.depth, lines[index].node, line.mark)
            continue
        elif node.role == "paragraph" and (size := _count_controls(lines, index)):
            inside = range(index + 1, index + 1 + size)
            lines[inside.start : inside.stop] = [replace(lines[at], depth=line.depth) for at in inside]
        elif is_control(node) and (child := _only_child(lines, index)) and _role_of(child) == "img":
            yield line
            index += 1
        elif node.name and node.role in _WRAPPERS and (child := _only_child(lines, index)):
            if node.role == "generic" and not node.states:
                yield replace(line, node=child.node)
                index += 2
                continue
            yield replace(line, node=replace(node, name=""))
        elif node.role == "heading" and (child := _only_child(lines, index)) and is_control(child.node):
            assert child.node is not None
            yield replace(line, node=replace(node, name="", ref=None), cells=((child.node,),))
            index += 2
            continue
        elif node.name and node.role in _TITLED and _has_title(lines, index):
            yield replace(line, node=replace(node, name=""))
        elif node.description and (_is_beside(lines, index) or (node.role, node.description) in described):
            yield replace(line, node=replace(node, description=""))
        else:
            if node.description and len(node.description) > MIN_REPEATED:
                described.add((node.role, node.description))
            yield line
        index += 1


def _without_states_of(child: Node | None, node: Node) -> Node:
    """Return an element without its states if the control in it has them as well, such as `disabled`."""
    is_shared = node.states == ("disabled",) and is_control(child) and child and "disabled" in child.states
    return replace(node, states=()) if is_shared else node


def _count_controls(lines: Sequence[Line], index: int) -> int:
    """Return the number of lines in a paragraph that only arranges controls, or has a field. 0 for others."""
    line = lines[index]
    if line.node is None or line.node.ref or not is_wrapper(line.node):
        return 0
    following = lines[index + 1 : index + 2 + MAX_ARRANGED]
    inside = list(takewhile(lambda each: each.depth > line.depth, following))
    are_leaves = all(is_plain(each, line) and each.depth == line.depth + 1 for each in inside)
    if not are_leaves or len(inside) > MAX_ARRANGED:
        return 0
    is_form_row = any(_role_of(each) in _FIELDS for each in inside)
    is_bar = all(each.node and (is_control(each.node) or _is_separator(each.node)) for each in inside)
    return len(inside) if is_form_row or is_bar else 0


def _find_entry(lines: Sequence[Line], index: int) -> list[tuple[tuple[Node, ...], int]]:
    """Return the parts of a row or the like, or of a card, which is clicked or dragged as a whole.

    Empty for other elements. What has a field is no card: the texts beside the field may be its label.
    """
    node = lines[index].node
    assert node is not None
    if node.role in _ROWS:
        return find_cells(lines, index) or find_controls(lines, index)
    if node.role != "generic" or _CARD_STATES.isdisjoint(node.states):
        return []
    cells = find_cells(lines, index)
    return [] if any(part.role in _FIELDS for parts, _ in cells for part in parts) else cells


def _without_repeated_text(line: Line, before: Line | None) -> Line:
    """Return a control without a text that is in its name. A row decides about the days in its cells."""
    node = line.node
    if node is None or line.note or not repeats_words(node):
        return line
    if before is not None and _role_of(before) in CELLS and is_day(node.text):
        return line
    return replace(line, node=replace(node, text=""))


def _role_of(line: Line) -> str:
    return line.node.role if line.node is not None else ""


def _is_repeated(lines: Sequence[Line], index: int) -> bool:
    """Return whether a link, with its picture, precedes another link with the same name and target."""
    line, depth = lines[index], lines[index].depth
    following = lines[index + 1 : index + 4]
    if following and _role_of(following[0]) == "img" and _only_child(lines, index):
        following = following[1:]
    if following and _role_of(following[0]) == "heading" and following[0].depth == depth:
        following, depth = following[1:], depth + 1
    if line.node is None or not following or following[0].depth != depth or not is_plain(following[0], line):
        return False
    node, other = line.node, following[0].node
    is_same = other is not None and (other.role, other.name, other.url) == (node.role, node.name, node.url)
    has_own_words = node.text or node.value or node.description not in ("", node.name)
    return (
        is_same
        and bool(node.name and node.url)
        and not (node.states or has_own_words or is_action_url(node.url))
    )


def _find_title(lines: Sequence[Line], index: int) -> str:
    """Return the name of the tree entry around a line, if the line is the only clickable part of it."""
    line, entry = lines[index], lines[index - 1]
    if line.node is None or entry.node is None or entry.node.role != "treeitem" or line.depth <= entry.depth:
        return ""
    if line.node.role != "generic" or "clickable" not in line.node.states or line.node.name or line.node.text:
        return ""
    if line.node.hint.startswith("."):  # An icon, such as the arrow that opens the entry.
        return ""
    following = lines[index + 1] if index + 1 < len(lines) else None
    is_only = following is None or following.depth < line.depth or _role_of(following) == "group"
    return entry.node.name if is_only else ""


def _is_empty(lines: Sequence[Line], index: int) -> bool:
    """Return whether a landmark such as a footer, or an entry of a list, has no words and no content."""
    line, node = lines[index], lines[index].node
    if node is None or line.mark or not (node.role in LANDMARK_ROLES or node.role == "listitem"):
        return False
    if node.name or node.states or node.text or node.description or node.testid or node.hint:
        return False
    return not _inside(lines, index)


def _is_only_choice(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether the line is the only option of a drop-down, which shows it as its value."""
    above = lines[index - 1] if index else None
    if node.role != "option" or above is None or above.node is None or node.ref or node.testid:
        return False
    is_value = above.node.role == "combobox" and above.node.value == node.name
    return is_value and above.mark == lines[index].mark and _inside(lines, index - 1) == 1


def _repeats_around(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether a text, such as a legend, is the name of the element that begins with it."""
    line, above = lines[index], lines[index - 1]
    if not (node.is_text and index and above.node) or (above.depth, above.mark) != (
        line.depth - 1,
        line.mark,
    ):
        return False
    is_same = above.node.name.rstrip(_LABEL_ENDS) == node.name.rstrip(_LABEL_ENDS)
    return is_same and above.node.role in _BEGUN


def _is_label(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether a text is only the name of the field after it, or the value of a drop-down."""
    if not says_only_text(node):
        return False
    depth, mark = lines[index].depth, lines[index].mark
    text = (node.text or node.name).rstrip(_LABEL_ENDS)
    said = [text]
    for following in lines[index + 1 : index + 1 + MAX_LABELS]:
        field = following.node
        if field is None or (following.depth, following.mark) != (depth, mark):
            return False
        if field.role == "generic" and is_wrapper(field):
            depth += 1
            continue
        if field.role in _FIELDS:
            shown = field.value if field.role == "combobox" else None  # A library draws it in its own list.
            known = (field.name.rstrip(_LABEL_ENDS), shown)
            return bool(field.name) and all(each in known for each in said)
        if not says_only_text(field):
            return False
        said.append((field.text or field.name).rstrip(_LABEL_ENDS))
    return False


def _labels_box(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether a text is only the name of the checkbox or radio button before it."""
    if not index or not says_only_text(node):
        return False
    before, line = lines[index - 1], lines[index]
    if before.node is None or (before.depth, before.mark) != (line.depth, line.mark):
        return False
    return before.node.role in _BOXES and before.node.name == (node.text or node.name)


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
        if child.node is None or line.node is None or child.depth <= line.depth or not is_plain(child, line):
            return False
        if not is_wrapper(child.node):
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
