"""The server for streams gives the answers that the SDK's server gives with the same methods."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage

from footlight.app.machine import Machine
from footlight.app.wiring import load_prompts
from footlight.config import Settings
from footlight.protocol.messages import Message
from footlight.server.protocol.methods import ServerMethods, defer_methods, make_methods
from footlight.server.protocol.server import make_server
from footlight.server.protocol.stream_server import serve_stream
from footlight.server.requests import INVALID_PARAMS, ProtocolError, Request
from footlight.server.resources.subscriptions import Subscriptions
from footlight.toolsets import make_toolset
from footlight.transports.messages import message_of, to_json

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
META: dict[str, Any] = {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}}
CLIENT = {"name": "client", "version": "1"}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}


def methods() -> ServerMethods:
    """Return small handlers that read parameters of every kind."""

    async def list_tools(request: Request) -> dict[str, Any]:
        request.optional_text("cursor")
        return {"tools": [{"name": "echo", "description": "Echo.", "inputSchema": {"type": "object"}}]}

    async def call_tool(request: Request) -> dict[str, Any]:
        name, arguments = request.text("name"), request.object("arguments")
        if name != "echo":
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}")
        if "progress" in arguments:
            await request.report_progress(1, 2, "half")
        if "wait" in arguments:
            await asyncio.Event().wait()
        said = {"type": "text", "text": json.dumps(arguments)}
        return {"content": [said], "structuredContent": dict(arguments), "isError": False}

    async def read_resource(request: Request) -> dict[str, Any]:
        uri = request.text("uri")
        raise ProtocolError(INVALID_PARAMS, "Resource not found: none", {"uri": uri})

    async def get_prompt(request: Request) -> dict[str, Any]:
        arguments = request.texts_by_name("arguments")
        text = f"{request.text('name')} {sorted(arguments.items())}"
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    handlers = {
        "tools/list": list_tools,
        "tools/call": call_tool,
        "resources/read": read_resource,
        "prompts/get": get_prompt,
    }
    made = ServerMethods(
        name="methods",
        version="1",
        instructions="None.",
        handlers=handlers,
        input_schema=lambda _: None,
    )
    handlers["server/discover"] = made.discover
    return made


def request(id: int | str, method: str, params: Any = None) -> Message:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def cancel(id: int | str) -> Message:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


async def answers_of_ours(messages: Sequence[Message], count: int) -> list[Message]:
    """Return the first messages that the server sends."""
    sent: asyncio.Queue[Message] = asyncio.Queue()

    async def incoming() -> AsyncGenerator[Message]:
        for message in messages:
            yield message
        await asyncio.Event().wait()

    serving = asyncio.create_task(serve_stream(methods(), incoming(), sent.put))
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            return [json.loads(json.dumps(await sent.get())) for _ in range(count)]
    finally:
        serving.cancel()
        await asyncio.wait([serving])


async def answers_of_sdk(messages: Sequence[Message], count: int) -> list[Message]:
    server = make_server(methods())
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](len(messages))
    from_server, outgoing = anyio.create_memory_object_stream[SessionMessage](100)
    with to_server, incoming, from_server, outgoing:
        for message in messages:
            to_server.send_nowait(message_of(message))
        options = server.create_initialization_options()
        serving = asyncio.create_task(server.run(incoming, from_server, options))
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                received = [await outgoing.receive() for _ in range(count)]
        finally:
            serving.cancel()
            await asyncio.wait([serving])
    return [json.loads(to_json(each.message)) for each in received]


def index_by_id(answers: Sequence[Message]) -> dict[Any, Message]:
    """Return the answers, without the capabilities: the SDK derives them from the handlers."""
    for answer in answers:
        answer.get("result", {}).pop("capabilities", None)
    return {answer.get("id"): answer for answer in answers}


async def check_same(messages: Sequence[Message]) -> None:
    count = sum("id" in message for message in messages)
    ours, theirs = await answers_of_ours(messages, count), await answers_of_sdk(messages, count)

    assert index_by_id(ours) == index_by_id(theirs)


MALFORMED: list[Any] = [{}, {"name": 5}, {"name": "echo", "arguments": []}, {"name": "nothing"}, {"_meta": 5}]


@pytest.mark.parametrize(
    "messages",
    [
        [
            request(1, "tools/list"),
            request(2, "ping"),
            request(3, "fly"),
            request(4, "initialize", INITIALIZE),
        ],
        [request(1, "initialize", {**INITIALIZE, "protocolVersion": "2024-11-05"}), request(2, "tools/list")],
        [request(1, "initialize", {**INITIALIZE, "protocolVersion": "1999-01-01"})],
        [request(1, "initialize", INITIALIZE), request(2, "initialize", INITIALIZE)],
        [request(1, "initialize", {}), request(2, "initialize", {**INITIALIZE, "clientInfo": {"name": "x"}})],
        [request(1, "initialize", INITIALIZE)]
        + [request(number, "tools/call", params) for number, params in enumerate(MALFORMED, 2)],
        [
            request(1, "initialize", INITIALIZE),
            request(2, "prompts/get", {"name": "a", "arguments": {"b": 1}}),
        ],
        [request(1, "initialize", INITIALIZE), request(2, "resources/read", {"uri": "x:y"})],
        [
            request(1, "initialize", INITIALIZE),
            request(2, "server/discover"),
            request(3, "tools/list", {"_meta": META}),
        ],
        [request(1, "server/discover", {"_meta": META}), request(2, "ping", {"_meta": META})],
        [
            request(1, "tools/list", {"_meta": META}),
            request(2, "initialize", INITIALIZE),
            request(3, "tools/list"),
        ],
        [request(1, "tools/list", {"_meta": {VERSION_KEY: "2031-01-01", CAPABILITIES_KEY: {}}})],
        [request(1, "tools/list", {"_meta": {VERSION_KEY: "2026-07-28"}})],
        [request(1, "tools/list", {"_meta": {VERSION_KEY: 5, CAPABILITIES_KEY: {}}})],
        [request("a", "tools/call", {"_meta": META, "name": "echo", "arguments": {"x": [1, None, "ä"]}})],
    ],
    ids=range(15),
)
async def test_responses_match_the_sdk_server(messages: list[Message]) -> None:
    await check_same(messages)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=4,
)
NAMES = ["name", "arguments", "uri", "cursor", "_meta"]
PARAMS = st.dictionaries(st.sampled_from(NAMES), VALUES | st.sampled_from(["echo", META, {}]), max_size=3)
METHODS = st.sampled_from(
    ["tools/list", "tools/call", "resources/read", "prompts/get", "ping", "initialize", "fly"]
)


@given(st.lists(st.tuples(METHODS, PARAMS), min_size=1, max_size=4), st.booleans())
def test_any_requests_are_answered_like_the_sdk_server(
    calls: list[tuple[str, dict[str, Any]]], shakes_hands: bool
) -> None:
    first = [request("first", "initialize", INITIALIZE)] if shakes_hands else []

    asyncio.run(check_same([*first, *(request(number, *call) for number, call in enumerate(calls))]))


async def test_cancelled_request_gets_no_response() -> None:
    slow = request(7, "tools/call", {"name": "echo", "arguments": {"wait": True}})
    messages = [request(1, "initialize", INITIALIZE), slow, cancel("7"), request(8, "ping")]

    answers = await answers_of_ours(messages, 2)

    assert [answer["id"] for answer in answers] == [1, 8]


async def test_progress_precedes_the_response_and_requires_a_token() -> None:
    arguments = {"progress": True}
    asks = {"name": "echo", "arguments": arguments, "_meta": {"progressToken": "token"}}
    does_not = {"name": "echo", "arguments": arguments}
    first, *rest = await answers_of_ours(
        [
            request(1, "initialize", INITIALIZE),
            request(2, "tools/call", asks),
            request(3, "tools/call", does_not),
        ],
        4,
    )

    assert first["id"] == 1
    assert rest[0] == {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": "token", "progress": 1, "total": 2, "message": "half"},
    }
    assert {each.get("id") for each in rest[1:]} == {2, 3}


async def test_running_request_gets_an_error_when_the_connection_ends() -> None:
    sent: asyncio.Queue[Message] = asyncio.Queue()

    async def incoming() -> AsyncGenerator[Message]:
        yield request(1, "initialize", INITIALIZE)
        yield request(2, "tools/call", {"name": "echo", "arguments": {"wait": True}})

    async with asyncio.timeout(LIMIT_SECONDS):
        await serve_stream(methods(), incoming(), sent.put)

    assert [sent.get_nowait()["id"], sent.get_nowait()] == [
        1,
        {"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": "Connection closed"}},
    ]


async def test_lazily_loaded_methods_match_eagerly_created_ones() -> None:
    settings = Settings()
    toolset = make_toolset(settings)
    machine = Machine(settings, toolset, None)
    made = make_methods(
        settings,
        instructions="Use it.",
        dispatcher=machine.make_dispatcher(),
        envelope=toolset.make_envelope(),
        resources=machine.make_resources(),
        subscriptions=Subscriptions(),
        prompts=functools.cache(functools.partial(load_prompts, settings)),
    )
    loads: list[str] = []

    async def load() -> ServerMethods:
        loads.append("load")
        return made

    deferred = defer_methods(settings, instructions="Use it.", has_app=False, load=load)

    assert deferred.handlers.keys() == made.handlers.keys()
    assert deferred.initialize_result("2025-11-25") == made.initialize_result("2025-11-25")
    assert loads == []
