"""Where an element is, in words: the entry of a list or table that it is in, and what is named around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from footlight.browser.snapshot import Node

__all__ = ["ENTRIES", "Place", "places"]

ENTRIES = frozenset(
    ("row", "listitem", "option", "treeitem", "article", "gridcell", "menuitem", "tab", "cell")
)
"""Roles of elements that pages use again for other content."""
_WHOLE_ENTRIES = frozenset(("row", "listitem", "treeitem", "article"))
"""Those of them that have their words from what is inside."""
_DIALOGS = frozenset(("dialog", "alertdialog"))
_CONTROLS = frozenset(
    (
        *("button", "checkbox", "combobox", "link", "menuitem", "option", "radio"),
        *("searchbox", "slider", "spinbutton", "switch", "tab", "textbox"),
    )
)
LOOKS_AT = 30
"""Nodes inside an entry, for its first words."""
LONGEST = 80


class Place(NamedTuple):
    """`entry` is "" where there is none around it. `around` begins with the outermost.

    `after` is the text that comes before it: rows that are none to a reader are told apart by that.
    """

    entry: str
    around: tuple[str, ...]
    after: str = ""


def places(nodes: Sequence[Node]) -> dict[str, Place]:
    """Of every node with a ref. An entry is known by its first words, those of controls aside."""
    found: dict[str, Place] = {}
    above: list[tuple[int, Place]] = []
    said = ""
    for index, node in enumerate(nodes):
        while above and above[-1][0] >= node.depth:
            above.pop()
        place = above[-1][1] if above else Place("", ())
        if node.role in _WHOLE_ENTRIES:
            place = Place(_words(nodes, index), place.around)
        if node.ref:
            found[node.ref] = place._replace(after=f"after {said}" if said else "")
        if node.role not in _CONTROLS:
            said = (node.text or (node.name if node.role == "text" else "") or said)[:LONGEST]
        if node.role in _DIALOGS:
            place = Place(place.entry, (*place.around, f"{node.role} {node.name or _words(nodes, index)}"))
        elif node.name and node.role not in _WHOLE_ENTRIES and node.role not in _CONTROLS:
            place = Place(place.entry, (*place.around, f"{node.role} {node.name}"))
        above.append((node.depth, place))
    return found


def _words(nodes: Sequence[Node], index: int) -> str:
    """The first words in a node; those of a control where there are no others."""
    node = nodes[index]
    control = ""
    for inside in nodes[index : index + LOOKS_AT]:
        if inside is not node and inside.depth <= node.depth:
            break
        said = inside.text or ("" if inside is node and node.role == "row" else inside.name)
        if said and inside.role not in _CONTROLS:
            return f"{node.role} {said[:LONGEST]}"
        control = control or said
    return f"{node.role} {(control or node.name)[:LONGEST]}"
