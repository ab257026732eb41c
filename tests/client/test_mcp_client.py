"""The public interface of `MCPClient`, over a channel in memory."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import pytest

import footlight
from footlight import (
    MCPClient,
    MCPConnectionError,
    MCPError,
    MCPTimeoutError,
    ServerNotAvailableError,
    ToolInvocationError,
    is_session_expired,
    is_timeout,
    is_tool_not_found,
)
from footlight.client import server_listings
from footlight.protocol import connection
from footlight.protocol.messages import encode, notification
from footlight.protocol.results import CallResult, Content, ToolResult
from footlight.protocol.tools import Tool
from tests.client.channels import (
    LEGACY,
    LIMIT_SECONDS,
    SERVER_INFO,
    STATELESS,
    Place,
    Refusal,
    Wire,
    make_discover_result,
    make_initialize_result,
)
from tests.loop_watch import watch_loops

pytestmark = pytest.mark.anyio

MODERN = "2026-07-28"
LOST = MCPConnectionError("The process ended")
EXPIRED = MCPConnectionError("Session expired", reason="session_expired", status=404)


def make_listing(*names: str, **more: Any) -> dict[str, Any]:
    return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names], **more}


def make_result(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


TOOLS = {**LEGACY, "tools/list": make_listing("a", "b")}
MODERN_TOOLS = {**STATELESS, "tools/list": make_listing("a", "b")}


@pytest.fixture
async def client() -> AsyncGenerator[MCPClient]:
    """Connected, to a server with two tools."""
    async with MCPClient(Place(TOOLS)) as client:
        yield client


def wire_of(client: MCPClient) -> Any:
    place = client.transport
    assert isinstance(place, Place)
    return place.wire


async def wait_in_time(task: asyncio.Task[Any]) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        await asyncio.wait([task])


# Made


@pytest.mark.parametrize("name", ["a", "footlight", "My-Client-2", "-"])
@pytest.mark.parametrize(
    "version", ["0.1.0", "1.0.0-alpha.1", "1.2.3+build.5", "10.20.30-a-b.0+x", "1.0.0-0a"]
)
def test_valid_client_names_and_versions_are_accepted(name: str, version: str) -> None:
    client = MCPClient(name=name, version=version)

    assert (client.name, client.version) == (name, version)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": ""}, "name: '' must be letters, digits and hyphens"),
        ({"name": "a b"}, "name: 'a b' must be letters, digits and hyphens"),
        ({"name": "a\n"}, "name: 'a\\n' must be letters, digits and hyphens"),
        ({"name": "ä"}, "name: 'ä' must be letters, digits and hyphens"),
        ({"name": "a_b"}, "name: 'a_b' must be letters, digits and hyphens"),
        ({"version": ""}, "version: '' must be like 1.0.0"),
        ({"version": "1"}, "version: '1' must be like 1.0.0"),
        ({"version": "1.0"}, "version: '1.0' must be like 1.0.0"),
        ({"version": "v1.0.0"}, "version: 'v1.0.0' must be like 1.0.0"),
        ({"version": "01.0.0"}, "version: '01.0.0' must be like 1.0.0"),
        ({"version": "1.0.0-"}, "version: '1.0.0-' must be like 1.0.0"),
        ({"version": "1.0.0-a..b"}, "version: '1.0.0-a..b' must be like 1.0.0"),
        ({"version": "1.0.0-01"}, "version: '1.0.0-01' must be like 1.0.0"),
        ({"version": "1.0.0\n"}, "version: '1.0.0\\n' must be like 1.0.0"),
        ({"version": "١.٢.٣"}, "version: '١.٢.٣' must be like 1.0.0"),
        ({"timeout_ms": 0}, "timeout_ms: must be more than 0, got 0"),
        ({"timeout_ms": -1}, "timeout_ms: must be more than 0, got -1"),
        ({"timeout_ms": float("nan")}, "timeout_ms: must be more than 0, got nan"),
        (
            {"protocol_version": "2023-01-01"},
            "protocol_version: '2023-01-01' must be auto or one of "
            "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28",
        ),
    ],
)
def test_invalid_client_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(MCPError) as refused:
        MCPClient(**options)

    assert (refused.value.message, refused.value.reason) == (message, "invalid")


def test_client_repr_shows_no_secrets() -> None:
    client = MCPClient("https://me:hunter2@host/mcp?token=x", headers={"Authorization": "Bearer x"})

    assert repr(client) == "<MCPClient footlight https://host/mcp disconnected>"
    assert repr(MCPClient(name="me")) == "<MCPClient me disconnected>"


def test_client_can_be_created_outside_an_event_loop() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)

    async def use() -> list[str]:
        try:
            return [tool.name for tool in await client.list_tools()]
        finally:
            await client.close()

    assert asyncio.run(use()) == ["a", "b"]


# Its life


async def test_client_state_follows_its_lifecycle() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)
    seen: list[Any] = []

    def look() -> None:
        seen.append((client.state, client.connected, client.is_connected(), client.transport is place))

    look()
    await client.connect()
    look()
    place.wire.lose(LOST)
    look()
    await client.reconnect()
    look()
    await client.close()
    look()

    assert seen == [
        ("disconnected", False, False, False),
        ("connected", True, True, True),
        ("error", False, False, False),
        ("connected", True, True, True),
        ("disconnected", False, False, False),
    ]
    assert [wire.closed for wire in place.wires] == [1, 1]
    assert client.transport is None


async def test_server_facts_are_known_only_while_connected() -> None:
    client = MCPClient(Place({"initialize": make_initialize_result("2025-11-25", instructions="Be kind.")}))

    def read_server_facts() -> list[Any]:
        return [
            client.get_server_info(),
            client.get_server_capabilities(),
            client.get_instructions(),
            client.get_protocol_version(),
            client.get_session_id(),
        ]

    before = read_server_facts()
    async with client:
        assert read_server_facts() == [SERVER_INFO, {"tools": {}}, "Be kind.", "2025-11-25", None]

    assert before == read_server_facts() == [{}, {}, None, "2025-06-18", None]


@pytest.mark.parametrize(
    ("requested", "offered"), [(None, "2025-06-18"), ("2025-11-25", "2025-11-25"), ("auto", "2025-06-18")]
)
def test_offered_protocol_version_is_known_before_connecting(requested: Any, offered: str) -> None:
    assert MCPClient(protocol_version=requested).get_protocol_version() == offered


async def test_client_declares_its_capabilities_in_the_handshake() -> None:
    place = Place(LEGACY)
    async with MCPClient(
        place,
        name="me",
        version="2.0.0",
        roots=["file:///a"],
        sampling=lambda _: {"model": "m"},
        elicitation=lambda _: {"action": "accept"},
    ):
        for method in ("roots/list", "sampling/createMessage", "elicitation/create"):
            place.wire.comes({"jsonrpc": "2.0", "id": method, "method": method})
        answers = [
            (await place.wire.answered(method))["result"]
            for method in ("roots/list", "sampling/createMessage", "elicitation/create")
        ]

    assert place.wire.sent[0]["params"] == {
        "protocolVersion": "2025-06-18",
        "capabilities": {
            **{"roots": {}, "sampling": {}, "elicitation": {}},
            "experimental": {"footlight/full-schemas": {}},
        },
        "clientInfo": {"name": "me", "version": "2.0.0"},
    }
    assert answers == [{"roots": [{"uri": "file:///a"}]}, {"model": "m"}, {"action": "accept"}]


async def test_connected_client_refuses_another_connect(client: MCPClient) -> None:
    with pytest.raises(MCPError) as refused:
        await client.connect("another")

    assert refused.value.to_dict() == {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": "The client is connected already (connected); close() or reconnect() it",
        "reason": "invalid",
        "rpcCode": -32602,
    }
    assert [tool.name for tool in await client.list_tools()] == ["a", "b"]


async def test_concurrent_connects_open_one_connection() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)

    results = await asyncio.gather(client.connect(), client.connect(), return_exceptions=True)
    await client.close()

    assert place.opening == 1
    assert [type(result) for result in results] == [type(None), MCPError]


@pytest.mark.parametrize(
    "use",
    [
        lambda client: client.list_tools(),
        lambda client: client.call_tool("a"),
        lambda client: client.call("a"),
        lambda client: client.get_tool("a"),
        lambda client: client.ping(),
        lambda client: client.request("x"),
        lambda client: client.open_stream(print),
        lambda client: client.reconnect(),
    ],
    ids=["list_tools", "call_tool", "call", "get_tool", "ping", "request", "open_stream", "reconnect"],
)
async def test_client_without_a_target_reports_not_connected(use: Callable[[MCPClient], Any]) -> None:
    with pytest.raises(MCPConnectionError) as refused:
        await use(MCPClient())

    assert refused.value.to_dict() == {
        "name": "ConnectionError",
        "code": "CONNECTION_ERROR",
        "message": "The client is not connected; call connect() first",
        "reason": "not_connected",
        "rpcCode": -32001,
    }


async def test_connecting_without_a_target_is_refused() -> None:
    client = MCPClient()
    with pytest.raises(MCPError, match="there is nothing to connect to"):
        await client.connect()
    with pytest.raises(MCPError, match="the command is empty"):
        await client.connect("")

    assert client.state == "disconnected"


async def test_closed_client_reports_not_connected_and_can_reconnect() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)
    async with client:
        await client.list_tools()
    with pytest.raises(MCPConnectionError, match="not connected"):
        await client.list_tools()
    async with client:
        assert len(await client.list_tools()) == 2

    assert place.opening == 2


async def test_close_may_be_called_at_any_time_and_repeatedly() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)
    await client.close()
    await client.connect()
    await asyncio.gather(client.close(), client.close())
    await client.close()

    assert place.wire.closed == 1
    assert client.state == "disconnected"


async def test_closing_fails_pending_calls(client: MCPClient) -> None:
    wire = wire_of(client)
    calling = asyncio.create_task(client.call_tool("a"))
    await wire.asked("tools/call")
    await client.close()

    with pytest.raises(MCPConnectionError, match="The client was closed") as ended:
        await calling
    assert ended.value.reason == "not_connected"


async def test_a_handler_may_close_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing ends the handlers, and must not wait for the one that it is called by."""
    monkeypatch.setattr(connection, "CLOSE_SECONDS", LIMIT_SECONDS)
    place = Place(TOOLS)
    closed = asyncio.Event()

    async def close(params: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            await client.close()
        finally:
            closed.set()
        return {}

    client = MCPClient(place, elicitation=close)
    await client.connect()
    place.wire.comes({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create"})
    async with asyncio.timeout(LIMIT_SECONDS / 2):
        await closed.wait()

    assert place.wire.closed == 1
    assert client.state == "disconnected"


async def test_client_opened_in_one_task_can_be_closed_in_another() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)
    await asyncio.create_task(client.connect())
    tools = await asyncio.create_task(client.list_tools())
    await asyncio.create_task(client.close())

    assert len(tools) == 2
    assert place.wire.closed == 1


# Connecting fails


@pytest.mark.parametrize(
    ("place", "error"),
    [
        (Place(failures=[ServerNotAvailableError("Nobody")]), ServerNotAvailableError),
        (Place({"initialize": Refusal(-32603)}), MCPConnectionError),
        (Place({"initialize": make_initialize_result("1999-01-01")}), MCPConnectionError),
        (Place({"initialize": MCPConnectionError("Reset")}), MCPConnectionError),
        (Place({}), MCPTimeoutError),
        (Place({"initialize": make_initialize_result()}, gate=asyncio.Event()), MCPTimeoutError),
    ],
    ids=["nobody", "refused", "other version", "reset", "silent", "never opens"],
)
async def test_failed_connect_leaves_no_task_or_open_channel(place: Place, error: type[MCPError]) -> None:
    before = asyncio.all_tasks()
    client = MCPClient(place, timeout_ms=50 if error is MCPTimeoutError else 10_000)

    with pytest.raises(MCPError) as failed:
        await client.connect()

    assert type(failed.value) is error
    assert client.state == "disconnected"
    assert client.transport is None
    assert [wire.closed for wire in place.wires] == [1] * len(place.wires)
    assert asyncio.all_tasks() == before


async def test_connect_can_be_retried_after_a_failure() -> None:
    place = Place(TOOLS, failures=[ServerNotAvailableError("Nobody")])
    client = MCPClient(place)
    with pytest.raises(ServerNotAvailableError):
        await client.connect()
    await client.connect()

    assert client.connected
    await client.close()


async def test_connection_error_names_the_server_command() -> None:
    client = MCPClient(Place({"initialize": Refusal(-32603)}, command="server", where="server --flag"))

    with pytest.raises(MCPConnectionError) as failed:
        await client.connect()

    assert failed.value.server_command == "server --flag"


async def test_cancelled_connect_leaves_nothing_open() -> None:
    place = Place({})
    client = MCPClient(place)
    connecting = asyncio.create_task(client.connect())
    await place.wait_until_tried()
    await place.wire.asked("initialize")
    connecting.cancel()
    await wait_in_time(connecting)

    assert connecting.cancelled()
    assert client.state == "disconnected"
    assert place.wire.closed == 1


async def test_cancelled_close_still_completes() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)
    await client.connect()
    begun, may_end = asyncio.Event(), asyncio.Event()
    ended: list[str] = []

    async def close() -> None:
        begun.set()
        await may_end.wait()
        ended.append("closed")

    place.wire.close = close
    closing = asyncio.create_task(client.close())
    async with asyncio.timeout(LIMIT_SECONDS):
        await begun.wait()
    for _ in range(3):
        closing.cancel()
        await asyncio.wait([closing], timeout=0)
    may_end.set()
    await wait_in_time(closing)

    assert closing.cancelled()
    assert ended == ["closed"]
    assert client.state == "disconnected"


async def test_cancelled_stream_close_still_closes_the_connection() -> None:
    place = Place(TOOLS, http=True)
    client = MCPClient(place)
    await client.open_stream(print)
    begun = asyncio.Event()

    async def wait_forever() -> None:
        begun.set()
        await asyncio.Event().wait()

    place.wire.stop_listening = wait_forever
    closing = asyncio.create_task(client.close())
    async with asyncio.timeout(LIMIT_SECONDS):
        await begun.wait()
    closing.cancel()
    await wait_in_time(closing)

    assert place.wire.closed == 1
    assert client.state == "disconnected"


# Lost


async def test_call_on_a_lost_connection_fails_at_once(client: MCPClient) -> None:
    wire = wire_of(client)
    wire.lose(LOST)
    sent = len(wire.sent)

    for _ in range(2):
        with pytest.raises(MCPConnectionError, match="The process ended") as ended:
            await client.list_tools()
        assert ended.value.reason == "network"
    with pytest.raises(MCPConnectionError, match="The process ended"):
        await client.open_stream(print)

    assert client.state == "error"
    assert len(wire.sent) == sent
    with pytest.raises(MCPError, match=r"connected already \(error\)"):
        await client.connect()


async def test_pending_calls_fail_when_the_connection_is_lost(client: MCPClient) -> None:
    wire = wire_of(client)
    calls = [asyncio.create_task(client.call_tool(name)) for name in ("a", "b")]
    await wire.asked("tools/call", 2)
    wire.lose(LOST)

    errors = await asyncio.gather(*calls, return_exceptions=True)

    assert [str(error) for error in errors] == ["The process ended"] * 2
    assert errors[0] is not errors[1]


async def test_failed_reconnect_leaves_the_client_disconnected() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)
    await client.connect()
    place.failures.append(ServerNotAvailableError("Nobody"))

    with pytest.raises(ServerNotAvailableError):
        await client.reconnect()

    assert client.state == "disconnected"
    assert place.wires[0].closed == 1
    await client.reconnect()
    assert client.connected
    await client.close()


async def test_cancelled_reconnect_leaves_nothing_open() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)
    await client.connect()
    place.gate = asyncio.Event()
    reconnecting = asyncio.create_task(client.reconnect())
    await place.wait_until_tried(2)
    reconnecting.cancel()
    await wait_in_time(reconnecting)

    assert reconnecting.cancelled()
    assert client.state == "disconnected"
    assert place.wires[0].closed == 1


# The first call connects


async def test_concurrent_first_calls_connect_once() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)

    found = await asyncio.gather(*(client.get_tool("a") for _ in range(10)))

    assert place.opening == 1
    assert place.wire.methods == ["initialize", "notifications/initialized", "tools/list"]
    assert [tool.name for tool in found if tool is not None] == ["a"] * 10
    await client.close()


async def test_call_after_a_failed_implicit_connect_tries_again() -> None:
    place = Place(TOOLS, failures=[ServerNotAvailableError("Nobody")])
    client = MCPClient(place)
    with pytest.raises(ServerNotAvailableError):
        await client.list_tools()

    assert len(await client.list_tools()) == 2
    await client.close()


async def test_cancelled_first_caller_does_not_prevent_the_next_from_connecting() -> None:
    place = Place(TOOLS, gate=asyncio.Event())
    client = MCPClient(place)
    first, second = (asyncio.create_task(client.list_tools()) for _ in range(2))
    await place.wait_until_tried()
    first.cancel()
    assert place.gate is not None
    place.gate.set()

    assert len(await second) == 2
    assert first.cancelled()
    await client.close()


# An HTTP session that expires


async def test_call_after_an_expired_session_begins_a_new_one() -> None:
    replies: list[Any] = [make_listing("old"), EXPIRED, make_listing("new")]
    place = Place({**LEGACY, "tools/list": lambda _: replies.pop(0)}, http=True)
    async with MCPClient(place) as client:
        await client.list_tools()
        with pytest.raises(MCPConnectionError) as expired:
            await client.list_tools(refresh=True)
        assert is_session_expired(expired.value)
        assert not is_timeout(expired.value)
        assert client.state == "connected"

        assert [tool.name for tool in await client.list_tools()] == ["new"]

    assert place.opening == 1
    assert place.wire.methods == [
        *("initialize", "notifications/initialized", "tools/list", "tools/list"),
        *("initialize", "notifications/initialized", "tools/list"),
    ]


async def test_concurrent_calls_after_expiry_begin_one_new_session() -> None:
    place = Place({**TOOLS, "tools/call": EXPIRED}, http=True)
    async with MCPClient(place) as client:
        errors = await asyncio.gather(*(client.call_tool("a") for _ in range(5)), return_exceptions=True)
        place.wire.script["tools/call"] = make_result("done")
        results = await asyncio.gather(*(client.call_tool("a") for _ in range(5)))

    assert [is_session_expired(error) for error in errors if isinstance(error, MCPError)] == [True] * 5
    assert [result.text for result in results] == ["done"] * 5
    assert len(place.wire.of("initialize")) == 2


async def test_late_expiry_of_an_old_session_keeps_the_new_one() -> None:
    place = Place(TOOLS, http=True)
    async with MCPClient(place) as client:
        wire = place.wire
        wire.stuck = asyncio.Event()
        wire.script["tools/call"] = EXPIRED
        late = asyncio.create_task(client.call_tool("a"))
        await wire.asked("tools/call")
        stuck, wire.stuck = wire.stuck, None
        with pytest.raises(MCPConnectionError):
            await client.call_tool("b")
        await client.list_tools()
        stuck.set()
        with pytest.raises(MCPConnectionError):
            await late
        await client.list_tools(refresh=True)

    assert len(wire.of("initialize")) == 2


async def test_failed_new_session_is_retried_by_the_next_call() -> None:
    place = Place({**TOOLS, "tools/call": EXPIRED}, http=True)
    async with MCPClient(place) as client:
        with pytest.raises(MCPConnectionError, match="Session expired"):
            await client.call_tool("a")
        place.wire.script["initialize"] = MCPError("A 503", reason="http", status=503)
        with pytest.raises(MCPError, match="A 503"):
            await client.list_tools()
        place.wire.script["initialize"] = make_initialize_result()

        assert len(await client.list_tools()) == 2


async def test_session_is_terminated_when_the_client_closes() -> None:
    place = Place(TOOLS, http=True)
    async with MCPClient(place) as client:
        assert client.get_session_id() == "session-1"

    assert client.get_session_id() is None
    assert (place.wire.terminated, place.wire.closed) == (1, 1)


async def test_failed_session_termination_does_not_prevent_closing() -> None:
    place = Place(TOOLS, http=True)
    async with MCPClient(place):
        place.wire.ending = MCPConnectionError("Reset")

    assert (place.wire.terminated, place.wire.closed) == (1, 1)


@pytest.mark.parametrize("did", [True, False])
async def test_terminated_session_is_replaced_by_the_next_call(did: bool) -> None:
    place = Place(TOOLS, http=True)
    async with MCPClient(place) as client:
        place.wire.ending = did
        assert await client.terminate_session() is did
        assert client.get_session_id() is None
        assert await client.terminate_session() is False
        assert len(await client.list_tools()) == 2

    assert len(place.wire.of("initialize")) == 2


async def test_session_is_forgotten_even_if_its_termination_fails() -> None:
    """Its id is gone, so the next call needs another."""
    place = Place(TOOLS, http=True)
    async with MCPClient(place) as client:
        place.wire.ending = MCPConnectionError("Reset")
        with pytest.raises(MCPConnectionError, match="Reset"):
            await client.terminate_session()
        await client.list_tools()

    assert len(place.wire.of("initialize")) == 2


async def test_terminating_without_a_session_does_nothing(client: MCPClient) -> None:
    assert await client.terminate_session() is False
    assert client.get_session_id() is None
    assert len(wire_of(client).of("initialize")) == 1


# Tools


async def test_tool_list_is_cached_until_the_connection_closes() -> None:
    place = Place(TOOLS)
    client = MCPClient(place)
    first = await client.list_tools()
    assert await client.list_tools() is first
    assert first == (
        Tool("a", input_schema={"type": "object"}, raw=TOOLS["tools/list"]["tools"][0]),
        Tool("b", input_schema={"type": "object"}, raw=TOOLS["tools/list"]["tools"][1]),
    )
    await client.list_tools(refresh=True)
    assert len(place.wire.of("tools/list")) == 2
    await client.reconnect()
    await client.list_tools()
    assert len(place.wire.of("tools/list")) == 1
    await client.close()


async def test_changed_tool_list_is_requested_again(client: MCPClient) -> None:
    wire = wire_of(client)
    await client.list_tools()
    wire.notify("notifications/resources/list_changed")
    await client.list_tools()
    assert len(wire.of("tools/list")) == 1
    wire.notify("notifications/tools/list_changed")
    await client.list_tools()

    assert len(wire.of("tools/list")) == 2


async def test_tool_list_changed_during_listing_is_requested_again(client: MCPClient) -> None:
    wire = wire_of(client)
    tools = wire.script.pop("tools/list")
    asking = asyncio.create_task(client.list_tools())
    request = await wire.asked("tools/list")
    wire.notify("notifications/tools/list_changed")
    wire.answer(request, tools)
    await asking
    wire.script["tools/list"] = tools
    await client.list_tools()

    assert len(wire.of("tools/list")) == 2


async def test_all_pages_of_a_tool_list_are_read(client: MCPClient) -> None:
    """An empty text is a cursor too."""
    pages = {
        None: make_listing("a", nextCursor=""),
        "": make_listing("b", nextCursor="2"),
        "2": make_listing(nextCursor="3"),
        "3": make_listing("c", nextCursor=None),
    }
    wire = wire_of(client)
    wire.script["tools/list"] = lambda params: pages[params.get("cursor")]

    assert [tool.name for tool in await client.list_tools()] == ["a", "b", "c"]
    assert [request["params"] for request in wire.of("tools/list")] == [
        {},
        {"cursor": ""},
        {"cursor": "2"},
        {"cursor": "3"},
    ]


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param({None: make_listing("a", nextCursor="")}, id="refused"),
        pytest.param(
            {None: make_listing("a", nextCursor=""), "": make_listing("a", nextCursor="")},
            id="the same again",
        ),
        pytest.param(
            {
                None: make_listing("a", nextCursor="2"),
                "2": make_listing("b", nextCursor=""),
                "": make_listing("a", nextCursor="2"),
            },
            id="from the beginning",
        ),
        pytest.param({None: make_listing("a", nextCursor=""), "": make_listing()}, id="an empty page"),
    ],
)
async def test_empty_cursor_may_end_a_list(client: MCPClient, pages: Mapping[Any, Any]) -> None:
    """Many servers say so where the protocol wants no cursor. Nothing is listed twice."""
    wire_of(client).script["tools/list"] = lambda params: pages.get(
        params.get("cursor"), Refusal(-32602, "Invalid cursor")
    )

    names = [tool.name for tool in await client.list_tools()]

    assert names == (["a", "b"] if "2" in pages else ["a"])


async def test_endless_pages_are_stopped_with_an_error(
    client: MCPClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_listings, "MAX_PAGES", 7)
    wire = wire_of(client)
    wire.script["tools/list"] = make_listing("a", nextCursor="again")
    with pytest.raises(MCPError, match="tools/list returns pages without end") as refused:
        await client.list_tools()
    wire.script["resources/list"] = lambda params: {
        "resources": [],
        "nextCursor": f"{params.get('cursor', '')}x",
    }
    with pytest.raises(MCPError, match="resources/list returns pages without end"):
        await client.list_resources()

    assert refused.value.reason == "protocol"
    assert (len(wire.of("tools/list")), len(wire.of("resources/list"))) == (2, 7)

    monkeypatch.setattr(server_listings, "MAX_CHARS", 10_000)
    wire.script["prompts/list"] = lambda params: {
        "prompts": [{"name": "a", "description": "x" * 4_000}],
        "nextCursor": f"{params.get('cursor', '')}x",
    }
    with pytest.raises(MCPError, match="prompts/list returns pages without end"):
        await client.list_prompts()
    assert len(wire.of("prompts/list")) == 3


async def test_tools_are_found_by_name_and_by_search_text() -> None:
    entries = [
        {"name": "browser_click", "description": "Click an element.", "inputSchema": {}},
        {"name": "browser_navigate", "title": "Go to a page", "inputSchema": {}},
    ]
    async with MCPClient(Place({**LEGACY, "tools/list": {"tools": entries}})) as client:
        found = [
            [tool.name for tool in await client.search_tools(query)]
            for query in ("CLICK", "browser", "page go", "click page", "")
        ]
        named = await client.get_tool("browser_click")
        missing = await client.get_tool("click")

    assert found == [
        ["browser_click"],
        ["browser_click", "browser_navigate"],
        ["browser_navigate"],
        [],
        ["browser_click", "browser_navigate"],
    ]
    assert named is not None
    assert named.name == "browser_click"
    assert missing is None


# Calls


async def test_call_returns_call_result_with_parsed_data(client: MCPClient) -> None:
    wire, raw = wire_of(client), make_result('{"a": 1}')
    wire.script["tools/call"] = raw

    result = await client.call("a", {"x": [1]})

    assert result == CallResult(raw=raw, text='{"a": 1}', data={"a": 1}, is_error=False)
    assert wire.of("tools/call") == [
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "a", "arguments": {"x": [1]}},
        }
    ]


async def test_call_tool_returns_tool_result_with_structured_content(client: MCPClient) -> None:
    raw = make_result("hello", structuredContent={"a": 1})
    wire_of(client).script["tools/call"] = raw

    assert await client.call_tool("a") == ToolResult(
        (Content("text", text="hello", raw=raw["content"][0]),), structured_content={"a": 1}, raw=raw
    )
    assert wire_of(client).of("tools/call")[0]["params"] == {"name": "a", "arguments": {}}


@pytest.mark.parametrize("method", ["call", "call_tool"])
async def test_result_of_many_parts_does_not_block_the_event_loop(client: MCPClient, method: str) -> None:
    wire_of(client).script["tools/call"] = {"content": [{"type": "text", "text": "x"}] * 200_000}

    with watch_loops() as gaps:
        result = await asyncio.create_task(getattr(client, method)("a"))

    assert len(result.text) == 2 * 200_000 - 1
    assert gaps.too_long == []


async def test_call_returns_a_tool_failure_and_call_tool_raises_it(client: MCPClient) -> None:
    """An earlier implementation passed over isError."""
    raw = make_result("No such page", isError=True)
    wire_of(client).script["tools/call"] = raw

    returned = await client.call("a")
    with pytest.raises(ToolInvocationError) as raised:
        await client.call_tool("a", {"url": "x", "token": "secret"})

    assert returned == CallResult(raw=raw, text="No such page", data=None, is_error=True)
    assert raised.value.to_dict() == {
        "name": "ToolInvocationError",
        "code": "TOOL_INVOCATION_ERROR",
        "message": "No such page",
        "reason": "tool",
        "rpcCode": -32603,
        "toolName": "a",
        "toolArgs": {"url": "x", "token": "***"},
    }
    assert raised.value.result.raw is raw


async def test_json_tool_failure_is_raised_with_its_message_and_data(
    client: MCPClient,
) -> None:
    error = {"code": "MM_LAUNCH_FAILED", "message": "No chain", "details": {"port": 8545}}
    wire_of(client).script["tools/call"] = make_result(
        json.dumps({"error": error, "ok": False}), isError=True
    )

    with pytest.raises(ToolInvocationError, match=r"^MM_LAUNCH_FAILED: No chain$") as raised:
        await client.call_tool("a")

    assert (raised.value.data, raised.value.reason) == (error, "tool")


async def test_tool_failure_without_text_gets_a_default_message(client: MCPClient) -> None:
    wire_of(client).script["tools/call"] = {"isError": True}

    with pytest.raises(ToolInvocationError, match=r"^The tool a failed without a message$"):
        await client.call_tool("a")


@pytest.mark.parametrize("call", [MCPClient.call, MCPClient.call_tool])
async def test_rejected_call_is_raised_by_call_and_call_tool(
    client: MCPClient, call: Callable[..., Any]
) -> None:
    wire_of(client).script["tools/call"] = Refusal(-32602, "url: missing", {"field": "url"})

    with pytest.raises(ToolInvocationError) as refused:
        await call(client, "a", {"x": 1})

    assert refused.value.to_dict() == {
        "name": "ToolInvocationError",
        "code": "TOOL_INVOCATION_ERROR",
        "message": "url: missing",
        "reason": "peer",
        "rpcCode": -32602,
        "data": {"field": "url"},
        "toolName": "a",
        "toolArgs": {"x": 1},
    }
    assert isinstance(refused.value.__cause__, MCPError)


@pytest.mark.parametrize(
    ("code", "message", "unknown"),
    [
        (-32601, "Method not found", True),
        (-32601, "", True),
        (-32602, "Unknown tool: nav.go-", True),
        (-32602, "unknown tool 'nav.go-'", True),
        (-32602, 'Unknown tool: "nav.go-"', True),
        (-32602, "Tool nav.go- not found", True),
        (-32602, "Tool 'nav.go-' was not found.", True),
        (-32602, "Tool not found: nav.go-", True),
        (-32602, "No such tool: `nav.go-`", True),
        (-32602, "MCP error -32602: Tool nav.go- not found", True),
        (-32602, '### Error\nTool "nav.go-" not found', True),
        (-32602, "Unknown tool: another", False),
        (-32602, "Unknown tool: navxgo-", False),
        (-32602, "Unknown tool: nav.go-2", False),
        (-32602, "Unknown tool", False),
        (-32602, "file of tool nav.go- not found", False),
        (-32603, "Unknown tool: nav.go-", False),
        (-32000, "", False),
    ],
)
async def test_unknown_tool_is_recognized_by_code_and_message(
    client: MCPClient, code: int, message: str, unknown: bool
) -> None:
    wire_of(client).script["tools/call"] = Refusal(code, message)

    with pytest.raises(ToolInvocationError) as refused:
        await client.call_tool("nav.go-")

    assert is_tool_not_found(refused.value) is unknown
    assert (refused.value.message, refused.value.rpc_code) == (message, code)


async def test_unknown_tool_may_be_reported_as_a_tool_failure(client: MCPClient) -> None:
    wire_of(client).script["tools/call"] = make_result("Unknown tool: a", isError=True)

    with pytest.raises(ToolInvocationError) as refused:
        await client.call_tool("a")

    assert is_tool_not_found(refused.value)


async def test_transport_error_is_not_a_tool_error(client: MCPClient) -> None:
    wire_of(client).script["tools/call"] = MCPError("A 500", reason="http", rpc_code=500, status=500)

    with pytest.raises(MCPError) as failed:
        await client.call_tool("a")

    assert type(failed.value) is MCPError
    assert failed.value.rpc_code == 500


async def test_arguments_without_json_form_are_refused_before_sending() -> None:
    async with MCPClient(Place(TOOLS)) as client:
        wire = wire_of(client)
        wire.script["tools/call"] = make_result("x")

        send = wire.send

        async def encoding(message: Mapping[str, Any], *, headers: Mapping[str, str]) -> None:
            encode(message)
            await send(message, headers=headers)

        wire.send = encoding
        with pytest.raises(MCPError) as refused:
            await client.call_tool("a", {"x": {1, 2}})
        assert refused.value.reason == "invalid"
        assert (await client.call_tool("a")).text == "x"


async def test_call_timeout_cancels_the_request(client: MCPClient) -> None:
    with pytest.raises(MCPTimeoutError) as late:
        await client.call_tool("a", timeout_ms=5)
    reported = await wire_of(client).asked("notifications/cancelled")

    assert late.value.to_dict() == {
        "name": "TimeoutError",
        "code": "TIMEOUT_ERROR",
        "message": "The tool a did not respond within 5ms",
        "reason": "timeout",
        "rpcCode": -32000,
        "toolName": "a",
        "timeout": 5,
    }
    assert reported["params"]["requestId"] == wire_of(client).of("tools/call")[0]["id"]


async def test_call_without_a_timeout_uses_the_client_default() -> None:
    assert MCPClient().timeout_ms == 30_000
    async with MCPClient(Place(TOOLS), timeout_ms=1_000) as client:
        with pytest.raises(MCPTimeoutError, match="within 1000ms"):
            await client.call("a")
        with pytest.raises(MCPTimeoutError, match=r"^x had no answer within 1000ms"):
            await client.request("x")


async def test_progress_reaches_the_callback_of_its_call(client: MCPClient) -> None:
    heard: list[Any] = []
    wire = wire_of(client)
    calling = asyncio.create_task(client.call_tool("a", on_progress=lambda *news: heard.append(news)))
    request = await wire.asked("tools/call")
    token = request["params"]["_meta"]["progressToken"]
    wire.notify("notifications/progress", progressToken=token, progress=1, total=2, message="half")
    wire.answer(request, make_result("done"))

    assert (await calling).text == "done"
    assert heard == [(1, 2, "half")]


async def test_every_notification_reaches_the_listener() -> None:
    heard: list[Any] = []
    async with MCPClient(Place(LEGACY), on_notification=lambda *news: heard.append(news)) as client:
        wire_of(client).notify("notifications/message", level="info", data="hello")

    assert heard == [("notifications/message", {"level": "info", "data": "hello"})]


# Resources, prompts, and the rest


async def test_resources_prompts_completion_and_logging_are_available(client: MCPClient) -> None:
    wire = wire_of(client)
    wire.script |= {
        "resources/list": {"resources": [{"uri": "a:b", "name": "b"}]},
        "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "t"}]},
        "resources/read": {"contents": [{"uri": "a:b", "text": "hello"}]},
        "resources/subscribe": {},
        "resources/unsubscribe": {},
        "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "x", "required": True}]}]},
        "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}]},
        "completion/complete": {"completion": {"values": ["paris"]}},
        "logging/setLevel": {},
        "ping": {},
    }
    began = len(wire.sent)

    got = [
        [each.uri for each in await client.list_resources()],
        [each.uri_template for each in await client.list_resource_templates()],
        [each.text for each in await client.read_resource("a:b")],
        [each.arguments for each in await client.list_prompts()],
        len((await client.get_prompt("p", {"x": "1"})).messages),
        list((await client.complete({"type": "ref/prompt", "name": "p"}, "x", "pa")).values),
    ]
    await client.complete({"type": "ref/resource", "uri": "a:{b}"}, "b", "", context={"c": "1"})
    await client.subscribe_resource("a:b")
    await client.unsubscribe_resource("a:b")
    await client.set_logging_level("debug")
    await client.ping()

    assert got == [["a:b"], ["a:{b}"], ["hello"], [{"x": True}], 1, ["paris"]]
    assert [(message["method"], message["params"]) for message in wire.sent[began:]] == [
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "a:b"}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "p", "arguments": {"x": "1"}}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "x", "value": "pa"}},
        ),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "a:{b}"},
                "argument": {"name": "b", "value": ""},
                "context": {"arguments": {"c": "1"}},
            },
        ),
        ("resources/subscribe", {"uri": "a:b"}),
        ("resources/unsubscribe", {"uri": "a:b"}),
        ("logging/setLevel", {"level": "debug"}),
        ("ping", {}),
    ]


# The stateless protocol


def make_header_tool(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": schema}}


GOOD = make_header_tool("good", {"region": {"type": "string", "x-mcp-header": "Region"}})
BAD = make_header_tool("bad", {"region": {"type": "string", "x-mcp-header": "Not a header"}})


async def test_every_stateless_request_carries_client_metadata() -> None:
    script = {
        "server/discover": make_discover_result(),
        "tools/list": make_listing("a"),
        "tools/call": make_result("x"),
    }
    place = Place(script)
    async with MCPClient(place, protocol_version=MODERN, roots=["file:///a"]) as client:
        await client.list_tools()
        await client.call_tool("a", on_progress=print)
        await client.ping()

    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "footlight", "version": "0.1.0"},
        "io.modelcontextprotocol/clientCapabilities": {
            "roots": {},
            "experimental": {"footlight/full-schemas": {}},
        },
    }
    assert [(message["method"], message["params"]["_meta"]) for message in place.wire.sent] == [
        ("server/discover", meta),
        ("tools/list", meta),
        ("tools/call", {**meta, "progressToken": 3}),
        ("server/discover", meta),
    ]


async def test_http_call_repeats_requested_arguments_in_headers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    script = {**STATELESS, "tools/list": {"tools": [GOOD, BAD]}, "tools/call": make_result("x")}
    place = Place(script, http=True)
    async with MCPClient(place) as client:
        await client.call_tool("good", {"region": "eu"})
        await client.call_tool("good", {"region": "ä"})
        await client.call_tool("missing", {"region": "eu"})
        tools = [tool.name for tool in await client.list_tools()]

    calls = [
        headers
        for message, headers in zip(place.wire.sent, place.wire.headers, strict=True)
        if message["method"] == "tools/call"
    ]
    assert calls == [{"Mcp-Param-Region": "eu"}, {"Mcp-Param-Region": "=?base64?w6Q=?="}, {}]
    assert tools == ["good"]
    assert caplog.messages == [
        "left out of the server's tools: The tool 'bad' cannot be used: "
        "region: x-mcp-header is not a valid header name"
    ]


async def test_uncacheable_tool_list_is_not_requested_before_every_call() -> None:
    place = Place(
        {**STATELESS, "tools/list": {"tools": [GOOD], "ttlMs": 0}, "tools/call": make_result("x")}, http=True
    )
    async with MCPClient(place) as client:
        await client.call_tool("good", {"region": "eu"})
        await client.call_tool("good", {"region": "us"})

    assert place.wire.methods[-3:] == ["tools/list", "tools/call", "tools/call"]
    assert [headers for headers in place.wire.headers if headers] == [
        {"Mcp-Param-Region": "eu"},
        {"Mcp-Param-Region": "us"},
    ]


@pytest.mark.parametrize(
    "place",
    [
        Place({**STATELESS, "tools/list": {"tools": [GOOD, BAD]}, "tools/call": make_result("x")}),
        Place({**LEGACY, "tools/list": {"tools": [GOOD, BAD]}, "tools/call": make_result("x")}, http=True),
    ],
    ids=["without HTTP", "with a handshake"],
)
async def test_other_transports_and_protocols_send_no_parameter_headers(place: Place) -> None:
    async with MCPClient(place) as client:
        await client.call_tool("good", {"region": "eu"})
        tools = [tool.name for tool in await client.list_tools()]

    assert all(headers == {} for headers in place.wire.headers)
    assert tools == ["good", "bad"]


async def test_stateless_call_that_requires_input_is_answered() -> None:
    rounds: list[Any] = [
        {
            "resultType": "input_required",
            "inputRequests": {"who": {"method": "elicitation/create", "params": {"message": "Who?"}}},
            "requestState": "opaque",
        },
        make_result("hello", resultType="complete"),
    ]
    place = Place({**MODERN_TOOLS, "tools/call": lambda _: rounds.pop(0)})

    async def answer(params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"action": "accept", "content": params}

    async with MCPClient(place, elicitation=answer) as client:
        result = await client.call_tool("a", {"x": 1})

    first, second = (message["params"] for message in place.wire.of("tools/call"))
    assert result.text == "hello"
    assert second == {
        **first,
        "inputResponses": {"who": {"action": "accept", "content": {"message": "Who?"}}},
        "requestState": "opaque",
    }


async def test_unanswerable_input_request_is_not_a_missing_tool() -> None:
    asks = {"resultType": "input_required", "inputRequests": {"who": {"method": "elicitation/create"}}}
    async with MCPClient(Place({**MODERN_TOOLS, "tools/call": asks})) as client:
        with pytest.raises(MCPError, match="does not answer elicitation/create") as refused:
            await client.call_tool("a")

    assert not is_tool_not_found(refused.value)


async def test_refusal_returned_by_the_server_is_not_a_missing_tool(client: MCPClient) -> None:
    """Our refusal has the number that means a missing tool, too."""
    wire = wire_of(client)
    call = asyncio.create_task(client.call_tool("a"))
    asked = await wire.asked("tools/call")
    wire.comes({"jsonrpc": "2.0", "id": "s", "method": "elicitation/create"})
    refusal = (await wire.answered("s"))["error"]
    wire.refuse(asked, Refusal(refusal["code"], refusal["message"]))

    with pytest.raises(ToolInvocationError, match="does not answer elicitation/create") as refused:
        await call
    assert (refused.value.reason, is_tool_not_found(refused.value)) == ("protocol", False)


@pytest.mark.parametrize(
    "answer", [None, ["x"], {"x": {1, 2}}, ZeroDivisionError("a secret"), asyncio.CancelledError()]
)
async def test_failing_input_handler_fails_the_call(answer: object) -> None:
    def elicitation(_: Mapping[str, Any]) -> Any:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    asks = {"resultType": "input_required", "inputRequests": {"who": {"method": "elicitation/create"}}}
    place = Place({**MODERN_TOOLS, "tools/call": asks})
    async with MCPClient(place, elicitation=elicitation) as client:
        with pytest.raises(MCPError) as failed:
            await client.call_tool("a")
        assert len(place.wire.of("tools/call")) == 1

    message = "The client's handler of elicitation/create failed"
    assert (failed.value.message, failed.value.reason) == (message, "protocol")


@pytest.mark.parametrize("stateless", [True, False])
async def test_slow_handler_of_the_client_is_not_blamed_on_the_server(stateless: bool) -> None:
    """All rounds of input share the time limit of one call."""
    asks = {"resultType": "input_required", "inputRequests": {"who": {"method": "elicitation/create"}}}

    async def think(params: Mapping[str, Any]) -> Mapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    place = Place({**MODERN_TOOLS, "tools/call": asks} if stateless else TOOLS)
    async with MCPClient(place, elicitation=think) as client:
        call = asyncio.create_task(client.call_tool("a", timeout_ms=50))
        await place.wire.asked("tools/call")
        if not stateless:
            place.wire.comes({"jsonrpc": "2.0", "id": "s", "method": "elicitation/create"})
        with pytest.raises(MCPTimeoutError) as late:
            await call

    assert (late.value.tool_name, late.value.timeout_ms) == ("a", 50)
    who = "the client's handler of elicitation/create"
    assert late.value.message == (
        f"T{who[1:]} took longer than 50ms"
        if stateless
        else f"The tool a did not respond within 50ms; {who} had not finished"
    )


async def test_timed_out_stateless_call_is_cancelled() -> None:
    place = Place(MODERN_TOOLS)
    async with MCPClient(place) as client:
        with pytest.raises(MCPTimeoutError):
            await client.call_tool("a", timeout_ms=5)
        reported = await place.wire.asked("notifications/cancelled")

    assert reported["params"]["requestId"] == place.wire.of("tools/call")[0]["id"]


# Streams


async def test_other_transports_stream_all_incoming_notifications(client: MCPClient) -> None:
    heard: list[Any] = []
    wire = wire_of(client)

    assert await client.open_stream(heard.append)
    wire.notify("a", n=1)
    await client.close_stream()
    wire.notify("b")

    assert heard == [{"jsonrpc": "2.0", "method": "a", "params": {"n": 1}}]


async def test_http_stream_is_the_get_stream() -> None:
    heard: list[Any] = []
    errors: list[MCPError] = []
    place = Place(TOOLS, http=True)
    async with MCPClient(place) as client:
        assert await client.open_stream(heard.append, errors.append)
        place.wire.stream("a", n=1)
        place.wire.on_error(LOST)

    assert heard == [{"jsonrpc": "2.0", "method": "a", "params": {"n": 1}}]
    assert errors == [LOST]
    assert place.wire.streams_closed == 1


async def test_server_without_get_stream_still_serves_calls() -> None:
    place = Place(TOOLS, http=True)
    async with MCPClient(place) as client:
        place.wire.listens = False
        assert not await client.open_stream(print)

        assert len(await client.list_tools()) == 2


async def test_a_get_stream_that_cannot_be_opened_is_reported() -> None:
    place = Place(TOOLS, http=True)
    async with MCPClient(place) as client:
        place.wire.listens = MCPError("A 500", reason="http", status=500)
        with pytest.raises(MCPError, match="A 500"):
            await client.open_stream(print)
        place.wire.listens = True
        assert await client.open_stream(print)


class Subscriptions:
    """A stateless server that takes subscriptions, and what a listener heard of it."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.errors: list[MCPError] = []
        self.failed = asyncio.Event()
        self.place = Place(MODERN_TOOLS)

    def fail(self, error: MCPError) -> None:
        self.errors.append(error)
        self.failed.set()

    def open(self, client: MCPClient, **more: Any) -> asyncio.Task[bool]:
        return asyncio.create_task(client.open_stream(self.heard.append, self.fail, **more))

    async def wait_until_open(self, client: MCPClient, count: int = 1) -> Mapping[str, Any]:
        """Wait until the request is acknowledged, and return it."""
        opening = self.open(client)
        wire: Wire = self.place.wire
        request = await wire.asked("subscriptions/listen", count)
        wire.notify("notifications/subscriptions/acknowledged", notifications={})
        assert await opening
        return request


async def test_stateless_stream_uses_a_subscription() -> None:
    server = Subscriptions()
    async with MCPClient(server.place) as client:
        opening = server.open(client, resources=["a:b"])
        wire = server.place.wire
        request = await wire.asked("subscriptions/listen")
        assert not opening.done()
        wire.notify("notifications/subscriptions/acknowledged", notifications={})
        assert await opening
        wire.notify("notifications/tools/list_changed")
        await client.close_stream()
        reported = await wire.asked("notifications/cancelled")

    assert request["params"]["notifications"] == {
        "toolsListChanged": True,
        "promptsListChanged": True,
        "resourcesListChanged": True,
        "resourceSubscriptions": ["a:b"],
    }
    assert reported["params"]["requestId"] == request["id"]
    assert server.heard == [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}}]
    assert server.errors == []


async def test_stateless_server_without_subscriptions_still_serves_calls() -> None:
    server = Subscriptions()
    server.place.script = {**MODERN_TOOLS, "subscriptions/listen": Refusal(-32601)}
    async with MCPClient(server.place) as client:
        assert not await server.open(client)
        assert len(await client.list_tools()) == 2

    assert server.errors == []


async def test_refused_subscription_is_reported() -> None:
    server = Subscriptions()
    server.place.script = {**MODERN_TOOLS, "subscriptions/listen": Refusal(-32602, "Too many")}
    async with MCPClient(server.place) as client:
        with pytest.raises(MCPError, match="Too many"):
            await server.open(client)

    assert server.errors == []


async def test_subscription_not_acknowledged_in_time_is_cancelled() -> None:
    server = Subscriptions()
    async with MCPClient(server.place, timeout_ms=50) as client:
        with pytest.raises(MCPTimeoutError, match="did not acknowledge the subscription within 50ms"):
            await server.open(client)
        reported = await server.place.wire.asked("notifications/cancelled")
        server.place.wire.notify("late")

    assert reported["params"]["requestId"] == server.place.wire.of("subscriptions/listen")[0]["id"]
    assert server.heard == []


@pytest.mark.parametrize("how", ["lost", "ended", "refused"])
async def test_the_end_of_a_subscription_is_reported_once(how: str) -> None:
    server = Subscriptions()
    async with MCPClient(server.place) as client:
        request = await server.wait_until_open(client)
        wire = server.place.wire
        if how == "lost":
            wire.lose(LOST)
        elif how == "ended":
            wire.answer(request, {"resultType": "complete"})
        else:
            wire.refuse(request, Refusal(-32601, "Not any more"))
        async with asyncio.timeout(LIMIT_SECONDS):
            await server.failed.wait()

    words = {
        "lost": "The process ended",
        "ended": "The server ended the subscription",
        "refused": "Not any more",
    }
    assert [error.message for error in server.errors] == [words[how]]


async def test_new_stream_replaces_the_first() -> None:
    server = Subscriptions()
    async with MCPClient(server.place) as client:
        first = await server.wait_until_open(client)
        second = await server.wait_until_open(client, 2)
        reported = await server.place.wire.asked("notifications/cancelled")
        server.place.wire.notify("news")

    assert reported["params"]["requestId"] == first["id"] != second["id"]
    assert server.heard == [{"jsonrpc": "2.0", "method": "news", "params": {}}]
    assert server.errors == []


async def test_stream_replaced_while_opening_does_not_affect_the_new_one() -> None:
    server = Subscriptions()
    async with MCPClient(server.place) as client:
        first = server.open(client)
        await server.place.wire.asked("subscriptions/listen")
        await server.wait_until_open(client, 2)
        assert not await first
        server.place.wire.notify("news")

    assert [message["method"] for message in server.heard] == ["news"]


async def test_stream_opened_while_another_one_is_replaced_is_closed() -> None:
    server = Subscriptions()
    async with MCPClient(server.place) as client:
        await server.wait_until_open(client)
        last, between = server.open(client), server.open(client)
        wire = server.place.wire
        await wire.asked("subscriptions/listen", 3)
        await wire.asked("notifications/cancelled", 2)
        wire.notify("notifications/subscriptions/acknowledged", notifications={})

        assert (await last, await between) == (True, False)


async def test_failing_stream_listener_is_logged_and_calls_continue(
    client: MCPClient, caplog: pytest.LogCaptureFixture
) -> None:
    def careless(_: object) -> None:
        raise ZeroDivisionError

    await client.open_stream(careless)
    wire_of(client).notify("a")

    assert len(await client.list_tools()) == 2
    assert caplog.messages == ["a listener failed"]


async def test_closing_leaves_no_task() -> None:
    before = asyncio.all_tasks()
    server = Subscriptions()
    client = MCPClient(server.place)
    await client.connect()
    await server.wait_until_open(client)
    await client.close()

    assert asyncio.all_tasks() == before


# What a client with listeners hears


@pytest.mark.parametrize(
    "listener", [{"on_notification": lambda *_: None}, {"roots": []}, {"elicitation": lambda _: {}}]
)
async def test_http_client_with_listeners_opens_the_stream_on_connect(
    listener: dict[str, Any],
) -> None:
    """Otherwise a server that asks outside of calls would wait in vain."""
    place = Place(LEGACY, http=True)
    async with MCPClient(place, **listener):
        await place.wire.until(lambda: place.wire.on_error is not None)

    assert place.wire.streams_closed == 0  # The channel's own end closes it.


async def test_open_stream_reuses_the_automatic_http_stream() -> None:
    """Servers allow one, and refuse another while they think that there is one."""
    place = Place(LEGACY, http=True)
    heard: list[Any] = []
    async with MCPClient(place, roots=[]) as client:
        await place.wire.until(lambda: place.wire.on_error is not None)
        place.wire.listens = MCPError("Only one stream is allowed", reason="http", status=409)

        assert await client.open_stream(heard.append)
        place.wire.stream("notifications/message", data="heard")
        await client.close_stream()
        place.wire.stream("notifications/message", data="not heard")

        assert place.wire.streams_closed == 0

    assert heard == [notification("notifications/message", {"data": "heard"})]


async def test_ended_automatic_http_stream_is_opened_again_on_request() -> None:
    place = Place(LEGACY, http=True)
    ended: list[MCPError] = []
    async with MCPClient(place, roots=[]) as client:
        await place.wire.until(lambda: place.wire.on_error is not None)
        assert await client.open_stream(lambda _: None, ended.append)
        error = MCPConnectionError("broken")
        place.wire.on_error(error)
        place.wire.listens = False

        assert not await client.open_stream(lambda _: None)

    assert ended == [error]


async def test_http_client_without_listeners_opens_no_stream() -> None:
    place = Place({**LEGACY, "ping": {}}, http=True)
    async with MCPClient(place) as client:
        await client.ping()

        assert place.wire.on_error is None


async def test_missing_automatic_stream_is_not_a_failure() -> None:
    place = Place({**LEGACY, "ping": {}}, http=True)
    async with MCPClient(place, roots=[]) as client:
        place.wire.listens = False
        await client.ping()

        assert client.connected


async def test_async_notification_listener_is_awaited() -> None:
    heard = asyncio.Event()

    async def listen(method: str, params: Mapping[str, Any]) -> None:
        await asyncio.sleep(0)
        heard.set()

    place = Place(LEGACY)
    async with MCPClient(place, on_notification=listen):
        place.wire.notify("notifications/message", level="info", data="x")
        async with asyncio.timeout(20):
            await heard.wait()


async def test_async_stream_listener_is_awaited() -> None:
    heard = asyncio.Event()

    async def listen(message: Mapping[str, Any]) -> None:
        await asyncio.sleep(0)
        heard.set()

    place = Place(LEGACY, http=True)
    async with MCPClient(place) as client:
        await client.open_stream(listen)
        place.wire.stream("notifications/message", data="x")
        async with asyncio.timeout(20):
            await heard.wait()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"roots": "file:///x"}, "roots: must be a list of URIs, not a string"),
        ({"name": 3}, "name: 3 must be letters, digits and hyphens"),
        ({"timeout_ms": "x"}, "timeout_ms: must be more than 0, got 'x'"),
        ({"target": "http://h", "headers": ["X"]}, "headers: must map names to values"),
        ({"target": "http://h", "headers": {"X": 3}}, "headers: the name or value of 'X' is not valid"),
        ({"target": "ws://h", "headers": {"X": "\ud800"}}, "headers: the name or value of 'X' is not valid"),
    ],
)
def test_options_of_the_wrong_type_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(MCPError) as refused:
        MCPClient(**options)

    assert (refused.value.message, refused.value.reason) == (message, "invalid")


async def test_zero_call_timeout_is_refused() -> None:
    async with MCPClient(Place(LEGACY)) as client:
        with pytest.raises(MCPError, match="timeout_ms: must be more than 0, got 0"):
            await client.call("a", timeout_ms=0)


# The package


def test_public_names_are_sorted_and_complete() -> None:
    assert footlight.__all__ == sorted(footlight.__all__)
    assert set(dir(footlight)) == set(footlight.__all__)
    assert [getattr(footlight, name).__name__ for name in footlight.__all__ if name != "__version__"] == [
        name for name in footlight.__all__ if name != "__version__"
    ]
    with pytest.raises(AttributeError, match="module 'footlight' has no attribute 'Nothing'"):
        _ = footlight.Nothing


def test_star_import_provides_all_public_names() -> None:
    names: dict[str, Any] = {}
    exec("from footlight import *", names)

    assert set(footlight.__all__) <= set(names)


SLOW = ("mcp", "mcp_types", "playwright", "pydantic", "httpx2", "websockets", "anyio", "email", "http")


@pytest.mark.parametrize(
    "made", ["None", "MCPClient()", "MCPClient('server --flag')", "MCPClient('http://host')"]
)
def test_creating_a_client_imports_no_slow_modules(made: str) -> None:
    code = (
        f"import sys; from footlight import MCPClient; {made}; print(sorted(set(sys.modules) & set({SLOW})))"
    )

    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert said.stdout == "[]\n"
