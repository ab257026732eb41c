"""Generate the body of an exported test: the calls of a log, and the assertions on their results."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from footlight.client.codegen.python_text import LINE_LENGTH, string
from footlight.client.export.assertions import assertions, index_expression, select_distinctive_parts
from footlight.client.export.locators import refs_in, with_locators
from footlight.client.export.python_source import (
    INDENT,
    BracketGroup,
    Code,
    Expression,
    call,
    lay_out,
    literal,
    width,
)
from footlight.client.replay.calls import LoggedCall
from footlight.client.replay.json_paths import Path
from footlight.client.replay.logged_results import Sidecars
from footlight.client.replay.variables import PLACE, map_strings, replace_keys
from footlight.client.replay.volatile import CHANGES
from footlight.protocol.errors import SECRET_NAME, MCPError

__all__ = ["Body", "ResultPlace"]

HANDLE_MEMBERS = ("bound", "call", "close", "root")
"""Attributes of a handle that are not namespaces of tools."""

_MASKED = re.compile(r"(?=\W*?(?:\*\*|••))\W+|\W*(?:redacted|masked|hidden|removed|secret)\W*", re.IGNORECASE)

_WORD = re.compile(r"[\w-]+")
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")
"""A character that is special in a regular expression."""


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """A path in the result of the call at `line`."""

    line: int
    path: Path


@dataclass(slots=True)
class Body:
    """Collects the lines of the test, and the modules and names that they use."""

    ids: Mapping[str, ResultPlace]
    variables: Mapping[str, str]
    sidecars: Sidecars = field(default_factory=Sidecars)
    lines: list[str] = field(default_factory=list[str])
    needs: set[str] = field(default_factory=set[str])
    _naming: frozenset[int] = field(init=False)
    """The lines of the calls whose results contain ids that later calls use."""

    def __post_init__(self) -> None:
        self._naming = frozenset(place.line for place in self.ids.values())

    def add(self, each: LoggedCall, name: str) -> None:
        located = with_locators(each)
        arguments = {key: self._expression(each, key, value) for key, value in located.items()}
        if each.redacted and not any(_uses_environment(value) for value in arguments.values()):
            raise MCPError(
                f"{name}, line {each.line}: {each.name} was redacted when it was logged, and it cannot be "
                "seen where; write ${NAME} where the value was",
                reason="invalid",
            )
        for ref in dict.fromkeys(refs_in(located)):
            self.lines.append(f"{INDENT}# {ref.strip()} was a ref, and the log does not say of what.")
        if each.outcome and not each.outcome.ok:
            self._add_failure(each.outcome.error, self._call(each.name, arguments))
            return
        result = each.outcome.result if each.outcome else None
        names_it = each.line in self._naming
        variable = f"made_{each.line}" if names_it else "result"
        text = self.sidecars.text_of(result)
        known = (
            assertions(self._without_what_changes(result), variable)
            if text is None
            # The file beside the log has the result's text. A method may return another value.
            else assertions(self._without_what_changes(text), f"{variable}.text")
        )
        made = (
            self._call(each.name, arguments) if text is None else self._build_whole_call(each.name, arguments)
        )
        self._statement(made, before=f"{variable} = " if known or names_it else "")
        if any("json.loads(" in line for line in known):
            self.needs.add("json.")
        self.lines += [f"{INDENT}{line}" for line in known]

    def _add_failure(self, error: str, made: Expression) -> None:
        self.needs.add("MCPError")
        match, *others = [*select_distinctive_parts(self._without_what_changes(error)), ""]
        others = [f"assert {string(each)} in failure.value.message" for each in others if each]
        if not match:
            self.lines.append(f"{INDENT}# The log does not say how it failed, so any failure passes.")
        self.lines.append(_raises(match, named=bool(others)))
        self._statement(made, before="", indent=2)
        self.lines += [f"{INDENT}{line}" for line in others]
        if _SPECIAL.search(match):
            self.needs.add("re.")

    def _statement(self, made: Expression, *, before: str, indent: int = 1) -> None:
        if _uses_environment(made):
            self.needs.add("os.")
        self.lines.append(lay_out(made, indent=indent, before=before))

    def _call(self, tool: str, arguments: Mapping[str, Expression]) -> Expression:
        """Return the call, in the form `mcp.nav.goto(url=…)` if the names are identifiers."""
        namespace, dot, method = tool.partition(".")
        arguments_text = (
            [(f"{key}=", value) for key, value in arguments.items()]
            if all(_is_name(key) for key in arguments)
            else [
                (
                    "",
                    BracketGroup("{", [(f"{string(key)}: ", value) for key, value in arguments.items()], "}"),
                )
            ]
        )
        if dot and method and _is_name(namespace) and namespace not in HANDLE_MEMBERS and namespace[0] != "_":
            return call(f"await mcp.{namespace}{_method(method)}", arguments_text)
        if not dot:
            return call(f"await mcp.root{_method(tool)}", arguments_text)
        self.needs.add("value_of")
        return call("value_of", [("", self._build_whole_call(tool, arguments))])

    def _build_whole_call(self, tool: str, arguments: Mapping[str, Expression]) -> Expression:
        """Return a call of `mcp.call`, which returns the whole `ToolResult`."""
        mapping = BracketGroup("{", [(f"{string(key)}: ", value) for key, value in arguments.items()], "}")
        return call("await mcp.call", [("", Code(string(tool))), ("", mapping)])

    def _expression(self, each: LoggedCall, key: str, value: Any) -> Expression:
        if isinstance(value, str):
            return self._text(each, key, value)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return BracketGroup(
                "{",
                [(f"{string(inner)}: ", self._expression(each, inner, it)) for inner, it in items],
                "}",
            )
        if isinstance(value, list):
            return BracketGroup(
                "[", [("", self._expression(each, key, it)) for it in cast("list[Any]", value)], "]"
            )
        return literal(value)

    def _text(self, each: LoggedCall, key: str, text: str) -> Expression:
        place = self.ids.get(text)
        if place and place.line < each.line:
            return Code(index_expression(f"made_{place.line}", place.path))
        if each.redacted and not PLACE.search(text) and _is_masked(key, text):
            return _environment(f"{key}_{each.line}")
        return _join_parts(list(self._parts(text, template=each.redacted or not each.raw)))

    def _parts(self, text: str, *, template: bool) -> Iterator[Expression]:
        """Yield the parts of the text, with environment variables in place of the values of variables."""
        values = {value: name for name, value in self.variables.items() if value}
        if not values:
            yield from _fill_variables(text) if template else [Code(string(text))]
            return
        pattern = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
        for part in re.split(f"({pattern})", text):
            if part in values:
                yield _environment(values[part])
            elif part:
                yield from _fill_variables(part) if template else [Code(string(part))]

    def _without_what_changes(self, result: Any) -> Any:
        """Return the result with `CHANGES` in place of generated ids and the values of variables."""
        values = {each: CHANGES for each in self.variables.values() if each}

        def change(text: str) -> str:
            stable = _WORD.sub(lambda found: CHANGES if found[0] in self.ids else found[0], text)
            return replace_keys(stable, values)

        return map_strings(result, change)


def _fill_variables(text: str) -> Iterator[Expression]:
    """Yield the parts of the text, with environment variables in place of `${name}`."""
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


def _raises(match: str, *, named: bool) -> str:
    """Return the line that expects a failure. The text to match is shortened until the line fits."""
    escaped = f"re.escape({string(match)})" if _SPECIAL.search(match) else string(match)
    raised = f"MCPError, match={escaped}" if match else "MCPError"
    line = f"{INDENT}with pytest.raises({raised}){' as failure' if named else ''}:"
    return line if width(line) <= LINE_LENGTH else _raises(match[:-1], named=named)


def _join_parts(parts: Sequence[Expression]) -> Expression:
    if not parts:
        return Code('""')
    return parts[0] if len(parts) == 1 else BracketGroup('"".join([', [("", part) for part in parts], "])")


def _environment(name: str) -> Code:
    return Code(f"os.environ[{string(re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_').upper())}]")


def _uses_environment(expression: Expression) -> bool:
    if isinstance(expression, BracketGroup):
        return any(_uses_environment(each) for _, each in expression.items)
    return expression.text.startswith("os.environ[")  # A literal begins with a quote.


def _is_masked(key: str, text: str) -> bool:
    return _MASKED.fullmatch(text) is not None or SECRET_NAME.search(key) is not None


def _method(name: str) -> str:
    return f".{name}" if _is_name(name) and name[0] != "_" else f"[{string(name)}]"


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text) and text != "__debug__"
