"""Describe the place of an element: the list item or table row, and the named elements, around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from footlight.browser.snapshot.nodes import Node

__all__ = [
    "ENTRIES",
    "ENTRIES_WITH_CONTENT",
    "ElementPlace",
    "find_entry",
    "find_entry_around",
    "find_places",
    "find_text_before",
]

ENTRIES = frozenset(
    ("row", "listitem", "option", "treeitem", "article", "gridcell", "menuitem", "tab", "cell")
)
"""Roles of elements that pages reuse for other content."""
ENTRIES_WITH_CONTENT = frozenset(("row", "listitem", "treeitem", "article"))
"""The entries that are identified by the words inside them."""
_DIALOGS = frozenset(("dialog", "alertdialog"))
_CONTROLS = frozenset(
    (
        *("button", "checkbox", "combobox", "link", "menuitem", "option", "radio"),
        *("searchbox", "slider", "spinbutton", "switch", "tab", "textbox"),
    )
)
MAX_NODES_READ = 30
"""The number of nodes in an entry that are searched for words."""
MAX_CHARACTERS = 80


class ElementPlace(NamedTuple):
    """The place of an element. `entry` is "" outside entries. `around` begins with the outermost ancestor.

    `after` is the text before the element. It distinguishes rows that have no role.
    """

    entry: str
    around: tuple[str, ...]
    after: str = ""


def find_places(nodes: Sequence[Node]) -> dict[str, ElementPlace]:
    """Return the place of every node with a ref.

    An entry is identified by its first words outside controls.
    """
    found: dict[str, ElementPlace] = {}
    above: list[tuple[int, ElementPlace]] = []
    text_before = ""
    for index, node in enumerate(nodes):
        while above and above[-1][0] >= node.depth:
            above.pop()
        place = above[-1][1] if above else ElementPlace("", ())
        if node.role in ENTRIES_WITH_CONTENT:
            place = ElementPlace(_first_words(nodes, index), place.around)
        if node.ref:
            found[node.ref] = place._replace(after=f"after {text_before}" if text_before else "")
        text_before = _own_text(node) or text_before
        if node.role in _DIALOGS:
            place = ElementPlace(
                place.entry, (*place.around, f"{node.role} {node.known_name or _first_words(nodes, index)}")
            )
        elif node.name and node.role not in ENTRIES_WITH_CONTENT and node.role not in _CONTROLS:
            place = ElementPlace(place.entry, (*place.around, f"{node.role} {node.known_name}"))
        above.append((node.depth, place))
    return found


def find_entry_around(nodes: Sequence[Node], index: int) -> str:
    """Return what `find_places` says of the entry around one node, or "" outside entries."""
    depth = nodes[index].depth + 1
    for at in range(index, -1, -1):
        if nodes[at].depth < depth:
            if nodes[at].role in ENTRIES_WITH_CONTENT:
                return _first_words(nodes, at)
            depth = nodes[at].depth
    return ""


def find_text_before(nodes: Sequence[Node], index: int) -> str:
    """Return what `find_places` says of the text before one node, or "" if there is none."""
    texts = (_own_text(nodes[at]) for at in range(index - 1, -1, -1))
    text = next(filter(None, texts), "")
    return f"after {text}" if text else ""


def _own_text(node: Node) -> str:
    """Return the beginning of a node's text, or "" for a control, whose text is no landmark for others."""
    if node.role in _CONTROLS:
        return ""
    return (node.text or (node.name if node.role == "text" else ""))[:MAX_CHARACTERS]


def find_entry(nodes: Sequence[Node], index: int) -> str:
    """Return the words by which a reader knows an entry such as a row, and "" for other nodes."""
    return _first_words(nodes, index) if nodes[index].role in ENTRIES_WITH_CONTENT else ""


def _first_words(nodes: Sequence[Node], index: int) -> str:
    """Return the first words in a node, or those of a control where there are no others.

    Words without a letter, such as the number of a row, are followed by the first ones that have some.
    """
    node = nodes[index]
    number = control = ""
    for inside in nodes[index : index + MAX_NODES_READ]:
        if inside is not node and inside.depth <= node.depth:
            break
        words = inside.text or ("" if inside is node and node.role == "row" else inside.known_name)
        if words and inside.role not in _CONTROLS:
            if any(map(str.isalpha, words)):
                return f"{node.role} {f'{number} {words}'.strip()[:MAX_CHARACTERS]}"
            number = number or words
        control = control or words
    return f"{node.role} {(number or control or node.known_name)[:MAX_CHARACTERS]}"
