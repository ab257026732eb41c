"""JSON schemas, in words for table cells and in TypeScript's notation for results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

Schema = Mapping[str, Any]


def describe_type(schema: Schema) -> str:
    """Describe a type in words, with its bounds."""
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(choice)}`" for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(describe_type(choice) for choice in schema["anyOf"] if choice != {"type": "null"})
    kind = str(schema.get("type", "any"))
    if schema.get("format") == "path":
        kind = "path"
    elif kind == "array":
        items = describe_type(schema.get("items", {})).replace(", not empty", " (not empty)")
        return f"array of {items}{_describe_bounds(schema, 'minItems', 'maxItems', ' items')}"
    elif kind == "object" and "properties" in schema:
        return f"`{write_type(schema)}`"
    length = _describe_bounds(schema, "minLength", "maxLength", " characters")
    return f"{kind}{_describe_bounds(schema, 'minimum', 'maximum')}{length}"


def _describe_bounds(schema: Schema, low: str, high: str, unit: str = "") -> str:
    least, most = schema.get(low), schema.get(high)
    if (low, least) == ("minLength", 1) and most is None:
        return ", not empty"
    if least is None and most is None:
        return ""
    if least is None:
        return f", at most {most}{unit}"
    return f", {least} to {most}{unit}" if most is not None else f", at least {least}{unit}"


def write_type(schema: Schema) -> str:
    """Write a type as TypeScript does."""
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(choice) for choice in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " | ".join(write_type(choice) for choice in schema["anyOf"])
    kind = schema.get(
        "type", "string" if "$ref" in schema else "any"
    )  # The only $ref is to the screens' names.
    if kind == "array":
        items = write_type(schema.get("items", {}))
        return f"({items})[]" if " | " in items and not items.startswith("{") else f"{items}[]"
    if kind == "object" and "properties" in schema:
        return f"{{{', '.join(write_properties(schema))}}}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"{{[key]: {write_type(schema['additionalProperties'])}}}"
    if isinstance(kind, list):
        return " | ".join(map(str, cast("list[object]", kind)))
    return str(kind)


def write_properties(schema: Schema, without: Iterable[str] = ()) -> Iterator[str]:
    """Write each property of an object as `name: type`, or `name?: type` where it may be absent."""
    required = schema.get("required", ())
    properties: Mapping[str, Schema] = schema["properties"]
    for name, each in properties.items():
        if name not in without:
            yield f"{name}{'' if name in required else '?'}: {write_type(each)}"
