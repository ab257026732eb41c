"""Format Python source like `ruff format`: on one line if it fits, or else one item on each line."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from footlight.client.codegen.python_text import LINE_LENGTH, string

__all__ = [
    "INDENT",
    "BracketGroup",
    "Code",
    "Expression",
    "call",
    "flat",
    "lay_out",
    "literal",
    "width",
]

INDENT = "    "


@dataclass(frozen=True, slots=True)
class Code:
    """An expression that is not split into several lines."""

    text: str


@dataclass(frozen=True, slots=True)
class BracketGroup:
    """Items between brackets, each with a prefix, such as `key=` or `"key": `."""

    opening: str
    items: Sequence[tuple[str, Expression]]
    closing: str


Expression = Code | BracketGroup


def call(function: str, arguments: Sequence[tuple[str, Expression]]) -> BracketGroup:
    return BracketGroup(f"{function}(", arguments, ")")


def literal(value: Any) -> Expression:
    """Return a JSON value as a Python literal."""
    if isinstance(value, str):
        return Code(string(value))
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return BracketGroup("{", [(f"{string(key)}: ", literal(each)) for key, each in items], "}")
    if isinstance(value, list):
        return BracketGroup("[", [("", literal(each)) for each in cast("list[Any]", value)], "]")
    if isinstance(value, float) and not math.isfinite(value):
        return Code(f'float("{value}")')
    return Code(repr(value).replace("e+", "e"))


def lay_out(expression: Expression, *, indent: int, before: str = "", after: str = "") -> str:
    """Return a statement of `before`, the expression and `after`, on several lines if necessary."""
    return f"{INDENT * indent}{before}{_lay_out(expression, indent, before, after)}{after}"


def _lay_out(expression: Expression, indent: int, before: str, after: str) -> str:
    line = flat(expression)
    fits = width(f"{INDENT * indent}{before}{line}{after}") <= LINE_LENGTH
    if fits or isinstance(expression, Code) or not expression.items:
        return line
    inner = INDENT * (indent + 1)
    lines = [f"{inner}{lead}{_lay_out(each, indent + 1, lead, ',')},\n" for lead, each in expression.items]
    return f"{expression.opening}\n{''.join(lines)}{INDENT * indent}{expression.closing}"


def flat(expression: Expression) -> str:
    """Return the expression on one line."""
    if isinstance(expression, Code):
        return expression.text
    items = ", ".join(f"{lead}{flat(each)}" for lead, each in expression.items)
    return f"{expression.opening}{items}{expression.closing}"


def width(text: str) -> int:
    """Return the number of columns that the text occupies on a screen."""
    if text.isascii():
        return len(text)
    return sum(_columns(each) for each in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
