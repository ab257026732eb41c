"""HTTP without transport sessions: POST requests with JSON answers, as specified."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import httpx2
import pytest
from mcp import Client

from tests.http_client import (
    HttpServer,
    Raw,
    data,
    initialize,
    modern,
    raw,
    refusal,
    request,
    routing,
    served,
)
from tests.site import Site

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def server(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[HttpServer]:
    config = {"pool": {"minBrowsers": 1}, "listen": {"stateless": True}}
    async with served(tmp_path_factory.mktemp("stateless"), config=config) as server:
        yield server


@pytest.fixture
async def client(server: HttpServer) -> AsyncGenerator[Raw]:
    async with raw(server) as client:
        yield client


async def post(client: Raw, body: bytes, *, path: str = "/", **headers: str) -> httpx2.Response:
    """Send a request like the specification's client, which has only a body."""
    left_out = dict.fromkeys(("Accept", "Content-Type"))
    return await client.send(content=body, path=path, headers={**left_out, **headers})


@pytest.mark.parametrize("path", ["/", "/mcp"])
async def test_request_needs_only_a_body(client: Raw, path: str) -> None:
    answer = await post(client, json.dumps(request("tools/list")).encode(), path=path)

    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert "navigate" in [tool["name"] for tool in answer.json()["result"]["tools"]]
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize(
    "kind", ["application/json", "application/x-www-form-urlencoded", "text/plain;charset=UTF-8"]
)
async def test_content_type_of_the_body_is_ignored(client: Raw, kind: str) -> None:
    answer = await post(client, json.dumps(request("ping")).encode(), **{"Content-Type": kind})

    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


@pytest.mark.slow
async def test_slow_call_is_still_answered_as_json(client: Raw, site: Site) -> None:
    made = await data(client, "create_session")
    await data(client, "navigate", url=site.page("<p>x</p>"), **made)
    params = {
        "name": "wait_for_selector",
        "arguments": {"selector": "#never", "timeout": 1500, **made},
        "_meta": {"progressToken": "t"},
    }

    answer = await post(client, json.dumps(request("tools/call", params)).encode())

    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"


async def test_handshake_is_optional_and_accepted(client: Raw) -> None:
    opened = await post(client, json.dumps(initialize("2025-06-18")).encode())
    notified = await post(client, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    assert opened.json()["result"]["protocolVersion"] == "2025-06-18"
    assert "mcp-session-id" not in opened.headers
    assert (notified.status_code, notified.content) == (202, b"")


async def test_calls_are_independent_despite_a_session_header(client: Raw) -> None:
    """A transport session that a client makes up ties nothing together."""
    params = {"name": "get_cookies", "arguments": {}}
    body = json.dumps(request("tools/call", params)).encode()

    answer = await post(client, body, **{"Mcp-Session-Id": "made-up"})

    assert answer.json()["result"]["structuredContent"]["error"]["code"] == "MISSING_PARAMETER"


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (b"{", refusal(-32700, "Parse error: the body is not JSON")),
        (b"", refusal(-32700, "Parse error: the body is not JSON")),
        (b"[]", refusal(-32600, "Invalid request: batches are not supported")),
        (b'{"id":7}', refusal(-32600, "Invalid request: not a JSON-RPC 2.0 message", 7)),
    ],
)
async def test_invalid_message_gets_400_and_server_continues(
    client: Raw, body: bytes, answer: object
) -> None:
    response = await post(client, body)

    assert (response.status_code, response.json()) == (400, answer)
    assert (await post(client, json.dumps(request("ping")).encode())).status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
async def test_methods_other_than_post_are_refused(client: Raw, method: str) -> None:
    refused = await client.send(method=method)

    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


async def test_cors_preflight_is_still_answered(client: Raw) -> None:
    headers = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
    preflight = await client.send(method="OPTIONS", headers=headers)
    foreign = await client.send(method="OPTIONS", headers={**headers, "Origin": "https://evil.example"})

    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (204, "*")
    assert foreign.status_code == 403


async def test_other_paths_are_not_served(client: Raw) -> None:
    assert (await post(client, b"{}", path="/elsewhere")).status_code == 404


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_sdk_client_works_without_transport_sessions(server: HttpServer, site: Site, mode: str) -> None:
    async with Client(f"{server.url}/mcp", mode=mode) as sdk:
        made = (await sdk.call_tool("create_session", {})).structured_content
        assert made is not None
        await sdk.call_tool("navigate", {"url": site.page("<p>here</p>"), **made["data"]})
        text = await sdk.call_tool("get_text", {"selector": "p", **made["data"]})

    assert text.structured_content == {"success": True, "data": {"text": "here"}}


async def test_subscriptions_are_still_an_event_stream(client: Raw) -> None:
    message = modern("subscriptions/listen", {"notifications": {"resourcesListChanged": True}})
    async with client.streaming(message, headers=routing(message)) as response:
        assert response.headers["content-type"] == "text/event-stream"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("era", ["handshake", "current"])
async def test_client_disconnect_cancels_its_call(client: Raw, site: Site, era: str) -> None:
    """Its session takes the next call."""
    made = await data(client, "create_session")
    await data(client, "navigate", url=site.page("<p>here</p>"), **made)
    params = {"name": "wait_for_selector", "arguments": {"selector": "#never", "timeout": 60_000, **made}}
    current = modern("tools/call", params)
    message, headers = (
        (current, routing(current)) if era == "current" else (request("tools/call", params), {})
    )

    with pytest.raises(httpx2.ReadTimeout):
        await client.http.send(_impatiently(client.build(message, headers=headers)))

    assert await data(client, "get_text", selector="p", timeout=20_000, **made) == {"text": "here"}
    await data(client, "close_session", **made)


def _impatiently(built: httpx2.Request) -> httpx2.Request:
    built.extensions = {
        **built.extensions,
        "timeout": {"connect": 5.0, "read": 0.5, "write": 5.0, "pool": 5.0},
    }
    return built
