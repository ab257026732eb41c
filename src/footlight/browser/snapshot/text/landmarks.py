"""Write headers, navigation, sidebars and footers that the reader already knows as one line each."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from footlight.browser.snapshot.nodes import Node, Snapshot
from footlight.browser.snapshot.subtrees import content_of, shows_place

__all__ = [
    "LANDMARK_ROLES",
    "MIN_DESCENDANTS",
    "find_landmarks",
    "fold_known_landmarks",
    "fold_landmark",
    "same_origin",
    "without_target",
]

LANDMARK_ROLES = frozenset(("banner", "complementary", "contentinfo", "navigation"))
"""The landmarks that the pages of a site usually share."""
MIN_DESCENDANTS = 2
"""A landmark with fewer lines inside, or another part with no more lines, is not folded."""

MAX_NESTING = 3
"""Landmarks at a deeper nesting level are not compared separately."""


def fold_known_landmarks(before: Snapshot | None, after: Snapshot) -> Sequence[Node]:
    """Return the nodes, with each landmark that was the same on the previous page as one line.

    The focused line, `current` entries and new texts remain below it. With new texts, the line has the number
    of the others: `unchanged=24`.
    """
    if before is None or not same_origin(before, after):
        return after.nodes
    known: dict[tuple[object, ...], set[str]] = {}
    for span, content in find_landmarks(before.nodes):
        known.setdefault(content, set()).update(_texts(before.nodes[span.start : span.stop]))
    if not known:
        return after.nodes
    folded: list[Node] = []
    end = 0
    for span, content in find_landmarks(after.nodes):
        if span.start < end or content not in known:
            continue
        folded += after.nodes[end : span.start]
        folded += fold_landmark(after.nodes[span.start : span.stop], known[content])
        end = span.stop
    return [*folded, *after.nodes[end:]] if folded else after.nodes


def same_origin(one: Snapshot, other: Snapshot) -> bool:
    return _origin(one) == _origin(other)


def _origin(snapshot: Snapshot) -> tuple[str, str]:
    parts = urlsplit(snapshot.url)
    return parts.scheme, parts.netloc


def find_landmarks(nodes: Sequence[Node]) -> Iterator[tuple[range, tuple[object, ...]]]:
    """Yield the range and the visible content without texts of each landmark, outer landmarks first."""
    open_until: list[int] = []
    for index, node in enumerate(nodes):
        while open_until and open_until[-1] <= index:
            open_until.pop()
        if node.role not in LANDMARK_ROLES or len(open_until) == MAX_NESTING:
            continue
        end = index + 1
        while end < len(nodes) and nodes[end].depth > node.depth:
            end += 1
        open_until.append(end)
        if end - index > MIN_DESCENDANTS:
            inside = (each for each in nodes[index:end] if not each.is_text)
            yield range(index, end), tuple(content_of(each, node.depth) for each in inside)


def _texts(nodes: Sequence[Node]) -> Iterator[str]:
    return (node.name for node in nodes if node.is_text)


def fold_landmark(nodes: Sequence[Node], known: Container[str]) -> Iterator[Node]:
    landmark = nodes[0]
    is_new = [node.is_text and node.name not in known for node in nodes[1:]]
    unchanged = f"unchanged={is_new.count(False)}" if any(is_new) else "unchanged"
    yield replace(landmark, states=(*landmark.states, unchanged))
    for node, is_new_text in zip(nodes[1:], is_new, strict=True):
        if is_new_text or any(map(shows_place, node.states)):
            yield replace(without_target(node), depth=landmark.depth + 1)


def without_target(node: Node) -> Node:
    """Return a link that the reader knows without its target, and any other node unchanged."""
    if node.url and node.name and not node.box:
        return replace(node, url="", path="", description="")
    return node
