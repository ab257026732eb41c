"""Compare the clients of Footlight and of the SDK, in turns, on a server that does almost no work."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from footlight import MCPClient
from footlight.transports.websocket_client import connect_websocket

__all__ = ["compare_clients"]

WAYS = ("stdio", "http", "sse", "websocket")
LARGE = 5_000_000
TALK = {"count": 20_000, "size": 500}
WARM_UP = 20

Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


@dataclass(frozen=True)
class Pair:
    """Both clients, each connected to its own server."""

    way: str
    ours: Call
    peer: Call


async def compare_clients(calls: int) -> None:
    """Measure round trips, a large answer, a stream of events, and the import time."""
    async with AsyncExitStack() as stack:
        pairs = [await stack.enter_async_context(_connect_pair(way)) for way in WAYS]
        print(f"{'clients':<26} {'footlight':>9} {'SDK':>9} {'ratio':>7}")
        for pair in pairs:
            _row(
                f"round trip, {pair.way}",
                "ms",
                await _measure_in_turns(pair, "echo", {}, calls, warm_up=WARM_UP),
            )
        for pair in pairs:
            _row(f"5 MB answer, {pair.way}", "ms", await _measure_in_turns(pair, "large", {"size": LARGE}, 5))
        talk = next(pair for pair in pairs if pair.way == "sse")
        megabytes = TALK["count"] * (TALK["size"] + 110) / 1e6
        ours, peer = await _measure_in_turns(talk, "talk", TALK, 3)
        rates = [megabytes / (statistics.median(times) / 1000) for times in (ours, peer)]
        print(f"{'20,000 events, MB/s':<26} {rates[0]:9.1f} {rates[1]:9.1f} {rates[0] / rates[1]:7.2f}")
    statements = ("from footlight import MCPClient", "from mcp import Client")
    imported: list[list[float]] = [[], []]
    for _ in range(7):
        for code, times in zip(statements, imported, strict=True):
            times.append(await asyncio.to_thread(_run_process, code))
    _row("process with import", "ms", (imported[0], imported[1]))
    print()


def _row(name: str, unit: str, times: tuple[Sequence[float], Sequence[float]]) -> None:
    ours, peer = (statistics.median(each) for each in times)
    print(f"{f'{name}, {unit}':<26} {ours:9.2f} {peer:9.2f} {ours / peer:7.2f}")


async def _measure_in_turns(
    pair: Pair, tool: str, arguments: dict[str, Any], calls: int, *, warm_up: int = 1
) -> tuple[list[float], list[float]]:
    ours: list[float] = []
    peer: list[float] = []
    for turn in range(calls + warm_up):
        for call, times in ((pair.ours, ours), (pair.peer, peer))[:: 1 if turn % 2 else -1]:
            began = time.perf_counter()
            await call(tool, arguments)
            times.append((time.perf_counter() - began) * 1000)
    return ours[warm_up:], peer[warm_up:]


def _run_process(code: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - began) * 1000


@asynccontextmanager
async def _connect_pair(way: str) -> AsyncGenerator[Pair]:
    command = [sys.executable, "-m", "benchmarks.echo_server", way]
    async with AsyncExitStack() as stack:
        if way == "stdio":
            ours: Any = command
            peer: Any = StdioServerParameters(command=command[0], args=command[1:])
        else:
            ours = await stack.enter_async_context(_start_server(command))
            if way == "websocket":
                peer = connect_websocket(ours)
            else:
                # The default limit of 1 MiB per event would refuse the large answer.
                http = await stack.enter_async_context(httpx2.AsyncClient(timeout=60))
                peer = streamable_http_client(ours, http_client=http, max_sse_event_size=64 << 20)
        client = await stack.enter_async_context(MCPClient(ours))
        other = await stack.enter_async_context(Client(peer, mode="legacy"))
        yield Pair(way, client.call_tool, other.call_tool)


@asynccontextmanager
async def _start_server(command: Sequence[str]) -> AsyncGenerator[str]:
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()
