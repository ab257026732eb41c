"""A page as a reader of its accessibility tree has it: nodes in tree order, each with its depth.

`snapshot.js` makes them in one pass over each frame. What follows here is pure: replies become nodes,
and what changed since the last pass becomes the list of now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["Box", "Node", "Snapshot", "node_of", "replayed"]


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
    inside: tuple[float, float] = (0, 0)
    """Of a frame with a box: from the corner of that to the corner of its viewport."""
    line: str | None = field(default=None, init=False, repr=False, compare=False)
    """How it is written, once it was; nodes outlive many looks."""


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
        inside=tuple(extra.get("i", (0, 0))),
    )


def replayed(nodes: Sequence[Node], ops: Sequence[Any], *, depth: int = 0) -> list[Node]:
    """The list after the changes since the last pass: keep so many (n), drop so many (-n), or a new node.

    Raises:
        ValueError: they do not fit the list.
    """
    now: list[Node] = []
    at = 0
    for op in ops:
        if not isinstance(op, int):
            now.append(node_of(op, depth=depth))
            continue
        if op > 0:
            now.extend(nodes[at : at + op])
        at += abs(op)
    if at != len(nodes):
        raise ValueError(f"The changes are of {at} nodes, there were {len(nodes)}")
    return now
