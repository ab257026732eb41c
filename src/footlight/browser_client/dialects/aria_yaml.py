"""Read Playwright's aria snapshots into nodes.

They are a small subset of YAML, with one node per line. A general YAML reader fails on some of them: a key is
limited to 1,024 characters, which a long name exceeds, and YAML refuses characters that pages contain. So
each line is parsed here. Tests compare the result with that of a YAML reader where it can read the text.
"""

from __future__ import annotations

import json
import re
from typing import cast

from footlight.browser_client.accessibility_tree import MAX_LEVELS, AccessibilityNode

__all__ = ["read_aria_yaml"]

_ITEM = re.compile(r"( *)- (.*)", re.DOTALL)
_QUOTED_KEY = re.compile(r"'((?:[^']|'')*)'(?::(?: (.*))?)?", re.DOTALL)
_ROLE = re.compile(r'[^\s"\[]+')
_ATTRIBUTE = re.compile(r" \[([^\]\s=]+)(?:=([^\[\]]*))?\]")
_ESCAPE = re.compile(r'\\(?:x([0-9a-fA-F]{2})|(["\\bfnrt]))')
_ESCAPED = {'"': '"', "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PROPERTIES = ("url", "placeholder", "description")
_FIELDS = frozenset(
    {"textbox", "searchbox", "spinbutton", "combobox", "slider", "progressbar", "scrollbar", "meter"}
)
"""Roles whose text after the colon is their value. For other roles it is their content."""

_decoder = json.JSONDecoder(strict=False)


def read_aria_yaml(yaml: str) -> list[AccessibilityNode]:
    """Return the nodes at the top level. A node deeper than `MAX_LEVELS` is put at that level.

    Raises:
        ValueError: a line is not one of an aria snapshot.
    """
    top: list[AccessibilityNode] = []
    above: list[AccessibilityNode] = []
    deepest = 0
    for line in filter(None, yaml.split("\n")):
        item = _ITEM.fullmatch(line)
        level = len(item[1]) // 2 if item else 0
        if item is None or len(item[1]) % 2 or level > deepest:
            raise ValueError(f"this is not a line of an aria snapshot: {line[:100]}")
        deepest = level + 1
        del above[min(level, MAX_LEVELS - 2) :]
        owner = above[-1] if above else None
        key, value = _split_item(item[2])
        if key.startswith("/"):
            _describe(owner, key[1:], value)
            continue
        node = _node(key, value)
        siblings = top if owner is None else owner.setdefault("children", [])
        siblings.append(node)
        above.append(node)
    _fold(top)
    return top


def _split_item(item: str) -> tuple[str, str | None]:
    """Return the key and what follows its colon, or None without a colon or where children follow."""
    if item.startswith("'"):
        quoted = _QUOTED_KEY.fullmatch(item)
        if quoted is None:
            raise ValueError(f"this is not a key of an aria snapshot: {item[:100]}")
        return quoted[1].replace("''", "'"), _scalar(quoted[2])
    end = _end_of_key(item)
    if end == len(item):
        return item, None
    return item[:end], _scalar(item[end + 2 :])


def _end_of_key(item: str) -> int:
    """Return the index of the key's colon. A name contains a colon only if the whole key is quoted."""
    found = re.search(r":(?: |$)", item)
    return found.start() if found else len(item)


def _scalar(written: str | None) -> str | None:
    if not written:
        return None
    if not written.startswith('"'):
        return written
    return _ESCAPE.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else _ESCAPED[found[2]], written[1:-1]
    )


def _node(key: str, value: str | None) -> AccessibilityNode:
    if key == "text":
        return AccessibilityNode(role="text", name=value or "")
    role = _ROLE.match(key)
    if role is None:
        raise ValueError(f"this is not a key of an aria snapshot: {key[:100]}")
    node, end = AccessibilityNode(role=role[0]), role.end()
    if key.startswith(' "', end):
        name, end = _decoder.raw_decode(key, end + 1)
        node["name"] = cast("str", name)
    for attribute in _ATTRIBUTE.finditer(key, end):
        _attribute(node, attribute[1], attribute[2])
    if value is not None:
        node["value" if node["role"] in _FIELDS else "text"] = value
    return node


def _attribute(node: AccessibilityNode, name: str, value: str | None) -> None:
    if name == "ref" and value:
        node["ref"] = value
    elif name == "box" and value:
        node["box"] = [float(number) for number in value.split(",")]
    elif name != "cursor":
        node.setdefault("states", []).append(name if value is None else f"{name}={value}")


def _describe(owner: AccessibilityNode | None, name: str, value: str | None) -> None:
    if owner is not None and name in _PROPERTIES:
        owner[name] = value or ""


def _fold(nodes: list[AccessibilityNode]) -> None:
    """Move the value or content of a node with properties, written as its only child, into the node."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        children = node.get("children", [])
        only = children[0] if len(children) == 1 and any(name in node for name in _PROPERTIES) else None
        if only is not None and only["role"] == "text":
            node["value" if node["role"] in _FIELDS else "text"] = only.get("name", "")
            del node["children"]
        else:
            waiting.extend(children)
