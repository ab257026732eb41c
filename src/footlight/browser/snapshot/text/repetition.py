"""Find the lines that say nothing which an adjacent line does not say as well."""

from __future__ import annotations

from collections.abc import Sequence

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.joined_rows import is_plain, is_wrapper, says_only_text
from footlight.browser.snapshot.text.rendering import Line, is_action_url

__all__ = [
    "BEGUN",
    "FIELDS",
    "TITLED",
    "count_inside",
    "find_only_child",
    "has_title",
    "is_beside",
    "is_empty",
    "is_label",
    "is_label_of_box",
    "is_only_choice",
    "is_repeated_link",
    "is_separator",
    "repeats_around",
    "role_of",
]

TITLED = frozenset(("article", "complementary", "form", "group", "list", "navigation", "region", "table"))
"""Roles whose name is not written if the first line inside is a title with the same name."""
BEGUN = TITLED | {"dialog", "heading", "radiogroup", "tabpanel", "treeitem"}
"""Roles in which a first text that equals the name is not written."""
FIELDS = frozenset(
    ("checkbox", "combobox", "listbox", "radio", "searchbox", "slider", "spinbutton", "switch", "textbox")
)
_BOXES = frozenset(("checkbox", "radio", "switch"))
_TITLES = frozenset(("button", "caption", "heading", "link"))
_SEPARATORS = frozenset("|/\\›»>·•—–-,()[]▾▸:;")
_LABEL_ENDS = " :"
MAX_LABELS = 2
"""The number of lines after a text that are searched for the field that it labels."""
_BESIDE = 3
"""The number of lines before and after a node that are searched for the text of its description."""


def role_of(line: Line) -> str:
    """Return the role of the node of a line, or "" for a line without one."""
    return line.node.role if line.node is not None else ""


def count_inside(lines: Sequence[Line], index: int) -> int:
    """Return the number of lines inside a line, at most 2."""
    depth = lines[index].depth
    following = lines[index + 1 : index + 3]
    if not following or following[0].depth <= depth:
        return 0
    return 1 if len(following) < 2 or following[1].depth <= depth else 2


def find_only_child(lines: Sequence[Line], index: int) -> Node | None:
    """Return the node inside a line, if it is the only one and has the same name."""
    if count_inside(lines, index) != 1:
        return None
    line, child = lines[index], lines[index + 1]
    if child.node is None or child.note or child.mark != line.mark or child.node.box:
        return None
    return child.node if line.node is not None and child.node.name == line.node.name else None


def is_separator(node: Node) -> bool:
    """Return whether a text such as `|`, or a line that nobody can move, only separates its neighbours."""
    if node.role == "separator":
        return not (node.ref or node.name or node.value or node.text or node.testid)
    return node.is_text and node.name in _SEPARATORS


def is_empty(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether an element such as a footer, or an entry of a list, has no words and no content."""
    if lines[index].mark or node.name or node.states or node.text or node.description:
        return False
    return not (node.testid or node.hint or count_inside(lines, index))


def is_repeated_link(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether a link, with its picture, precedes another link with the same name and target."""
    line, depth = lines[index], lines[index].depth
    following = lines[index + 1 : index + 4]
    if following and role_of(following[0]) == "img" and find_only_child(lines, index):
        following = following[1:]
    if following and role_of(following[0]) == "heading" and following[0].depth == depth:
        following, depth = following[1:], depth + 1
    if not following or following[0].depth != depth or not is_plain(following[0], line):
        return False
    other = following[0].node
    is_same = other is not None and (other.role, other.name, other.url) == (node.role, node.name, node.url)
    has_own_words = node.text or node.value or node.description not in ("", node.name)
    return (
        is_same
        and bool(node.name and node.url)
        and not (node.states or has_own_words or is_action_url(node.url))
    )


def is_only_choice(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether an option is the only one of a drop-down, which shows it as its value."""
    above = lines[index - 1] if index else None
    if above is None or above.node is None or node.ref or node.testid:
        return False
    is_value = above.node.role == "combobox" and above.node.value == node.name
    return is_value and above.mark == lines[index].mark and count_inside(lines, index - 1) == 1


def repeats_around(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether a text, such as a legend, is the name of the element that begins with it."""
    if not (node.is_text and index):
        return False
    line, above = lines[index], lines[index - 1]
    if above.node is None or (above.depth, above.mark) != (line.depth - 1, line.mark):
        return False
    is_same = above.node.name.rstrip(_LABEL_ENDS) == node.name.rstrip(_LABEL_ENDS)
    return is_same and above.node.role in BEGUN


def is_label(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether a text is only the name of the field after it, or the value of a drop-down."""
    if not says_only_text(node):
        return False
    depth, mark = lines[index].depth, lines[index].mark
    said = [_words_of(node)]
    for following in lines[index + 1 : index + 1 + MAX_LABELS]:
        field = following.node
        if field is None or (following.depth, following.mark) != (depth, mark):
            return False
        if field.role == "generic" and is_wrapper(field):
            depth += 1
            continue
        if field.role in FIELDS:
            shown = field.value if field.role == "combobox" else None  # A library draws it in its own list.
            known = (field.name.rstrip(_LABEL_ENDS), shown)
            return bool(field.name) and all(each in known for each in said)
        if not says_only_text(field):
            return False
        said.append(_words_of(field))
    return False


def _words_of(node: Node) -> str:
    """Return the words of a node that is only a text, without what ends a label."""
    return (node.text or node.name).rstrip(_LABEL_ENDS)


def is_label_of_box(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether a text is only the name of the checkbox or radio button before it."""
    if not index or not says_only_text(node):
        return False
    before, line = lines[index - 1], lines[index]
    if before.node is None or (before.depth, before.mark) != (line.depth, line.mark):
        return False
    return before.node.role in _BOXES and before.node.name == (node.text or node.name)


def has_title(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether the first line inside a line has its name."""
    line = lines[index]
    for child in lines[index + 1 : index + 3]:
        if child.node is None or child.depth <= line.depth or not is_plain(child, line):
            return False
        if not is_wrapper(child.node):
            return child.node.role in _TITLES and child.node.name == node.name
    return False


def is_beside(node: Node, lines: Sequence[Line], index: int) -> bool:
    """Return whether a line near a node shows the description of it as a text."""
    neighbours = (*lines[max(0, index - _BESIDE) : index], *lines[index + 1 : index + 1 + _BESIDE])
    return any(
        node.description in (other.node.text, other.node.name if other.node.role == "text" else "")
        for other in neighbours
        if other.node is not None and other.mark == lines[index].mark
    )
