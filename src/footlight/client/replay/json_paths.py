"""Walk through JSON values and format their paths."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

__all__ = ["DEEPEST", "Path", "format_path", "is_deep", "items_of", "leaves", "read_text"]

DEEPEST = 200
"""The maximum nesting of objects and arrays. No tool needs deeper arguments."""

Path = tuple[str | int, ...]
"""Object keys and array indices, from the outermost to the innermost."""

_PLAIN = re.compile(r"[A-Za-z_][\w-]*")


def items_of(value: Any) -> Mapping[str | int, Any] | None:
    """Return the items of an object or array by key or index, or None for any other value."""
    if isinstance(value, Mapping):
        return cast("Mapping[str | int, Any]", value)
    if isinstance(value, list):
        return dict(enumerate(cast("list[Any]", value)))
    return None


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value that is neither an object nor an array, with its path."""
    inside = items_of(value)
    if inside is None:
        yield path, value
        return
    for key, each in inside.items():
        yield from leaves(each, (*path, key))


def format_path(path: Path) -> str:
    """Return the path in the form that `IgnoredValues.of` accepts: `$.data.rows[2]`."""
    return "$" + "".join(_step(step) for step in path)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"


def is_deep(value: Any) -> bool:
    """Return whether a value is nested too deeply for recursive functions."""
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
    """Parse the text of a result as JSON, or else return a list of its lines, with JSON lines parsed."""
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
    """Parse a JSON text.

    Raises:
        ValueError: the text is not JSON, or is nested too deeply to be compared.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError from None
    if is_deep(value):
        raise ValueError
    return value
