"""Select the nodes of a page that matter for testing an app, and assign refs to them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from footlight.browser.snapshot.nodes import Node

__all__ = ["ACTIONABLE", "IMPORTANT", "RefMap", "TrimmedNode", "trim_nodes"]

ACTIONABLE = frozenset(("button", "link", "checkbox", "radio", "switch", "textbox", "combobox", "menuitem"))

IMPORTANT = frozenset(("dialog", "alert", "status", "heading"))
"""Roles of nodes that are kept in addition to actionable ones. All others are dropped."""

_CONTAINERS = frozenset(("dialog", "alert", "status"))

_CHECKABLE = frozenset(("checkbox", "radio", "switch"))

_ALIKE = {"alertdialog": "dialog"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimmedNode:
    """An actionable or important node. `element` is the engine's ref. Callers use the refs of a `RefMap`.

    `path` lists the dialogs, alerts and statuses that contain the node, from the outermost to the innermost,
    including the node itself, followed by the last heading before the node in the innermost one.
    """

    element: str
    role: str
    name: str
    path: tuple[str, ...]
    disabled: bool
    checked: bool | None = None
    """None if the node cannot be checked, or is in a mixed state."""
    expanded: bool | None = None

    def as_json(self, ref: str) -> dict[str, Any]:
        content: dict[str, Any] = {
            "ref": ref,
            "role": self.role,
            "name": self.name,
            "disabled": self.disabled,
        }
        if self.checked is not None:
            content["checked"] = self.checked
        if self.expanded is not None:
            content["expanded"] = self.expanded
        return {**content, "path": list(self.path)}


@dataclass(slots=True)
class _Scope:
    """A container and the last heading in it."""

    depth: int
    path: tuple[str, ...]
    heading: str | None = None


def trim_nodes(nodes: Iterable[Node], limit: int | None = None) -> list[TrimmedNode]:
    """Return the actionable and important nodes in tree order, or only the first `limit` of them."""
    found: list[TrimmedNode] = []
    scopes = [_Scope(-1, ())]
    for node in nodes:
        if len(found) == limit:
            break
        while node.depth <= scopes[-1].depth:
            scopes.pop()
        role = _ALIKE.get(node.role, node.role)
        if node.ref is None or role not in ACTIONABLE | IMPORTANT:
            continue
        scope = scopes[-1]
        label = f"{role}:{node.name}"
        if role in _CONTAINERS:
            scope = _Scope(node.depth, (*scope.path, label))
            scopes.append(scope)
        found.append(_trim_node(node, role, node.ref, scope))
        if role == "heading":
            scope.heading = label
    return found


def _trim_node(node: Node, role: str, element: str, scope: _Scope) -> TrimmedNode:
    after = (scope.heading,) if scope.heading and role != "heading" and role not in _CONTAINERS else ()
    states = node.states
    return TrimmedNode(
        element=element,
        role=role,
        name=node.name or node.text,
        path=(*scope.path, *after),
        disabled="disabled" in states,
        checked="checked" in states if role in _CHECKABLE and "checked=mixed" not in states else None,
        expanded="expanded" in states if "expanded" in states or "collapsed" in states else None,
    )


class RefMap:
    """Maps the caller's refs `e1`, `e2`, … of one page to the engine's refs.

    A whole snapshot assigns new refs. Until the next one, known nodes keep their refs and new nodes get the
    next numbers, so that each ref always identifies the same element.
    """

    def __init__(self) -> None:
        self._elements: dict[str, str] = {}
        self._refs: dict[str, str] = {}

    def renumber(self, nodes: Sequence[TrimmedNode]) -> list[dict[str, Any]]:
        """Describe the nodes of a whole snapshot, with new refs."""
        self._elements, self._refs = {}, {}
        return self.describe(nodes)

    def describe(self, nodes: Iterable[TrimmedNode]) -> list[dict[str, Any]]:
        """Describe nodes between two whole snapshots. Known nodes keep their refs."""
        return [node.as_json(self._ref(node.element)) for node in nodes]

    def describe_for_record(self, nodes: Iterable[TrimmedNode]) -> list[dict[str, Any]]:
        """Describe nodes for a record. Nodes without a ref get one that is not valid for the caller."""
        following = itertools.count(len(self._elements) + 1)
        return [node.as_json(self._refs.get(node.element) or f"e{next(following)}") for node in nodes]

    def find(self, ref: str) -> str | None:
        """Return the engine's ref of the element, or None."""
        return self._elements.get(ref)

    def ref_of(self, element: str) -> str | None:
        """Return the caller's ref for an engine's ref, or None."""
        return self._refs.get(element)

    def _ref(self, element: str) -> str:
        ref = self._refs.get(element)
        if ref is None:
            ref = self._refs[element] = f"e{len(self._elements) + 1}"
            self._elements[ref] = element
        return ref
