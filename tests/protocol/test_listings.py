"""Parsing resources, prompts and completions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.protocol.errors import MCPError
from footlight.protocol.listings import (
    Completion,
    Prompt,
    PromptResult,
    Resource,
    ResourceContents,
    ResourceTemplate,
    read_completion,
    read_contents,
    read_prompt,
    read_prompt_result,
    read_resource,
    read_template,
)
from tests.protocol.test_messages import JSON, quick

FULL = {"title": "A title", "description": "What for.", "mimeType": "text/plain"}


def test_complete_and_minimal_resources_are_read() -> None:
    full = {"uri": "a:b", "name": "b", **FULL, "size": 5}
    least = {"uri": "a:c", "name": None, "title": 5}

    assert [read_resource(full), read_resource(least)] == [
        Resource("a:b", "b", "A title", "What for.", "text/plain", full),
        Resource("a:c", "a:c", raw=least),
    ]


def test_complete_and_minimal_templates_are_read() -> None:
    full = {"uriTemplate": "a:{b}", "name": "b", **FULL}
    least = {"uriTemplate": "a:{c}"}

    assert [read_template(full), read_template(least)] == [
        ResourceTemplate("a:{b}", "b", "A title", "What for.", "text/plain", full),
        ResourceTemplate("a:{c}", "a:{c}", raw=least),
    ]


def test_resource_contents_are_text_or_base64_data() -> None:
    written, blob = {"uri": "a:b", "mimeType": "x/y", "text": "hello"}, {"uri": "a:c", "blob": "eA=="}

    assert [read_contents(written), read_contents(blob)] == [
        ResourceContents("a:b", "x/y", "hello", None, written),
        ResourceContents("a:c", None, None, "eA==", blob),
    ]


def test_prompt_and_its_arguments_are_read() -> None:
    raw = {
        "name": "p",
        **FULL,
        "arguments": [{"name": "a", "required": True}, {"name": "b"}, {"name": "c", "required": "yes"}],
    }

    assert read_prompt(raw) == Prompt("p", "A title", "What for.", {"a": True, "b": False, "c": False}, raw)
    assert read_prompt({"name": "q"}).arguments == {}


def test_prompt_messages_are_read() -> None:
    messages = [
        {"role": "user", "content": {"type": "text", "text": "Hi"}},
        {"role": "assistant", "content": []},
    ]
    raw = {"messages": messages, "description": "What for."}

    assert read_prompt_result(raw) == PromptResult(tuple(messages), "What for.", raw)


@pytest.mark.parametrize(
    ("raw", "completion"),
    [
        (
            {"completion": {"values": ["a", "b"], "total": 5, "hasMore": True}},
            Completion(("a", "b"), 5, True),
        ),
        ({"completion": {"values": [1]}}, Completion(("1",))),
        ({"completion": {"values": None, "total": True, "hasMore": 1}}, Completion(())),
        ({}, Completion(())),
    ],
)
def test_completion_results_are_read(raw: dict[str, Any], completion: Completion) -> None:
    assert read_completion(raw) == completion


@pytest.mark.parametrize(
    ("read", "entry", "message"),
    [
        (read_resource, {"name": "b"}, "The server gave a resource without uri"),
        (read_resource, None, "The server gave a resource without uri"),
        (read_template, {"uriTemplate": 5}, "The server gave a resource template without uriTemplate"),
        (read_contents, [], "The server gave a content of a resource without uri"),
        (read_prompt, {}, "The server gave a prompt without name"),
        (
            read_prompt,
            {"name": "p", "arguments": [{}]},
            "The server gave a prompt p with an argument without name",
        ),
        (read_prompt_result, {"messages": [{}]}, "The server gave a message of a prompt without role"),
    ],
)
def test_entry_without_a_name_is_refused(read: Callable[[Any], object], entry: object, message: str) -> None:
    with pytest.raises(MCPError) as refused:
        read(entry)

    assert (refused.value.message, refused.value.reason) == (message, "protocol")


@pytest.mark.parametrize("read", [read_resource, read_template, read_contents, read_prompt])
@quick
@given(
    entry=JSON
    | st.fixed_dictionaries(
        {"uri": st.text(), "uriTemplate": st.text(), "name": st.text()},
        optional={"title": JSON, "arguments": JSON | st.lists(JSON), "text": JSON},
    )
)
def test_any_entry_is_read_or_refused(read: Callable[[Any], Any], entry: object) -> None:
    try:
        raw = read(entry).raw
    except MCPError as error:
        raw = entry if error.reason == "protocol" else None
    assert raw is entry


@quick
@given(
    st.dictionaries(st.text(), JSON)
    | st.fixed_dictionaries({"messages": JSON | st.lists(JSON), "completion": JSON})
)
def test_any_result_is_read_or_refused(raw: dict[str, Any]) -> None:
    assert isinstance(read_completion(raw), Completion)
    try:
        messages = read_prompt_result(raw).messages
    except MCPError as error:
        messages = error.reason
    assert messages == "protocol" or isinstance(messages, tuple)
