"""A value of JSON, place by place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

__all__ = ["Path", "items_of", "leaves", "read_text", "shown_path"]

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


def read_text(text: str) -> Any:
    """A result's whole text: JSON as its value; otherwise its lines, those that are JSON as theirs."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return [_line(line) for line in text.split("\n")]


def _line(line: str) -> Any:
    if not line.startswith(("{", "[")):
        return line
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line
