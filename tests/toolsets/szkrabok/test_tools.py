"""The list of tools, compared with the schemas that the specification requires."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from mcp_types import Tool

from footlight.toolsets.szkrabok import INSTRUCTIONS, MINIMAL, TOOLS
from tests.conftest import Browser

pytestmark = pytest.mark.anyio

NAMES = [
    *("session.open", "session.close", "session.list", "session.delete", "session.endpoint"),
    *("nav.goto", "nav.back", "nav.forward"),
    *("interact.click", "interact.type", "interact.select"),
    *("extract.text", "extract.html", "extract.screenshot", "extract.evaluate"),
    *("workflow.login", "workflow.fillForm", "workflow.scrape"),
    *("browser.snapshot", "browser.run_test"),
    "health",
]
WITHOUT_SESSION = {"session.list", "health"}
TEXT = {"extract.text", "extract.html", "browser.snapshot"}
READ_ONLY = {
    *("session.list", "session.endpoint", "health", "workflow.scrape", "extract.screenshot"),
    *TEXT,
}
SESSION_NAME = {"type": "string", "description": "Name of the stored browser session to operate on"}


@pytest.fixture
async def tools(named_server: Browser) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await named_server.client.list_tools()).tools}


async def test_specified_tools_are_listed(tools: dict[str, Tool]) -> None:
    assert list(tools) == NAMES


async def test_session_tools_take_the_session_name_first(tools: dict[str, Tool]) -> None:
    for name in tools.keys() - WITHOUT_SESSION:
        schema = tools[name].input_schema
        assert next(iter(schema["properties"].items())) == ("sessionName", SESSION_NAME), name
        assert "sessionName" in schema["required"], name


async def test_no_tool_uses_the_former_parameter_names(tools: dict[str, Tool]) -> None:
    for name, tool in tools.items():
        assert not {"id", "config", "sessionId"} & tool.input_schema["properties"].keys(), name
    for name in WITHOUT_SESSION:
        assert tools[name].input_schema["properties"] == {}


async def test_session_open_lists_every_launch_option(tools: dict[str, Tool]) -> None:
    schema = tools["session.open"].input_schema
    options = schema["properties"]["launchOptions"]

    assert list(schema["properties"]) == ["sessionName", "url", "launchOptions"]
    assert schema["required"] == ["sessionName"]
    assert options["type"] == "object"
    assert options["description"] == (
        "Browser launch options — preset, stealth, headless, viewport, userAgent, locale, timezone, "
        "disableWebGL"
    )
    assert {name: option["type"] for name, option in options["properties"].items()} == {
        "preset": "string",
        "stealth": "boolean",
        "headless": "boolean",
        "viewport": "object",
        "userAgent": "string",
        "locale": "string",
        "timezone": "string",
        "disableWebGL": "boolean",
    }
    assert all(option["description"] for option in options["properties"].values())


@pytest.mark.parametrize(
    ("tool", "required", "optional"),
    [
        ("nav.goto", {"url"}, {"wait"}),
        ("nav.back", set(), set()),
        ("interact.click", {"selector"}, set()),
        ("interact.type", {"selector", "text"}, {"clear", "delay"}),
        ("interact.select", {"selector", "value"}, set()),
        ("extract.text", set(), {"selector"}),
        ("extract.html", set(), {"selector"}),
        ("extract.evaluate", {"expression"}, {"args"}),
        ("workflow.fillForm", {"fields"}, set()),
        ("workflow.scrape", {"selectors"}, set()),
        ("browser.run_test", set(), {"grep", "params"}),
    ],
)
async def test_parameters_match_the_specification(
    tools: dict[str, Tool], tool: str, required: set[str], optional: set[str]
) -> None:
    schema = tools[tool].input_schema
    shared = {"sessionName", "pageId", "timeout", "observe"}

    assert set(schema["required"]) - shared == required
    assert set(schema["properties"]) - shared == required | optional


async def test_only_text_tools_have_no_output_schema(
    tools: dict[str, Tool],
) -> None:
    assert {name for name, tool in tools.items() if tool.output_schema is None} == TEXT


async def test_schemas_are_valid_closed_and_described(tools: dict[str, Tool]) -> None:
    for tool in tools.values():
        for schema in (tool.input_schema, tool.output_schema or {"type": "object"}):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool.description
        assert tool.title
        assert tool.input_schema["additionalProperties"] is False


async def test_annotations_match_what_each_tool_may_do(tools: dict[str, Tool]) -> None:
    def hints(hint: str) -> set[str]:
        return {name for name, tool in tools.items() if getattr(tool.annotations, hint)}

    assert hints("read_only_hint") == READ_ONLY
    assert hints("destructive_hint") == {
        *("session.close", "session.delete", "interact.click", "interact.type", "interact.select"),
        *("extract.evaluate", "workflow.login", "workflow.fillForm", "browser.run_test"),
    }
    closed_world = {
        name
        for name, tool in tools.items()
        if tool.annotations and not tool.annotations.open_world_hint is not False
    }
    assert closed_world == {"session.close", "session.list", "session.delete", "session.endpoint", "health"}


async def test_server_sends_the_toolset_instructions(named_server: Browser) -> None:
    assert named_server.client.instructions == INSTRUCTIONS


def test_all_minimal_tools_exist() -> None:
    assert {*MINIMAL} <= {tool.name for tool in TOOLS}


def test_tool_list_stays_below_the_token_limit() -> None:
    """By their characters, of which each has 4.1."""
    listed: list[Any] = [[tool.name, tool.description, tool.input_schema] for tool in TOOLS]

    assert len(json.dumps(listed, separators=(",", ":"))) / 4.15 < 2_700
