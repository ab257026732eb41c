"""The nodes of an accessibility snapshot, in tree order, each with its depth.

The snapshot script creates them in one pass over each frame. This module has no I/O: it parses the script's
replies and applies the changes since the previous pass.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress, count
from typing import Any, NamedTuple

__all__ = ["Node", "NodeBox", "Snapshot", "apply_operations", "are_same", "find_changed_range", "parse_node"]


class NodeBox(NamedTuple):
    """A box in CSS pixels from the top left corner of the frame's viewport."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Node:
    """An element, or a text (role `text`, no ref, and the text as its name).

    `text` is the content of an element whose only content is one text, unless that equals its name. `states`
    are words such as `disabled`, `checked=mixed` or `level=2`, in the order of the snapshot script.
    """

    depth: int
    role: str
    name: str
    ref: str | None = None
    description: str = ""
    value: str | None = None
    states: tuple[str, ...] = ()
    testid: str = ""
    text: str = ""
    url: str = ""
    path: str = ""
    """The path of the URL, if the page has written the URL with its own origin."""
    placeholder: str = ""
    hint: str = ""
    """For a control without a name: `#id`, `.icon-class`, or the name of its field."""
    box: NodeBox | None = None
    is_frame: bool = False
    stable_name: str | None = None
    """The name without the values of the fields inside it, if that is different."""
    inside: tuple[float, float] = (0, 0)
    """For a frame with a box: the distance from the corner of the box to that of the frame's viewport."""
    line: str | None = field(default=None, init=False, repr=False, compare=False)
    """The rendered line. It is cached here because nodes are reused in many snapshots."""
    row: tuple[object, str] | None = field(default=None, init=False, repr=False, compare=False)
    """For the first node of a row on one line: a key of the row's contents, and the rendered contents."""

    @property
    def is_text(self) -> bool:
        """Return whether this node is a text and not an element."""
        return self.role == "text" and self.ref is None

    @property
    def known_name(self) -> str:
        """Return the name that identifies the node, which does not change when fields in it are filled."""
        return self.name if self.stable_name is None else self.stable_name


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a page at one moment. A frame's nodes follow its `iframe` element, one level deeper.

    `document` is the number of the page's document.
    """

    url: str
    title: str
    nodes: Sequence[Node]
    document: int = 0
    _is_modal: bool | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def is_modal(self) -> bool:
        """Return whether a modal dialog covers the page. The snapshot then contains only the dialog."""
        if self._is_modal is None:
            object.__setattr__(self, "_is_modal", any("modal" in node.states for node in self.nodes))
        return self._is_modal is True


def are_same(one: Sequence[Node], other: Sequence[Node]) -> bool:
    """Return whether both are the same objects, as in two passes between which nothing has changed."""
    return one is other or (len(one) == len(other) and all(map(operator.is_, one, other)))


def find_changed_range(before: Sequence[Node], after: Sequence[Node]) -> tuple[int, int, int] | None:
    """Return where two lists begin to differ, and where that ends in each, or None if they are the same."""
    shorter = min(len(before), len(after))
    start = next(compress(count(), map(operator.is_not, before, after)), shorter)
    if start == len(before) == len(after):
        return None
    backwards = map(operator.is_not, reversed(before), reversed(after))
    same = min(next(compress(count(), backwards), shorter), shorter - start)
    return start, len(before) - same, len(after) - same


def parse_node(record: Sequence[Any], *, depth: int = 0) -> Node:
    """Parse a record `[depth, role, name, ref, extra?]` of a reply, and add `depth` to its level."""
    level, role, name, ref, *more = record
    if not more:
        return Node(level + depth, role, name, ref)
    extra = more[0]
    return Node(
        level + depth,
        role,
        name,
        ref,
        description=extra.get("d", ""),
        value=extra.get("v"),
        states=tuple(extra.get("s", ())),
        testid=extra.get("t", ""),
        text=extra.get("x", ""),
        url=extra.get("u", ""),
        path=extra.get("l", ""),
        placeholder=extra.get("p", ""),
        hint=extra.get("h", ""),
        box=NodeBox(*extra["b"]) if "b" in extra else None,
        is_frame="o" in extra,
        stable_name=extra.get("k"),
        inside=tuple(extra.get("i", (0, 0))),
    )


def apply_operations(nodes: Sequence[Node], ops: Sequence[Any], *, depth: int = 0) -> Sequence[Node]:
    """Return the nodes after the changes since the previous pass: the same list if there are none.

    An operation n keeps n nodes, -n drops n nodes, and a record is a new node.

    Raises:
        ValueError: the operations do not match the list.
    """
    if ops == [len(nodes)]:
        return nodes
    now: list[Node] = []
    at = 0
    for op in ops:
        if not isinstance(op, int):
            now.append(parse_node(op, depth=depth))
            continue
        if op > 0:
            now.extend(nodes[at : at + op])
        at += abs(op)
    if at != len(nodes):
        raise ValueError(f"The changes are of {at} nodes, there were {len(nodes)}")
    return now
