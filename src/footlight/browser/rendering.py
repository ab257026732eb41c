"""Nodes as they are written: text for models, YAML in the style of Playwright's aria snapshots, JSON.

A line of text is `e3 button "Save" disabled`: its ref is the first word, where it has one, and what follows
`: ` is its value, or the words in it. It has a space in front for each level. Of the forms that a model reads
without a word of explanation this one has the fewest tokens. What a page says is in quotes wherever it
could be taken for one of ours, and never begins a line, so that no name can forge a ref.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from footlight.browser.snapshot import Box, Node

__all__ = ["Line", "NodeInfo", "as_json", "as_text", "as_yaml", "lines_of", "quoted", "shortened", "word"]

LONGEST_URL = 80
_LONGEST_REMOVED = 80
LONGEST_KEY = 1_000
"""Characters. YAML has room for 1,024 before the colon of a key."""
MOST_LEVELS = 60
"""Of JSON: readers and writers of it are recursive."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, not yet written: a node at a level, or only a note where there is no node.

    `mark` is the first character of a line that tells a difference: `+`, `-`, `~` or a space.
    """

    depth: int
    node: Node | None
    mark: str = ""
    note: str = ""

    def written(self, *, longest: int | None = None) -> str:
        """Each of the page's words cut at `longest` characters."""
        words: list[str] = []
        if self.node is not None:
            words.append(_written(self.node, longest, removed=self.mark == "-"))
        if self.note:
            words.append(self.note)
        indent = " " * (self.depth + 1 if self.mark else self.depth)
        return f"{self.mark}{indent}{' '.join(words)}"


def lines_of(nodes: Sequence[Node]) -> list[Line]:
    return [Line(node.depth, node) for node in nodes]


def as_text(nodes: Sequence[Node]) -> str:
    return "\n".join([f"{' ' * node.depth}{_line(node)}" for node in nodes])


def _written(node: Node, longest: int | None, *, removed: bool) -> str:
    if removed:
        return _removed(node, longest)
    return _line(node) if longest is None else _element(node, longest)


def _line(node: Node) -> str:
    """In whole, which most nodes are written in again and again."""
    line = node.line
    if line is None:
        line = _element(node, None)
        object.__setattr__(node, "line", line)
    return line


def _removed(node: Node, longest: int | None) -> str:
    """Short: what it was is all that is asked of it."""
    if _is_text(node):
        return quoted(shortened(node.name, longest))
    words = _title(node, longest)
    said = "" if node.ref or node.name else node.value or node.text
    return " ".join([*words, quoted(shortened(said, _LONGEST_REMOVED))] if said else words)


def _element(node: Node, longest: int | None) -> str:
    if _is_text(node):
        return quoted(shortened(node.name, longest))
    words = _title(node, longest)
    words += map(word, node.states)
    if node.url:
        words.append(f"-> {_url(node.url)}")
    if node.placeholder:
        words.append(f"placeholder {quoted(shortened(node.placeholder, longest))}")
    if node.description:
        words.append(f"description {quoted(shortened(node.description, longest))}")
    if node.value and node.text:
        words.append(f"text {quoted(shortened(node.text, longest))}")
    if node.box:
        words.append(f"box={_numbers(node.box)}")
    said = node.value or node.text
    return f"{' '.join(words)}: {_plain(shortened(said, longest))}" if said else " ".join(words)


def _title(node: Node, longest: int | None) -> list[str]:
    words = [node.ref] if node.ref else []
    words.append(word(node.role))
    if node.name:
        words.append(quoted(shortened(node.name, longest)))
    return words


def _is_text(node: Node) -> bool:
    return node.role == "text" and node.ref is None


def shortened(text: str, longest: int | None) -> str:
    if longest is None or len(text) <= longest:
        return text
    return f"{text[: longest - 1]}…"


def quoted(text: str) -> str:
    """As JSON, with nothing in it that ends a line, turns its direction, or cannot be written in UTF-8."""
    return _UNSAFE.sub(_escaped, _encode(text))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def word(text: str) -> str:
    """A role or a state: in quotes where the page has given something else."""
    return text if _WORD.fullmatch(text) else quoted(text)


def _plain(text: str) -> str:
    """To the end of the line, without quotes where it cannot be taken for anything else."""
    return quoted(text) if _AMBIGUOUS.search(text) else text


def _url(url: str) -> str:
    cut = shortened(url, LONGEST_URL)
    return cut if _URL.fullmatch(cut) else quoted(cut)


def _numbers(box: Box) -> str:
    return ",".join(f"{number:g}" for number in box)


_encode = json.JSONEncoder(ensure_ascii=False).encode
_UNSAFES = "\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff"
_UNSAFE = re.compile(f"[{_UNSAFES}]")
_WORD = re.compile(r"(?!e\d)[A-Za-z][\w.=%/-]*", re.ASCII)
_URL = re.compile(rf'[^\s"\x00-\x1f{_UNSAFES}]*[^\s":\x00-\x1f{_UNSAFES}]')
_AMBIGUOUS = re.compile(
    rf'["\\\[…\x00-\x1f{_UNSAFES}]'  # quotes, escapes, marks of ours, and what must be escaped
    r"|\be\d|->|\((?:was|now|no longer|moved|name|text|role)\b"  # what a ref, a URL or a note looks like
    r"|^[\s+~-]|\s$"
)


def as_yaml(nodes: Sequence[Node]) -> list[str]:
    """Lines, in the style of Playwright's aria snapshots; long names are cut."""
    return [line for index, node in enumerate(nodes) for line in _yaml(node, _has_children(nodes, index))]


def _has_children(nodes: Sequence[Node], index: int) -> bool:
    return index + 1 < len(nodes) and nodes[index + 1].depth > nodes[index].depth


def _yaml(node: Node, has_children: bool) -> Iterator[str]:
    indent = "  " * node.depth
    if _is_text(node):
        yield f"{indent}- text: {_scalar(node.name)}"
        return
    said = node.value or node.text
    properties = list(_properties(node))
    if not (said or properties or has_children):
        yield f"{indent}- {_key(node)}"
    elif said and not properties and not has_children:
        yield f"{indent}- {_key(node)}: {_scalar(said)}"
    else:
        yield f"{indent}- {_key(node)}:"
        yield from (f"{indent}  - {name}: {_scalar(value)}" for name, value in properties)
        if said:
            yield f"{indent}  - text: {_scalar(said)}"


def _properties(node: Node) -> Iterator[tuple[str, str]]:
    if node.url:
        yield "/url", node.url
    if node.placeholder:
        yield "/placeholder", node.placeholder
    if node.description:
        yield "/description", node.description
    if node.value and node.text:
        yield "/text", node.text


def _key(node: Node) -> str:
    attributes = [f"[{word(state)}]" for state in node.states]
    if node.box:
        attributes.append(f"[box={_numbers(node.box)}]")
    if node.ref:
        attributes.append(f"[ref={node.ref}]")
    longest, key = 900, LONGEST_KEY * "x"
    while len(key) >= LONGEST_KEY and longest:
        name = [quoted(shortened(node.name, longest))] if node.name else []
        key = _key_scalar(" ".join([word(node.role), *name, *attributes]))
        longest //= 2
    return key


def _key_scalar(key: str) -> str:
    """Single quotes: the name in it has double ones."""
    return key if _YAML_KEY.fullmatch(key) else "'" + key.replace("'", "''") + "'"


def _scalar(text: str) -> str:
    return text if _YAML_PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS else quoted(text)


_YAML_KEY = re.compile(r'[A-Za-z][\w-]*(?: "(?:[^"\\:#\'\[\]{},]|\\.)*")?(?: \[[\w=.,%/-]+\])*')
_YAML_PLAIN = re.compile(r"[A-Za-z/](?:[\w./() -]*[\w./()])?", re.ASCII)
_YAML_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


class NodeInfo(TypedDict):
    """What a node does not have is left out. `box` is `[x, y, width, height]`."""

    role: str
    ref: NotRequired[str]
    name: NotRequired[str]
    states: NotRequired[list[str]]
    value: NotRequired[str]
    text: NotRequired[str]
    description: NotRequired[str]
    placeholder: NotRequired[str]
    url: NotRequired[str]
    testId: NotRequired[str]
    box: NotRequired[list[float]]
    children: NotRequired[list[NodeInfo]]


def as_json(nodes: Sequence[Node]) -> list[NodeInfo]:
    """Nested. What is more than 60 levels deep is with its ancestor of that level, in tree order."""
    roots: list[NodeInfo] = []
    above: list[tuple[int, NodeInfo]] = []
    for node in nodes:
        while above and (above[-1][0] >= node.depth or len(above) >= MOST_LEVELS):
            above.pop()
        info = _info(node)
        siblings = above[-1][1].setdefault("children", []) if above else roots
        siblings.append(info)
        above.append((node.depth, info))
    return roots


def _info(node: Node) -> NodeInfo:
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
    if node.placeholder:
        info["placeholder"] = node.placeholder
    if node.url:
        info["url"] = node.url
    if node.testid:
        info["testId"] = node.testid
    if node.box:
        info["box"] = list(node.box)
    return info
