"""Format tools, example calls and relative times for display."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from footlight.protocol.untrusted_json import an_object, integer, items, object_or_none, text
from footlight.protocol.versions import DEFAULT_VERSION

if TYPE_CHECKING:
    from footlight.protocol.tools import Tool

__all__ = [
    "example_arguments",
    "format_parameters",
    "format_relative_time",
    "generate_example",
    "get_protocol_version",
]

MAX_LEVELS = 20
"""The maximum number of nested schemas and references that are followed, for recursive schemas."""

MAX_COUNT = 10
MAX_REPEATED_LEVELS = 3
"""The maximum number of items in a list of an example, and the number of levels with more than one item."""

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_WEEK = 604_800

_FORMATS = {
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "email": "someone@example.com",
    "date": "2025-06-18",
    "time": "12:00:00Z",
    "date-time": "2025-06-18T12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "hostname": "example.com",
}


def get_protocol_version() -> str:
    """Return the revision of the protocol that a client offers by default."""
    return DEFAULT_VERSION


def format_parameters(tool: Tool) -> str:
    """Return a line for each parameter: `name* (type): description`, with a star if it is required."""
    required = items(tool.input_schema.get("required"))
    properties = an_object(tool.input_schema.get("properties"))
    if not properties:
        return "No parameters"
    return "\n".join(
        f"  {name}{'*' if name in required else ''} ({_type(tool.input_schema, schema, 0)})"
        f": {_description(tool.input_schema, schema)}".rstrip(": ")
        for name, schema in properties.items()
    )


def generate_example(tool: Tool, *, client: str = "client") -> str:
    """Return Python code that calls the tool with example values for its required arguments."""
    return f"result = await {client}.call({_literal(tool.name)}, {_literal(example_arguments(tool))})"


def example_arguments(tool: Tool) -> dict[str, Any]:
    """Return an example value for each required parameter."""
    return _object(tool.input_schema, tool.input_schema, 0)


def format_relative_time(moment: datetime | float | str | None, *, now: datetime | None = None) -> str:
    """Return `5 minutes ago`, `in 2 hours`, the date beyond a week, or `N/A` for None.

    A number is in milliseconds since 1970, and a string in ISO 8601. A time without a time zone is in UTC.

    Raises:
        ValueError: the string is not an ISO 8601 time.
    """
    if moment is None:
        return "N/A"
    then, today = _moment(moment), _moment(now or datetime.now(UTC))
    seconds = (today - then).total_seconds()
    if abs(seconds) < 60:
        return "just now"
    if abs(seconds) >= _WEEK:
        return then.date().isoformat()
    unit, size = next(each for each in _UNITS if abs(seconds) >= each[1])
    count = int(abs(seconds) // size)
    amount = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{amount} ago" if seconds > 0 else f"in {amount}"


def _moment(moment: datetime | float | str) -> datetime:
    if isinstance(moment, (int, float)):
        return datetime.fromtimestamp(moment / 1000, UTC)
    then = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return then if then.tzinfo else then.replace(tzinfo=UTC)


def _resolve_reference(root: Mapping[str, Any], schema: object) -> Mapping[str, Any]:
    """Return the schema with its local references resolved."""
    found = an_object(schema)
    for _ in range(MAX_LEVELS):
        reference = text(found.get("$ref"))
        if reference is None or not reference.startswith("#"):
            break
        target: object = root
        for part in reference.lstrip("#").split("/")[1:]:
            target = an_object(target).get(part.replace("~1", "/").replace("~0", "~"))
        found = {**an_object(target), **{key: value for key, value in found.items() if key != "$ref"}}
    return found


def _alternatives(schema: Mapping[str, Any]) -> list[object]:
    return items(schema.get("anyOf")) or items(schema.get("oneOf"))


def _description(root: Mapping[str, Any], schema: object) -> str:
    return " ".join((text(_resolve_reference(root, schema).get("description")) or "").split())


def _type(root: Mapping[str, Any], schema: object, level: int) -> str:
    found = _resolve_reference(root, schema)
    if "const" in found:
        return json.dumps(found["const"])
    if choices := items(found.get("enum")):
        return " | ".join(json.dumps(choice) for choice in choices)
    if level >= MAX_LEVELS:
        return "any"
    if kinds := [_type(root, each, level + 1) for each in _alternatives(found)]:
        return " | ".join(dict.fromkeys(kinds))
    if kinds := [str(each) for each in items(found.get("type"))]:
        return " | ".join(kinds)
    kind = text(found.get("type")) or "any"
    if kind == "array" and object_or_none(found.get("items")):
        inner = _type(root, found["items"], level + 1)
        return f"array of ({inner})" if " | " in inner else f"array of {inner}"
    return kind


def _example(root: Mapping[str, Any], schema: object, level: int) -> Any:
    found = _resolve_reference(root, schema)
    for key in ("const", "default"):
        if key in found:
            return found[key]
    for key in ("enum", "examples"):
        if choices := items(found.get(key)):
            return choices[0]
    if level >= MAX_LEVELS:
        return None
    if alternatives := _alternatives(found):
        return _example(root, alternatives[0], level + 1)
    kinds = [str(each) for each in items(found.get("type"))] or [text(found.get("type")) or "any"]
    return _example_of_type(kinds[0], root, found, level)


def _example_of_type(kind: str, root: Mapping[str, Any], schema: Mapping[str, Any], level: int) -> Any:
    match kind:
        case "string":
            return _string(schema)
        case "number" | "integer":
            return _number(schema, whole=kind == "integer")
        case "boolean":
            return False
        case "array":
            count = _count(schema, "minItems", level)
            return [_example(root, schema.get("items"), level + 1) for _ in range(count)]
        case "object":
            return _object(root, schema, level)
        case _:
            return None


def _string(schema: Mapping[str, Any]) -> str:
    written = _FORMATS.get(str(schema.get("format")))
    if written is None:
        description = text(schema.get("description"))
        written = f"<{' '.join(description.split())}>" if description else "example"
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", len(written))
    return written[: max(longest, 0)].ljust(shortest, "x")


def _number(schema: Mapping[str, Any], *, whole: bool) -> float:
    step = schema.get("multipleOf", 1)
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    most = schema.get("maximum", schema.get("exclusiveMaximum"))
    if least is None:
        least = step if most is None or most > step else most - step
    elif "minimum" not in schema:
        least += step
    return int(least) if whole else least


def _object(root: Mapping[str, Any], schema: Mapping[str, Any], level: int) -> dict[str, Any]:
    properties = an_object(schema.get("properties"))
    names = [name for name in items(schema.get("required")) if isinstance(name, str)]
    made = {name: _example(root, properties.get(name), level + 1) for name in names}
    others = object_or_none(schema.get("additionalProperties")) or {"type": "string"}
    for number in range(len(made) + 1, _count(schema, "minProperties", level) + 1):
        made[f"name{number}"] = _example(root, others, level + 1)
    return made


def _count(schema: Mapping[str, Any], key: str, level: int) -> int:
    """Return how many items or properties a schema requires, within the limits of an example."""
    return min(integer(schema.get(key)) or 0, MAX_COUNT if level < MAX_REPEATED_LEVELS else 1)


def _literal(value: object) -> str:
    """Return a Python literal with double quotes."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case Mapping():
            entries = cast("Mapping[str, object]", value).items()
            return "{" + ", ".join(f"{_literal(key)}: {_literal(each)}" for key, each in entries) + "}"
        case list():
            return "[" + ", ".join(_literal(each) for each in cast("list[object]", value)) + "]"
        case _:
            return repr(value)
