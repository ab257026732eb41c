"""Write what the reader knows from an earlier page as one line, and map the earlier refs of its elements.

Forms, tables, lists and similar parts count as known if their whole content is unchanged. Headers,
navigation, sidebars and footers may have new texts, which are written below their line; their content also
counts as known if an earlier page had the same lines elsewhere. A known link is written without its target.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from footlight.browser.snapshot.nodes import Node, Snapshot
from footlight.browser.snapshot.subtrees import ANNOUNCED_ROLES, content_of, number_subtrees, shows_place
from footlight.browser.snapshot.text.landmarks import (
    LANDMARK_ROLES,
    MIN_DESCENDANTS,
    find_landmarks,
    fold_landmark,
    same_origin,
    without_target,
)
from footlight.browser.snapshot.text.narrowing import CONTROLS
from footlight.browser.snapshot.text.quoting import plural
from footlight.browser.snapshot.text.rendering import CELLS, is_action_url

__all__ = ["FoldedSnapshot", "fold_unchanged"]

_ITEMS = frozenset(("article", "listitem", "row", "treeitem"))
"""Roles of elements that share one line if they are unchanged: `rows unchanged=5`."""
_BARE = frozenset(("row", "rowgroup"))
"""Roles whose names only repeat their content."""

_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class FoldedSnapshot:
    """The nodes to write. `successors` maps the earlier refs of the elements left out to the current ones."""

    nodes: Sequence[Node]
    successors: Mapping[str, str] = field(default_factory=dict[str, str])


def fold_unchanged(before: Snapshot | None, shown: Sequence[Snapshot], after: Snapshot) -> FoldedSnapshot:
    """Return the nodes with each unchanged part as one line: `e40 form unchanged`.

    `before` is the previous page, whose landmarks are compared. `shown` are pages that the reader has seen
    completely; all parts are compared with them. The focused line and `current` entries remain below the
    line.
    """
    numbers: dict[_Key, int] = {}
    pages = [_Page(page.nodes, numbers) for page in shown if same_origin(page, after)]
    known: dict[_Key, list[Sequence[Node]]] = {}
    if before is not None and same_origin(before, after):
        for span, content in find_landmarks(before.nodes):
            known.setdefault(content, []).append(before.nodes[span.start : span.stop])
    if not (known or pages):
        return FoldedSnapshot(after.nodes)
    writer = _Writer(_Page(after.nodes, numbers), pages, known)
    nodes = list(writer.write())
    return FoldedSnapshot(nodes if writer.has_folded else after.nodes, writer.successors)


class _KnownLines:
    """The lines of the pages that the reader has seen, at any place."""

    def __init__(self, page: _Page, pages: Sequence[_Page]) -> None:
        self._page = page
        self._counts: Counter[_Key] | None = None
        self._known: list[dict[_Key, list[Node]]] = []
        for each in pages:
            lines: dict[_Key, list[Node]] = {}
            for node in each.nodes:
                lines.setdefault(_line_of(node), []).append(node)
            self._known.append(lines)

    def without_target(self, node: Node) -> Node:
        """Return a known link without its target, and any other node unchanged."""
        return without_target(node) if node.url and self._find(node) else node

    def find_all(self, span: Sequence[Node]) -> Sequence[tuple[Node, Node]] | None:
        """Return each control with its earlier node if every line is known, or None."""
        pairs: list[tuple[Node, Node]] = []
        for node in span:
            if node.role in ANNOUNCED_ROLES or node.is_frame or node.box:
                return None
            if node.role in _BARE or not (node.name or node.value or node.text or _is_control(node)):
                continue
            if not (found := self._find(node)):
                return None
            if _leads_somewhere(node):
                pairs += [(old, node) for old in found]
            elif _is_control(node):
                if len(found) > 1 or self._count(node) > 1:
                    return None  # It would be uncertain which of them an earlier ref means.
                pairs.append((found[0], node))
        return pairs

    def _find(self, node: Node) -> Sequence[Node]:
        key = _line_of(node)
        return next((lines[key] for lines in self._known if key in lines), ())

    def _count(self, node: Node) -> int:
        if self._counts is None:
            self._counts = Counter(map(_line_of, self._page.nodes))
        return self._counts[_line_of(node)]


class _Page:
    """The nodes of a page.

    `ends` has the end of each subtree. Subtrees with the same key in `keys` are equal.
    """

    def __init__(self, nodes: Sequence[Node], numbers: dict[_Key, int]) -> None:
        self.nodes = nodes
        self.ends = _find_ends(nodes)
        self.keys = number_subtrees(nodes, numbers)
        self.counts = Counter(self.keys)
        self._places = dict(zip(self.keys, range(len(nodes)), strict=True))

    def span(self, index: int) -> Sequence[Node]:
        """Return a node with its descendants."""
        return self.nodes[index : self.ends[index]]

    def find_only(self, key: int) -> Sequence[Node] | None:
        """Return the subtree with a key, or None if there is none or more than one."""
        return self.span(self._places[key]) if self.counts[key] == 1 else None


class _Writer:
    def __init__(
        self, page: _Page, pages: Sequence[_Page], known: Mapping[_Key, Sequence[Sequence[Node]]]
    ) -> None:
        self._page = page
        self._pages = pages
        landmarks = find_landmarks(page.nodes) if known else ()
        self._landmarks = {span.start: known[content] for span, content in landmarks if content in known}
        self._lines = _KnownLines(page, pages) if pages else None
        self.has_folded = False
        self.successors: dict[str, str] = {}

    def write(self) -> Iterator[Node]:
        nodes, ends = self._page.nodes, self._page.ends
        index = landmark_end = 0
        while index < len(nodes):
            if nodes[index].role in LANDMARK_ROLES:
                landmark_end = max(landmark_end, ends[index])
            run = self._find_run(index)
            fewest = MIN_DESCENDANTS if nodes[index].role in LANDMARK_ROLES else MIN_DESCENDANTS + 1
            if run and ends[run[-1]] - index > fewest:
                yield from self._fold(run)
                index = ends[run[-1]]
            elif index in self._landmarks:
                yield from self._fold_landmark(index)
                index = ends[index]
            elif index < landmark_end and ends[index] - index > MIN_DESCENDANTS and self._is_repeated(index):
                yield from self._fold_one(self._page.span(index))
                index = ends[index]
            elif self._is_known_skip_link(index):
                index = ends[index]
            else:
                yield self._write_one(nodes[index])
                index += 1

    def _find_run(self, start: int) -> list[int]:
        """Return the element if it is unchanged, and the similar unchanged items that follow it."""
        nodes, ends = self._page.nodes, self._page.ends
        first = nodes[start]
        run: list[int] = []
        index = start
        while index < len(nodes) and (nodes[index].depth, nodes[index].role) == (first.depth, first.role):
            if self._find_same(index) is None or (run and _has_place(self._page.span(index))):
                break
            run.append(index)
            index = ends[index]
            if first.role not in _ITEMS or _has_place(self._page.span(start)):
                break
        return run

    def _find_same(self, index: int) -> Sequence[Node] | None:
        """Return the only equal element of an earlier page, with its descendants, or None."""
        key = self._page.keys[index]
        if self._page.counts[key] > 1 or self._page.nodes[index].role in CELLS:
            return None  # A row with any new content is written completely.
        return next((found for page in self._pages if (found := page.find_only(key)) is not None), None)

    def _fold(self, run: Sequence[int]) -> Iterator[Node]:
        self.has_folded = True
        for each in run:
            self._note_successors(self._find_same(each) or (), self._page.span(each))
        first = self._page.nodes[run[0]]
        if len(run) > 1:
            yield Node(first.depth, plural(first.role), "", states=(f"unchanged={len(run)}",))
            return
        if first.role == "row" and not _has_place(self._page.span(run[0])):
            yield Node(first.depth, "row", "", states=("unchanged",))
            return
        yield from self._fold_one(self._page.span(run[0]))

    def _is_repeated(self, index: int) -> bool:
        """Return whether an earlier page has each line in an element. If so, record its earlier refs."""
        pairs = self._lines.find_all(self._page.span(index)[1:]) if self._lines else None
        if pairs is None:
            return False
        self.has_folded = True
        self.successors.update({old.ref: new.ref for old, new in pairs if old.ref and new.ref})
        return True

    def _is_known_skip_link(self, index: int) -> bool:
        """Return whether a link outside all landmarks only leads to a place on its page, and is known."""
        node = self._page.nodes[index]
        if node.depth or node.role != "link" or len(node.url) < 2 or not node.url.startswith("#") or node.box:
            return False
        pairs = self._lines.find_all(self._page.span(index)) if self._lines else None
        if not pairs or _has_place((node,)):
            return False
        self.has_folded = True
        self.successors.update({old.ref: new.ref for old, new in pairs if old.ref and new.ref})
        return True

    def _write_one(self, node: Node) -> Node:
        written = self._lines.without_target(node) if self._lines and node.url else node
        self.has_folded = self.has_folded or written is not node
        return written

    @staticmethod
    def _fold_one(span: Sequence[Node]) -> Iterator[Node]:
        first, *inside = span
        states = (*first.states, "unchanged")
        yield replace(first, states=states, value=None, text="", description="")
        for node in inside:
            if _has_place((node,)):
                yield replace(without_target(node), depth=first.depth + 1)

    def _fold_landmark(self, index: int) -> Iterator[Node]:
        """Yield a landmark of the previous page as one line, and the new texts in it."""
        self.has_folded = True
        spans, now = self._landmarks[index], self._page.span(index)
        if len(spans) == 1:
            was, found = ([node for node in span if not node.is_text] for span in (spans[0], now))
            self._note_successors(was, found)
        known = {node.name for span in spans for node in span if node.is_text}
        return fold_landmark(now, known)

    def _note_successors(self, was: Sequence[Node], now: Sequence[Node]) -> None:
        pairs = zip(was, now, strict=True)
        self.successors.update(
            {old.ref: new.ref for old, new in pairs if old.ref and new.ref and old.ref != new.ref}
        )


def _line_of(node: Node) -> _Key:
    return (*content_of(node, node.depth), node.description)


def _is_control(node: Node) -> bool:
    return node.role in CONTROLS or "clickable" in node.states


def _leads_somewhere(node: Node) -> bool:
    """Return whether a link has the same effect at any place."""
    return bool(node.url) and not is_action_url(node.url)


def _has_place(nodes: Sequence[Node]) -> bool:
    return any(shows_place(state) for node in nodes for state in node.states)


def _find_ends(nodes: Sequence[Node]) -> list[int]:
    """Return for each node the index after its last descendant."""
    ends = [len(nodes)] * len(nodes)
    above: list[int] = []
    for index, node in enumerate(nodes):
        while above and nodes[above[-1]].depth >= node.depth:
            ends[above.pop()] = index
        above.append(index)
    return ends
