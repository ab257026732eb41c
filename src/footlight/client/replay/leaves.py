"""A value of JSON, place by place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

__all__ = ["DEEPEST", "Path", "is_deep", "items_of", "leaves", "read_text", "shown_path"]

DEEPEST = 200
"""Levels of one object or array in another. What is deeper is no tool's argument."""

Path = tuple[str | int, ...]
"""From the whole inwards: keys of objects and indices of arrays."""

_PLAIN = re.compile(r"[A-Za-z_][\w-]*")


def items_of(value: Any) -> Mapping[str | int, Any] | None:
    """What an object or array has, by key or index; None of anything else."""
    if isinstance(value, Mapping):
        return cast("Mapping[str | int, Any]", value)
    if isinstance(value, list):
        return dict(enumerate(cast("list[Any]", value)))
    return None


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All that is neither object nor array, with its place."""
    inside = items_of(value)
    if inside is None:
        yield path, value
        return
    for key, each in inside.items():
        yield from leaves(each, (*path, key))


def shown_path(path: Path) -> str:
    """`$.data.rows[2]`, as it is given to be ignored."""
    return "$" + "".join(_step(step) for step in path)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"


def is_deep(value: Any) -> bool:
    """Too deep for functions that call themselves, and so asked level by level."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    values = (items_of(value) or {}).values()
    return [each for each in values if isinstance(each, (Mapping, list))]


def read_text(text: str) -> Any:
    """A result's whole text: JSON as its value; otherwise its lines, those that are JSON as theirs."""
    try:
        return _read(text)
    except ValueError:
        return [_line(line) for line in text.split("\n")]


def _line(line: str) -> Any:
    if not line.startswith(("{", "[")):
        return line
    try:
        return _read(line)
    except ValueError:
        return line


def _read(text: str) -> Any:
    """Raises ValueError where it is no JSON, or too deep to be compared."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError from None
    if is_deep(value):
        raise ValueError
    return value
