"""The declaration of a tool."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from footlight.errors import InvalidParameterError, MissingParameterError
from footlight.server.tools import Count, Number, Tool, ToolCall, tool


class Lamp(BaseModel):
    """A lamp."""

    model_config = ConfigDict(strict=True)

    watts: Number
    colour: str | None = None


class Lit(TypedDict):
    """What is on afterwards."""

    lamps: list[str]
    brightest: str | None


@tool(effect="act", destructive=True)
async def light(
    call: ToolCall,
    lamp_name: Annotated[str, Field(min_length=1, description="Which one")],
    mode: Literal["slow", "fast"] = "slow",
    times: Annotated[Count, Field(le=9)] = 1,
    lamp: Lamp | None = None,
    tags: list[str] | None = None,
) -> Lit:
    """Light a lamp. It stays lit
    until somebody comes.

    Not before dusk.
    """
    return {"lamps": [lamp_name] * times, "brightest": None}


@tool(name="look", scope="session", effect="read", names_session=True)
async def look_(call: ToolCall) -> Lit:
    """Look around"""
    return {"lamps": [], "brightest": None}


@tool(scope="server", effect="configure", permission="evaluation")
async def sweep(call: ToolCall, anything: Any = None) -> Lit:
    """Sweep"""
    return {"lamps": [], "brightest": None}


def test_tool_name_and_description_come_from_the_function() -> None:
    assert (light.name, light.title) == ("light", "Light a lamp")
    assert light.description == "Light a lamp. It stays lit until somebody comes. Not before dusk."
    assert (look_.name, look_.title, look_.description) == ("look", "Look around", "Look around")


def test_the_input_schema_comes_from_the_signature() -> None:
    assert light.input_schema == {
        "type": "object",
        "properties": {
            "lampName": {"type": "string", "minLength": 1, "description": "Which one"},
            "mode": {"type": "string", "enum": ["slow", "fast"], "default": "slow"},
            "times": {"type": "number", "minimum": 1, "maximum": 9, "default": 1},
            "lamp": {
                "type": "object",
                "properties": {"watts": {"type": "number"}, "colour": {"type": "string"}},
                "required": ["watts"],
            },
            "tags": {"type": "array", "items": {"type": "string"}},
            "sessionId": {"type": "string"},
            "pageId": {"type": "string"},
            "timeout": {"type": "number"},
            "observe": {"type": "string", "enum": ["none", "diff", "full"]},
            "settle": {"type": "string", "enum": ["auto", "none"]},
            "expect": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "gone": {"type": "string"},
                    "url": {"type": "string"},
                    "request": {"type": "string"},
                    "value": {
                        "type": "object",
                        "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
                    },
                    "count": {"type": "object", "additionalProperties": {"type": "number"}},
                },
            },
            "locator": {"type": "boolean"},
            "budget": {"type": "number"},
        },
        "required": ["lampName"],
        "additionalProperties": False,
    }


def test_scope_adds_the_shared_parameters() -> None:
    assert look_.input_schema == {
        "type": "object",
        "properties": {"sessionId": {"type": "string"}},
        "required": ["sessionId"],
        "additionalProperties": False,
    }
    assert sweep.input_schema == {
        "type": "object",
        "properties": {"anything": {}},
        "additionalProperties": False,
    }


def test_output_schema_describes_the_result_envelope() -> None:
    schema = light.output_schema

    jsonschema.validate({"success": True, "data": {"lamps": ["a"], "brightest": None}}, schema)
    jsonschema.validate({"success": False, "error": {"code": "A", "message": "b", "retryable": True}}, schema)
    for wrong in ({}, {"success": "yes"}, {"success": True, "data": {"lamps": 1, "brightest": None}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


@pytest.mark.parametrize(
    ("declared", "facts"),
    [
        (light, (False, True, False, True, None)),
        (look_, (True, False, True, False, None)),
        (sweep, (False, False, False, False, "evaluation")),
    ],
)
def test_effect_determines_annotations_and_permission(declared: Tool, facts: tuple[object, ...]) -> None:
    assert facts == (
        declared.read_only,
        declared.destructive,
        declared.idempotent,
        declared.open_world,
        declared.permission,
    )


def test_parsed_arguments_use_the_python_parameter_names() -> None:
    parsed = light.parse({"lampName": "desk", "times": 2.0, "lamp": {"watts": 5}, "pageId": None})

    assert parsed.model_dump() == {
        "lamp_name": "desk",
        "mode": "slow",
        "times": 2,
        "lamp": {"watts": 5.0, "colour": None},
        "tags": None,
        "session_id": None,
        "page_id": None,
        "timeout": None,
        "observe": None,
        "settle": None,
        "expect": None,
        "locator": None,
        "budget": None,
    }


EXPECTED = {
    "lampName": "string",
    "mode": "slow | fast",
    "times": "number",
    "lamp": "{watts, colour?}",
    "tags": "array of string",
    "sessionId": "string",
    "pageId": "string",
    "timeout": "number",
    "observe": "none | diff | full",
    "settle": "auto | none",
    "expect": "{text?, gone?, url?, request?, value?, count?}",
    "locator": "boolean",
    "budget": "number",
}


def test_missing_parameter_error_includes_expected_parameters() -> None:
    with pytest.raises(MissingParameterError) as raised:
        light.parse({"mode": "fast"})

    assert raised.value.message == "light needs the parameter lampName"
    assert raised.value.details == {
        "tool": "light",
        "parameter": "lampName",
        "missing": ["lampName"],
        "expected": EXPECTED,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lampName": 7}, "lampName: must be a valid string, got 7"),
        ({"lampName": ""}, "lampName: must have at least 1 character, got ''"),
        ({"lampName": "a", "mode": "dim"}, "mode: must be 'slow' or 'fast', got 'dim'"),
        ({"lampName": "a", "times": "2"}, "times: must be a valid integer, got '2'"),
        ({"lampName": "a", "times": True}, "times: must be a valid integer, got true"),
        ({"lampName": "a", "times": 2.5}, "times: must be a valid integer, got 2.5"),
        ({"lampName": "a", "times": 10}, "times: must be less than or equal to 9, got 10"),
        ({"lampName": "a", "lamp": {"watts": "5"}}, "lamp.watts: must be a valid number, got '5'"),
        ({"lampName": "a", "tags": ["x", 1]}, "tags.1: must be a valid string, got 1"),
        ({"lampName": "a", "tags": "x"}, "tags: must be a valid list, got 'x'"),
        ({"lampName": "a", "timeout": 0}, "timeout: must be greater than or equal to 1, got 0"),
        (
            {"lampName": "a", "lamp_name": "b"},
            "lamp_name: unknown parameter; it is called lampName here",
        ),
        (
            {"lampName": "a", "colour": "red"},
            "colour: unknown parameter; "
            "light takes lampName, mode, times, lamp, tags, sessionId, pageId, timeout, observe, settle, "
            "expect, locator, budget",
        ),
        (
            {"lampName": "a", "expect": {"label": "lit"}},
            "expect.label: unknown field; expect takes text, gone, url, request, value, count",
        ),
        ({"lampName": "a", "expect": {"txt": "lit"}}, "expect.txt: unknown field; it is called text here"),
        (
            {"lampName": "a", "tags": 1, "mode": 1},
            "mode: must be 'slow' or 'fast', got 1; tags: must be a valid list, got 1",
        ),
    ],
)
def test_invalid_parameter_error_includes_expected_parameters(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidParameterError) as raised:
        light.parse(arguments)

    assert raised.value.message == message
    assert raised.value.details["parameter"] == message.split(":")[0]
    assert raised.value.details["expected"] == EXPECTED


def test_missing_parameter_error_also_names_unknown_field() -> None:
    with pytest.raises(MissingParameterError) as raised:
        light.parse({"lampName": "a", "lamp": {}, "expect": {"txt": "lit"}})

    assert raised.value.message == (
        "light needs the parameter lamp.watts; expect.txt: unknown field; it is called text here"
    )
    assert raised.value.details["missing"] == ["lamp.watts"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"lampName": "a\ud800b"}, "lampName"),
        ({"lampName": "a", "tags": ["b", "\udfff"]}, "tags.1"),
        ({"lampName": "a", "expect": {"text": "\ud83d"}}, "expect.text"),
        ({"lampName": "a", "expect": {"value": {"#a": "\ude00"}}}, "expect.value.#a"),
        ({"lampName": "a", "expect": {"count": {"#\ude00": 1}}}, "expect.count.#?"),
    ],
)
def test_unpaired_surrogate_in_argument_is_refused(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameterError) as raised:
        light.parse(arguments)

    assert raised.value.message == (
        f"{field}: contains half of a surrogate pair (\\ud800 to \\udfff), which is no character"
    )
    assert raised.value.details["parameter"] == field


def test_long_invalid_value_is_shortened_in_error() -> None:
    with pytest.raises(InvalidParameterError) as raised:
        light.parse({"lampName": "a", "mode": "x" * 1_000_000})

    assert len(raised.value.message) < 300


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tags": [1] * 400_000}, "tags.0: must be a valid string, got 1"),
        ({f"{'k' * 1_000}{n}": 1 for n in range(1_000)}, f"{'k' * 100}…: unknown parameter; light takes"),
        ({"lamp": {str(n): 1 for n in range(60_000)}}, "arguments: an object has more than 50,000 keys"),
        (
            {"expect": {"count": {str(n): "x" for n in range(1_000)}}},
            "arguments: 1,000 values are not as light expects them",
        ),
        ({"mode": {"a": ["x" * 1_000_000] * 1_000}}, "mode: must be 'slow' or 'fast', got {'a': ['xxxxx"),
    ],
)
def test_error_for_a_large_call_is_short(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError) as raised:
        light.parse({"lampName": "a", **arguments})

    assert raised.value.message.startswith(message)
    assert len(raised.value.message) < 1_500
    assert len(raised.value.details.get("parameter", "")) < 200


SCALARS = (
    st.none() | st.booleans() | st.integers(-1, 9) | st.floats(allow_nan=False) | st.text("ab", max_size=2)
)
JSON = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text("ab"), SCALARS, max_size=2)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "lampName": st.text("ab") | JSON,
            "mode": st.sampled_from(["slow", "fast"]) | JSON,
            "times": st.integers(0, 10) | st.sampled_from([2.0, 2.5]) | JSON,
            "tags": st.lists(st.text("ab")) | JSON,
            "timeout": st.integers(0, 10) | JSON,
            "other": JSON,
        },
    )
)
def test_parser_accepts_what_the_schema_accepts_or_names_the_argument(arguments: dict[str, Any]) -> None:
    """What the listed schema takes is taken, and beside it only null for what is optional.

    It does not say of `timeout`, which every tool has, that it is at least 1.
    """
    optional = {"mode", "times", "tags", "timeout"}
    given = {key: value for key, value in arguments.items() if value is not None or key not in optional}
    named = find_refused_parameter(arguments)
    integral = not isinstance(given.get("times"), float) or given["times"].is_integer()
    timed = not isinstance(given.get("timeout"), (int, float)) or given["timeout"] >= 1
    listed = jsonschema.Draft202012Validator(light.input_schema).is_valid(given)
    assert named is None or named in {*arguments, "lampName"}
    assert (named is None) == (listed and integral and timed)


def find_refused_parameter(arguments: dict[str, Any]) -> str | None:
    try:
        light.parse(arguments)
    except (InvalidParameterError, MissingParameterError) as refusal:
        return refusal.details["parameter"].split(".")[0]
    return None
