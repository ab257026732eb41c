"""The input schemas are the specified ones, and exactly what they allow is accepted."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from mcp_types import TextContent

from footlight.errors import InvalidParameterError, MissingParameterError
from footlight.server.tools import Tool
from footlight.toolsets.metamask import app_tools
from tests.tiers import examples
from tests.toolsets.metamask.conftest import Server
from tests.toolsets.metamask.document import SCHEMAS

pytestmark = pytest.mark.anyio

BEYOND = {"mm_run_steps", "mm_switch_tab", "mm_close_tab", "mm_get_text", "mm_mock_network"}
MORE = {
    "mm_launch": {"priorKnowledge"},
    "mm_describe_screen": {"priorKnowledge"},
    "mm_click": {"within", "observe"},
    "mm_type": {"within", "observe"},
    "mm_wait_for": {"within"},
    "mm_navigate": {"observe"},
    "mm_knowledge_last": {"sessionId"},
    "mm_knowledge_search": {"screen", "tool", "outcome", "sessionId", "since"},
}
"""What tools take that the document does not have."""

STRICT = {tool.name: tool for tool in app_tools("mm", strict=True)}
WIDE = {tool.name: tool for tool in app_tools("mm", strict=False)}


async def schemas(server: Server) -> dict[str, dict[str, Any]]:
    listed = (await server.client.list_tools()).tools
    return {tool.name: tool.input_schema for tool in listed}


async def test_strict_server_lists_exactly_the_specified_tools(strict: Server) -> None:
    """The sixteen tools have the schemas of the specification."""
    assert await schemas(strict) == SCHEMAS


async def test_default_server_lists_additional_tools_and_options(idle: Server) -> None:
    """What is more is optional, and no word of the document is changed."""
    listed = await schemas(idle)

    assert listed.keys() == SCHEMAS.keys() | BEYOND
    of_document = copy.deepcopy({name: listed[name] for name in SCHEMAS})
    more = {
        name: {key for key in schema["properties"] if key not in SCHEMAS[name]["properties"]}
        for name, schema in of_document.items()
    }
    for name, schema in of_document.items():
        for key in more[name]:
            del schema["properties"][key]
    assert of_document == SCHEMAS
    assert {name: keys for name, keys in more.items() if keys} == MORE


async def test_strict_server_refuses_additional_tools_and_options(strict: Server) -> None:
    codes = {
        (name, key): await strict.code(name, **{key: "x"}) for name, keys in MORE.items() for key in keys
    }

    assert set(codes.values()) == {"MM_INVALID_INPUT"}
    for name in BEYOND:
        with pytest.raises(Exception, match="Unknown tool"):
            await strict.answer(name)


# The signature and the schema take the same

NAMES = sorted(
    {key for tool in WIDE.values() for key in tool.input_schema["properties"]} | {"bogus", "a11y_ref"}
)
NUMBERS = (
    -1,
    0,
    1,
    99,
    100,
    500,
    501,
    1000,
    10_000,
    10_001,
    60_000,
    60_001,
    65_535,
    65_536,
    120_000,
    120_001,
)
TEXTS = (
    "",
    "e1",
    "e",
    "E1",
    " e1",
    "e1 ",
    "build:test",
    "default",
    "home",
    "url",
    "diff",
    "ok",
    "x" * 200,
    "x" * 201,
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(NUMBERS),
    st.sampled_from((1.0, 1.5, 1000.0, 1e300)),
    st.sampled_from(TEXTS),
)
PORTS = st.dictionaries(st.sampled_from(("anvil", "fixtureServer", "fixture_server", "other")), SCALARS)
WITHIN = st.dictionaries(st.sampled_from(("a11yRef", "testId", "selector", "test_id")), SCALARS)
STEPS = st.lists(
    st.one_of(
        SCALARS,
        st.dictionaries(
            st.sampled_from(("tool", "arguments", "more")),
            st.one_of(SCALARS, st.dictionaries(st.sampled_from(TEXTS), SCALARS, max_size=2)),
        ),
    ),
    max_size=3,
)
OBJECTS = st.one_of(PORTS, WITHIN, STEPS, st.lists(SCALARS, max_size=2))


def values(schema: dict[str, Any] | None) -> st.SearchStrategy[Any]:
    """Nearly right more often than not: what is all wrong tells little of the bounds."""
    if schema is None:
        return SCALARS
    if "enum" in schema:
        return st.one_of(st.sampled_from(schema["enum"]), SCALARS)
    right: dict[str, st.SearchStrategy[Any]] = {
        "boolean": st.booleans(),
        "integer": st.sampled_from(NUMBERS),
        "string": st.sampled_from(TEXTS),
        "array": STEPS,
        "object": st.one_of(PORTS, WITHIN),
    }
    return st.one_of(right[schema["type"]], right[schema["type"]], SCALARS, OBJECTS)


@st.composite
def calls(draw: st.DrawFn, tools: dict[str, Tool]) -> tuple[str, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(SCHEMAS)))
    known: dict[str, Any] = tools[name].input_schema["properties"]
    names = [each for each in known if draw(st.booleans())]
    if draw(st.integers(0, 4)) == 0:
        names.append(draw(st.sampled_from(NAMES)))
    return name, {each: draw(values(known.get(each))) for each in names}


def is_accepted(tool: Tool, arguments: dict[str, Any]) -> bool:
    try:
        tool.parse(arguments)
    except (InvalidParameterError, MissingParameterError):
        return False
    return True


@examples(400)
@given(calls(STRICT))
@example(("mm_click", {"testId": None}))
@example(("mm_launch", {"ports": {"anvil": None}}))
@example(("mm_launch", {"ports": None}))
@example(("mm_cleanup", {"sessionId": None}))
def test_strict_parser_accepts_exactly_the_specified_schema(call: tuple[str, dict[str, Any]]) -> None:
    name, arguments = call

    assert is_accepted(STRICT[name], arguments) == Draft7Validator(SCHEMAS[name]).is_valid(arguments)


@examples(400)
@given(calls(WIDE))
@example(("mm_click", {"within": {"testId": None}}))
@example(("mm_knowledge_search", {"query": "x", "outcome": None}))
def test_parser_accepts_exactly_the_listed_schema(call: tuple[str, dict[str, Any]]) -> None:
    name, arguments = call
    schema = WIDE[name].input_schema

    assert is_accepted(WIDE[name], arguments) == Draft7Validator(schema).is_valid(arguments)


REFUSED = [
    ("mm_build", {"buildType": "build:dist"}),
    ("mm_build", {"force": "yes"}),
    ("mm_launch", {"stateMode": "production"}),
    ("mm_launch", {"slowMo": 10_001}),
    ("mm_launch", {"ports": {"anvil": 0}}),
    ("mm_launch", {"ports": {"chain": 1}}),
    ("mm_launch", {"fixture": "{}"}),
    ("mm_launch", {"fixturePreset": ""}),
    ("mm_cleanup", {"sessionId": 1}),
    ("mm_get_state", {"verbose": True}),
    ("mm_navigate", {}),
    ("mm_navigate", {"screen": "swap"}),
    ("mm_navigate", {"screen": "url", "url": ""}),
    ("mm_wait_for_notification", {"timeoutMs": 999}),
    ("mm_list_testids", {"limit": 501}),
    ("mm_accessibility_snapshot", {"rootSelector": ""}),
    ("mm_describe_screen", {"includeScreenshot": 1}),
    ("mm_screenshot", {}),
    ("mm_screenshot", {"name": ""}),
    ("mm_click", {"a11yRef": "3"}),
    ("mm_click", {"testId": "x", "timeoutMs": 60_001}),
    ("mm_type", {"testId": "x"}),
    ("mm_type", {"testId": "x", "text": None}),
    ("mm_wait_for", {"testId": "x", "timeoutMs": 99}),
    ("mm_knowledge_last", {"n": 201}),
    ("mm_knowledge_search", {"query": "x" * 201}),
    ("mm_knowledge_summarize", {"sessionId": None}),
]


async def test_schema_violation_is_a_tool_error(strict: Server) -> None:
    """An envelope with `MM_INVALID_INPUT`, which MCP sees as an error too."""
    refused = [await strict.refused(name, **arguments) for name, arguments in REFUSED]

    assert {error["code"] for error in refused} == {"MM_INVALID_INPUT"}
    assert all(error["message"] and isinstance(error["details"], dict) for error in refused)


async def test_answer_is_a_single_text(strict: Server) -> None:
    result = await strict.answer("mm_get_state")

    assert [type(part) for part in result.content] == [TextContent]
    assert result.structured_content is None
    assert all(tool.output_schema is None for tool in (await strict.client.list_tools()).tools)
