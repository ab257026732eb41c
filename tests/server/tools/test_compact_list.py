"""The compact list of tools for models, and the full one for clients that ask for it."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import stdio_client

from footlight import MCPClient, Stdio
from footlight.config import Settings, ToolSettings
from footlight.server.protocol.tools import compact_input_schema, compact_tool
from footlight.toolsets.browser import BrowserToolset, load_tools
from tests.conftest import server_command

pytestmark = pytest.mark.anyio


async def list_with_sdk(*flags: str, **environment: str) -> dict[str, dict[str, Any]]:
    from mcp import StdioServerParameters

    command, *arguments = server_command(*flags)
    parameters = StdioServerParameters(command=command, args=arguments, env=environment)
    async with Client(stdio_client(parameters)) as client:
        tools = (await client.list_tools()).tools
        return {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in tools}


async def test_models_receive_the_compact_tool_list() -> None:
    tools = await list_with_sdk()

    assert tools["click"] == {
        "name": "click",
        "description": "Click element. Waits until it can be clicked.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "selector": {"type": "string"},
                "button": {"enum": ["left", "middle", "right"], "type": "string"},
                "clickCount": {"description": "2: double click", "type": "number"},
                "modifiers": {
                    "items": {"enum": ["Alt", "Control", "ControlOrMeta", "Meta", "Shift"], "type": "string"},
                    "type": "array",
                },
                "sessionId": {"type": "string"},
            },
            "required": ["selector"],
        },
    }
    assert tools["get_text"]["annotations"] == {"readOnlyHint": True}
    assert tools["hover"]["annotations"] == {"destructiveHint": False}


@pytest.mark.slow
async def test_full_schemas_setting_sends_the_whole_tool_list() -> None:
    tools = await list_with_sdk(FOOTLIGHT_TOOLS_SCHEMAS="full")

    assert "outputSchema" in tools["click"]
    assert tools["click"]["title"] == "Click element"
    assert {"observe", "timeout"} <= tools["click"]["inputSchema"]["properties"].keys()


async def test_footlight_client_receives_the_whole_tool_list() -> None:
    command, *arguments = server_command()
    async with MCPClient(Stdio(command, tuple(arguments))) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}

    assert tools["click"].output_schema is not None
    assert "timeout" in tools["click"].input_schema["properties"]


def test_list_is_sent_without_generating_the_schemas() -> None:
    toolset = BrowserToolset(Settings(tools=ToolSettings(groups=["default", "vision"], deny=["drop"])))

    assert toolset.compact_list == [compact_tool(tool) for tool in toolset.offered.values()]
    assert len(toolset.offered) > 50
    assert BrowserToolset(Settings(tools=ToolSettings(schemas="full"))).compact_list is None


def test_compact_schema_accepts_what_the_full_schema_accepts() -> None:
    """It has no property that the whole schema lacks, and requires the same ones."""
    for tool in load_tools():
        short, whole = compact_input_schema(tool), tool.input_schema
        assert short["properties"].keys() <= whole["properties"].keys()
        assert short.get("required") == whole.get("required")
        assert "additionalProperties" not in short
        for name, parameter in short["properties"].items():
            assert parameter.get("type") in (whole["properties"][name].get("type"), None), (tool.name, name)
