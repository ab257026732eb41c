"""The protocol on every transport, with and without a handshake, with the SDK's client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client import ClientRequestContext

from footlight.transports.websocket_client import connect_websocket
from tests.protocol.fixture_server import (
    PROMPTS,
    TOOLS,
    make_fixture_server,
    serve_over_http,
    serve_over_websocket,
)
from tests.protocol.fixtures import PIXEL

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 60.0

Mode = Literal["legacy", "auto"]
Connect = Callable[[Mode], AbstractAsyncContextManager[Client]]


async def answer_form(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
    """Return what the user enters in every form."""
    return types.ElicitResult(action="accept", content={"name": "Ada"})


@asynccontextmanager
async def connect_in_memory(mode: Mode) -> AsyncGenerator[Client]:
    async with Client(make_fixture_server(), mode=mode, elicitation_callback=answer_form) as client:
        yield client


@asynccontextmanager
async def connect_over_stdio(mode: Mode) -> AsyncGenerator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "tests.protocol.fixture_server"], env=dict(os.environ), cwd=ROOT
    )
    async with Client(parameters, mode=mode, elicitation_callback=answer_form) as client:
        yield client


@asynccontextmanager
async def connect_over_http(mode: Mode) -> AsyncGenerator[Client]:
    async with (
        serve_over_http(make_fixture_server()) as url,
        Client(url, mode=mode, elicitation_callback=answer_form) as client,
    ):
        yield client


@asynccontextmanager
async def connect_over_websocket(mode: Mode) -> AsyncGenerator[Client]:
    async with (
        serve_over_websocket(make_fixture_server()) as url,
        Client(connect_websocket(url), mode=mode, elicitation_callback=answer_form) as client,
    ):
        yield client


TRANSPORTS: dict[str, Connect] = {
    "memory": connect_in_memory,
    "stdio": connect_over_stdio,
    "http": connect_over_http,
    "websocket": connect_over_websocket,
}

ERAS: dict[str, Mode] = {"2025-11-25": "legacy", "2026-07-28": "auto"}


@pytest.fixture(scope="module", params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module", params=TRANSPORTS)
async def client(request: pytest.FixtureRequest, anyio_backend: str, era: str) -> AsyncGenerator[Client]:
    """One for all tests of a transport and an era: none of them leaves anything behind."""
    async with TRANSPORTS[request.param](ERAS[era]) as client:
        yield client


def texts(result: types.CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, types.TextContent)]


# Meeting


@pytest.mark.sampled(3)
async def test_protocol_version_is_negotiated(client: Client, era: str) -> None:
    assert client.protocol_version == era
    assert client.server_info is not None
    assert (client.server_info.name, client.server_info.version) == ("fixtures", "1.0.0")


async def test_server_declares_its_capabilities(client: Client) -> None:
    capabilities = client.server_capabilities

    assert capabilities.tools
    assert capabilities.prompts
    assert capabilities.resources
    assert capabilities.resources.subscribe
    assert capabilities.completions


# Tools


async def test_the_tools_are_listed_as_they_were_declared(client: Client) -> None:
    listed = (await client.list_tools()).tools

    assert listed == [each.tool for each in TOOLS.values()]


async def test_call_returns_its_result(client: Client) -> None:
    result = await client.call_tool("test_simple_text")

    assert texts(result) == ["This is a simple text response for testing."]
    assert not result.is_error


async def test_content_of_every_kind_is_received(client: Client) -> None:
    said, picture, resource = (await client.call_tool("test_multiple_content_types")).content

    assert said == types.TextContent(type="text", text="Multiple content types test:")
    assert picture == types.ImageContent(type="image", data=PIXEL, mime_type="image/png")
    assert isinstance(resource, types.EmbeddedResource)
    assert resource.resource.uri == "test://mixed-content-resource"


async def test_tool_failure_is_a_result(client: Client) -> None:
    result = await client.call_tool("test_error_handling")

    assert texts(result) == ["This tool intentionally returns an error for testing"]
    assert result.is_error


async def test_an_unknown_tool_is_a_protocol_error(client: Client) -> None:
    with pytest.raises(MCPError) as raised:
        await client.call_tool("fly")

    assert (raised.value.code, raised.value.message) == (types.INVALID_PARAMS, "Unknown tool: fly")


async def test_concurrent_calls_do_not_block_each_other(client: Client) -> None:
    waiting = anyio.Event()

    async def note_start(progress: float, total: float | None, message: str | None) -> None:
        waiting.set()

    with anyio.fail_after(LIMIT_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "test_wait", {"name": "first"}, None, note_start)
            await waiting.wait()
            result = await client.call_tool("test_simple_text")
            assert texts(result) == ["This is a simple text response for testing."]
            group.cancel_scope.cancel()


# What comes before the answer


async def test_progress_is_reported_in_order(client: Client) -> None:
    reported: list[tuple[float, float | None, str | None]] = []

    async def keep(progress: float, total: float | None, message: str | None) -> None:
        reported.append((progress, total, message))

    result = await client.call_tool("test_tool_with_progress", progress_callback=keep)

    assert texts(result) == ["Reported progress three times."]
    assert reported == [
        (0, 100, "Completed 0 of 100"),
        (50, 100, "Completed 50 of 100"),
        (100, 100, "Completed 100 of 100"),
    ]


async def test_a_call_can_be_cancelled(client: Client) -> None:
    async def cancel(progress: float, total: float | None, message: str | None) -> None:
        group.cancel_scope.cancel()

    with anyio.fail_after(LIMIT_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "test_wait", {"name": "second"}, None, cancel)
        result = await client.call_tool("test_wait_cancelled", {"name": "second"})

    assert texts(result) == ["Cancelled."]


async def test_tool_can_request_input_from_the_user(client: Client, era: str) -> None:
    """With a request of its own in the first era, with an answer that asks in the second."""
    if era == "2025-11-25":
        result = await client.call_tool("test_elicitation", {"message": "Who are you?"})
        assert texts(result) == ['User response: action=accept, content={"name": "Ada"}']
    else:
        result = await client.call_tool("test_input_required_result_elicitation")
        assert texts(result) == ["Hello, Ada!"]


# Resources


async def test_resources_and_templates_are_listed(client: Client) -> None:
    resources = (await client.list_resources()).resources
    templates = (await client.list_resource_templates()).resource_templates

    assert [each.uri for each in resources] == [
        "test://static-text",
        "test://static-binary",
        "test://watched-resource",
    ]
    assert [each.uri_template for each in templates] == ["test://template/{id}/data"]


async def test_resources_are_read(client: Client) -> None:
    (said,) = (await client.read_resource("test://static-text")).contents
    (binary,) = (await client.read_resource("test://static-binary")).contents
    (made,) = (await client.read_resource("test://template/7/data")).contents

    assert said == types.TextResourceContents(
        uri="test://static-text",
        mime_type="text/plain",
        text="This is the content of the static text resource.",
    )
    assert binary == types.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PIXEL)
    assert isinstance(made, types.TextResourceContents)
    assert json.loads(made.text) == {"id": "7", "templateTest": True, "data": "Data for ID: 7"}


async def test_an_unknown_resource_is_a_protocol_error(client: Client) -> None:
    with pytest.raises(MCPError) as raised:
        await client.read_resource("test://nowhere")

    assert raised.value.code == types.INVALID_PARAMS
    assert raised.value.error.data == {"uri": "test://nowhere"}


# Prompts


async def test_the_prompts_are_listed_as_they_were_declared(client: Client) -> None:
    listed = (await client.list_prompts()).prompts

    assert listed == [each.prompt for each in PROMPTS]


async def test_prompt_arguments_are_filled_in(client: Client) -> None:
    result = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "ä"})

    assert result.messages == [
        types.PromptMessage(
            role="user",
            content=types.TextContent(type="text", text="Prompt with arguments: arg1='a', arg2='ä'"),
        )
    ]


async def test_an_unknown_prompt_is_a_protocol_error(client: Client) -> None:
    with pytest.raises(MCPError) as raised:
        await client.get_prompt("fly")

    assert (raised.value.code, raised.value.message) == (types.INVALID_PARAMS, "Unknown prompt: fly")


async def test_an_argument_is_completed(client: Client) -> None:
    reference = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")

    result = await client.complete(reference, {"name": "arg1", "value": "alp"})

    assert result.completion == types.Completion(values=["alpha", "alphabet"], total=2, has_more=False)
