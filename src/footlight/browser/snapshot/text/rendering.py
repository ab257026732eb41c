"""Render nodes as text for models, as YAML in the style of Playwright's aria snapshots, and as JSON.

A line of text is `e3 button "Save" disabled`: the ref comes first, and the value or the text comes after `:
`. Each level adds one space of indentation. Among the forms that a model understands without explanation this
one has the fewest tokens. Words of the page are quoted wherever they could be taken for syntax, and they
never begin a line, so no page can forge a ref.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat, zip_longest
from typing import NotRequired

from typing_extensions import TypedDict

from footlight.browser.snapshot.nodes import Node, NodeBox
from footlight.browser.snapshot.text.rows import with_names_of_row

__all__ = [
    "CELLS",
    "Line",
    "NodeInfo",
    "is_action_url",
    "make_lines",
    "plural",
    "quote",
    "quote_unless_word",
    "render_json",
    "render_text",
    "render_yaml",
    "shorten",
]

MAX_URL_CHARACTERS = 60
MAX_TITLE_CHARACTERS = 60
"""The length of what describes a link that has a name."""
_MAX_REMOVED_CHARACTERS = 80
MAX_KEY_CHARACTERS = 1_000
"""YAML allows 1,024 characters before the colon of a key."""
MAX_LEVELS = 60
"""The limit for JSON, because its readers and writers are recursive."""


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
    """For a table row or a list item that is one line: its cells, or what is inside each. Without a node, the
    cells are the options of a drop-down.
    """
    has_urls: bool = True
    """Whether the links in the cells have their targets."""
    above: tuple[tuple[Node, ...], ...] = ()
    """For each cell, the one before it of the same kind: the cell above, or the item before. The role that a
    named control shares with the one in it is left out, and in rows without targets of links the same name.
    """

    def render(self, *, limit: int | None = None) -> str:
        """Return the line, with the name and each text of the page cut to `limit` characters."""
        words: list[str] = []
        if self.node is not None:
            row = _render_node(self.node, limit, removed=self.mark == "-")
            words.append(f"{row}{self._render_cells(limit)}" if self.cells else row)
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
    common = "" if common == "text" else common
    written = " | ".join(
        [
            " & ".join(
                [
                    _render_cell(node, common, limit, has_url=has_urls, before=before)
                    for node, before in _pair_parts(parts, like)
                ]
            )
            for parts, like in zip_longest(cells, above[: len(cells)], fillvalue=())
        ]
    )
    return (
        f" of {quote_unless_word(plural(common))}: {written}"
        if common not in ("", "cell")
        else f": {written}"
    )


def _is_empty(cell: Sequence[Node]) -> bool:
    return all(
        node.role in _PLAIN_CELLS and not node.name and _render_cell(node, "", None, has_url=True) == '""'
        for node in cell
    )


def _pair_parts(parts: Sequence[Node], like: Sequence[Node]) -> Iterator[tuple[Node, Node | None]]:
    """Yield each part of a cell with the one at its place in a similar cell."""
    return zip(parts, like if len(like) == len(parts) else repeat(None), strict=False)


def _render_cell(
    node: Node, common: str, limit: int | None, *, has_url: bool, before: Node | None = None
) -> str:
    if node.role in _PLAIN_CELLS and not node.states and not (node.value or node.text or node.description):
        return quote(shorten(node.name, limit))
    text = _render_head(node, limit, has_url=has_url)
    if node.value or node.text:
        text += f": {quote(shorten(node.value or node.text, limit))}"
    is_like = bool(node.ref and node.name and before and before.ref and node.role == before.role)
    if node.role != common and not is_like:
        return text
    ref = f"{node.ref} " if node.ref else ""
    rest = text.removeprefix(f"{ref}{quote_unless_word(node.role)}")
    if rest == text or (rest and rest[0] not in " :"):
        return text
    if is_like and not has_url and before is not None and before.name == node.name:
        rest = rest.removeprefix(f" {quote(shorten(node.name, limit))}")
    return f"{ref.rstrip()}{rest}" if ref else rest.lstrip()


def _render_line(node: Node) -> str:
    """Return the uncut line of a node, which is cached in the node."""
    line = node.line
    if line is None:
        line = _render_element(node, None)
        object.__setattr__(node, "line", line)
    return line


def _render_removed(node: Node, limit: int | None) -> str:
    """Return a short line that identifies what was removed."""
    if _is_text(node):
        return quote(shorten(node.name, limit))
    words = _title_words(node, limit)
    content = "" if node.ref or node.name else node.value or node.text
    return " ".join([*words, quote(shorten(content, _MAX_REMOVED_CHARACTERS))] if content else words)


def _render_element(node: Node, limit: int | None) -> str:
    head = _render_head(node, limit)
    content = node.value or node.text
    if not content:
        return head
    if node.value and node.text:
        head += f" text {quote(shorten(node.text, limit))}"
    return f"{head}: {_quote_if_ambiguous(shorten(content, limit))}"


def _render_head(node: Node, limit: int | None, *, has_url: bool = True) -> str:
    """Return the line of a node without its value and its text."""
    if _is_text(node):
        return quote(shorten(node.name, limit))
    words = _title_words(node, limit)
    words += map(quote_unless_word, node.states)
    if has_url and node.url and not is_action_url(node.url):
        words.append(f"-> {_render_url(node.path or node.url)}")
    if node.hint:
        words.append(f"hint {quote(shorten(node.hint, limit))}")
    if node.placeholder:
        words.append(f"placeholder {quote(shorten(node.placeholder, limit))}")
    if node.description and not (has_url and _is_named_link(node, node.description)):
        is_title = node.role == "link" and node.name
        longest = min(limit or MAX_TITLE_CHARACTERS, MAX_TITLE_CHARACTERS) if is_title else limit
        words.append(f"description {quote(shorten(node.description, longest))}")
    if node.box:
        words.append(f"box={_render_numbers(node.box)}")
    return " ".join(words)


def is_action_url(url: str) -> bool:
    """Return whether the target says that the link is only there for its click."""
    return _ACTION_URL.match(url) is not None


def _is_named_link(node: Node, description: str) -> bool:
    """Return whether a description only puts the name of a link, whose target is written, into a phrase."""
    return node.role == "link" and bool(node.url and node.name) and f" {node.name} " in f" {description} "


def _title_words(node: Node, limit: int | None) -> list[str]:
    words = [node.ref] if node.ref else []
    words.append(quote_unless_word(node.role))
    if node.name:
        words.append(quote(shorten(node.name, limit)))
    return words


def _is_text(node: Node) -> bool:
    return node.role == "text" and node.ref is None


def shorten(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return f"{text[: limit - 1]}…"


def quote(text: str) -> str:
    """Return the text as JSON, with line breaks, bidirectional controls and lone surrogates escaped."""
    return _UNSAFE.sub(_escape, _encode(text))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def quote_unless_word(text: str) -> str:
    """Return a role or a state as it is, or in quotes where the page has invented it."""
    return text if _WORD.fullmatch(text) else quote(text)


def _quote_if_ambiguous(text: str) -> str:
    """Return a text that ends its line, in quotes where it could be taken for syntax."""
    return quote(text) if _AMBIGUOUS.search(text) else text


def _render_url(url: str) -> str:
    """Return a URL that ends a line. A long one ends where its query begins."""
    path, query, _ = url.partition("?")
    is_long = len(url) > MAX_URL_CHARACTERS and query and path and len(path) < MAX_URL_CHARACTERS - 1
    cut = f"{path}?…" if is_long else shorten(url, MAX_URL_CHARACTERS)
    return cut if _URL.fullmatch(cut) else quote(cut)


def _render_numbers(box: NodeBox) -> str:
    return ",".join(f"{number:g}" for number in box)


CELLS = frozenset(("cell", "columnheader", "gridcell", "rowheader"))
_PLAIN_CELLS = frozenset(("cell", "columnheader", "rowheader"))
"""Cells whose ref is only written if they have a state, such as `clickable`."""


def plural(role: str) -> str:
    """Return the plural of a role."""
    return f"{role}es" if role.endswith(("s", "x", "ch")) else f"{role}s"


_encode = json.JSONEncoder(ensure_ascii=False).encode
_UNSAFES = "\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff"
_UNSAFE = re.compile(f"[{_UNSAFES}]")
_WORD = re.compile(r"(?!e\d)[A-Za-z][\w.=%/-]*", re.ASCII)
_URL = re.compile(rf'[^\s"\x00-\x1f{_UNSAFES}]*[^\s":\x00-\x1f{_UNSAFES}]')
_ACTION_URL = re.compile(r"#$|javascript:")
_AMBIGUOUS = re.compile(
    rf'["\\\[…\x00-\x1f{_UNSAFES}]'  # quotes, escapes, marks of ours, and what must be escaped
    r"|\be\d|->|\((?:was|now|no longer|moved|name|text|role|row|column|lines?)\b"  # a ref, URL or note
    r"|^[\s+~-]|\s$"
)


def render_yaml(nodes: Sequence[Node]) -> list[str]:
    """Return the lines of YAML in the style of Playwright's aria snapshots. Long names are cut."""
    return [
        line
        for index, node in enumerate(nodes)
        for line in _render_yaml_node(node, _has_children(nodes, index))
    ]


def _has_children(nodes: Sequence[Node], index: int) -> bool:
    return index + 1 < len(nodes) and nodes[index + 1].depth > nodes[index].depth


def _render_yaml_node(node: Node, has_children: bool) -> Iterator[str]:
    indent = "  " * node.depth
    if _is_text(node):
        yield f"{indent}- text: {_quote_yaml_scalar(node.name)}"
        return
    content = node.value or node.text
    properties = list(_yaml_properties(node))
    if not (content or properties or has_children):
        yield f"{indent}- {_yaml_key(node)}"
    elif content and not properties and not has_children:
        yield f"{indent}- {_yaml_key(node)}: {_quote_yaml_scalar(content)}"
    else:
        yield f"{indent}- {_yaml_key(node)}:"
        yield from (f"{indent}  - {name}: {_quote_yaml_scalar(value)}" for name, value in properties)
        if content:
            yield f"{indent}  - text: {_quote_yaml_scalar(content)}"


def _yaml_properties(node: Node) -> Iterator[tuple[str, str]]:
    if node.url:
        yield "/url", node.url
    if node.hint:
        yield "/hint", node.hint
    if node.placeholder:
        yield "/placeholder", node.placeholder
    if node.description:
        yield "/description", node.description
    if node.value and node.text:
        yield "/text", node.text


def _yaml_key(node: Node) -> str:
    attributes = [f"[{quote_unless_word(state)}]" for state in node.states]
    if node.box:
        attributes.append(f"[box={_render_numbers(node.box)}]")
    if node.ref:
        attributes.append(f"[ref={node.ref}]")
    limit, key = 900, MAX_KEY_CHARACTERS * "x"
    while len(key) >= MAX_KEY_CHARACTERS and limit:
        name = [quote(shorten(node.name, limit))] if node.name else []
        key = _quote_yaml_key(" ".join([quote_unless_word(node.role), *name, *attributes]))
        limit //= 2
    return key


def _quote_yaml_key(key: str) -> str:
    """Return the key in single quotes where it needs quotes, because the name in it has double ones."""
    return key if _YAML_KEY.fullmatch(key) else "'" + key.replace("'", "''") + "'"


def _quote_yaml_scalar(text: str) -> str:
    return text if _YAML_PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS else quote(text)


_YAML_KEY = re.compile(r'[A-Za-z][\w-]*(?: "(?:[^"\\:#\'\[\]{},]|\\.)*")?(?: \[[\w=.,%/-]+\])*')
_YAML_PLAIN = re.compile(r"[A-Za-z/](?:[\w./() -]*[\w./()])?", re.ASCII)
_YAML_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


class NodeInfo(TypedDict):
    """A node as JSON, without the fields that it does not have. `box` is `[x, y, width, height]`."""

    role: str
    ref: NotRequired[str]
    name: NotRequired[str]
    states: NotRequired[list[str]]
    value: NotRequired[str]
    text: NotRequired[str]
    description: NotRequired[str]
    hint: NotRequired[str]
    placeholder: NotRequired[str]
    url: NotRequired[str]
    testId: NotRequired[str]
    box: NotRequired[list[float]]
    children: NotRequired[list[NodeInfo]]


def render_json(nodes: Sequence[Node]) -> list[NodeInfo]:
    """Return the nodes nested. Nodes deeper than 60 levels are children of their ancestor of that level."""
    roots: list[NodeInfo] = []
    above: list[tuple[int, NodeInfo]] = []
    for node in nodes:
        while above and (above[-1][0] >= node.depth or len(above) >= MAX_LEVELS):
            above.pop()
        info = _make_info(node)
        siblings = above[-1][1].setdefault("children", []) if above else roots
        siblings.append(info)
        above.append((node.depth, info))
    return roots


def _make_info(node: Node) -> NodeInfo:
    info = NodeInfo(role=node.role)
    if node.ref:
        info["ref"] = node.ref
    if node.name:
        info["name"] = node.name
    if node.states:
        info["states"] = list(node.states)
    if node.value:
        info["value"] = node.value
    if node.text:
        info["text"] = node.text
    if node.description:
        info["description"] = node.description
    if node.hint:
        info["hint"] = node.hint
    if node.placeholder:
        info["placeholder"] = node.placeholder
    if node.url:
        info["url"] = node.url
    if node.testid:
        info["testId"] = node.testid
    if node.box:
        info["box"] = list(node.box)
    return info
