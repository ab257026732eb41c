"""Join lines that belong together, and leave out what an adjacent line already shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
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
)
from footlight.browser.snapshot.text.landmarks import LANDMARK_ROLES, without_target
from footlight.browser.snapshot.text.rendering import CELLS, Line
from footlight.browser.snapshot.text.repetition import (
    BEGUN,
    FIELDS,
    TITLED,
    count_inside,
    find_only_child,
    has_title,
    is_beside,
    is_empty,
    is_label,
    is_label_of_box,
    is_only_choice,
    is_repeated_link,
    is_separator,
    repeats_around,
    role_of,
)
from footlight.browser.snapshot.text.rows import is_day, repeats_words

__all__ = ["compact_lines", "is_compactable"]

_WRAPPERS = frozenset((*CELLS, "generic"))
_ROWS = frozenset(("article", "listitem", "row"))
_CARD_STATES = frozenset(("clickable", "draggable"))
_NEEDLESS = frozenset(("caption", "form", "generic", "group", "paragraph"))
"""Roles whose line has no information if it has no ref, or a control inside, and only one line inside."""
_WITH_REF = frozenset(("form", "generic"))
"""The roles among these whose nodes may have a ref."""
MIN_REPEATED = 40
"""A longer description is written only once for all elements with the same role."""
MAX_ARRANGED = 12
"""A paragraph with more controls and texts has a line of its own."""


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
        or (node.role in FIELDS and bool(node.name))
        or bool(node.description)
        or (bool(node.name) and (node.role in _WRAPPERS or node.role in BEGUN))
    )


def compact_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with plain rows on one line, and without repeated names and descriptions."""
    if not any(line.node is not None and is_compactable(line.node) for line in lines):
        return list(lines)
    return list(_without_repeated_targets(_Pass(lines)))


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


class _Pass:
    """A pass over lines, which applies to each line the first rule that has an answer for it."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = [
            _without_repeated_text(line, before) if line.node and line.node.text else line
            for line, before in zip(lines, [None, *lines], strict=False)
        ]
        """Rules that join lines change those that follow."""
        self.rows = RowRun()
        self.options = OptionLists()
        self.described: set[tuple[str, str]] = set()
        """The roles and descriptions of the nodes whose long descriptions were shown."""

    def __iter__(self) -> Iterator[Line]:
        index = 0
        while index < len(self.lines):
            self.rows.leave(self.lines[index].depth)
            shown, count = self._step(index)
            if shown is not None:
                yield shown
            index += count

    def _step(self, index: int) -> tuple[Line | None, int]:
        """Return what is shown for a line, if anything, and the number of lines for which it stands."""
        line = self.lines[index]
        if line.node is None or line.note or line.node.box or line.mark not in ("", "+"):
            return line, 1
        for rule in _rules_for(line.node.role):
            if step := rule(self, line.node, index):
                return step
        return line, 1


_Rule = Callable[[_Pass, Node, int], tuple[Line | None, int] | None]
"""Returns what is shown for a node, or None where the rule has no answer."""


def _without_repeated_text(line: Line, before: Line | None) -> Line:
    """Return a control without a text that is in its name. A row decides about the days in its cells."""
    node = line.node
    if node is None or line.note or not repeats_words(node):
        return line
    if before is not None and role_of(before) in CELLS and is_day(node.text):
        return line
    return replace(line, node=replace(node, text=""))


# Rules. Each has the state of the pass, the node of the line and the index of the line.


def _leave_out(is_needless: Callable[[Node, Sequence[Line], int], bool]) -> _Rule:
    """Return the rule that leaves out the lines for which the function returns True."""
    return lambda state, node, index: (None, 1) if is_needless(node, state.lines, index) else None


def _leave_out_separator(_state: _Pass, node: Node, _index: int) -> tuple[None, int] | None:
    return (None, 1) if is_separator(node) else None


def _leave_out_repeated_link(state: _Pass, node: Node, index: int) -> tuple[None, int] | None:
    if not is_repeated_link(node, state.lines, index):
        return None
    return None, 1 + count_inside(state.lines, index)


def _name_like_entry(state: _Pass, node: Node, index: int) -> tuple[Line, int] | None:
    """Give the only clickable part of a tree entry the name of the entry."""
    line, entry = state.lines[index], state.lines[index - 1]
    if entry.node is None or entry.node.role != "treeitem" or line.depth <= entry.depth:
        return None
    # The hint of a class is that of an icon, such as the arrow that opens the entry.
    if "clickable" not in node.states or node.name or node.text or node.hint.startswith("."):
        return None
    following = state.lines[index + 1] if index + 1 < len(state.lines) else None
    is_only = following is None or following.depth < line.depth or role_of(following) == "group"
    if not is_only or not entry.node.name:
        return None
    return replace(line, node=replace(node, text=entry.node.name, hint="")), 1


def _join_spots(state: _Pass, _node: Node, index: int) -> tuple[Line, int] | None:
    count = count_spots(state.lines, index)
    return (join_spots(state.lines[index : index + count]), count) if count else None


def _join_options(state: _Pass, _node: Node, index: int) -> tuple[Line, int] | None:
    count = count_options(state.lines, index)
    return state.options.join(state.lines, range(index, index + count)) if count else None


def _join_row(state: _Pass, node: Node, index: int) -> tuple[Line, int] | None:
    """Write a row or the like on one line, or a card, which is clicked or dragged as a whole.

    What has a field is no card: the texts beside the field may be its label.
    """
    if node.role in _ROWS:
        cells = find_cells(state.lines, index) or find_controls(state.lines, index)
    elif _CARD_STATES.isdisjoint(node.states):
        return None
    else:
        cells = find_cells(state.lines, index)
        if any(part.role in FIELDS for parts, _ in cells for part in parts):
            return None
    if not cells:
        return None
    count = 1 + sum(count for _, count in cells)
    return state.rows.join(state.lines, range(index, index + count), [parts for parts, _ in cells]), count


def _join_list(state: _Pass, _node: Node, index: int) -> tuple[Line, int] | None:
    items = find_items(state.lines, index)
    if not items:
        return None
    return join_items(state.lines[index], [parts for parts, _ in items]), 1 + sum(count for _, count in items)


def _leave_out_wrapper(state: _Pass, node: Node, index: int) -> tuple[None, int] | None:
    """Put the only line inside in the place of a line without information."""
    if count_inside(state.lines, index) != 1:
        return None
    line, inner = state.lines[index : index + 2]
    is_clicked_inside = node.role in _WITH_REF and is_control(inner.node)
    if not is_plain(inner, line) or (node.ref and not is_clicked_inside):
        return None
    if not is_wrapper(_without_states_of(inner.node, node)):
        return None
    state.lines[index + 1] = Line(line.depth, inner.node, line.mark)
    return None, 1


def _without_states_of(child: Node | None, node: Node) -> Node:
    """Return an element without its states if the control in it has them as well, such as `disabled`."""
    is_shared = node.states == ("disabled",) and is_control(child) and child and "disabled" in child.states
    return replace(node, states=()) if is_shared else node


def _leave_out_arrangement(state: _Pass, node: Node, index: int) -> tuple[None, int] | None:
    """Leave out a paragraph that only arranges controls, or has a field."""
    line = state.lines[index]
    if node.ref or not is_wrapper(node):
        return None
    following = state.lines[index + 1 : index + 2 + MAX_ARRANGED]
    inside = list(takewhile(lambda each: each.depth > line.depth, following))
    are_leaves = all(is_plain(each, line) and each.depth == line.depth + 1 for each in inside)
    if not inside or not are_leaves or len(inside) > MAX_ARRANGED:
        return None
    nodes = [each.node for each in inside if each.node is not None]
    is_form_row = any(each.role in FIELDS for each in nodes)
    if not is_form_row and not all(is_control(each) or is_separator(each) for each in nodes):
        return None
    state.lines[index + 1 : index + 1 + len(inside)] = [replace(each, depth=line.depth) for each in inside]
    return None, 1


def _leave_out_picture(state: _Pass, node: Node, index: int) -> tuple[Line, int] | None:
    """Leave out the picture in a control if both have the same name."""
    child = find_only_child(state.lines, index) if is_control(node) else None
    return (state.lines[index], 2) if child and child.role == "img" else None


def _leave_out_name_of_wrapper(state: _Pass, node: Node, index: int) -> tuple[Line, int] | None:
    """Write a name only for the element inside, not for the element around it as well."""
    line, child = state.lines[index], find_only_child(state.lines, index)
    if not node.name or child is None:
        return None
    if node.role == "generic" and not node.states:
        return replace(line, node=child), 2
    return replace(line, node=replace(node, name="")), 1


def _join_heading(state: _Pass, node: Node, index: int) -> tuple[Line, int] | None:
    """Write a heading that is only a control on the line of the heading."""
    child = find_only_child(state.lines, index)
    if child is None or not is_control(child):
        return None
    line = replace(state.lines[index], node=replace(node, name="", ref=None), cells=((child,),))
    return line, 2


def _leave_out_title(state: _Pass, node: Node, index: int) -> tuple[Line, int] | None:
    if not node.name or not has_title(node, state.lines, index):
        return None
    return replace(state.lines[index], node=replace(node, name="")), 1


def _leave_out_description(state: _Pass, node: Node, index: int) -> tuple[Line, int] | None:
    key = (node.role, node.description)
    if not node.description:
        return None
    if key in state.described or is_beside(node, state.lines, index):
        return replace(state.lines[index], node=replace(node, description="")), 1
    if len(node.description) > MIN_REPEATED:
        state.described.add(key)
    return None


_RULES: Sequence[tuple[Collection[str] | None, _Rule]] = (
    (("link",), _leave_out_repeated_link),
    (("separator", "text"), _leave_out_separator),
    (("text",), _leave_out(repeats_around)),
    (("generic", "paragraph", "text", "time"), _leave_out(is_label)),
    (("generic", "paragraph", "text", "time"), _leave_out(is_label_of_box)),
    (LANDMARK_ROLES | {"listitem"}, _leave_out(is_empty)),
    (("option",), _leave_out(is_only_choice)),
    (("generic",), _name_like_entry),
    (("button", "generic"), _join_spots),
    (("option",), _join_options),
    (_ROWS | {"generic"}, _join_row),
    (("list",), _join_list),
    (_NEEDLESS, _leave_out_wrapper),
    (("paragraph",), _leave_out_arrangement),
    (None, _leave_out_picture),
    (_WRAPPERS, _leave_out_name_of_wrapper),
    (("heading",), _join_heading),
    (TITLED, _leave_out_title),
    (None, _leave_out_description),
)
"""The rules in their order, each with the roles to which it applies. None stands for all roles."""


@lru_cache(maxsize=200)
def _rules_for(role: str) -> tuple[_Rule, ...]:
    return tuple(rule for roles, rule in _RULES if roles is None or role in roles)
