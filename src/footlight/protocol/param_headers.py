"""HTTP headers that repeat arguments of a call, if the tool's schema requests it (revision 2026-07-28)."""

from __future__ import annotations

import base64
import re
from collections.abc import Generator, Mapping
from typing import Any, cast

from footlight.protocol.errors import MCPError

__all__ = ["check_annotations", "header_value", "mirror_arguments"]

KEY = "x-mcp-header"
PREFIX = "Mcp-Param-"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_PLAIN = re.compile(r"[\x20-\x7e]*")
_WRAPPED = re.compile(r"=\?base64\?.*\?=")
_SCHEMAS = frozenset(
    (
        "items",
        "contains",
        "unevaluatedItems",
        "additionalProperties",
        "propertyNames",
        "unevaluatedProperties",
    )
) | {"not", "if", "then", "else", "contentSchema"}
_LISTS_OF_SCHEMAS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_MAPS_OF_SCHEMAS = frozenset(("patternProperties", "dependentSchemas", "$defs", "definitions"))

Path = tuple[str, ...]


def mirror_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the `Mcp-Param-*` headers of a call. An absent or null argument has no header."""
    headers: dict[str, str] = {}
    for path, part in _subschemas(schema):
        token = part.get(KEY)
        value = _value_at(arguments, path) if path and isinstance(token, str) else None
        if (text := _header_text(value)) is not None:
            headers[f"{PREFIX}{token}"] = header_value(text)
    return headers


def check_annotations(schema: Mapping[str, Any]) -> None:
    """Check the `x-mcp-header` annotations of a schema. Clients must not use tools with invalid ones.

    Raises:
        MCPError: an annotation is not valid. The message has the reason.
    """
    seen: dict[str, Path] = {}
    for path, part in _subschemas(schema):
        if KEY not in part:
            continue
        if not path:
            raise MCPError(f"{KEY} is not on an argument", reason="protocol")
        where, token, kind = ".".join(path), part[KEY], part.get("type")
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise MCPError(f"{where}: {KEY} is not a valid header name", reason="protocol")
        if kind not in ("string", "integer", "boolean"):
            raise MCPError(f"{where}: {KEY} is for strings, integers and booleans", reason="protocol")
        if (other := seen.setdefault(token.lower(), path)) != path:
            raise MCPError(f"{where}: {KEY} names the header of {'.'.join(other)} too", reason="protocol")


def header_value(text: str) -> str:
    """Return the text unchanged if it is valid in a header, or else encoded in base64."""
    if _PLAIN.fullmatch(text) and text == text.strip() and not _WRAPPED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def _subschemas(root: object) -> Generator[tuple[Path | None, Mapping[str, Any]]]:
    """Yield every subschema with the path of its argument, or None if it does not belong to one argument.

    References are not followed.
    """
    stack: list[tuple[Path | None, object]] = [((), root)]
    while stack:
        path, node = stack.pop()
        if not isinstance(node, Mapping):
            continue
        schema = cast("Mapping[str, Any]", node)
        yield path, schema
        for keyword, value in schema.items():
            if keyword == "properties":
                stack.extend(
                    (None if path is None else (*path, name), each) for name, each in _entries(value)
                )
            elif keyword in _SCHEMAS:
                stack.append((None, value))
            elif keyword in _LISTS_OF_SCHEMAS and isinstance(value, list):
                stack.extend((None, each) for each in cast("list[object]", value))
            elif keyword in _MAPS_OF_SCHEMAS:
                stack.extend((None, each) for _, each in _entries(value))


def _entries(value: object) -> list[tuple[str, object]]:
    return list(cast("Mapping[str, object]", value).items()) if isinstance(value, Mapping) else []


def _value_at(arguments: Mapping[str, Any], path: Path) -> object:
    value: object = arguments
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, object]", value).get(name)
    return value


def _header_text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else None
