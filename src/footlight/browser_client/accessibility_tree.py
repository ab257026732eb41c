"""The accessibility tree of a snapshot: one form for every server.

A node is a JSON object. `role` is always there; what a node does not have is left out:

- `role`: an ARIA role, `text` for plain text, `document` for the root
- `name`: the accessible name; of a `text` its words, of the root the page's title
- `ref`: what the server accepts in place of a selector
- `states`: words such as `disabled`, `checked=mixed` or `level=2`
- `value`: the value of a field; `text`: of others, their text if they contain nothing else
- `description`, `placeholder`, `url` (of the root: the page's), `testId`: strings
- `box`: `[x, y, width, height]` in CSS pixels
- `children`: nodes, in the order of the page
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast

__all__ = ["MAX_LEVELS", "AccessibilityNode", "problem_of", "wrap_in_document"]

MAX_LEVELS = 200
"""The deepest level of a tree: readers and writers of JSON are recursive. Pages do not nest half as deep."""


class AccessibilityNode(TypedDict):
    role: str
    name: NotRequired[str]
    ref: NotRequired[str]
    states: NotRequired[list[str]]
    value: NotRequired[str]
    text: NotRequired[str]
    description: NotRequired[str]
    placeholder: NotRequired[str]
    url: NotRequired[str]
    testId: NotRequired[str]
    box: NotRequired[list[float]]
    children: NotRequired[list[AccessibilityNode]]


_STRINGS = ("name", "ref", "value", "text", "description", "placeholder", "url", "testId")


def wrap_in_document(nodes: Sequence[AccessibilityNode], *, url: str, title: str | None) -> AccessibilityNode:
    """Return the tree of a whole page: its nodes under a root with the role `document`."""
    root = AccessibilityNode(role="document")
    if title:
        root["name"] = title
    root["url"] = url
    root["children"] = list(nodes)
    return root


def problem_of(tree: object) -> str | None:
    """Return where the tree is not of this form, and how, or None. Other keys are allowed."""
    level: list[tuple[str, object]] = [("the root", tree)]
    for _ in range(MAX_LEVELS):
        for where, node in level:
            if problem := _problem(node):
                return f"{where} {problem}"
        level = [inside for where, node in level for inside in _children_of(where, node)]
        if not level:
            return None
    return f"it is more than {MAX_LEVELS} levels deep"


def _children_of(where: str, node: object) -> list[tuple[str, object]]:
    owner = cast("Mapping[str, Any]", node)
    return [(f"a child of {owner['role']} in {where}", each) for each in owner.get("children", ())]


def _problem(node: object) -> str | None:
    if not isinstance(node, Mapping):
        return "is not an object"
    fields = cast("Mapping[str, object]", node)
    role = fields.get("role")
    if not isinstance(role, str) or not role:
        return "has no role"
    wrong = next((key for key in _STRINGS if key in fields and not isinstance(fields[key], str)), None)
    if wrong:
        return f"({role}) has a {wrong} that is not a string"
    if not _is_list(fields.get("states", []), str):
        return f"({role}) has states that are not a list of strings"
    box = fields.get("box")
    if box is not None and not (_is_list(box, int, float) and len(cast("list[float]", box)) == 4):
        return f"({role}) has a box that is not four numbers"
    return (
        None if isinstance(fields.get("children", []), list) else f"({role}) has children that are not a list"
    )


def _is_list(value: object, *kinds: type) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, kinds) and not isinstance(each, bool) for each in cast("list[object]", value)
    )
