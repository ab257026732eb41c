"""Stable selectors, which find an element in another run, when its ref no longer exists.

The candidates are the test id, then role and name if they are unique on the page, then the same inside an
ancestor that can be found in this way, and last a CSS path. All except the CSS path are computed from the
last snapshot, so no call waits for them. The page returns the path together with the reply about a ref.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from footlight.browser.snapshot.nodes import Node

if TYPE_CHECKING:
    from playwright.async_api import Frame

__all__ = ["frame_selector", "mark_frame", "stable_locator"]

MAX_NAME_CHARACTERS = 120
_TEST_ID = re.compile(r"[\w.:/@-]+")
"""Test ids that need no quotes in a selector."""
_ROLES_WITHOUT_MEANING = frozenset(
    (
        *("", "generic", "none", "presentation", "text", "iframe", "paragraph"),
        *("audio", "canvas", "caption", "code", "comment", "definition", "deletion", "emphasis", "insertion"),
        *("mark", "strong", "subscript", "suggestion", "superscript", "term", "time", "video"),
    )
)
"""Roles that do not identify an element, are handled separately, or have no name in Playwright."""


_FRAME = re.compile(r"(?::is\()?i?frame\b")
_ENGINE = re.compile(r"\(*//|(?!testid=)[\w:-]+=")
"""The beginning of a selector that is not CSS."""


def stable_locator(nodes: Sequence[Node], ref: str) -> str | None:
    """Return a selector that is valid in the frame, or None if the element cannot be identified."""
    at = next((index for index, node in enumerate(nodes) if node.ref == ref), None)
    if at is None:
        return None
    for name in _selectors_for(nodes[at]):
        if _is_unique(nodes, nodes[at], name):
            return name
    for outer in _ancestors(nodes, at):
        within = nodes[outer + 1 : _end(nodes, outer)]
        inner = next(
            (name for name in _selectors_for(nodes[at]) if _is_unique(within, nodes[at], name)), None
        )
        if inner is None:
            return None  # Even inside the ancestor the element is not unique.
        for name in _selectors_for(nodes[outer]):
            if _is_unique(nodes, nodes[outer], name):
                return f"{name} >> {inner}"
    return None


def frame_selector(frame: Frame) -> str | None:
    """Return a selector of a frame in its parent by its name or id, Playwright's `name`, or None.

    An only frame needs neither.
    """
    names = [each.name for each in frame.parent_frame.child_frames] if frame.parent_frame else []
    if _is_plain(frame.name) and names.count(frame.name) == 1:
        name = _quote(frame.name)
        return f":is(iframe, frame):is([name={name}], [id={name}])"
    return "iframe" if len(names) == 1 else None


def mark_frame(selector: str) -> str:
    """Return the selector of a frame so that it names the element as a frame. XPath stays as it is."""
    element, *choices = selector.split(" >> ")
    if _FRAME.match(element) or _ENGINE.match(element):
        return selector
    if element.startswith("testid="):
        element = f"[data-testid={_quote(element.removeprefix('testid='))}]"
    return " >> ".join([f":is(iframe, frame):is({element})", *choices])


def _selectors_for(node: Node) -> Iterator[str]:
    if _TEST_ID.fullmatch(node.testid):
        yield f"testid={node.testid}"
    if node.role not in _ROLES_WITHOUT_MEANING and _is_plain(node.name):
        yield f"role={node.role}[name={_quote(node.name)}]"


def _is_unique(nodes: Sequence[Node], node: Node, name: str) -> bool:
    if name.startswith("testid="):
        return sum(each.testid == node.testid for each in nodes) == 1
    return sum(each.role == node.role and each.name == node.name for each in nodes) == 1


def _ancestors(nodes: Sequence[Node], at: int) -> Iterator[int]:
    """Yield the ancestors, innermost first."""
    depth = nodes[at].depth
    for index in range(at - 1, -1, -1):
        if nodes[index].depth < depth:
            depth = nodes[index].depth
            yield index


def _end(nodes: Sequence[Node], outer: int) -> int:
    """Return the index after the last descendant."""
    depth = nodes[outer].depth
    return next((at for at in range(outer + 1, len(nodes)) if nodes[at].depth <= depth), len(nodes))


def _is_plain(text: str) -> bool:
    """Return whether the text is complete and can be used in a selector."""
    return 0 < len(text) <= MAX_NAME_CHARACTERS and text.isprintable() and not text.endswith("…")


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
