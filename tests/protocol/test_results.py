"""Parsing the results of tools/call, and the tools of tools/list."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from footlight.protocol.errors import MCPError
from footlight.protocol.results import (
    CallResult,
    Content,
    ToolResult,
    error_of,
    read_call,
    read_result,
    value_of,
)
from footlight.protocol.tools import Tool, read_tool
from tests.processor_time import limit_processor_time
from tests.protocol.test_messages import JSON, quick

PART = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "image", "resource", "resource_link", ""]) | JSON,
        "text": st.text() | JSON,
        "data": JSON,
        "resource": JSON,
        "mimeType": JSON,
    },
)
RESULT = st.fixed_dictionaries(
    {},
    optional={
        "content": st.lists(PART | JSON) | JSON,
        "structuredContent": JSON,
        "isError": JSON,
        "_meta": JSON,
    },
)


def make_content(*texts: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": each} for each in texts], **more}


# What a failed result says

ERROR = {
    "code": "MM_NO_ACTIVE_SESSION",
    "message": "MetaMask is not running",
    "details": {"retryable": False},
}
ENVELOPE = {"error": ERROR, "meta": {"durationMs": 1}, "ok": False}
SAID = "MM_NO_ACTIVE_SESSION: MetaMask is not running"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (make_content(json.dumps(ENVELOPE)), (SAID, ERROR)),
        (make_content("It failed", structuredContent=ENVELOPE), (SAID, ERROR)),
        (make_content(json.dumps({"error": {"message": "no"}})), ("no", {"message": "no"})),
        (make_content("No such page"), ("No such page", None)),
        (make_content('{"error": "no"}'), ('{"error": "no"}', None)),
        (make_content('{"error": {"message": 7}}'), ('{"error": {"message": 7}}', None)),
        (make_content('{"error": {"message": ""}}'), ('{"error": {"message": ""}}', None)),
        (make_content('["error"]'), ('["error"]', None)),
        (make_content('{"error": {"message": "cut'), ('{"error": {"message": "cut', None)),
        ({}, ("", None)),
    ],
    ids=["text", "structured", "no code", "words", "a word", "number", "empty", "list", "cut", "nothing"],
)
def test_json_error_object_provides_the_error_message(
    raw: dict[str, Any], expected: tuple[str, dict[str, Any] | None]
) -> None:
    assert error_of(read_result(raw)) == expected


@quick
@given(RESULT)
def test_any_result_gives_an_error_text(raw: dict[str, Any]) -> None:
    words, error = error_of(read_result(raw))

    assert isinstance(words, str)
    assert error is None or str(error["message"]) in words


# The form of an answer with structured content


def test_call_result_has_the_documented_form() -> None:
    raw = make_content('{"a": 1}', isError=False, extra=["untouched"])

    result = read_call(raw)

    assert result == CallResult(raw=raw, text='{"a": 1}', data={"a": 1}, is_error=False)
    assert result.raw is raw
    assert result.to_dict() == {"raw": raw, "text": '{"a": 1}', "data": {"a": 1}, "isError": False}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([], ""),
        ([{"type": "text", "text": "one"}], "one"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "text", "text": "one"}, {"type": "image", "data": "eA=="}], "one"),
        ([{"type": "text", "text": ""}, {"type": "text", "text": "two"}], "\ntwo"),
        ([{"type": "resource", "resource": {"uri": "a:b", "text": "inside"}}], ""),
        ([{"type": "text"}, {"type": "text", "text": 5}], "\n"),
        (None, ""),
        ("text", ""),
        ({"type": "text", "text": "x"}, ""),
        ([None, 1, "x", [], {}, {"type": ""}, {"type": None}], ""),
    ],
)
def test_text_joins_all_text_parts(content: object, text: str) -> None:
    assert read_call({"content": content}).text == text


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"a": [1]}', {"a": [1]}),
        (" \r\n\t[1, 2]\n", [1, 2]),
        ("{}", {}),
        ("[]", []),
        ("42", None),
        ('"text"', None),
        ("true", None),
        ("null", None),
        ('{"a": NaN}', None),
        ("{not json", None),
        ("[1, 2", None),
        ("{}{}", None),
        pytest.param("[" * 100_000, None, id="deep"),
        pytest.param(f"[{'9' * 5_000}]", None, id="huge"),
        ("### Page\n- [1]", None),
        ("", None),
    ],
)
def test_json_object_or_array_text_becomes_data(text: str, data: object) -> None:
    """An earlier implementation raised on text that is not JSON."""
    assert read_call(make_content(text)).data == data


def test_json_split_over_several_parts_becomes_data() -> None:
    assert read_call(make_content('{"a":', "1}")).data == {"a": 1}


@pytest.mark.parametrize("text", ["plain", "{broken", '{"b": 2}', "{}", "42", "null", ""])
def test_structured_content_takes_precedence_over_text(text: str) -> None:
    raw = make_content(text, structuredContent={"a": 1})

    assert (read_call(raw).data, value_of(read_result(raw))) == ({"a": 1}, {"a": 1})


@pytest.mark.parametrize(
    ("given", "is_error"), [({}, False), ({"isError": True}, True), ({"isError": False}, False)]
)
@pytest.mark.parametrize("content", [{}, {"content": []}, {"content": None}])
def test_error_flag_is_always_set(given: dict[str, Any], is_error: bool, content: dict[str, Any]) -> None:
    assert read_call({**content, **given}).is_error is is_error


@pytest.mark.parametrize("value", ["true", 1, "false", None, [], {}])
def test_only_true_marks_a_result_as_failed(value: object) -> None:
    assert read_call({"isError": value}).is_error is False


# The protocol's form


def test_every_content_kind_is_read() -> None:
    parts = [
        {"type": "text", "text": "hello", "annotations": {"priority": 1}},
        {"type": "image", "data": "eA==", "mimeType": "image/png"},
        {"type": "audio", "data": "eQ==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:1", "text": "in", "mimeType": "text/plain"}},
        {"type": "resource", "resource": {"uri": "a:2", "blob": "eg=="}},
        {"type": "resource_link", "uri": "a:3", "name": "Three", "mimeType": "text/html"},
        {"type": "future", "text": "from there"},
    ]
    raw = {"content": parts, "structuredContent": [1], "isError": True, "_meta": {"m": 1}}

    assert read_result(raw) == ToolResult(
        content=(
            Content("text", text="hello", raw=parts[0]),
            Content("image", data="eA==", mime_type="image/png", raw=parts[1]),
            Content("audio", data="eQ==", mime_type="audio/wav", raw=parts[2]),
            Content("resource", text="in", uri="a:1", mime_type="text/plain", raw=parts[3]),
            Content("resource", data="eg==", uri="a:2", raw=parts[4]),
            Content("resource_link", uri="a:3", name="Three", mime_type="text/html", raw=parts[5]),
            Content("future", text="from there", raw=parts[6]),
        ),
        structured_content=[1],
        is_error=True,
        meta={"m": 1},
        raw=raw,
    )


def test_empty_content_type_is_refused() -> None:
    with pytest.raises(ValueError, match="type: must not be empty"):
        Content("")


def test_empty_result_is_accepted() -> None:
    assert read_result({}) == ToolResult()


# Tools

NO_NAME = "a tool's name has 1 to 128 letters, digits, dots, hyphens, slashes and underscores"
TYPES = "and a type is one of array, boolean, integer, null, number, object, string"
SCHEMA = "and a schema is an object or a boolean"


def test_tool_with_all_fields_is_read() -> None:
    raw = {
        "name": "browser_navigate",
        "title": "Navigate",
        "description": "Go there.",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
        "_meta": {"m": 1},
        "icons": [],
    }

    assert read_tool(raw) == Tool(
        name="browser_navigate",
        title="Navigate",
        description="Go there.",
        input_schema={"type": "object"},
        output_schema={"type": "object", "properties": {}},
        annotations={"readOnlyHint": True},
        meta={"m": 1},
        raw=raw,
    )


def test_tool_with_only_a_name_is_read() -> None:
    raw = {"name": "t", "inputSchema": {}, "description": None, "annotations": [], "outputSchema": "x"}

    assert read_tool(raw) == Tool("t", raw=raw)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (None, "The server lists a tool without a name"),
        ("t", "The server lists a tool without a name"),
        ({"inputSchema": {}}, "The server lists a tool without a name"),
        ({"name": "", "inputSchema": {}}, "The server lists a tool without a name"),
        ({"name": 5, "inputSchema": {}}, "The server lists a tool without a name"),
        ({"name": "t"}, "The tool 't' has no inputSchema"),
        ({"name": "t", "inputSchema": "x"}, "The tool 't' has no inputSchema"),
        *(
            ({"name": name, "inputSchema": {}}, f"The tool {name[:128]!r} cannot be used: {NO_NAME}")
            for name in ("a b", " ", "a\n", "\x1b[31m", "tööl", "a" * 129, "$(rm)")
        ),
        *(
            (
                {"name": "t", "inputSchema": schema},
                f"The tool 't' cannot be used: inputSchema: {problem}",
            )
            for schema, problem in (
                ({"type": "nonsense"}, "$.type is 'nonsense', and the parameters of a tool are an object"),
                ({"type": "string"}, "$.type is 'string', and the parameters of a tool are an object"),
                ({"properties": {"a": {"type": "nonsense"}}}, f"$.properties.a.type is 'nonsense', {TYPES}"),
                ({"properties": {"a": {"type": [7]}}}, f"$.properties.a.type is 7, {TYPES}"),
                ({"properties": []}, "$.properties is of type list, and it is an object of schemas"),
                ({"properties": {"a": "text"}}, f"$.properties.a is 'text', {SCHEMA}"),
                ({"properties": {"a": {"items": [{}, 7]}}}, f"$.properties.a.items[1] is 7, {SCHEMA}"),
                ({"required": "a"}, "$.required is 'a', and it is an array of names"),
                ({"anyOf": {}}, "$.anyOf is of type dict, and it is an array"),
                ({"enum": 7}, "$.enum is 7, and it is an array"),
                ({"$ref": 7}, "$.$ref is 7, and it is a text"),
                ({"$defs": {"\x1b[31m": None}}, f"$.$defs.\\x1b[31m is None, {SCHEMA}"),
            )
        ),
    ],
)
def test_invalid_tool_is_refused(entry: object, message: str) -> None:
    with pytest.raises(MCPError) as refused:
        read_tool(entry)

    assert (refused.value.message, refused.value.reason) == (message, "protocol")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": True, "b": {"type": ["string", "null"], "required": True}}},
        {"properties": {"type": {"type": "string"}, "items": {"enum": ["nonsense"]}}},
        {
            "properties": {
                "a": {"default": {"type": "nonsense"}, "examples": [{"type": 7}], "unknown": {"type": 7}}
            }
        },
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}, "additionalProperties": False},
    ],
)
def test_unusual_but_valid_schema_is_accepted(schema: dict[str, Any]) -> None:
    assert read_tool({"name": "a/b.c-d_e", "inputSchema": schema}).input_schema == schema


@limit_processor_time(20)
def test_large_and_deep_schema_is_accepted() -> None:
    deep: dict[str, Any] = {"properties": {str(number): {} for number in range(9_000)}}
    for _ in range(900):
        deep = {"type": "object", "properties": {"x" * 80: deep}}

    assert read_tool({"name": "t", "inputSchema": deep}).input_schema is deep


def test_exponentially_expanding_schema_is_refused() -> None:
    doubled: dict[str, Any] = {"type": "string"}
    for _ in range(40):
        doubled = {"anyOf": [doubled, doubled]}

    with pytest.raises(MCPError, match="has more than 10,000 schemas inside"):
        read_tool({"name": "t", "inputSchema": {"properties": {"x": doubled}}})


# Whatever comes


@quick
@given(RESULT | st.dictionaries(st.text(), JSON))
def test_any_object_is_read_as_a_result(raw: dict[str, Any]) -> None:
    result = read_call(raw)

    assert result.raw is raw
    assert isinstance(result.text, str)
    assert isinstance(result.is_error, bool)
    assert all(part.type for part in read_result(raw).content)


def _is_strict_json(value: object) -> bool:
    """Return whether the value has no number that JSON does not have, such as NaN."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


@quick
@given(JSON)
@example({"NaN": None})
def test_data_equals_the_json_in_the_text(value: object) -> None:
    written = json.dumps(value)
    expected = json.loads(written) if isinstance(value, (dict, list)) and _is_strict_json(value) else None

    assert json.dumps(read_call(make_content(written)).data) == json.dumps(expected)


@quick
@given(JSON | st.fixed_dictionaries({"name": JSON, "inputSchema": JSON}))
def test_any_entry_is_read_as_a_tool_or_refused(entry: object) -> None:
    try:
        tool = read_tool(entry)
    except MCPError as error:
        reason = error.reason
    else:
        reason = "protocol" if not tool.name else None
        assert tool.raw is entry
    assert reason in ("protocol", None)
