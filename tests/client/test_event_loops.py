"""One client in several event loops, one after the other."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import psutil
import pytest

from footlight import InMemory, MCPClient, MCPConnectionError, MCPError, Stdio
from footlight.client.tasks import LoopLock
from tests.client.channels import LEGACY, Place
from tests.client.sdk_server import make_server
from tests.processes import children_of

ENDED = "The event loop that the client was connected in has ended"
TOOLS = {**LEGACY, "tools/list": {"tools": []}, "ping": {}}
REPOSITORY = Path(__file__).parents[2]

Use = Callable[[MCPClient], Coroutine[Any, Any, Any]]


def test_lock_works_in_successive_event_loops() -> None:
    lock = LoopLock()

    async def use() -> list[int]:
        taken: list[int] = []

        async def take(number: int) -> None:
            async with lock.here():
                await asyncio.sleep(0)  # The next one has to wait.
                taken.append(number)

        await asyncio.gather(take(1), take(2))
        return taken

    assert [asyncio.run(use()), asyncio.run(use())] == [[1, 2], [1, 2]]


def test_client_connects_in_successive_event_loops() -> None:
    client = MCPClient(InMemory(make_server()))

    async def use() -> list[int]:
        async with client:
            lists = await asyncio.gather(*(client.list_tools(refresh=True) for _ in range(3)))
            return [len(tools) for tools in lists]

    assert [asyncio.run(use()), asyncio.run(use())] == [[5, 5, 5], [5, 5, 5]]


@pytest.mark.parametrize(
    "use",
    [
        MCPClient.ping,
        MCPClient.list_tools,
        lambda client: client.call("a"),
        lambda client: client.open_stream(print),
    ],
)
@pytest.mark.parametrize("http", [False, True])
def test_connection_left_open_by_an_ended_event_loop_is_lost(use: Use, http: bool) -> None:
    client = MCPClient(Place(TOOLS, http=http))
    asyncio.run(client.connect())

    assert (client.state, client.transport) == ("error", None)
    with pytest.raises(MCPConnectionError) as caught:
        asyncio.run(use(client))

    assert (caught.value.reason, caught.value.message) == ("network", ENDED)


@pytest.mark.parametrize(
    "client",
    [
        MCPClient(Place(TOOLS)),
        MCPClient(Place(TOOLS, http=True)),
        MCPClient(InMemory(make_server()), protocol_version="2026-07-28"),
    ],
    ids=["handshake", "http", "stateless"],
)
def test_client_left_open_by_an_ended_event_loop_can_reconnect(client: MCPClient) -> None:
    async def leave_open() -> bool:
        return await client.open_stream(print)

    async def again() -> str:
        await client.reconnect()
        await client.ping()
        return client.state

    assert asyncio.run(leave_open())
    assert asyncio.run(again()) == "connected"
    asyncio.run(client.close())
    assert client.state == "disconnected"


@pytest.mark.slow
def test_server_process_ends_with_its_event_loop() -> None:
    client = MCPClient(Stdio(sys.executable, ("-m", "tests.client.sdk_server"), cwd=REPOSITORY))

    others = set(children_of(psutil.Process()))

    async def leave_open() -> set[psutil.Process]:
        await client.connect()
        return set(children_of(psutil.Process())) - others

    started = asyncio.run(leave_open())

    assert psutil.wait_procs(started, timeout=20)[1] == []
    asyncio.run(client.close())


@pytest.mark.parametrize("use", [MCPClient.ping, MCPClient.reconnect, MCPClient.close])
def test_client_is_refused_in_another_event_loop(use: Use) -> None:
    client = MCPClient(Place(TOOLS))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(client.connect(), loop).result(20)
        with pytest.raises(MCPError) as caught:
            asyncio.run(use(client))
        assert (caught.value.reason, client.state) == ("invalid", "connected")
        asyncio.run_coroutine_threadsafe(client.close(), loop).result(20)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
