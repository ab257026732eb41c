"""Read untrusted JSON values. A value of an unexpected type is treated as absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

__all__ = [
    "MAX_DEPTH",
    "an_object",
    "cut_depth",
    "estimate_size",
    "integer",
    "items",
    "number",
    "object_or_none",
    "text",
]

MAX_DEPTH = 100


def an_object(value: object) -> Mapping[str, Any]:
    """Return the object, or an empty one if the value is not an object."""
    return object_or_none(value) or {}


def object_or_none(value: object) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def number(value: object) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def estimate_size(value: object) -> int:
    """Return approximately how many characters a JSON value has when it is written."""
    size = 0
    waiting = [value]
    while waiting:
        each = waiting.pop()
        size += 4
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, Mapping):
            members = cast("Mapping[str, object]", each)
            size += sum(map(len, members))
            waiting += members.values()
        elif isinstance(each, list):
            waiting += cast("list[object]", each)
    return size


def cut_depth(value: Any, levels: int = MAX_DEPTH) -> Any:
    """Return a JSON value, in which objects and arrays below so many levels are replaced by True.

    A server may send a value that is too deep for recursive functions, including `json.dumps`. In a schema,
    True accepts everything.
    """
    if not isinstance(value, (Mapping, list)):
        return value
    if levels == 0:
        return True
    if isinstance(value, list):
        return [cut_depth(each, levels - 1) for each in cast("list[object]", value)]
    return {name: cut_depth(each, levels - 1) for name, each in cast("Mapping[str, object]", value).items()}


def integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
