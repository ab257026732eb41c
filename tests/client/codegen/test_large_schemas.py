"""Schemas that could keep the generator busy forever, or make it fail."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, NotRequired

import pytest

from footlight.client.codegen import schema_to_type
from footlight.protocol.tools import Tool
from tests.client.codegen.modules import execute, render, tool
from tests.processor_time import limit_processor_time


@pytest.fixture(autouse=True)
def bounded() -> Generator[None]:
    """Without a bound each test took minutes, or did not end."""
    with limit_processor_time(30):
        yield


WIDE = {"type": "object", "properties": {f"property{number}": {"type": "string"} for number in range(20_000)}}
VALUES = [f"value{number}" for number in range(20_000)]
MANY = 3_000


def test_class_names_with_colliding_hashes_are_distinguished() -> None:
    """Both would be ABArguments, and four digits of their hashes are the same."""
    names = ("a---/-/b", "a--_ :_b")

    module = execute(render(*(tool(name, {"x": {"type": "string"}}) for name in names)))

    assert sorted(name for name in module if name.startswith("ABArguments")) == [
        "ABArguments_5dfc",
        "ABArguments_73af",
    ]


@pytest.mark.parametrize("index", ["²", "٣", "9" * 5_000, "-1", ""])
def test_invalid_reference_index_is_ignored(index: str) -> None:
    schema = {"$ref": f"#/allOf/{index}", "allOf": [{"type": "string"}]}

    assert schema_to_type({"allOf": [{"type": "string"}, schema]}) == "str"


def test_anchor_reference_is_typed_as_any() -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "#node"}}}

    module = execute(render(tool("x", input_schema=schema)))

    assert module["XArguments"].__annotations__["x"] == NotRequired[Any]


def chain(links: int) -> Mapping[str, Any]:
    """Return a chain of references to references."""
    parts = {str(number): {"$ref": f"#/$defs/{number + 1}"} for number in range(links)}
    return {**tool("x", {"x": {"$ref": "#/$defs/0"}}).input_schema, "$defs": parts}


def graph(objects: int) -> Mapping[str, Any]:
    """Return objects, each of which refers to all others."""
    parts = {
        f"d{number}": {
            "type": "object",
            "properties": {
                f"p{each}": {"$ref": f"#/$defs/d{(number * 7 + each) % objects}"} for each in range(7)
            },
        }
        for number in range(objects)
    }
    return {**tool("x", {"x": {"$ref": "#/$defs/d0"}}).input_schema, "$defs": parts}


@pytest.mark.slow
@pytest.mark.parametrize(
    "schema",
    [
        chain(2_000),
        graph(1_000),
        {**WIDE, "required": list(WIDE["properties"])},
        {"properties": {"x": {"allOf": [{"$ref": "#/$defs/wide"}] * MANY}}, "$defs": {"wide": WIDE}},
        {"properties": {"x": {"enum": VALUES}}},
        {"properties": {"x": {"allOf": [{"enum": VALUES}, {"enum": [*VALUES]}]}}},
    ],
    ids=["chain", "graph", "required", "merged", "values", "merged values"],
)
def test_large_schema_gives_a_valid_module(schema: Mapping[str, Any]) -> None:
    execute(render(Tool(name="x", input_schema=schema)))


def test_deeply_nested_all_of_becomes_any() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(300):
        schema = {"allOf": [schema]}

    assert schema_to_type(schema) == "Any"
