"""A small subset of Handlebars for prompts. Templates cannot run code.

`{{name}}` is the value of an argument. `{{#each name}} … {{/each}}` iterates over an object or an array, with
`{{@key}}`, `{{@index}}`, `{{this}}` and `{{this.field}}` inside. `{{#if name}} … {{else}} … {{/if}}` is a
condition, and `{{! … }}` is a comment. If a block's tag or a comment is alone on its line, the line is
removed.

Unlike in Handlebars, values are not escaped for HTML, a name refers to an argument also within a block, and
an unknown name is an error when the template is parsed. Tags in values are not interpreted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

__all__ = ["TemplateError", "TextTemplate", "format_value", "parse"]

_BLOCKS = ("each", "if")
_LOOP_NAMES = ("this", "@key", "@index")

_COMMENT = r"!--(?:(?!--\}\}).)*--|!(?!--)(?:(?!\}\}).)*"
_TAG = re.compile(
    rf"""
      ^[ \t]*\{{\{{ (?P<alone> {_COMMENT} | \s*[#/](?:(?!\}}\}}).)* | \s*else\s* ) \}}\}}[ \t]*(?:\r?\n|\Z)
    | \{{\{{ (?P<inline> {_COMMENT} | (?!!--)(?:(?!\}}\}}).)* ) \}}\}}
    | (?P<torn> \{{\{{ .*)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


class TemplateError(ValueError):
    """An error in a template. The message begins with the line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True)
class _Reference:
    """A reference to an argument, or to a loop variable with a path into its value."""

    name: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Block:
    kind: Literal["each", "if"]
    subject: _Reference
    body: Sequence[_Node]
    otherwise: Sequence[_Node]


_Node = str | _Reference | _Block


@dataclass(frozen=True)
class TextTemplate:
    """A parsed template."""

    nodes: Sequence[_Node]
    iterated: frozenset[str]
    """The arguments over which an `{{#each}}` iterates. They must be objects or arrays."""

    def render(self, values: Mapping[str, object], *, max_length: int) -> str | None:
        """Return the text of the template, or None if it has more than `max_length` characters.

        `values` are JSON values by argument.
        """
        parts: list[str] = []
        length = 0
        for part in _render_nodes(self.nodes, values):
            parts.append(part)
            length += len(part)
            if length > max_length:
                return None
        return "".join(parts)


def format_value(value: object) -> str:
    """Return a value as a template prints it: a string unchanged, any other value as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _render_nodes(nodes: Sequence[_Node], scope: Mapping[str, object]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield node
        elif isinstance(node, _Reference):
            yield format_value(_value(node, scope))
        else:
            yield from _render_block(node, _value(node.subject, scope), scope)


def _render_block(block: _Block, value: object, scope: Mapping[str, object]) -> Iterator[str]:
    if block.kind == "if":
        yield from _render_nodes(block.body if _is_true(value) else block.otherwise, scope)
        return
    items = _items(value)
    for index, (key, item) in enumerate(items):
        yield from _render_nodes(block.body, {**scope, "this": item, "@key": key, "@index": index})
    if not items:
        yield from _render_nodes(block.otherwise, scope)


def _value(reference: _Reference, scope: Mapping[str, object]) -> object:
    """Return the value of a reference. If it is absent, return an empty string, which is false."""
    value = scope.get(reference.name, "")
    for name in reference.path:
        value = cast("Mapping[str, object]", value).get(name, "") if isinstance(value, Mapping) else ""
    return value


def _is_true(value: object) -> bool:
    """Return whether a value is true in Handlebars. An empty object is true, an empty array is false."""
    return bool(value) or isinstance(value, Mapping)


def _items(value: object) -> list[tuple[object, object]]:
    if isinstance(value, Mapping):
        return list(cast("Mapping[object, object]", value).items())
    if isinstance(value, list | tuple):
        return list(enumerate(cast("Sequence[object]", value)))
    return []


def parse(text: str, arguments: Collection[str]) -> TextTemplate:
    """Parse a template that may refer to these arguments.

    Raises:
        TemplateError: the template is not valid. The message has the line and the reason.
    """
    return _Parser(text, arguments).template()


@dataclass
class _OpenBlock:
    """A block whose closing tag has not been parsed yet."""

    kind: Literal["each", "if"]
    subject: _Reference
    tag: str
    line: int
    body: list[_Node] = field(default_factory=list["_Node"])
    otherwise: list[_Node] | None = None


class _Parser:
    """Parses one template."""

    def __init__(self, text: str, arguments: Collection[str]) -> None:
        self._text = text
        self._arguments = arguments
        self._line = 1
        self._root: list[_Node] = []
        self._open: list[_OpenBlock] = []
        self._iterated: set[str] = set()

    def template(self) -> TextTemplate:
        end = 0
        for tag in _TAG.finditer(self._text):
            self._add(self._text[end : tag.start()])
            self._line = 1 + self._text.count("\n", 0, tag.start())
            if tag["torn"]:
                raise self._error("'{{' is never closed with '}}'")
            self._read((tag["alone"] or tag["inline"]).strip())
            end = tag.end()
        self._add(self._text[end:])
        for block in self._open:
            raise TemplateError(block.line, f"{block.tag} is never closed")
        return TextTemplate(self._root, frozenset(self._iterated))

    def _read(self, tag: str) -> None:
        if tag.startswith("!"):
            return
        if begin := re.fullmatch(r"#(\S+)\s+(\S+)", tag):
            self._begin(begin[1], self._reference(begin[2]), tag)
        elif tag == "else":
            self._begin_else()
        elif end := re.fullmatch(r"/(\S+)", tag):
            self._end(end[1])
        else:
            self._add(self._reference(tag))

    def _begin(self, kind: str, subject: _Reference, tag: str) -> None:
        if kind != "each" and kind != "if":
            raise self._error(f"unknown block {kind!r}; known: {', '.join(_BLOCKS)}")
        if kind == "each" and subject.name not in _LOOP_NAMES:
            self._iterated.add(subject.name)
        self._open.append(_OpenBlock(kind, subject, f"{{{{{tag}}}}}", self._line))

    def _begin_else(self) -> None:
        if not self._open or self._open[-1].otherwise is not None:
            raise self._error("{{else}} is outside of a block")
        self._open[-1].otherwise = []

    def _end(self, kind: str) -> None:
        if not self._open:
            raise self._error(f"{{{{/{kind}}}}} has no opening tag")
        block = self._open[-1]
        if block.kind != kind:
            raise self._error(f"{{{{/{kind}}}}} cannot close {block.tag} of line {block.line}")
        self._open.pop()
        self._add(_Block(block.kind, block.subject, block.body, block.otherwise or ()))

    def _reference(self, source: str) -> _Reference:
        if source in self._arguments:
            return _Reference(source)
        name, *path = source.split(".")
        if name in _LOOP_NAMES and all(path) and (name == "this" or not path):
            if not any(block.kind == "each" and block.otherwise is None for block in self._open):
                raise self._error(f"{{{{{source}}}}} is valid only in {{{{#each}}}}")
            return _Reference(name, tuple(path))
        if re.fullmatch(r"[\w.-]+", source):
            known = ", ".join(self._arguments) or "none"
            raise self._error(f"unknown argument {source!r}; known: {known}")
        raise self._error(f"unknown tag {{{{{source}}}}}")

    def _add(self, node: _Node) -> None:
        if not self._open:
            self._root.append(node)
        elif (otherwise := self._open[-1].otherwise) is not None:
            otherwise.append(node)
        else:
            self._open[-1].body.append(node)

    def _error(self, reason: str) -> TemplateError:
        return TemplateError(self._line, reason)
