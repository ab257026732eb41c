"""Determine whether a page shows any content yet.

An application may draw it long after the page has loaded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from footlight.browser.snapshot.nodes import Node, Snapshot

__all__ = ["BLANK_NOTICE", "is_blank"]

BLANK_NOTICE = "No contents are shown yet. The page may still be loading: use wait_for, or look again."

_AROUND = frozenset(("banner", "contentinfo", "navigation", "progressbar"))
"""Roles of elements around the content, or in its place until it is loaded."""
MAX_SKIP_LINKS = 3
"""A page with more links to places on itself has these as its content."""
_CONTAINERS = frozenset(("document", "generic", "group", "list", "main", "none", "paragraph", "region"))


def is_blank(seen: Snapshot) -> bool:
    """Return whether a page of a site has no text, control or picture besides headers and menus."""
    return seen.url.startswith(("http:", "https:")) and _has_no_contents(seen.nodes)


def _has_no_contents(nodes: Sequence[Node]) -> bool:
    outer: int | None = None
    skip_links = 0
    for node in nodes:
        if outer is not None and node.depth > outer:
            continue
        outer = None
        if node.role in _AROUND:
            outer = node.depth
        elif _leads_to_place(node):
            skip_links += 1
        elif not _is_empty_container(node):
            return False
    return skip_links <= MAX_SKIP_LINKS


def _leads_to_place(node: Node) -> bool:
    """Return whether a link leads to a place on its page. Links to `#` and `#/…` are for scripts."""
    return node.role == "link" and re.match(r"#[^/!]", node.url) is not None


def _is_empty_container(node: Node) -> bool:
    said = (node.name, node.text, node.value, node.description, node.states)
    return node.role in _CONTAINERS and not any(said) and not node.is_frame
