"""Servers of the SDK in this process, and coroutines that misbehave."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import mcp_types as types
import pytest
from mcp.server import MCPServer, Server, ServerRequestContext

from footlight.client.transports import memory
from footlight.client.transports.memory import InMemory
from footlight.protocol import messages
from footlight.protocol.channel import Channel
from footlight.protocol.errors import MCPConnectionError
from tests.client.recorder import LIMIT_SECONDS, Recorder, open_channel

pytestmark = pytest.mark.anyio

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}
CLOSED = {
    "name": "ConnectionError",
    "code": "CONNECTION_ERROR",
    "reason": "network",
    "rpcCode": -32001,
}


async def send(channel: Channel, message: messages.Message) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        await channel.send(message, headers={})


async def list_tools(_: ServerRequestContext[Any], __: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="low", input_schema={"type": "object"})])


def low_level() -> Server[Any]:
    return Server("low", version="1", on_list_tools=list_tools)


def high_level() -> MCPServer:
    server = MCPServer("high")

    @server.tool()
    def high() -> str:
        return "said"

    return server


async def a_coroutine(read: Any, write: Any) -> None:
    server = low_level()
    await server.run(read, write, server.create_initialization_options())


def list_unfinished_tasks() -> set[str]:
    """Return the names of this module's tasks that have not ended."""
    names = {task.get_name() for task in asyncio.all_tasks() if not task.done()}
    return {name for name in names if name.startswith("footlight-memory")}


# Messages


@pytest.mark.parametrize(
    ("server", "tool", "where"),
    [(low_level(), "low", "low"), (high_level(), "high", "high"), (a_coroutine, "low", "a_coroutine")],
)
async def test_each_kind_of_server_works_in_memory(server: Any, tool: str, where: str) -> None:
    transport = InMemory(server)

    for _ in range(2):
        async with open_channel(transport) as (channel, recorder):
            await send(channel, messages.request(1, "initialize", INITIALIZE))
            hello = await recorder.message()
            await send(channel, messages.notification("notifications/initialized", {}))
            await send(channel, messages.request("two", "tools/list", {}))
            tools = await recorder.message()

        assert hello["result"]["protocolVersion"] == "2025-06-18"
        assert (tools["id"], [each["name"] for each in tools["result"]["tools"]]) == ("two", [tool])
        assert recorder.silent
        assert list_unfinished_tasks() == set()
    assert transport.where == where


async def test_messages_survive_the_json_round_trip() -> None:
    async def echo(read: Any, write: Any) -> None:
        async for item in read:
            await write.send(item)

    params = {"text": "ä\u2028\ud83d", "null": None, "number": 1.5, "list": [{}], "_meta": {"a/b": 1}}
    async with open_channel(InMemory(echo)) as (channel, recorder):
        await asyncio.gather(
            *(send(channel, messages.request(number, "echo", params)) for number in range(20))
        )
        echoes = [await recorder.message() for _ in range(20)]

    assert echoes == [messages.request(number, "echo", params) for number in range(20)]


async def test_unread_input_blocks_only_its_senders() -> None:
    """What it says arrives; who gives up sends nothing."""
    go = asyncio.Event()
    heard: list[int] = []

    async def sleepy(read: Any, write: Any) -> None:
        from footlight.transports.messages import read_message

        await write.send(read_message('{"jsonrpc": "2.0", "method": "hello"}'))
        await go.wait()
        async for item in read:
            heard.append(item.message.id)
            if item.message.id == 9:
                await write.send(item)

    async with open_channel(InMemory(sleepy)) as (channel, recorder):
        assert await recorder.message() == {"jsonrpc": "2.0", "method": "hello"}
        senders = [
            asyncio.create_task(send(channel, messages.request(number, "ping", {}))) for number in range(4)
        ]
        await asyncio.wait(senders, timeout=0)
        for given_up in senders[::2]:
            given_up.cancel()
        await asyncio.wait(senders[::2])
        assert not any(sender.done() for sender in senders[1::2])

        go.set()
        await send(channel, messages.request(9, "ping", {}))
        await recorder.message()

    assert heard == [1, 3, 9]


# The end


async def test_crashed_server_is_reported_as_lost(caplog: pytest.LogCaptureFixture) -> None:
    """What it said before arrives; the trace is in the log alone."""
    caplog.set_level(logging.DEBUG, "footlight.client.memory")

    async def failing(read: Any, write: Any) -> None:
        await write.send(await read.receive())
        async with asyncio.TaskGroup():
            raise ValueError("no such display")

    async with open_channel(InMemory(failing)) as (channel, recorder):
        await send(channel, messages.request(1, "ping", {}))

        assert await recorder.message() == messages.request(1, "ping", {})
        assert await recorder.loss() == {
            **CLOSED,
            "message": "failing: The server failed: no such display",
        }
        with pytest.raises(MCPConnectionError, match="no such display"):
            await send(channel, messages.request(2, "ping", {}))
    assert "Traceback" in caplog.text


async def ending(read: Any, write: Any) -> None:
    await read.receive()


async def cancel(read: Any, write: Any) -> None:
    await read.receive()
    raise asyncio.CancelledError


async def deaf(read: Any, write: Any) -> None:
    await read.receive()
    read.close()
    write.close()
    raise ValueError


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (ending, "ending: The server ended"),
        (cancel, "cancel: The server ended"),
        (deaf, "deaf: The server failed: ValueError"),
    ],
)
async def test_end_of_the_server_is_reported(server: Any, message: str) -> None:
    async with open_channel(InMemory(server)) as (channel, recorder):
        await send(channel, messages.request(1, "ping", {}))

        assert await recorder.loss() == {**CLOSED, "message": message}


async def test_blocked_sender_fails_when_the_server_ends() -> None:
    go = asyncio.Event()

    async def leaving(read: Any, write: Any) -> None:
        await go.wait()

    async with open_channel(InMemory(leaving)) as (channel, recorder):
        sender = asyncio.create_task(send(channel, messages.request(1, "ping", {})))
        await asyncio.wait([sender], timeout=0)
        go.set()
        with pytest.raises(MCPConnectionError, match="The server ended"):
            await sender
        await recorder.loss()


async def test_closing_cancels_running_server_calls() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def call(_: Any, __: Any) -> types.CallToolResult:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    server = Server("slow", on_list_tools=list_tools, on_call_tool=call)
    async with open_channel(InMemory(server)) as (channel, recorder):
        await send(channel, messages.request(1, "initialize", INITIALIZE))
        await recorder.message()
        await send(channel, messages.notification("notifications/initialized", {}))
        await send(channel, messages.request(2, "tools/call", {"name": "low", "arguments": {}}))
        async with asyncio.timeout(LIMIT_SECONDS):
            await started.wait()

    assert ended.is_set()
    assert list_unfinished_tasks() == set()


async def test_channel_can_be_closed_from_another_task_while_senders_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twice at the same time, and once more; the server ends only when it is cancelled."""
    monkeypatch.setattr(memory, "GRACE_SECONDS", 0.1)

    async def stubborn(read: Any, write: Any) -> None:
        await asyncio.Event().wait()

    recorder = Recorder()
    channel = await asyncio.create_task(InMemory(stubborn).open(recorder))
    senders = [asyncio.create_task(send(channel, messages.request(each, "ping", {}))) for each in range(3)]
    await asyncio.wait(senders, timeout=0)

    await asyncio.gather(asyncio.create_task(channel.close()), asyncio.create_task(channel.close()))
    await channel.close()

    errors = await asyncio.gather(*senders, return_exceptions=True)
    assert [error.reason for error in errors if isinstance(error, MCPConnectionError)] == [
        "not_connected"
    ] * 3
    assert recorder.silent
    assert list_unfinished_tasks() == set()
    with pytest.raises(MCPConnectionError, match="was closed"):
        await send(channel, messages.request(9, "ping", {}))


async def test_closing_takes_bounded_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also when the server does not let itself be cancelled, and when the caller is."""
    monkeypatch.setattr(memory, "GRACE_SECONDS", 0.1)
    go = asyncio.Event()

    async def immortal(read: Any, write: Any) -> None:
        while not go.is_set():
            try:
                await go.wait()
            except asyncio.CancelledError:
                continue

    channel = await InMemory(immortal).open(Recorder())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await channel.close()

    async with asyncio.timeout(LIMIT_SECONDS):
        while list_unfinished_tasks() != {"footlight-memory-server"}:  # noqa: ASYNC110 - it is a task that nobody has
            await asyncio.sleep(0.01)
    assert "immortal is still running after it was cancelled" in caplog.text
    go.set()
    await asyncio.wait([task for task in asyncio.all_tasks() if task.get_name() == "footlight-memory-server"])
