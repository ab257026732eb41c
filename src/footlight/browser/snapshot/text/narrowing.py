"""Reduce a snapshot to active elements, or to a number of levels. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.quoting import shorten

__all__ = ["keep_interactive", "limit_depth"]

MAX_WORD_CHARACTERS = 60
"""The length of the words that identify a row without a name."""
MAX_LABELS = 2
"""The number of texts kept before a control without a name, such as the name and purpose of a setting."""

CONTROLS = frozenset(
    (
        *("button", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "tab", "treeitem"),
        *(
            "checkbox",
            "combobox",
            "listbox",
            "radio",
            "searchbox",
            "slider",
            "spinbutton",
            "switch",
            "textbox",
        ),
        "scrollbar",
    )
)
ACTIVE_STATES = frozenset(("clickable", "editable", "focused"))
PLACES = frozenset(
    (
        *("banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"),
        *("group", "list", "menu", "menubar", "radiogroup", "table", "tablist", "tabpanel", "toolbar"),
        *("grid", "tree", "treegrid"),
    )
)
"""Roles that identify the place of a control if they have a name."""
ITEMS = frozenset(("listitem", "row", "article", "dialog", "alertdialog"))
"""Roles that identify the place of a control even without a name: a row identifies its `Delete` button."""


def keep_interactive(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the elements that accept a click or a key, and the elements that identify their place.

    The latter are frames, dialogs, rows, landmarks with a name, and the last heading before a control. Depths
    are recomputed. A kept node without name or text gets the first words inside it as its text.
    """
    parents = _parents(nodes)
    active = {index for index, node in enumerate(nodes) if is_active(node)}
    above = _ancestors_of(parents, active)
    kept = (
        active
        | {index for index in above if _is_place(nodes[index])}
        | _list_preceding_headings(nodes, active, above)
        | _list_labels(nodes, active)
    )
    words = _first_words(nodes, parents, kept, above)
    kept -= _list_bare_items(nodes, parents, kept, words)
    return tuple(_rebase(nodes, parents, kept, words))


def _list_labels(nodes: Sequence[Node], active: set[int]) -> set[int]:
    """Return the texts right before controls without a name, which are their visible labels.

    A text in a table row is part of the words of the row.
    """
    found: set[int] = set()
    for index in active:
        node = nodes[index]
        if node.name or node.role not in CONTROLS:
            continue
        for before in range(index - 1, max(-1, index - 1 - MAX_LABELS), -1):
            if not _is_text(nodes[before]) or nodes[before].depth < node.depth - 1:
                break
            found.add(before)
    return found


def _is_text(node: Node) -> bool:
    return node.is_text or (node.role in ("generic", "paragraph") and bool(node.text) and not node.states)


def _list_bare_items(
    nodes: Sequence[Node], parents: Sequence[int], kept: set[int], words: dict[int, str]
) -> set[int]:
    """Return the list items without words around a single line, which add no information."""
    owner = _nearest_kept(parents, kept)
    inside = Counter(owner[index] for index in kept)
    return {
        index
        for index in kept
        if nodes[index].role == "listitem"
        and not is_active(nodes[index])
        and not (nodes[index].name or nodes[index].text or words.get(index))
        and inside[index] == 1
    }


def is_active(node: Node) -> bool:
    return node.role in CONTROLS or not ACTIVE_STATES.isdisjoint(node.states)


def _is_place(node: Node) -> bool:
    return node.is_frame or node.role in ITEMS or (node.role in PLACES and node.name != "")


def _ancestors_of(parents: Sequence[int], active: set[int]) -> set[int]:
    above: set[int] = set()
    for index in active:
        parent = parents[index]
        while parent >= 0 and parent not in above:
            above.add(parent)
            parent = parents[parent]
    return above


def _list_preceding_headings(nodes: Sequence[Node], active: set[int], above: set[int]) -> set[int]:
    """Return the last heading before each run of controls, unless the heading only contains a link."""
    found: set[int] = set()
    last = -1
    for index, node in enumerate(nodes):
        if node.role == "heading":
            last = -1 if index in above else index
        elif index in active and last >= 0:
            found.add(last)
    return found


def _first_words(
    nodes: Sequence[Node], parents: Sequence[int], kept: set[int], above: set[int]
) -> dict[int, str]:
    """Return the first words inside each kept node without name and text, except the words of kept nodes."""
    words: dict[int, str] = {}
    for index, (node, owner) in enumerate(zip(nodes, _nearest_kept(parents, kept), strict=True)):
        if index in kept or owner < 0 or nodes[owner].name or nodes[owner].text:
            continue
        text = node.text or (node.name if node.role in _SPEAKING and index not in above else "")
        before = words.get(owner, "")
        if text and text not in before and len(before) < MAX_WORD_CHARACTERS:
            words[owner] = shorten(f"{before} {text}".strip(), MAX_WORD_CHARACTERS)
    return words


_SPEAKING = frozenset(("text", "cell", "gridcell", "rowheader", "img", "image", "heading"))


def _nearest_kept(parents: Sequence[int], kept: set[int]) -> list[int]:
    """Return for each node the index of its nearest kept ancestor."""
    owner: list[int] = []
    for parent in parents:
        owner.append(parent if parent in kept or parent < 0 else owner[parent])
    return owner


def _rebase(
    nodes: Sequence[Node], parents: Sequence[int], kept: set[int], words: dict[int, str]
) -> Iterator[Node]:
    owner = _nearest_kept(parents, kept)
    depths: dict[int, int] = {}
    for index in sorted(kept):
        depths[index] = depth = depths.get(owner[index], -1) + 1
        text = words.get(index, "") or nodes[index].text
        yield replace(nodes[index], depth=depth, text=text)


def _parents(nodes: Sequence[Node]) -> list[int]:
    """Return the index of each node's parent, or -1."""
    parents: list[int] = []
    above: list[int] = []
    for index, node in enumerate(nodes):
        while above and nodes[above[-1]].depth >= node.depth:
            above.pop()
        parents.append(above[-1] if above else -1)
        above.append(index)
    return parents


def limit_depth(nodes: Sequence[Node], levels: int) -> tuple[Node, ...]:
    """Return the first `levels` levels. A node whose content is left out has the state `more-inside=12`."""
    result: list[Node] = []
    hidden: list[int] = []
    for node in nodes:
        if node.depth < levels:
            result.append(node)
            hidden.append(0)
        elif result:
            hidden[-1] += 1
    return tuple(
        replace(node, states=(*node.states, f"more-inside={count}")) if count else node
        for node, count in zip(result, hidden, strict=True)
    )
