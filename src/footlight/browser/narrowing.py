"""Less of a snapshot: only what can be acted on, only so many levels, only one part. All of it pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from footlight.browser.rendering import shortened
from footlight.browser.snapshot import Node

__all__ = ["below", "interactive", "to_depth"]

LONGEST_WORDS = 60
"""Characters, of the words that tell one nameless row from the next."""

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
"""With a name they say where a control is."""
ITEMS = frozenset(("listitem", "row", "article", "dialog", "alertdialog"))
"""With or without a name: one button `Delete` is like the other but for these."""


def interactive(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Controls and what else takes a click or a key; above them what says where they are.

    That is frames, dialogs, rows, and landmarks with a name, and the heading that was last before a control.
    Depths are counted anew. A kept node without name or text says the first words that were inside it.
    """
    parents = _parents(nodes)
    active = {index for index, node in enumerate(nodes) if _is_active(node)}
    above = _above(parents, active)
    kept = active | {index for index in above if _is_place(nodes[index])} | _headings(nodes, active, above)
    return tuple(_rebased(nodes, parents, kept, _words_inside(nodes, parents, kept, above)))


def _is_active(node: Node) -> bool:
    return node.role in CONTROLS or not ACTIVE_STATES.isdisjoint(node.states)


def _is_place(node: Node) -> bool:
    return node.is_frame or node.role in ITEMS or (node.role in PLACES and node.name != "")


def _above(parents: Sequence[int], active: set[int]) -> set[int]:
    above: set[int] = set()
    for index in active:
        parent = parents[index]
        while parent >= 0 and parent not in above:
            above.add(parent)
            parent = parents[parent]
    return above


def _headings(nodes: Sequence[Node], active: set[int], above: set[int]) -> set[int]:
    """The last before each run of controls, unless it has nothing to say but the link in it."""
    found: set[int] = set()
    last = -1
    for index, node in enumerate(nodes):
        if node.role == "heading":
            last = -1 if index in above else index
        elif index in active and last >= 0:
            found.add(last)
    return found


def _words_inside(
    nodes: Sequence[Node], parents: Sequence[int], kept: set[int], above: set[int]
) -> dict[int, str]:
    """The first words in each kept node that says nothing itself, without those of what else is kept."""
    words: dict[int, str] = {}
    for index, (node, owner) in enumerate(zip(nodes, _owners(parents, kept), strict=True)):
        if index in kept or owner < 0 or nodes[owner].name or nodes[owner].text:
            continue
        said = node.text or (node.name if node.role in _SPEAKING and index not in above else "")
        before = words.get(owner, "")
        if said and said not in before and len(before) < LONGEST_WORDS:
            words[owner] = shortened(f"{before} {said}".strip(), LONGEST_WORDS)
    return words


_SPEAKING = frozenset(("text", "cell", "gridcell", "rowheader", "img", "image", "heading"))


def _owners(parents: Sequence[int], kept: set[int]) -> list[int]:
    """The nearest kept one above each."""
    owner: list[int] = []
    for parent in parents:
        owner.append(parent if parent in kept or parent < 0 else owner[parent])
    return owner


def _rebased(
    nodes: Sequence[Node], parents: Sequence[int], kept: set[int], words: dict[int, str]
) -> Iterator[Node]:
    owner = _owners(parents, kept)
    depths: dict[int, int] = {}
    for index in sorted(kept):
        depths[index] = depth = depths.get(owner[index], -1) + 1
        text = words.get(index, "") or nodes[index].text
        yield replace(nodes[index], depth=depth, text=text)


def _parents(nodes: Sequence[Node]) -> list[int]:
    """The index of each node's parent; -1 where there is none."""
    parents: list[int] = []
    above: list[int] = []
    for index, node in enumerate(nodes):
        while above and nodes[above[-1]].depth >= node.depth:
            above.pop()
        parents.append(above[-1] if above else -1)
        above.append(index)
    return parents


def to_depth(nodes: Sequence[Node], levels: int) -> tuple[Node, ...]:
    """The first `levels` levels. A node that loses what is in it has the state `more-inside=12`."""
    kept: list[Node] = []
    hidden: list[int] = []
    for node in nodes:
        if node.depth < levels:
            kept.append(node)
            hidden.append(0)
        elif kept:
            hidden[-1] += 1
    return tuple(
        replace(node, states=(*node.states, f"more-inside={count}")) if count else node
        for node, count in zip(kept, hidden, strict=True)
    )


def below(nodes: Sequence[Node], ref: str) -> tuple[Node, ...]:
    """The node of that ref, at depth 0, with all that is in it. Nothing where there is no such ref."""
    start = next((index for index, node in enumerate(nodes) if node.ref == ref), None)
    if start is None:
        return ()
    depth = nodes[start].depth
    end = next((i for i in range(start + 1, len(nodes)) if nodes[i].depth <= depth), len(nodes))
    return tuple(replace(node, depth=node.depth - depth) for node in nodes[start:end])
