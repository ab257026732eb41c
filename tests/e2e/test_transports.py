"""The whole server gives the same answers over every transport, with and without a handshake."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types import (
    PromptReference,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    TextContent,
    TextResourceContents,
)

from tests.network import Transport, address, client_over, listening
from tests.site import Site

pytestmark = pytest.mark.anyio

ERAS = ("auto", "legacy")
TRANSPORTS: tuple[Transport, ...] = ("stdio", "http", "websocket")
PAGE = "<title>Same</title><h1 id=t>Everywhere</h1><a href=/next>on</a>"


@pytest.fixture(scope="module", params=TRANSPORTS)
async def transport(request: pytest.FixtureRequest) -> Transport:
    return request.param


@pytest.fixture(scope="module")
async def url(transport: Transport) -> AsyncGenerator[str]:
    if transport == "stdio":
        yield ""
        return
    async with listening(transport) as url:
        yield url


@pytest.fixture(params=ERAS)
async def mode(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def client(transport: Transport, url: str, mode: str) -> AsyncGenerator[Client]:
    async with client_over(transport, url, mode=mode) as client:
        yield client


async def session_of(client: Client) -> str:
    result = await client.call_tool("create_session", {})
    assert result.structured_content is not None
    return result.structured_content["data"]["sessionId"]


@pytest.mark.sampled(3)
async def test_main_features_work_over_every_transport(client: Client, site: Site) -> None:
    session = await session_of(client)
    page = f"playwright:///page/{session}/page-1"
    here = {"sessionId": session}

    navigated = await client.call_tool("navigate", {"url": site.page(PAGE), **here})
    text = await client.call_tool("get_text", {"selector": "#t", **here})
    missing = await client.call_tool("get_text", {**here})
    [contents] = (await client.read_resource(page)).contents
    pages = await client.complete(
        ResourceTemplateReference(uri="playwright:///page/{sessionId}/{pageId}"),
        {"name": "pageId", "value": "page"},
        context_arguments={"sessionId": session},
    )
    urls = await client.complete(PromptReference(name="e2e_test"), {"name": "start_url", "value": site.url})
    prompt = await client.get_prompt("e2e_test", {"test_scenario": "buy", "start_url": site.url})
    uris = [resource.uri for resource in (await client.list_resources()).resources]

    assert navigated.structured_content is not None
    assert navigated.structured_content["data"]["status"] == 200
    assert text.structured_content == {"success": True, "data": {"text": "Everywhere"}}
    assert missing.is_error
    assert isinstance(contents, TextResourceContents)
    assert json.loads(contents.text)["metadata"]["title"] == "Same"
    assert pages.completion.values == ["page-1"]
    assert navigated.structured_content["data"]["url"] in urls.completion.values
    assert isinstance(prompt.messages[0].content, TextContent)
    assert prompt.messages[0].content.text.startswith("Execute this E2E test scenario: buy\n")
    assert {page, f"playwright:///session/{session}", f"playwright:///network-log/{session}/page-1"} <= {
        *uris
    }


@pytest.mark.sampled(6)
async def test_protocol_errors_have_the_specified_codes(client: Client) -> None:
    codes: list[int] = []
    for ask in (
        client.call_tool("no_such_tool", {}),
        client.get_prompt("no_such_prompt", {}),
        client.get_prompt("e2e_test", {"start_url": "https://a.test"}),
        client.read_resource("playwright:///page/none/page-1"),
        client.list_resources(cursor="x"),
        client.list_tools(cursor="x"),
    ):
        with pytest.raises(MCPError) as raised:
            await ask
        codes.append(raised.value.error.code)

    assert codes == [-32602] * 6


@pytest.mark.sampled(3)
async def test_protocol_error_truncates_a_long_name(client: Client) -> None:
    name = "n" * 5_000
    for ask in (
        client.call_tool(name, {}),
        client.get_prompt(name, {}),
        client.read_resource(f"playwright:///{name}"),
    ):
        with pytest.raises(MCPError) as raised:
            await ask
        assert len(raised.value.error.model_dump_json()) < 3_000


@pytest.mark.sampled(3)
async def test_subscriber_is_notified_of_a_navigation(
    transport: Transport, url: str, mode: str, site: Site
) -> None:
    news, heard = anyio.create_memory_object_stream[str](100)

    async def on_message(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            await news.send(message.params.uri)

    async with AsyncExitStack() as stack:
        stack.enter_context(news)
        stack.enter_context(heard)
        client = await stack.enter_async_context(
            Client(address(transport, url), mode=mode, message_handler=on_message)
        )
        session = await session_of(client)
        await client.call_tool("navigate", {"url": site.page("<p>one"), "sessionId": session})
        page = f"playwright:///page/{session}/page-1"
        listening_to = None
        if mode == "legacy":
            with pytest.warns(MCPDeprecationWarning):
                await client.subscribe_resource(page)
        else:
            listening_to = await stack.enter_async_context(client.listen(resource_subscriptions=[page]))

        await client.call_tool("navigate", {"url": site.page("<p>two"), "sessionId": session})

        with anyio.fail_after(10):
            reported = (
                ResourceUpdated(uri=await heard.receive())
                if listening_to is None
                else await anext(listening_to)
            )
        assert reported == ResourceUpdated(uri=page)


@pytest.mark.slow
async def test_results_are_identical_over_every_transport(site: Site) -> None:
    """The same calls, over every transport and in both eras: the same structured content."""
    page = site.page(PAGE, path="/same")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_text", {"selector": "#t"}),
        ("find_elements", {"selector": "h1, a"}),
        ("extract_links", {}),
        ("get_page_metadata", {}),
        ("get_attribute", {"selector": "#none", "attribute": "x", "timeout": 50}),
        ("fill", {"selector": "#t"}),
    ]
    said: set[str] = set()
    lists: set[str] = set()
    async with AsyncExitStack() as stack:
        for transport in TRANSPORTS:
            url = "" if transport == "stdio" else await stack.enter_async_context(listening(transport))
            for mode in ERAS:
                async with client_over(transport, url, mode=mode) as client:
                    tools = (await client.list_tools()).tools
                    # The SDK puts the keys of schemas in another order in each era.
                    lists.add(json.dumps([tool.model_dump(mode="json") for tool in tools], sort_keys=True))
                    session = await session_of(client)
                    await client.call_tool("navigate", {"url": page, "sessionId": session})
                    answers = [await client.call_tool(name, {**a, "sessionId": session}) for name, a in calls]
                    said.add(json.dumps([answer.structured_content for answer in answers]))

    assert len(said) == 1
    assert len(lists) == 1


async def test_a_stream_for_too_many_resources_is_refused(transport: Transport, url: str) -> None:
    uris = [f"playwright:///page/none/page-{number}" for number in range(1_001)]
    async with client_over(transport, url, mode="auto") as client:
        with pytest.raises(MCPError, match="At most 1000 resources on one stream"):
            async with client.listen(resource_subscriptions=uris):
                pass
        async with client.listen(resource_subscriptions=[uris[0]] * 2_000):
            pass
