"""Convert selectors to Playwright expressions for Python, for writing tests from a session."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

__all__ = ["find_selectors", "playwright_line", "playwright_lines"]

_SELECTORS = ("selector", "source", "target", "submit")
"""The parameters of actions that identify an element."""
_REF = re.compile(r"\s*(?:\[ref=e\d+\]|(?:ref=|@)?e\d+)\s*(?:>>.*)?", re.DOTALL)
_ROLE = re.compile(r'role=([a-z]+)(?:\[name=("(?:[^"\\]|\\.)*")\])?')
_FRAME = re.compile(r"(?::is\()?i?frame\b")
"""A selector of a frame. The part after it is searched in the frame."""
_CHOICE = re.compile(r"nth=(\d+)|visible=(?:true|false)")
"""A part that chooses among the matches of the part before it."""


def playwright_line(selector: str) -> str:
    """Return the Playwright expression for a selector, such as `page.get_by_role("button")`."""
    parts: list[str] = []
    for part in _split(selector):
        if parts and _FRAME.match(parts[-1]) and _CHOICE.fullmatch(part):
            parts[-1] += f" >> {part}"
        else:
            parts.append(part)
    calls = [_call(part, enters=index < len(parts) - 1) for index, part in enumerate(parts)]
    return f"page{''.join(calls)}"


def playwright_lines(located: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the expression for an action's element, a mapping by selector for several, or a list for steps.

    `located` has the stable selectors of the refs: one, a mapping by selector, or a list for steps.
    """
    steps = arguments.get("steps")
    if isinstance(steps, list):
        found = (
            cast("list[Any]", located)
            if isinstance(located, list)
            else [None] * len(cast("list[Any]", steps))
        )
        return [
            playwright_lines(each, cast("Mapping[str, Any]", step.get("arguments") or {}))
            for each, step in zip(found, cast("list[Mapping[str, Any]]", steps), strict=False)
        ]
    selectors = list(find_selectors(arguments))
    known: Mapping[str, str] = cast("Mapping[str, str]", located) if isinstance(located, Mapping) else {}
    if isinstance(located, str):
        refs = [each for each in selectors if _REF.fullmatch(each)]
        known = dict.fromkeys((refs or selectors)[:1], located)
    lines = {
        each: playwright_line(known.get(each, each))
        for each in selectors
        if each in known or not _REF.fullmatch(each)
    }
    return lines if len(selectors) > 1 else next(iter(lines.values()), None)


def find_selectors(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the selectors of an action, including those of form fields."""
    for name in _SELECTORS:
        if isinstance(selector := arguments.get(name), str):
            yield selector
    fields = arguments.get("fields")
    if isinstance(fields, Mapping):
        yield from cast("Mapping[str, Any]", fields)


def _split(selector: str) -> Iterator[str]:
    """Yield the parts of a selector, separated by `>>` outside of quotes."""
    start, quote, index = 0, "", 0
    while index < len(selector):
        character = selector[index]
        if character == "\\":
            index += 1
        elif quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif selector.startswith(">>", index):
            yield selector[start:index].strip()
            start = index + 2
            index += 1
        index += 1
    yield selector[start:].strip()


def _call(part: str, *, enters: bool) -> str:
    if enters and _FRAME.match(part):
        return f".frame_locator({_literal(part)})"
    if part.startswith("testid="):
        return f".get_by_test_id({_literal(part.removeprefix('testid=').strip())})"
    if role := _ROLE.fullmatch(part):
        name = f", name={_literal(_unquote(role[2]))}, exact=True" if role[2] else ""
        return f".get_by_role({_literal(role[1])}{name})"
    if (choice := _CHOICE.fullmatch(part)) and choice[1]:
        return ".first" if choice[1] == "0" else f".nth({choice[1]})"
    return f".locator({_literal(part)})"


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
