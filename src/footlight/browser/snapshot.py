"""A page as a reader of its accessibility tree has it: nodes in tree order, each with its depth.

`snapshot.js` makes them in one pass over each frame. What follows here is pure: replies become nodes,
and what changed since the last pass becomes the list of now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["Box", "Node", "Snapshot", "node_of"]


class Box(NamedTuple):
    """CSS pixels from the corner of the frame's viewport."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Node:
    """An element, or a text (role `text`, whose name is the words, without a ref).

    `text` is what the element says where one text is all that it has inside and its name does not say it.
    `states` are words such as `disabled`, `checked=mixed` or `level=2`, in the order of `snapshot.js`.
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
    placeholder: str = ""
    box: Box | None = None
    is_frame: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A look at a page. The frames' nodes follow their `iframe` element, one level deeper."""

    url: str
    title: str
    nodes: Sequence[Node]


def node_of(record: Sequence[Any], *, depth: int = 0) -> Node:
    """A node of a reply, `depth` levels deeper: `[depth, role, name, ref, extra?]`."""
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
        placeholder=extra.get("p", ""),
        box=Box(*extra["b"]) if "b" in extra else None,
        is_frame="o" in extra,
    )
