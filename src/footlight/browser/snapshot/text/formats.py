"""Render nodes as YAML in the style of Playwright's aria snapshots, and as nested JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.quoting import format_box, quote, quote_unless_word, shorten

__all__ = ["NodeInfo", "render_json", "render_yaml"]

MAX_KEY_CHARACTERS = 1_000
"""The maximum length of a key. YAML allows 1,024 characters before the colon of a key."""


def render_yaml(nodes: Sequence[Node]) -> list[str]:
    """Return the lines of YAML in the style of Playwright's aria snapshots. Shorten long names."""
    return [
        line
        for index, node in enumerate(nodes)
        for line in _render_yaml_node(node, _has_children(nodes, index))
    ]


def _has_children(nodes: Sequence[Node], index: int) -> bool:
    return index + 1 < len(nodes) and nodes[index + 1].depth > nodes[index].depth


def _render_yaml_node(node: Node, has_children: bool) -> Iterator[str]:
    indent = "  " * node.depth
    if node.is_text:
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
        attributes.append(f"[box={format_box(node.box)}]")
    if node.ref:
        attributes.append(f"[ref={node.ref}]")
    limit, key = 900, MAX_KEY_CHARACTERS * "x"
    while len(key) >= MAX_KEY_CHARACTERS and limit:
        name = [quote(shorten(node.name, limit))] if node.name else []
        key = _quote_yaml_key(" ".join([quote_unless_word(node.role), *name, *attributes]))
        limit //= 2
    return key


def _quote_yaml_key(key: str) -> str:
    """Return the key, in single quotes if it needs quotes, because its name is in double quotes."""
    return key if _YAML_KEY.fullmatch(key) else "'" + key.replace("'", "''") + "'"


def _quote_yaml_scalar(text: str) -> str:
    return text if _YAML_PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS else quote(text)


_YAML_KEY = re.compile(r'[A-Za-z][\w-]*(?: "(?:[^"\\:#\'\[\]{},]|\\.)*")?(?: \[[\w=.,%/-]+\])*')
_YAML_PLAIN = re.compile(r"[A-Za-z/](?:[\w./() -]*[\w./()])?", re.ASCII)
_YAML_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


# JSON

MAX_LEVELS = 60
"""The maximum depth of the JSON, because readers and writers of JSON are recursive."""


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
    """Return the nodes as a tree. Nodes below level 60 become children of their ancestor at that level."""
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
