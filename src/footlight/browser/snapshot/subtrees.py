"""Number the subtrees of a snapshot by their visible content, so that equal subtrees have equal numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from footlight.browser.snapshot.nodes import Node

__all__ = ["ANNOUNCED_ROLES", "content_of", "number_subtrees", "shows_place", "words_of"]

ANNOUNCED_ROLES = frozenset(("alert", "alertdialog", "dialog", "log", "status"))
"""Roles of elements that are always written, because they may have appeared again."""

_Key = tuple[object, ...]


def _all_of(node: Node) -> _Key:
    return (*content_of(node, node.depth), node.description, node.hint, node.testid, node.is_frame)


def words_of(node: Node) -> _Key:
    """Return what a reader sees of a node, without its states and value, which change when it is used."""
    return (
        node.role,
        node.known_name,
        node.text,
        node.url,
        node.placeholder,
        node.description,
        node.hint,
        node.testid,
        node.is_frame,
    )


def number_subtrees(
    nodes: Sequence[Node], numbers: dict[_Key, int], *, content: Callable[[Node], _Key] = _all_of
) -> list[int]:
    """Return a number for each node that is equal for subtrees whose nodes have the same `content`."""
    keys = [0] * len(nodes)
    inside: dict[int, list[int]] = {}
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        children = inside.pop(node.depth + 1, None)
        key = (content(node), tuple(children or ()), object() if node.role in ANNOUNCED_ROLES else None)
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
