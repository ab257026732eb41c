"""The types accept exactly the arguments that the schema accepts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from footlight.protocol.tools import Tool
from tests.client.codegen.expressible import Chance, chances
from tests.client.codegen.modules import execute, render, tool
from tests.client.codegen.typed_values import is_of
from tests.tiers import examples

VALUES = 30


def compare_values(chance: Chance) -> list[tuple[bool, bool, Any]]:
    """Of some values: whether the schema accepts it, whether both types do, and the value."""
    module = execute(render(Tool(name="x", input_schema=chance.schema, output_schema=chance.schema)))
    check = jsonschema.Draft202012Validator(chance.schema)
    found: list[tuple[bool, bool, Any]] = []
    for _ in range(VALUES):
        value = chance.value()
        types = {is_of(value, module[name], module) for name in ("XArguments", "XResult")}
        assert len(types) == 1
        found.append((check.is_valid(value), types.pop(), value))
    return found


@examples(150)
@given(chances)
def test_types_accept_exactly_what_the_schema_accepts(chance: Chance) -> None:
    assert [each for each in compare_values(chance) if each[0] != each[1]] == [], chance.schema


@pytest.mark.slow
def test_tested_values_are_both_accepted_and_refused() -> None:
    """Else the test above would say little."""
    counts = Counter(accepts for seed in range(50) for accepts, _, _ in compare_values(Chance(seed)))

    assert min(counts[True], counts[False]) > 400


def test_unspecified_parameter_types_are_unrestricted() -> None:
    module = execute(render(tool("x", {"a": {}, "b": True, "c": {"minimum": 1}, "d": {"type": "any"}})))

    assert is_of({"a": 1, "b": [None], "c": "x", "d": {}}, module["XArguments"], module)


def test_impossible_optional_parameter_is_omitted() -> None:
    module = execute(render(tool("x", {"never": False, "must": False}, "must")))

    assert list(module["XArguments"].__annotations__) == ["must"]
    assert not is_of({"must": 1}, module["XArguments"], module)
