"""Describing tools and times in words."""

from __future__ import annotations

import ast
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from footlight.client.describe import (
    example_arguments,
    format_parameters,
    format_relative_time,
    generate_example,
    get_protocol_version,
)
from footlight.protocol.tools import Tool
from tests.conftest import Browser

NOW = datetime(2025, 10, 12, 12, 0, tzinfo=UTC)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "url": {"type": "string", "format": "uri", "description": "Where to\n  go"},
        "until": {"enum": ["load", "idle"], "default": "idle"},
        "count": {"type": "integer", "minimum": 3},
        "tags": {"type": "array", "items": {"type": ["string", "null"]}, "minItems": 2},
        "place": {"$ref": "#/$defs/place", "description": "A place"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "on": {"type": "boolean"},
        "any": {},
    },
    "required": ["url", "until", "count", "tags", "place", "on", "note", "any"],
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"inside": {"$ref": "#/$defs/place"}, "name": {"type": "string", "maxLength": 3}},
            "required": ["name"],
        }
    },
}


def test_default_protocol_version_is_2025_06_18() -> None:
    assert get_protocol_version() == "2025-06-18"


def test_parameters_are_formatted_as_lines() -> None:
    schema = {**SCHEMA, "required": ["url", "tags"]}

    assert format_parameters(Tool("go", input_schema=schema)) == "\n".join(
        [
            "  url* (string): Where to go",
            '  until ("load" | "idle")',
            "  count (integer)",
            "  tags* (array of (string | null))",
            "  place (object): A place",
            "  note (string | null)",
            "  on (boolean)",
            "  any (any)",
        ]
    )


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": {}}])
def test_tool_without_parameters_is_described(schema: dict[str, Any]) -> None:
    assert (
        format_parameters(Tool("x", input_schema=schema)),
        generate_example(Tool("x", input_schema=schema)),
    ) == (
        "No parameters",
        'result = await client.call("x", {})',
    )


def test_example_is_valid_python_with_all_required_arguments() -> None:
    tool = Tool("go", input_schema=SCHEMA)

    example = generate_example(tool, client="mcp")

    assert example == (
        'result = await mcp.call("go", {"url": "https://example.com/", "until": "idle", "count": 3, '
        '"tags": ["example", "example"], "place": {"name": "exa"}, '
        '"on": False, "note": "example", "any": None})'
    )
    ast.parse(example.removeprefix("result = await "))


def test_recursive_schema_gets_an_example() -> None:
    schema = {
        "type": "object",
        "properties": {"inside": {"$ref": "#"}, "self": {"$ref": "#/properties/self"}},
        "required": ["inside"],
    }

    assert example_arguments(Tool("x", input_schema=schema))["inside"]["inside"]
    assert format_parameters(Tool("x", input_schema=schema)) == "  inside* (object)\n  self (any)"


def test_required_number_of_properties_and_items_is_limited() -> None:
    lists: dict[str, Any] = {"type": "array", "minItems": 10**9, "items": {"type": "integer"}}
    for _ in range(10):
        lists = {"type": "array", "minItems": 10**9, "items": lists}
    values = {"type": "object", "minProperties": 2, "additionalProperties": {"type": "boolean"}}
    schema = {"properties": {"lists": lists, "values": values}, "required": ["lists", "values"]}

    example = example_arguments(Tool("x", input_schema=schema))

    assert len(example["lists"]) == 10
    assert example["values"] == {"name1": False, "name2": False}


@pytest.mark.anyio
async def test_examples_of_real_tools_match_their_schemas(shared_browser: Browser) -> None:
    listed = (await shared_browser.client.list_tools()).tools

    wrong = {
        tool.name: [error.message for error in Draft202012Validator(tool.input_schema).iter_errors(example)]
        for tool in listed
        for example in [example_arguments(Tool(tool.name, input_schema=tool.input_schema))]
        if not Draft202012Validator(tool.input_schema).is_valid(example)
    }

    assert wrong == {}


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=6, hours=23), "6 days ago"),
        (timedelta(days=7), "2025-10-05"),
        (timedelta(seconds=-59), "just now"),
        (timedelta(minutes=-5), "in 5 minutes"),
        (timedelta(hours=-2), "in 2 hours"),
        (timedelta(days=-30), "2025-11-11"),
    ],
)
def test_relative_time_is_formatted_in_words(ago: timedelta, words: str) -> None:
    """An earlier implementation said "1 minutes ago", and "just now" of the future."""
    assert format_relative_time(NOW - ago, now=NOW) == words


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2025, 10, 12, 11, 0),
        datetime(2025, 10, 12, 13, 0, tzinfo=timezone(timedelta(hours=2))),
        NOW.timestamp() * 1000 - 3_600_000,
        "2025-10-12T11:00:00Z",
        "2025-10-12T13:00:00+02:00",
    ],
)
def test_relative_time_accepts_several_time_formats(moment: Any) -> None:
    assert format_relative_time(moment, now=NOW) == "1 hour ago"


def test_missing_time_is_not_available_and_invalid_text_raises() -> None:
    assert format_relative_time(None) == "N/A"
    with pytest.raises(ValueError, match="Invalid isoformat string"):
        format_relative_time("yesterday")
