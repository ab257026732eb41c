"""What leads to an element again, in another run: a selector that outlives its ref.

A test id first, then role and name, each where nothing else on the page has the same; then those two inside
something around it that is found so; then a path of CSS. It is taken from the last look, so that nobody waits
for it; only the path is the page's answer, and comes with what is asked about a ref anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from footlight.browser.snapshot import Node

if TYPE_CHECKING:
    from playwright.async_api import Frame

__all__ = ["frame_locator", "stable_locator"]

LONGEST_NAME = 120
_TEST_ID = re.compile(r"[\w.:/@-]+")
"""One that is written without quotes."""
_NAMELESS = frozenset(("", "generic", "none", "presentation", "text", "iframe", "paragraph"))
"""Roles that tell nothing, or that are told otherwise."""


def stable_locator(nodes: Sequence[Node], ref: str) -> str | None:
    """Of one frame's nodes, in that frame; None where nothing in them tells the element apart."""
    at = next((index for index, node in enumerate(nodes) if node.ref == ref), None)
    if at is None:
        return None
    for name in _names(nodes[at]):
        if _is_only(nodes, nodes[at], name):
            return name
    for outer in _around(nodes, at):
        within = nodes[outer + 1 : _end(nodes, outer)]
        inner = next((name for name in _names(nodes[at]) if _is_only(within, nodes[at], name)), None)
        if inner is None:
            return None  # What is around that has others like it too.
        for name in _names(nodes[outer]):
            if _is_only(nodes, nodes[outer], name):
                return f"{name} >> {inner}"
    return None


def frame_locator(frame: Frame) -> str | None:
    """What stands before a selector in this frame: "" in the page's own; None where no name leads there."""
    if frame.parent_frame is None:
        return ""
    outer = frame_locator(frame.parent_frame)
    element = _frame_element(frame.name, [each.name for each in frame.parent_frame.child_frames])
    return None if outer is None or element is None else f"{outer}{element} >> "


def _frame_element(name: str, all_names: Sequence[str]) -> str | None:
    """By its name or id, which is what Playwright takes for a name; a single one needs none."""
    if _is_plain(name) and all_names.count(name) == 1:
        return f":is(iframe, frame):is([name={_quoted(name)}], [id={_quoted(name)}])"
    return "iframe" if len(all_names) == 1 else None


def _names(node: Node) -> Iterator[str]:
    if _TEST_ID.fullmatch(node.testid):
        yield f"testid={node.testid}"
    if node.role not in _NAMELESS and _is_plain(node.name):
        yield f"role={node.role}[name={_quoted(node.name)}]"


def _is_only(nodes: Sequence[Node], node: Node, name: str) -> bool:
    if name.startswith("testid="):
        return sum(each.testid == node.testid for each in nodes) == 1
    return sum(each.role == node.role and each.name == node.name for each in nodes) == 1


def _around(nodes: Sequence[Node], at: int) -> Iterator[int]:
    """The nodes that it is in, from the inside out."""
    depth = nodes[at].depth
    for index in range(at - 1, -1, -1):
        if nodes[index].depth < depth:
            depth = nodes[index].depth
            yield index


def _end(nodes: Sequence[Node], outer: int) -> int:
    """The first node after what is in this one."""
    depth = nodes[outer].depth
    return next((at for at in range(outer + 1, len(nodes)) if nodes[at].depth <= depth), len(nodes))


def _is_plain(text: str) -> bool:
    """Whole, and fit for a selector."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable() and not text.endswith("…")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
