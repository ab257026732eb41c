"""Write choices on one line: the options of a drop-down, or short clickable texts such as days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, takewhile

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.rendering import Line
from footlight.browser.snapshot.text.rows import is_day, without_repeated_names

__all__ = ["OptionLists", "count_options", "count_spots", "join_spots"]

MIN_REPEATED = 4
"""At least this many options that equal those of an earlier drop-down are not written again."""
_SPOTS = (("clickable",), ("disabled",), ())
MIN_SPOTS = 4
MAX_SPOTS = 42
MAX_SPOT_CHARACTERS = 24
"""Clickable elements without a role share one line if at least `MIN_SPOTS` have such short texts.

So do days of a calendar, whose names are dates, whether they can be chosen or not, and buttons with numbers.
"""


class OptionLists:
    """The options of the drop-downs that were written so far."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], str] = {}

    def join(self, lines: Sequence[Line], options: range) -> tuple[Line, int]:
        """Return the options of a drop-down as one line, and the number of lines that they replace.

        The line includes a note about options that are left out, and the last option after that note.
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
            if known != owner.ref and len(nodes) >= MIN_REPEATED:
                return Line(line.depth, None, line.mark, f"options like {known}"), size
        return Line(line.depth, None, line.mark, note, cells=tuple((node,) for node in nodes)), size


def count_options(lines: Sequence[Line], index: int) -> int:
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


def count_spots(lines: Sequence[Line], index: int) -> int:
    """Return how many lines are short clickable texts, such as days; 0 if there are only a few."""
    first = lines[index]

    def is_spot(line: Line) -> bool:
        node = line.node
        return (
            node is not None
            and (line.depth, line.mark, line.note) == (first.depth, first.mark, "")
            and (node.role, node.states) == (first.node and first.node.role, first.node and first.node.states)
            and node.ref is not None
            and _is_choice(node)
            and len(node.text) <= MAX_SPOT_CHARACTERS
            and not (node.hint or node.description or node.testid or node.box)
        )

    assert first.node is not None
    if first.node.states not in _SPOTS:
        return 0
    count = sum(1 for _ in takewhile(is_spot, islice(lines, index, index + MAX_SPOTS)))
    if count and index + count < len(lines) and lines[index + count].depth > first.depth:
        count -= 1
    return count if count >= MIN_SPOTS else 0


def _is_choice(node: Node) -> bool:
    """Return whether a node without contents is one of several choices, by its role, name and text."""
    if node.role == "button":
        return is_day(node.name) and not node.text
    return is_day(node.text) if node.name else bool(node.states)


def join_spots(lines: Sequence[Line]) -> Line:
    nodes = [line.node for line in lines if line.node is not None]
    cells = tuple(
        (replace(node, states=()) if node.name else replace(node, name=node.text, text="", states=()),)
        for node in nodes
    )
    shown, _ = without_repeated_names(cells, (), ())
    role = "group" if nodes[0].role == "button" else nodes[0].role
    return replace(lines[0], node=replace(nodes[0], role=role, name="", ref=None, text=""), cells=shown)
