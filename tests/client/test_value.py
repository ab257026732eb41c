"""The value that a method of a handle returns."""

from __future__ import annotations

from typing import Any

import pytest

from footlight.protocol.results import ToolResult, read_result, value_of


def answer(*texts: str, **more: Any) -> ToolResult:
    return read_result({"content": [{"type": "text", "text": text} for text in texts], **more})


@pytest.mark.parametrize(
    ("result", "value"),
    [
        (answer('{"passed": 1}'), {"passed": 1}),
        (answer(" [1, 2]\n"), [1, 2]),
        (answer('"quoted"'), '"quoted"'),
        (answer("42"), "42"),
        (answer("007"), "007"),
        (answer("1e999"), "1e999"),
        (answer("true"), "true"),
        (answer("null"), "null"),
        (answer(" null "), " null "),
        (answer("plain text"), "plain text"),
        (answer("{broken"), "{broken"),
        (answer("NaN"), "NaN"),
        (answer("-Infinity"), "-Infinity"),
        (answer('{"a": NaN}'), '{"a": NaN}'),
        (answer("[" * 100_000), "[" * 100_000),
        (answer("1" * 10_000), "1" * 10_000),
        (answer("[1,", "2]"), [1, 2]),
        (answer("one", "two"), "one\ntwo"),
        (answer(""), ""),
        (answer(), ""),
        (answer("text", structuredContent={"a": 1}), {"a": 1}),
        (answer("text", structuredContent={}), {}),
        (answer(structuredContent={"a": 1}), {"a": 1}),
        (answer('{"a": 1}', structuredContent=None), {"a": 1}),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, ToolResult) else "",
)
def test_value_is_structured_content_or_json_or_text(result: ToolResult, value: Any) -> None:
    assert value_of(result) == value
    assert type(value_of(result)) is type(value)


@pytest.mark.parametrize("kind", ["image", "audio", "resource_link"])
def test_value_without_text_is_the_whole_result(kind: str) -> None:
    result = read_result({"content": [{"type": kind, "data": "AAAA", "uri": "a://b"}]})

    assert value_of(result) is result


def test_value_beside_an_image_is_the_text() -> None:
    picture = {"type": "image", "data": "AAAA"}
    result = read_result({"content": [{"type": "text", "text": ""}, picture]})

    assert value_of(result) == ""
