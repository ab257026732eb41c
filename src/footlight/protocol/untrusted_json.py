"""Read untrusted JSON values. A value of an unexpected type is treated as absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["an_object", "integer", "items", "number", "object_or_none", "text"]


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


def integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
