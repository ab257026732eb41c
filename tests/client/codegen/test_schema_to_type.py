"""The type of a property's schema, as specified and beyond."""

from __future__ import annotations

from typing import Any

import pytest

from footlight.client.codegen import schema_to_type

TABLE: list[tuple[Any, str]] = [
    ({"type": "string"}, "str"),
    ({"type": "string", "enum": ["a", "b"]}, 'Literal["a", "b"]'),
    ({"type": "boolean"}, "bool"),
    ({"type": "number"}, "float"),
    ({"type": "integer"}, "int"),
    ({"type": "object"}, "dict[str, Any]"),
    ({"type": "array", "items": {"type": "string"}}, "list[str]"),
    ({"type": "array", "items": {"type": "integer"}}, "list[int]"),
    ({"type": "array"}, "list[Any]"),
    ({"type": "unheard of"}, "Any"),
    ({}, "Any"),
]

MORE: list[tuple[Any, str]] = [
    ({"type": "null"}, "None"),
    ({"type": ["string", "null"]}, "str | None"),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "int | None"),
    ({"anyOf": [{"const": "a"}, {"const": "b"}, {"enum": ["a", 1]}]}, 'Literal["a", "b", 1]'),
    ({"anyOf": [{"type": "string"}, {}]}, "Any"),
    ({"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}, "str"),
    (
        {"enum": ["a", 1, -2, True, None, 1.5, [1], {"x": 1}]},
        'Literal["a", 1, -2, True] | None | float | list[Any] | dict[str, Any]',
    ),
    ({"const": None}, "None"),
    ({"const": 1.0}, "float"),
    ({"type": "string", "enum": ["a", 1]}, 'Literal["a"]'),
    (
        {"enum": ['say "hi"', "it's", "\n\\", "\ud800", "\u202e"]},
        'Literal[\'say "hi"\', "it\'s", "\\n\\\\", "\\ud800", "\\u202e"]',
    ),
    ({"allOf": [{"type": "number"}, {"type": "integer"}]}, "int"),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "Never"),
    ({"allOf": [{"type": "odd"}, {"type": "integer"}]}, "int"),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
    (
        {"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False},
        "dict[str, int]",
    ),
    ({"type": "object", "additionalProperties": False}, "dict[str, Never]"),
    ({"type": "object", "properties": {"a": {"type": "string"}}}, "dict[str, Any]"),
    (
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        "list[str | int]",
    ),
    (
        {"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "null"}},
        "list[str | None]",
    ),
    ({"$defs": {"a/b": {"type": "string"}}, "$ref": "#/$defs/a~1b"}, "str"),
    ({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, "Any"),
    ({"$ref": "#/nowhere"}, "Any"),
    ({"$ref": "https://example.com/schema.json"}, "Any"),
    (True, "Any"),
    (False, "Never"),
    (None, "Any"),
    ("string", "Any"),
    ([], "Any"),
    ({"type": 5}, "Any"),
    ({"type": ["string", 5, []]}, "str"),
    ({"enum": 5, "required": 5, "properties": 5, "items": 5, "type": "object"}, "dict[str, Any]"),
    ({"anyOf": {}, "oneOf": 5, "allOf": "x", "$ref": 5}, "Any"),
]


@pytest.mark.parametrize(("schema", "type"), TABLE)
def test_types_match_the_documented_table(schema: object, type: str) -> None:
    assert schema_to_type(schema) == type


@pytest.mark.parametrize(("schema", "type"), MORE)
def test_undocumented_schemas_are_converted(schema: object, type: str) -> None:
    assert schema_to_type(schema) == type
