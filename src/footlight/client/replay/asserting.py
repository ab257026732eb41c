"""What of a logged result is the same each time, as lines of a test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from footlight.client.python_text import LINE_LENGTH, string
from footlight.client.replay.leaves import Path, leaves
from footlight.client.replay.source import INDENT, flat, literal, width
from footlight.client.replay.volatile import is_volatile_field, steady
from footlight.client.replay.written import is_summary

__all__ = ["Changing", "assertions", "at", "telling"]

MOST = 8
"""Lines for one call."""
LONGEST_BEGINNING = 60
LONGEST_MATCH = 60

_REF = re.compile(r"(?:^|\s)e[1-9]\d*(?:\s|$)|\[ref=")
"""The number of an element in one look at a page."""
_CODE = re.compile(r'"code":\s*"(?P<quoted>\w+)"|^(?P<said>[A-Z][A-Z0-9_]{2,}): ')
"""Of an error that is an object: as a client says it, or as logs have had it."""
_CHANGING = re.compile(r"\d|[\r\n\"]|[^\x20-\x7e]")


class Changing(str):
    """A text that is known to be another each time."""

    __slots__ = ()


def assertions(result: Any, name: str) -> list[str]:
    """The whole where it fits and all of it stays; otherwise what stays, place by place."""
    if result is None or is_summary(result):
        return []
    found = list(leaves(result))
    if found and all(_stays(path, value) for path, value in found):
        whole = f"assert {name} {_equals(result)}"
        if _fits(whole):
            return [whole]
    lines = (line for path, value in found if _says_something(path) for line in _assertion(name, path, value))
    return [line for line, _ in zip(lines, range(MOST), strict=False)]


def _assertion(name: str, path: Path, value: Any) -> Iterator[str]:
    if not _stays(path, value):
        return
    line = f"assert {at(name, path)} {_equals(value)}"
    if _fits(line):
        yield line
    elif isinstance(value, str):
        line = f"assert {at(name, path)}.startswith({string(value[:LONGEST_BEGINNING])})"
        if _fits(line):
            yield line


def at(name: str, path: Path) -> str:
    """The expression for a place of a result."""
    return name + "".join(f"[{string(step) if isinstance(step, str) else step}]" for step in path)


def telling(error: str) -> str:
    """The part of an error's message by which it is known: its code, or what it begins with and keeps."""
    if code := _CODE.search(error):
        return code["quoted"] or code["said"]
    said = error.removeprefix("{")
    changing = _CHANGING.search(said)
    return said[: changing.start() if changing else None][:LONGEST_MATCH].strip()


def _stays(path: Path, value: Any) -> bool:
    if isinstance(value, Changing) or is_volatile_field(path, value, value):
        return False
    return not isinstance(value, str) or (
        "\n" not in value and steady(value) == value and not _REF.search(value)
    )


def _says_something(path: Path) -> bool:
    """Not that it succeeded, or it had raised; nor what a server tells beside the result of an action."""
    return path != ("success",) and path[:1] != ("observation",)


def _equals(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return f"is {value}"
    return f"== {flat(literal(value))}"


def _fits(line: str) -> bool:
    return width(f"{INDENT}{line}") <= LINE_LENGTH
