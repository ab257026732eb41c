"""Render nodes as nested JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from footlight.browser.snapshot.nodes import Node

__all__ = ["NodeInfo", "render_json"]

MAX_LEVELS = 60
"""The maximum depth of the JSON, because readers and writers of JSON are recursive."""


class NodeInfo(TypedDict):
    """A node as JSON, without the fields that it does not have. `box` is `[x, y, width, height]`."""

    role: str
    ref: NotRequired[str]
    name: NotRequired[str]
    states: NotRequired[list[str]]
    value: NotRequired[str]
    text: NotRequired[str]
    description: NotRequired[str]
    hint: NotRequired[str]
    placeholder: NotRequired[str]
    url: NotRequired[str]
    testId: NotRequired[str]
    box: NotRequired[list[float]]
    children: NotRequired[list[NodeInfo]]


def render_json(nodes: Sequence[Node]) -> list[NodeInfo]:
    """Return the nodes as a tree. Nodes below level 60 become children of their ancestor at that level."""
    roots: list[NodeInfo] = []
    above: list[tuple[int, NodeInfo]] = []
    for node in nodes:
        while above and (above[-1][0] >= node.depth or len(above) >= MAX_LEVELS):
            above.pop()
        info = _make_info(node)
        siblings = above[-1][1].setdefault("children", []) if above else roots
        siblings.append(info)
        above.append((node.depth, info))
    return roots


def _make_info(node: Node) -> NodeInfo:
    info = NodeInfo(role=node.role)
    if node.ref:
        info["ref"] = node.ref
    if node.name:
        info["name"] = node.name
    if node.states:
        info["states"] = list(node.states)
    if node.value:
        info["value"] = node.value
    if node.text:
        info["text"] = node.text
    if node.description:
        info["description"] = node.description
    if node.hint:
        info["hint"] = node.hint
    if node.placeholder:
        info["placeholder"] = node.placeholder
    if node.url:
        info["url"] = node.url
    if node.testid:
        info["testId"] = node.testid
    if node.box:
        info["box"] = list(node.box)
    return info
