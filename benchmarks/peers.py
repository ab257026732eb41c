"""The same work through Footlight and other servers, in one run.

They take turns, call by call, on the same pages in browsers of the same build, so that a busy machine hurts
all alike. Printed are medians, and their ratio to `@playwright/mcp`, each server with its defaults.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import psutil
from mcp_types import CallToolResult

from benchmarks.pages import SIZES, page_of
from benchmarks.plain import Plain
from benchmarks.servers import PLAYWRIGHT_MCP, SERVERS, Footlight, Server, Worker, text_of
from benchmarks.tokens import count_tokens
from tests.site import Site

__all__ = ["compare_cold", "compare_crowds", "compare_work"]

ROUNDS = {10: 12, 1_500: 8, 10_000: 5}
"""How often each call is made, by the size of the page."""
CROWDS = (1, 2, 4, 8)
CROWD_SECONDS = 4.0

Work = Callable[[Worker], Awaitable[CallToolResult]]


@dataclass
class Measured:
    """A kind of call through one server: milliseconds, and the text of the last answer."""

    times: list[float] = field(default_factory=list[float])
    text: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.times)


Row = dict[str, Measured]


def _works(url: str) -> dict[str, Work]:
    turns = iter(range(1_000_000))
    return {
        "navigate": lambda server: server.navigate(url),
        "click": lambda server: server.click(),
        "click and look": lambda server: server.click_and_look(),
        "fill": lambda server: server.fill(f"value {next(turns)}"),
        "snapshot": lambda server: server.snapshot(),
        "read text": lambda server: server.read_text(),
        "screenshot": lambda server: server.screenshot(),
    }


async def compare_work(site: Site, names: Sequence[str]) -> None:
    """Every call on pages of each size: time, and what the answer costs a model.

    Plain Playwright stands beside: what of each time the browser takes, whoever asks.
    """
    kinds = (*(kind for kind in SERVERS if kind.name in names), Plain)
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(kind.running()) for kind in kinds]
        for size in SIZES:
            url = site.page(page_of(size), path=f"/measured-{size}")
            for server in servers:
                await server.navigate(url)
                await server.prepare()
            rows: dict[str, Row] = {}
            for work, call in _works(url).items():
                rows[work] = await _alternate(servers, call, ROUNDS[size])
                if work == "navigate":
                    for server in servers:
                        await server.prepare()
            _print_rows(f"{size:,} elements", rows)


async def _alternate(servers: Sequence[Worker], call: Work, rounds: int) -> Row:
    row: Row = {server.name: Measured() for server in servers}
    for turn in range(rounds + 1):
        first = turn % len(servers)
        for server in (*servers[first:], *servers[:first]):
            began = time.perf_counter()
            result = await call(server)
            if turn:  # The first time is to warm up.
                row[server.name].times.append((time.perf_counter() - began) * 1000)
                row[server.name].text = text_of(result)
    return row


def _print_rows(title: str, rows: dict[str, Row]) -> None:
    names = list(next(iter(rows.values())))
    tokens = iter(count_tokens([measured.text for row in rows.values() for measured in row.values()]))
    head = "".join(f"{name:>24}" for name in names)
    print(f"\n{title:<16}{head}   (median ms, ratio to {PLAYWRIGHT_MCP}; characters / tokens of the answer)")
    for work, row in rows.items():
        peer = row.get(PLAYWRIGHT_MCP)
        cells = "".join(f"{_cell(measured, peer):>24}" for measured in row.values())
        counted = {name: next(tokens) for name in row}
        sizes = "  ".join(f"{len(row[name].text):,} / {counted[name]:,}" for name in names)
        print(f"{work:<16}{cells}   {sizes}")


def _cell(measured: Measured, peer: Measured | None) -> str:
    ratio = f"{measured.median / peer.median:6.2f}×" if peer and peer is not measured else " " * 7
    return f"{measured.median:8.1f} {ratio}"


async def compare_cold(site: Site, names: Sequence[str], starts: int) -> None:
    """From the start of a process to its first answer, and to its first page."""
    url = site.page(page_of(10), path="/cold")
    kinds = [kind for kind in SERVERS if kind.name in names]
    listed: dict[str, list[float]] = {kind.name: [] for kind in kinds}
    opened: dict[str, list[float]] = {kind.name: [] for kind in kinds}
    for _ in range(starts):
        for kind in kinds:
            began = time.perf_counter()
            async with kind.running() as server:
                await server.client.list_tools()
                listed[kind.name].append((time.perf_counter() - began) * 1000)
                await server.navigate(url)
                opened[kind.name].append((time.perf_counter() - began) * 1000)
    print(f"\ncold start, median of {starts} (ms)   tools listed   first page")
    for kind in kinds:
        first, second = statistics.median(listed[kind.name]), statistics.median(opened[kind.name])
        print(f"  {kind.name:<30}{first:12.0f} {second:12.0f}")


async def compare_crowds(site: Site, names: Sequence[str]) -> None:
    """Memory of the process tree with 1 and 4 sessions, and actions per second with up to 8.

    A session is one of Footlight's, or a server of its own.
    """
    url = site.page(page_of(10), path="/crowd")
    print("\nsessions                      MiB with 1   MiB with 4   actions per second with 1, 2, 4, 8")
    for kind in SERVERS:
        if kind.name in names:
            memory: dict[int, float] = {}
            rates: list[float] = []
            async with AsyncExitStack() as stack:
                servers: list[Server] = []
                for crowd in CROWDS:
                    while len(servers) < crowd:
                        servers.append(await _one_more(kind, servers, stack))
                        await servers[-1].navigate(url)
                        await servers[-1].prepare()
                    memory[crowd] = _memory()
                    rates.append(await _rate(servers))
            figures = "   ".join(f"{rate:6.1f}" for rate in rates)
            print(f"  {kind.name:<27}{memory[1]:11.0f} {memory[4]:12.0f}   {figures}")


async def _one_more(kind: type[Server], servers: Sequence[Server], stack: AsyncExitStack) -> Server:
    if kind is not Footlight or not servers:
        return await stack.enter_async_context(kind.running())
    made: Any = (await servers[0].ask("create_session")).structured_content
    return Footlight(servers[0].client, {"sessionId": made["data"]["sessionId"]})


async def _rate(servers: Sequence[Server]) -> float:
    end = time.perf_counter() + CROWD_SECONDS

    async def act(server: Server) -> int:
        count = 0
        while time.perf_counter() < end:
            await server.click()
            count += 1
        return count

    return sum(await asyncio.gather(*map(act, servers))) / CROWD_SECONDS


def _memory() -> float:
    """MiB of all processes that we started, with each shared page counted once."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        try:
            used = process.memory_full_info()
        except psutil.Error:
            continue
        total += getattr(used, "pss", used.rss)
    return total / 2**20
