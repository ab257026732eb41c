"""What a test does: the calls of a log, line by line, and what is asserted of each."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from footlight.client.errors import SECRET_NAME, MCPError
from footlight.client.python_text import string
from footlight.client.replay.asserting import Changing, assertions, at, telling
from footlight.client.replay.calls import LoggedCall
from footlight.client.replay.leaves import Path
from footlight.client.replay.locating import refs_in, with_locators
from footlight.client.replay.source import (
    INDENT,
    Code,
    Expression,
    Group,
    call,
    laid_out,
    literal,
)
from footlight.client.replay.variables import PLACE, mapped_strings

__all__ = ["Body", "Place"]

OF_A_HANDLE = ("bound", "call", "close", "root")
"""What is no namespace, although a tool may be called so."""

_MASKED = re.compile(r"\W*(?:\*{2,}|•{2,}|redacted|masked|hidden|removed|secret)\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """In the result of a call, by its line."""

    line: int
    path: Path


@dataclass(slots=True)
class Body:
    """The lines of the test, and the modules and names that they use."""

    ids: Mapping[str, Place]
    variables: Mapping[str, str]
    lines: list[str] = field(default_factory=list[str])
    needs: set[str] = field(default_factory=set[str])
    _naming: frozenset[int] = field(init=False)
    """The lines whose results have ids."""

    def __post_init__(self) -> None:
        self._naming = frozenset(place.line for place in self.ids.values())

    def add(self, each: LoggedCall, name: str) -> None:
        given = with_locators(each)
        arguments = {key: self._expression(each, key, value) for key, value in given.items()}
        if each.redacted and not any(_uses_environment(value) for value in arguments.values()):
            raise MCPError(
                f"{name}, line {each.line}: {each.name} was redacted when it was logged, and it cannot be "
                "seen where; write ${NAME} where the value was",
                reason="invalid",
            )
        for ref in dict.fromkeys(refs_in(given)):
            self.lines.append(f"{INDENT}# {ref.strip()} was a ref, and the log does not say of what.")
        made = self._call(each.name, arguments)
        if each.outcome and not each.outcome.ok:
            self._add_failure(each.outcome.error, made)
            return
        result = each.outcome.result if each.outcome else None
        names_it = each.line in self._naming
        variable = f"made_{each.line}" if names_it else "result"
        known = assertions(self._without_what_changes(result), variable)
        self._statement(made, before=f"{variable} = " if known or names_it else "")
        self.lines += [f"{INDENT}{line}" for line in known]

    def _add_failure(self, error: str, made: Expression) -> None:
        self.needs.add("MCPError")
        told = telling(error)
        match = ""
        if told:
            plain = re.escape(told) == told
            match = f", match={string(told)}" if plain else f", match=re.escape({string(told)})"
            self.needs |= set() if plain else {"re."}
        self.lines.append(f"{INDENT}with pytest.raises(MCPError{match}):")
        self._statement(made, before="", indent=2)

    def _statement(self, made: Expression, *, before: str, indent: int = 1) -> None:
        if _uses_environment(made):
            self.needs.add("os.")
        self.lines.append(laid_out(made, indent=indent, before=before))

    def _call(self, tool: str, arguments: Mapping[str, Expression]) -> Expression:
        """`mcp.nav.goto(url=…)`, as far as names can be written so."""
        namespace, dot, method = tool.partition(".")
        given = (
            [(f"{key}=", value) for key, value in arguments.items()]
            if all(_is_name(key) for key in arguments)
            else [("", Group("{", [(f"{string(key)}: ", value) for key, value in arguments.items()], "}"))]
        )
        if dot and method and _is_name(namespace) and namespace not in OF_A_HANDLE and namespace[0] != "_":
            return call(f"await mcp.{namespace}{_method(method)}", given)
        if not dot:
            return call(f"await mcp.root{_method(tool)}", given)
        self.needs.add("value_of")
        mapping = Group("{", [(f"{string(key)}: ", value) for key, value in arguments.items()], "}")
        return call("value_of", [("", call("await mcp.call", [("", Code(string(tool))), ("", mapping)]))])

    def _expression(self, each: LoggedCall, key: str, value: Any) -> Expression:
        if isinstance(value, str):
            return self._text(each, key, value)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return Group(
                "{",
                [(f"{string(inner)}: ", self._expression(each, inner, it)) for inner, it in items],
                "}",
            )
        if isinstance(value, list):
            return Group("[", [("", self._expression(each, key, it)) for it in cast("list[Any]", value)], "]")
        return literal(value)

    def _text(self, each: LoggedCall, key: str, text: str) -> Expression:
        place = self.ids.get(text)
        if place and place.line < each.line:
            return Code(at(f"made_{place.line}", place.path))
        if each.redacted and not PLACE.search(text) and _was_taken_out(key, text):
            return _environment(f"{key}_{each.line}")
        return _joined(list(self._parts(text, template=each.redacted or not each.raw)))

    def _parts(self, text: str, *, template: bool) -> Iterator[Expression]:
        """The text, with the environment's values for those of variables."""
        values = {value: name for name, value in self.variables.items() if value}
        if not values:
            yield from _filled(text) if template else [Code(string(text))]
            return
        pattern = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
        for part in re.split(f"({pattern})", text):
            if part in values:
                yield _environment(values[part])
            elif part:
                yield from _filled(part) if template else [Code(string(part))]

    def _without_what_changes(self, result: Any) -> Any:
        """What is not asserted: ids that the server made up, and the values of variables."""
        return mapped_strings(result, lambda text: Changing(text) if self._changes(text) else text)

    def _changes(self, text: str) -> bool:
        return text in self.ids or any(each in text for each in self.variables.values() if each)


def _filled(text: str) -> Iterator[Expression]:
    """With the environment's values for `${name}`."""
    end = 0
    for found in PLACE.finditer(text):
        before = text[end : found.start()] + (found[0][1:] if found["escape"] else "")
        if before:
            yield Code(string(before))
        if not found["escape"]:
            yield _environment(found["name"])
        end = found.end()
    if text[end:]:
        yield Code(string(text[end:]))


def _joined(parts: Sequence[Expression]) -> Expression:
    if not parts:
        return Code('""')
    return parts[0] if len(parts) == 1 else Group('"".join([', [("", part) for part in parts], "])")


def _environment(name: str) -> Code:
    return Code(f"os.environ[{string(re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_').upper())}]")


def _uses_environment(expression: Expression) -> bool:
    if isinstance(expression, Group):
        return any(_uses_environment(each) for _, each in expression.items)
    return expression.text.startswith("os.environ[")  # A literal begins with a quote.


def _was_taken_out(key: str, text: str) -> bool:
    return _MASKED.fullmatch(text) is not None or SECRET_NAME.search(key) is not None


def _method(name: str) -> str:
    return f".{name}" if _is_name(name) and name[0] != "_" else f"[{string(name)}]"


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text) and text != "__debug__"
