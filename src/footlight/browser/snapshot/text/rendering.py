"""Render nodes as lines of text for models.

A line of text is `e3 button "Save" disabled`: the ref comes first, and the value or the text comes after `:
`. Each level adds one space of indentation. Of the formats that a model understands without explanation, this
one uses the fewest tokens. Words of the page are quoted wherever they could be taken for syntax, and they
never begin a line, so no page can forge a ref.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat, zip_longest

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.quoting import (
    format_box,
    plural,
    quote,
    quote_if_ambiguous,
    quote_unless_word,
    quote_url,
    shorten,
)
from footlight.browser.snapshot.text.rows import with_names_of_row

__all__ = ["CELLS", "Line", "is_action_url", "make_lines", "render_text"]

MAX_TITLE_CHARACTERS = 60
"""The maximum length of the description of a link that has a name."""
_MAX_REMOVED_CHARACTERS = 80


@dataclass(slots=True)
class Line:
    """A line of text before it is rendered: a node at a level, or only a note.

    `mark` is the first character of a line in a difference: `+`, `-`, `~` or a space.
    """

    depth: int
    node: Node | None
    mark: str = ""
    note: str = ""
    cells: tuple[tuple[Node, ...], ...] = ()
    """For a table row or a list item that is one line: its cells, or the parts of each. Without a node, the
    cells are the options of a drop-down.
    """
    has_urls: bool = True
    """Whether the links in the cells show their targets."""
    above: tuple[tuple[Node, ...], ...] = ()
    """For each cell, the previous one of the same kind: the cell above, or the previous item. A named control
    leaves out a role that it shares with the control there, and an equal name in rows without link targets.
    """

    def render(self, *, limit: int | None = None) -> str:
        """Return the line, with the name and each text of the page shortened to `limit` characters."""
        words: list[str] = []
        if self.node is not None:
            row = _render_node(self.node, limit, removed=self.mark == "-")
            words.append(row + (self._render_cells(limit) if self.cells else ""))
        elif self.cells:
            words.append(f"options{self._render_cells(limit).removeprefix(' of options')}")
        if self.note:
            words.append(self.note)
        indent = " " * (self.depth + 1 if self.mark else self.depth)
        return f"{self.mark}{indent}{' '.join(words)}"

    def _render_cells(self, limit: int | None) -> str:
        if limit is not None or not self.cells[0]:
            return _render_cells(self.cells, limit, self.above, has_urls=self.has_urls)
        first, key = self.cells[0][0], (self.has_urls, self.cells, self.above)
        if first.row is None or first.row[0] != key:
            rendered = _render_cells(self.cells, None, self.above, has_urls=self.has_urls)
            object.__setattr__(first, "row", (key, rendered))
        assert first.row is not None
        return first.row[1]


def make_lines(nodes: Sequence[Node]) -> list[Line]:
    """Return one line for each node."""
    return [Line(node.depth, node) for node in nodes]


def render_text(nodes: Sequence[Node]) -> str:
    """Return the nodes as lines of text."""
    return "\n".join([f"{' ' * node.depth}{_render_line(node)}" for node in nodes])


def _render_node(node: Node, limit: int | None, *, removed: bool) -> str:
    if removed:
        return _render_removed(node, limit)
    return _render_line(node) if limit is None else _render_element(node, limit)


def _render_cells(
    cells: Sequence[Sequence[Node]], limit: int | None, above: Sequence[Sequence[Node]], *, has_urls: bool
) -> str:
    """Return ` of buttons: e2 "1" | e3 "2"` if all cells have one role, else `: "Tea" | e4 link "Buy"`."""
    if above and not has_urls:
        above = with_names_of_row(above, cells)
    last = max((at for at, parts in enumerate(cells) if not _is_empty(parts)), default=len(cells) - 1)
    cells = cells[: last + 1]
    roles = {node.role for parts in cells for node in parts}
    common = next(iter(roles)) if len(roles) == 1 and len(cells) > 1 else ""
    common = "" if common in ("heading", "text") else common
    are_clickable = common in CELLS and all(part.states == _CLICKABLE for parts in cells for part in parts)
    pairs = [
        list(_pair_parts(parts, like))
        for parts, like in zip_longest(cells, above[: len(cells)], fillvalue=())
    ]
    written = " | ".join(
        [
            " & ".join(
                [
                    _render_cell(
                        node, common, limit, has_url=has_urls, before=before, without_states=are_clickable
                    )
                    for node, before in parts
                ]
            )
            for parts in pairs
        ]
    )
    if are_clickable:
        return f" of clickable {plural(common)}: {written}"
    is_told = common in ("", "cell", "columnheader", "generic") or all(
        [_has_role_of(node, before) for parts in pairs for node, before in parts]
    )
    return f": {written}" if is_told else f" of {quote_unless_word(plural(common))}: {written}"


def _is_empty(cell: Sequence[Node]) -> bool:
    return all(
        node.role in _PLAIN_CELLS and not node.name and _render_cell(node, "", None, has_url=True) == '""'
        for node in cell
    )


def _pair_parts(parts: Sequence[Node], like: Sequence[Node]) -> Iterator[tuple[Node, Node | None]]:
    """Yield each part of a cell with the part at the same position in a similar cell."""
    return zip(parts, like if len(like) == len(parts) else repeat(None), strict=False)


def _has_role_of(node: Node, before: Node | None) -> bool:
    """Return whether a named control has the role of the one before, and leaves out its own."""
    return bool(node.ref and node.name and before and before.ref and node.role == before.role)


def _render_cell(
    node: Node,
    common: str,
    limit: int | None,
    *,
    has_url: bool,
    before: Node | None = None,
    without_states: bool = False,
) -> str:
    if node.role in _PLAIN_CELLS and not node.states and not (node.value or node.text or node.description):
        return quote(shorten(node.name, limit))
    text = _render_head(replace(node, states=()) if without_states else node, limit, has_url=has_url)
    if node.value or node.text:
        text += f": {quote(shorten(node.value or node.text, limit))}"
    is_like = _has_role_of(node, before)
    if node.role != common and not is_like:
        return text
    ref = f"{node.ref} " if node.ref else ""
    rest = text.removeprefix(f"{ref}{quote_unless_word(node.role)}")
    if rest == text or (rest and rest[0] not in " :"):
        return text
    # The name of a cell is data, and is not left out.
    is_repeated = node.role not in CELLS and before is not None and before.name == node.name
    if is_like and not has_url and is_repeated:
        rest = rest.removeprefix(f" {quote(shorten(node.name, limit))}")
    return f"{ref.rstrip()}{rest}" if ref else rest.lstrip()


def _render_line(node: Node) -> str:
    """Return the full line of a node, which is cached in the node."""
    line = node.line
    if line is None:
        line = _render_element(node, None)
        object.__setattr__(node, "line", line)
    return line


def _render_removed(node: Node, limit: int | None) -> str:
    """Return a short line that identifies a removed node."""
    limit = min(limit or _MAX_REMOVED_CHARACTERS, _MAX_REMOVED_CHARACTERS)
    if node.is_text:
        return quote(shorten(node.name, limit))
    words = _title_words(node, limit)
    content = "" if node.ref or node.name else node.value or node.text
    return " ".join([*words, quote(shorten(content, limit))] if content else words)


def _render_element(node: Node, limit: int | None) -> str:
    head = _render_head(node, limit)
    content = node.value or node.text
    if not content:
        return head
    if node.value and node.text:
        head += f" text {quote(shorten(node.text, limit))}"
    return f"{head}: {quote_if_ambiguous(shorten(content, limit))}"


def _render_head(node: Node, limit: int | None, *, has_url: bool = True) -> str:
    """Return the line of a node without its value and its text."""
    if node.is_text:
        return quote(shorten(node.name, limit))
    words = _title_words(node, limit)
    words += [quote_unless_word(state) for state in node.states if state != _heading_level(node)]
    if has_url and node.url and not is_action_url(node.url):
        words.append(f"-> {quote_url(node.path or node.url)}")
    if node.hint:
        words.append(f"hint {quote(shorten(node.hint, limit))}")
    if node.placeholder:
        words.append(f"placeholder {quote(shorten(node.placeholder, limit))}")
    if node.description and not (has_url and _is_named_link(node, node.description)):
        is_title = node.role == "link" and node.name
        longest = min(limit or MAX_TITLE_CHARACTERS, MAX_TITLE_CHARACTERS) if is_title else limit
        words.append(f"description {quote(shorten(node.description, longest))}")
    if node.box:
        words.append(f"box={format_box(node.box)}")
    return " ".join(words)


def is_action_url(url: str) -> bool:
    """Return whether the target shows that the link only handles clicks."""
    return _ACTION_URL.match(url) is not None


def _is_named_link(node: Node, description: str) -> bool:
    """Return whether a description only repeats the name of a link in a phrase, and the target is written."""
    return node.role == "link" and bool(node.url and node.name) and f" {node.name} " in f" {description} "


def _title_words(node: Node, limit: int | None) -> list[str]:
    words = [node.ref] if node.ref else []
    level = _heading_level(node)
    words.append(f"h{level.removeprefix('level=')}" if level else quote_unless_word(node.role))
    if node.name:
        words.append(quote(shorten(node.name, limit)))
    return words


def _heading_level(node: Node) -> str:
    """Return the state with the level of a heading, which is written as `h2`, or "" for another node."""
    if node.role != "heading":
        return ""
    return next((state for state in node.states if state.startswith("level=")), "")


_CLICKABLE = ("clickable",)
CELLS = frozenset(("cell", "columnheader", "gridcell", "rowheader"))
_PLAIN_CELLS = frozenset(("cell", "columnheader", "rowheader"))
"""Cells whose ref is only written if they have a state, such as `clickable`."""
_ACTION_URL = re.compile(r"#$|javascript:")
