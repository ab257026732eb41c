"""The deadline of a call covers connecting, the handshake, the list of tools, and the call itself."""

from __future__ import annotations

import asyncio
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from footlight import MCPClient, MCPTimeoutError, Stdio
from tests.client.channels import LEGACY, LIMIT_SECONDS, STATELESS, Place, make_initialize_result

pytestmark = pytest.mark.anyio

SHORT_MS = 200
AT_ONCE_SECONDS = 3.5
"""Less than the 4 seconds after which a process that does not end by itself is killed."""

Call = Callable[[MCPClient], Awaitable[object]]
CALLS: dict[str, Call] = {
    "call": lambda client: client.call("a", timeout_ms=SHORT_MS),
    "call_tool": lambda client: client.call_tool("a", timeout_ms=SHORT_MS),
    "ping": lambda client: client.ping(timeout_ms=SHORT_MS),
    "request": lambda client: client.request("x", timeout_ms=SHORT_MS),
}
WITH_THE_CLIENTS_TIME: dict[str, Call] = {
    "list_tools": lambda client: client.list_tools(),
    "get_tool": lambda client: client.get_tool("a"),
    "search_tools": lambda client: client.search_tools("a"),
    "list_resources": lambda client: client.list_resources(),
    "read_resource": lambda client: client.read_resource("x:y"),
    "get_prompt": lambda client: client.get_prompt("a"),
    "complete": lambda client: client.complete({}, "a", "b"),
    "open_stream": lambda client: client.open_stream(print),
}


def stubborn(folder: Path) -> Stdio:
    """Return a server that says nothing, and does not end with its input."""
    path = folder / "server.py"
    path.write_text(
        textwrap.dedent(
            """
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                signal.pause()
            """
        )
    )
    return Stdio(sys.executable, [str(path)])


async def measure_timeout(call: Awaitable[object]) -> tuple[MCPTimeoutError, float]:
    """Return the error and how long it took, in seconds."""
    began = time.monotonic()
    with pytest.raises(MCPTimeoutError) as late:
        await call
    return late.value, time.monotonic() - began


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["call_tool", "ping"])
async def test_connecting_counts_toward_the_call_timeout(name: str, tmp_path: Path) -> None:
    """The tool is not blamed, and what is left of the process is ended without the caller."""
    transport = stubborn(tmp_path)
    client = MCPClient(transport)
    try:
        error, took = await measure_timeout(CALLS[name](client))
    finally:
        await client.close()

    assert took < AT_ONCE_SECONDS
    assert (error.timeout_ms, error.tool_name) == (SHORT_MS, None)
    assert error.message in (
        f"{transport.where} did not answer within {SHORT_MS}ms; is it an MCP server?",
        f"Connecting to {transport.where} took longer than {SHORT_MS}ms",  # The process starts slowly.
    )


@pytest.mark.parametrize("name", [*CALLS, *WITH_THE_CLIENTS_TIME])
async def test_every_method_that_connects_has_one_deadline(name: str) -> None:
    has_its_own = name in CALLS
    timeout_ms = LIMIT_SECONDS * 1000 if has_its_own else SHORT_MS
    client = MCPClient(Place(LEGACY, gate=asyncio.Event()), timeout_ms=timeout_ms)

    error, took = await measure_timeout((CALLS if has_its_own else WITH_THE_CLIENTS_TIME)[name](client))

    assert took < AT_ONCE_SECONDS
    assert error.message == f"Connecting to a wire took longer than {SHORT_MS}ms"
    await client.close()


async def test_call_may_have_a_longer_connect_timeout_than_the_client() -> None:
    place = Place({**LEGACY, "ping": {}}, gate=asyncio.Event())
    client = MCPClient(place, timeout_ms=50)
    ping = asyncio.create_task(client.ping(timeout_ms=LIMIT_SECONDS * 1000))
    await measure_timeout(client.ping())
    assert place.gate is not None
    place.gate.set()

    await ping
    assert place.opening == 1, "they wait for the same try"
    await client.close()


async def test_handshake_time_counts_toward_the_call_deadline() -> None:
    """One deadline, not one for each step."""
    place = Place({})
    client = MCPClient(place)
    began = time.monotonic()
    call = asyncio.create_task(client.call_tool("a", timeout_ms=2_000))
    await place.wait_until_tried()
    request = await place.wire.asked("initialize")
    await asyncio.wait([call], timeout=1.5)
    place.wire.answer(request, make_initialize_result())
    await place.wire.asked("tools/call")
    error, _ = await measure_timeout(call)

    assert time.monotonic() - began < 3.2
    assert error.message == "The tool a did not respond within 2000ms"
    await client.close()


async def test_stateless_http_call_counts_tool_listing_toward_its_deadline() -> None:
    """To know which arguments are repeated in headers. The tool is not blamed for the list."""
    place = Place({**STATELESS}, http=True)
    async with MCPClient(place) as client:
        error, took = await measure_timeout(client.call_tool("a", timeout_ms=SHORT_MS))

    assert took < AT_ONCE_SECONDS
    assert (error.message, error.tool_name) == (f"tools/list had no answer within {SHORT_MS}ms", None)


async def test_all_pages_of_a_list_have_one_deadline() -> None:
    """Each of them may come in time, and the list does not."""
    pages = iter(range(10_000))

    async def slowly(params: Any) -> None:
        await asyncio.sleep(0.02)

    place = Place(LEGACY)
    async with MCPClient(place, timeout_ms=SHORT_MS) as client:
        send = place.wire.send

        async def send_slowly(message: Any, **how: Any) -> None:
            await slowly(message)
            place.wire.script["tools/list"] = {"tools": [], "nextCursor": f"{next(pages)}"}
            await send(message, **how)

        place.wire.send = send_slowly
        _, took = await measure_timeout(client.list_tools())

    assert took < AT_ONCE_SECONDS


async def test_caller_waiting_for_a_shared_list_keeps_its_own_timeout() -> None:
    place = Place(LEGACY)
    async with MCPClient(place, timeout_ms=LIMIT_SECONDS * 1000) as client:
        first = asyncio.create_task(client.list_tools())
        await place.wire.asked("tools/list")
        client.timeout_ms = SHORT_MS
        error, took = await measure_timeout(client.list_tools())
        first.cancel()

    assert took < AT_ONCE_SECONDS
    assert error.message == f"tools/list had no answer within {SHORT_MS}ms"


async def test_close_ends_a_pending_connection_attempt() -> None:
    """It need not be waited for, and those who wait hear why it ended."""
    place = Place(LEGACY, gate=asyncio.Event())
    client = MCPClient(place)
    calls = [asyncio.create_task(client.ping()) for _ in range(3)]
    await place.wait_until_tried()
    async with asyncio.timeout(LIMIT_SECONDS):
        await client.close()
        errors = await asyncio.gather(*calls, return_exceptions=True)

    assert [str(error) for error in errors] == ["The client was closed"] * 3


@pytest.mark.slow
async def test_cancelled_connection_attempt_leaves_no_process_or_task(tmp_path: Path) -> None:
    """No process and no task is left after the client is closed."""
    before = asyncio.all_tasks()
    client = MCPClient(stubborn(tmp_path))
    call = asyncio.create_task(client.ping())
    await asyncio.wait([call], timeout=0.3)
    call.cancel()
    _, pending = await asyncio.wait([call], timeout=AT_ONCE_SECONDS)
    assert not pending
    await client.close()

    assert asyncio.all_tasks() == before
