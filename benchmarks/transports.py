"""Measure a trivial `tools/call` over each transport, in both eras of the protocol.

All servers run at the same time and are called in turns, so that load on the machine affects all equally.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

from footlight.transports.websocket_client import connect_websocket

__all__ = ["compare_transports"]

ERAS = {"2026-07-28": "auto", "2025-11-25": "legacy"}
TRANSPORTS = ("stdio", "http", "websocket")


@dataclass(frozen=True)
class Route:
    """A connected client and the times of its calls in milliseconds."""

    transport: str
    era: str
    client: Client
    times: list[float] = field(default_factory=list[float])

    async def call(self) -> None:
        began = time.perf_counter()
        result = await self.client.call_tool("list_sessions", {})
        self.times.append((time.perf_counter() - began) * 1000)
        assert not result.is_error, result


async def compare_transports(calls: int) -> None:
    async with AsyncExitStack() as stack:
        ways = [
            Route(transport, era, await stack.enter_async_context(_connect(transport, mode)))
            for transport in TRANSPORTS
            for era, mode in ERAS.items()
        ]
        for turn in range(calls + 20):
            for way in ways[:: 1 if turn % 2 else -1]:
                await way.call()
    print(f"{'list_sessions':<14} {'era':<12} {'p50':>8} {'p95':>8}")
    for way in ways:
        times = way.times[20:]
        p95 = statistics.quantiles(times, n=20)[-1]
        print(f"{way.transport:<14} {way.era:<12} {statistics.median(times):8.2f} {p95:8.2f}")
    print()


@asynccontextmanager
async def _connect(transport: str, mode: str) -> AsyncGenerator[Client]:
    command = [sys.executable, "-m", "footlight", "serve", "--log-level", "error", "--transport", transport]
    environment = {**os.environ, "FOOTLIGHT_POOL_MIN_BROWSERS": "1"}
    if transport == "stdio":
        server = StdioServerParameters(command=command[0], args=command[1:], env=environment)
        async with Client(server, mode=mode) as client:
            yield client
        return
    async with await anyio.open_process([*command, "--port", "0"], env=environment, stderr=None) as process:
        assert process.stdout is not None
        url = (await process.stdout.receive()).decode().split()[-1]
        address: Any = url if transport == "http" else connect_websocket(url)
        async with Client(address, mode=mode) as client:
            yield client
        process.terminate()
        await process.wait()
