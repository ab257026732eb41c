"""What is worth telling of a page: its actionable and important nodes, each with where it is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from footlight.browser.snapshot import Node

__all__ = ["ACTIONABLE", "IMPORTANT", "TrimmedNode", "trimmed"]

ACTIONABLE = frozenset(("button", "link", "checkbox", "radio", "switch", "textbox", "combobox", "menuitem"))
IMPORTANT = frozenset(("dialog", "alert", "status", "heading"))
"""Every other role is dropped (R002-11)."""

_CONTAINERS = frozenset(("dialog", "alert", "status"))
_CHECKABLE = frozenset(("checkbox", "radio", "switch"))
_ALIKE = {"alertdialog": "dialog"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimmedNode:
    """`element` is the ref that the engine knows it by; the one that is told is given by whoever tells.

    `path` begins with the outermost dialog, alert or status around it, itself included, and ends with the
    heading before it in the innermost (R002-13).
    """

    element: str
    role: str
    name: str
    path: tuple[str, ...]
    disabled: bool
    checked: bool | None = None
    """None where that cannot be said: it cannot be checked, or only some of what it stands for is."""
    expanded: bool | None = None

    def told(self, ref: str) -> dict[str, Any]:
        told: dict[str, Any] = {"ref": ref, "role": self.role, "name": self.name, "disabled": self.disabled}
        if self.checked is not None:
            told["checked"] = self.checked
        if self.expanded is not None:
            told["expanded"] = self.expanded
        return {**told, "path": list(self.path)}


@dataclass(slots=True)
class _Scope:
    """A container, and the heading that was last met in it."""

    depth: int
    path: tuple[str, ...]
    heading: str | None = None


def trimmed(nodes: Sequence[Node]) -> list[TrimmedNode]:
    """In the order of the tree, without what only holds others and without texts."""
    found: list[TrimmedNode] = []
    scopes = [_Scope(-1, ())]
    for node in nodes:
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
        found.append(_node(node, role, node.ref, scope))
        if role == "heading":
            scope.heading = label
    return found


def _node(node: Node, role: str, element: str, scope: _Scope) -> TrimmedNode:
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
