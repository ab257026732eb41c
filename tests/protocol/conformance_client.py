"""What the public conformance suite starts to test our client: one scenario against its server.

    python -m tests.protocol.conformance_client URL

The suite names the scenario, the revision of the protocol and what else it gives in the environment. Only the
public client is used; for OAuth it is given the SDK's provider, as any `httpx2.Auth` could be.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from footlight import MCPClient, MCPError

Values = Mapping[str, Any]
Scenario = Callable[[MCPClient, Values], Awaitable[object]]
"""Takes a connected client, and what the suite gives for the scenario."""


async def list_tools(client: MCPClient, _: Values) -> None:
    await client.list_tools()


async def add_numbers(client: MCPClient, _: Values) -> None:
    await client.list_tools()
    result = await client.call_tool("add_numbers", {"a": 5, "b": 3})
    assert "8" in result.text, result


async def call_all(client: MCPClient, _: Values) -> None:
    """Call every tool that the client regards as usable."""
    for tool in await client.list_tools():
        await client.call_tool(tool.name, {name: "us-west1" for name in tool.input_schema["properties"]})


async def call_and_listen(client: MCPClient, given: Values) -> None:
    """Call a tool whose server asks on its own stream, not on that of the call."""
    assert await client.open_stream(lambda _: None)
    await call_all(client, given)


async def call_at_once(client: MCPClient, _: Values) -> None:
    """Make calls concurrently, so that one waits for an answer while others continue."""
    await asyncio.gather(*(client.call_tool(tool.name) for tool in await client.list_tools()))


async def call_as_told(client: MCPClient, given: Values) -> None:
    for call in given["toolCalls"]:
        await client.call_tool(call["name"], call["arguments"])


async def ask_for_all(client: MCPClient, _: Values) -> None:
    """Send the requests that name something."""
    tool, *_rest = await client.list_tools()
    await client.call_tool(tool.name)
    resource, *_rest = await client.list_resources()
    await client.read_resource(resource.uri)
    prompt, *_rest = await client.list_prompts()
    await client.get_prompt(prompt.name)


async def echo_a_schema(client: MCPClient, _: Values) -> None:
    tool = await client.get_tool("json_schema_2020_12_tool")
    assert tool is not None
    await client.call_tool("json_schema_echo", {"schema": tool.input_schema})


async def call_first(client: MCPClient, _: Values) -> None:
    """Call a tool with credentials. The server decides whether that is allowed."""
    tools = await client.list_tools()
    with suppress(MCPError):
        await client.call(tools[0].name)


async def migrate(client: MCPClient, given: Values) -> None:
    """Call twice. The server changes to another issuer after the first call."""
    await call_first(client, given)
    await call_first(client, given)


SCENARIOS: Mapping[str, Scenario] = {
    "initialize": list_tools,
    "tools_call": add_numbers,
    "sse-retry": call_all,
    "elicitation-sep1034-client-defaults": call_and_listen,
    "request-metadata": list_tools,
    "http-standard-headers": ask_for_all,
    "http-custom-headers": call_as_told,
    "http-invalid-tool-headers": call_all,
    "json-schema-ref-no-deref": list_tools,
    "json-schema-2020-12-preservation": echo_a_schema,
    "sep-2322-client-request-state": call_at_once,
    "auth/authorization-server-migration": migrate,
}


def accept_defaults(question: Values) -> Values:
    """Return the values of a form that the user accepts unchanged."""
    fields: Mapping[str, Values] = question["requestedSchema"]["properties"]
    content = {name: field["default"] for name, field in fields.items() if "default" in field}
    return {"action": "accept", "content": content}


def decline(_: Values) -> Values:
    raise MCPError("There is no model")


async def run(url: str, scenario: str, given: Values, version: str | None) -> None:
    auth = None
    if scenario.startswith("auth/"):
        from tests.protocol.conformance_oauth import provider

        auth = provider(url, scenario, given)
    steps = SCENARIOS.get(scenario, call_first)
    options: dict[str, Any] = {"roots": [], "sampling": decline, "elicitation": accept_defaults}
    async with MCPClient(url, auth=auth, protocol_version=version, **options) as client:
        await steps(client, given)


def main() -> None:
    name = os.environ["MCP_CONFORMANCE_SCENARIO"]
    given: Values = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION")
    asyncio.run(run(sys.argv[1], name, given, version))


if __name__ == "__main__":
    main()
