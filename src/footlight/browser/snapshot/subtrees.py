"""Number the subtrees of a snapshot by their visible content, so that equal subtrees have equal numbers."""

from __future__ import annotations

from collections.abc import Sequence

from footlight.browser.snapshot.nodes import Node

__all__ = ["NEWS", "content_of", "number_subtrees", "shows_place"]

NEWS = frozenset(("alert", "alertdialog", "dialog", "log", "status"))
"""Roles of elements that are always written, because they may have appeared again."""

_Key = tuple[object, ...]


def number_subtrees(nodes: Sequence[Node], numbers: dict[_Key, int]) -> list[int]:
    """Return a number for each node that is equal for subtrees with the same visible content."""
    keys = [0] * len(nodes)
    inside: dict[int, list[int]] = {}
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        children = inside.pop(node.depth + 1, None)
        content = (*content_of(node, node.depth), node.description, node.hint, node.testid, node.is_frame)
        key = (content, tuple(children or ()), object() if node.role in NEWS else None)
        keys[index] = number = numbers.setdefault(key, len(numbers))
        inside.setdefault(node.depth, []).append(number)
    return keys


def content_of(node: Node, depth: int) -> tuple[object, ...]:
    states = tuple(state for state in node.states if not shows_place(state))
    return (
        node.depth - depth,
        node.role,
        node.name,
        node.value,
        states,
        node.text,
        node.url,
        node.placeholder,
    )


def shows_place(state: str) -> bool:
    """Return whether a state shows the current place on the page or on the site."""
    return state == "focused" or state.startswith("current")
