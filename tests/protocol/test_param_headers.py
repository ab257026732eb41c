"""Arguments in headers, and schemas with invalid annotations for them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.protocol.errors import MCPError
from footlight.protocol.param_headers import check_annotations, header_value, mirror_arguments
from tests.protocol.test_messages import JSON, quick

TEXT = {"type": "string", "x-mcp-header": "Region"}


def make_schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


SCHEMA = make_schema(
    region=TEXT,
    count={"type": "integer", "x-mcp-header": "Count"},
    dry={"type": "boolean", "x-mcp-header": "Dry-Run"},
    deep=make_schema(er={"type": "string", "x-mcp-header": "Deep"}),
    plain={"type": "string"},
)


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": None, "count": None, "deep": None}, {}),
        ({"region": "eu", "plain": "no"}, {"Mcp-Param-Region": "eu"}),
        ({"region": ""}, {"Mcp-Param-Region": ""}),
        ({"count": 0, "dry": False}, {"Mcp-Param-Count": "0", "Mcp-Param-Dry-Run": "false"}),
        ({"count": -(2**70), "dry": True}, {"Mcp-Param-Count": str(-(2**70)), "Mcp-Param-Dry-Run": "true"}),
        ({"deep": {"er": "x"}}, {"Mcp-Param-Deep": "x"}),
        ({"deep": "x"}, {}),
        ({"deep": {"er": {"est": 1}}}, {}),
        ({"region": ["eu"]}, {}),
        ({"er": "x"}, {}),
    ],
)
def test_annotated_arguments_are_repeated_in_headers(
    arguments: dict[str, Any], headers: dict[str, str]
) -> None:
    assert mirror_arguments(SCHEMA, arguments) == headers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("eu west-1 ~", "eu west-1 ~"),
        ("", ""),
        (" eu", "=?base64?IGV1?="),
        ("eu ", "=?base64?ZXUg?="),
        ("a\r\nX-Evil: 1", "=?base64?YQ0KWC1FdmlsOiAx?="),
        ("a\tb", "=?base64?YQli?="),
        ("\0", "=?base64?AA==?="),
        ("ä", "=?base64?w6Q=?="),
        ("\x7f", "=?base64?fw==?="),
        ("\ud83c", "=?base64?7aC8?="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ("=?base64?eA==", "=?base64?eA=="),
    ],
)
def test_text_invalid_in_a_header_is_base64_encoded(text: str, value: str) -> None:
    assert header_value(text) == value


@given(st.text(st.characters()))
@quick
def test_any_text_becomes_a_safe_header_value(text: str) -> None:
    value = header_value(text)

    assert value.isascii()
    assert value.isprintable()
    assert value == value.strip()


def test_valid_annotations_are_accepted() -> None:
    check_annotations(SCHEMA)
    check_annotations({})
    check_annotations(make_schema(**{"x-mcp-header": {"type": "string"}}))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"x-mcp-header": "A", "type": "string"}, "x-mcp-header is not on an argument"),
        (make_schema(a={"items": TEXT}), "x-mcp-header is not on an argument"),
        (make_schema(a={"anyOf": [{}, TEXT]}), "x-mcp-header is not on an argument"),
        ({"$defs": {"a": TEXT}}, "x-mcp-header is not on an argument"),
        ({"patternProperties": {".": TEXT}}, "x-mcp-header is not on an argument"),
        ({"items": make_schema(a=TEXT)}, "x-mcp-header is not on an argument"),
        (make_schema(a={"x-mcp-header": ""}), "a: x-mcp-header is not a valid header name"),
        (make_schema(a={"x-mcp-header": "A B"}), "a: x-mcp-header is not a valid header name"),
        (make_schema(a={"x-mcp-header": "A\r\nB"}), "a: x-mcp-header is not a valid header name"),
        (make_schema(a={"x-mcp-header": "A\n"}), "a: x-mcp-header is not a valid header name"),
        (make_schema(a={"x-mcp-header": "Ä"}), "a: x-mcp-header is not a valid header name"),
        (make_schema(a={"x-mcp-header": 5}), "a: x-mcp-header is not a valid header name"),
        (
            make_schema(a=make_schema(b={"x-mcp-header": "A", "type": "number"})),
            "a.b: x-mcp-header is for strings, integers and booleans",
        ),
        (make_schema(a={"x-mcp-header": "A"}), "a: x-mcp-header is for strings, integers and booleans"),
        (
            make_schema(a={"x-mcp-header": "A", "type": ["string"]}),
            "a: x-mcp-header is for strings, integers and booleans",
        ),
        (make_schema(a={**TEXT, "x-mcp-header": "REGION"}, b=TEXT), "names the header of"),
        (
            make_schema(**{"a.b": TEXT, "a": make_schema(b=TEXT)}),
            "a.b: x-mcp-header names the header of a.b too",
        ),
    ],
)
def test_invalid_annotations_are_refused(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(MCPError) as refused:
        check_annotations(schema)

    assert message in refused.value.message
    assert refused.value.reason == "protocol"


def test_deeply_nested_schema_is_accepted() -> None:
    schema: dict[str, Any] = TEXT
    for _ in range(1_000):
        schema = make_schema(a=schema)

    check_annotations(schema)
    assert mirror_arguments(schema, {"a": {"a": "x"}}) == {}


@given(
    st.recursive(
        JSON,
        lambda each: st.dictionaries(
            st.sampled_from(["properties", "items", "anyOf", "$defs", "type", "x-mcp-header", "a"]), each
        ),
    ),
    st.dictionaries(st.sampled_from(["a", "properties", ""]), JSON),
)
@quick
def test_any_schema_is_read_or_refused(schema: Any, arguments: dict[str, Any]) -> None:
    try:
        check_annotations(schema)
    except MCPError as error:
        headers = {} if error.reason == "protocol" else None
    else:
        headers = mirror_arguments(schema, arguments)
    assert headers is not None
    assert all(name.isascii() and value.isprintable() for name, value in headers.items())
