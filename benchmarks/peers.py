"""Compare Footlight with other servers, each with its default settings.

The servers take turns, call by call, on the same pages in browsers of the same build, so that load on the
machine affects all of them equally. Prints medians and their ratio to `@playwright/mcp`, and adds the samples
to the figures that have goals.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from mcp_types import CallToolResult

from benchmarks.goals import FOOTLIGHT, PLAYWRIGHT_MCP, Figures
from benchmarks.pages import SIZES, page_of
from benchmarks.plain import Plain
from benchmarks.servers import (
    SERVERS,
    Footlight,
    PlaywrightMcpWithChromium,
    Server,
    Worker,
    start_shared_footlight,
    text_of,
)
from benchmarks.tokens import count_tokens
from tests.site import Site

__all__ = ["compare_cold", "compare_concurrency", "compare_work"]

ROUNDS = {10: 12, 1_500: 8, 10_000: 5}
"""Number of calls, by the size of the page."""
SESSION_COUNTS = (1, 2, 4, 8)
RATE_SECONDS = 4.0

Work = Callable[[Worker], Awaitable[CallToolResult]]


@dataclass
class Measured:
    """The times in milliseconds of one kind of call on one server, and the text of the last answer."""

    times: list[float] = field(default_factory=list[float])
    text: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.times)


Row = dict[str, Measured]


def _make_calls(url: str) -> dict[str, Work]:
    turns = iter(range(1_000_000))
    return {
        "navigate": lambda server: server.navigate(url),
        "click": lambda server: server.click(),
        "click and look": lambda server: server.click_and_look(),
        "fill": lambda server: server.fill(f"value {next(turns)}"),
        "snapshot": lambda server: server.snapshot(),
        "evaluate": lambda server: server.evaluate(),
        "add ten rows": lambda server: server.add_rows(),
        "read text": lambda server: server.read_text(),
        "screenshot": lambda server: server.screenshot(),
    }


async def compare_work(site: Site, names: Sequence[str], figures: Figures) -> None:
    """Measure every call on pages of each size: the time, and the size of the answer.

    Plain Playwright shows how much of the time the browser itself takes.
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
            for work, call in _make_calls(url).items():
                rows[work] = await _alternate(servers, call, ROUNDS[size])
                if work == "navigate":
                    for server in servers:
                        await server.prepare()
            _print_rows("small form" if size == SIZES[0] else f"{size:,} elements", rows, figures)


async def _alternate(servers: Sequence[Worker], call: Work, rounds: int) -> Row:
    row: Row = {server.name: Measured() for server in servers}
    for turn in range(rounds + 1):
        first = turn % len(servers)
        for server in (*servers[first:], *servers[:first]):
            began = time.perf_counter()
            result = await call(server)
            if turn:  # The first call warms up.
                row[server.name].times.append((time.perf_counter() - began) * 1000)
                row[server.name].text = text_of(result)
    return row


def _print_rows(title: str, rows: dict[str, Row], figures: Figures) -> None:
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
        for name, measured in row.items():
            if work == "add ten rows":
                figures.add(f"click that adds ten rows, {title}", name, counted[name])
            else:
                figures.add(f"{work}, {title}", name, *measured.times)


def _cell(measured: Measured, peer: Measured | None) -> str:
    ratio = f"{measured.median / peer.median:6.2f}×" if peer and peer is not measured else " " * 7
    return f"{measured.median:8.1f} {ratio}"


async def compare_cold(site: Site, names: Sequence[str], starts: int, figures: Figures) -> None:
    """Measure the time from process start to the answer to `initialize`, and to the first page.

    Memory is measured in a start of its own, when the tools have been listed: a server may answer
    `initialize` before it has loaded them.
    """
    url = site.page(page_of(10), path="/cold")
    kinds: list[tuple[str, str, type[Server]]] = [(kind.name, kind.name, kind) for kind in SERVERS]
    kinds.append((_DEFAULT_BROWSER, PLAYWRIGHT_MCP, PlaywrightMcpWithChromium))
    greeted: dict[str, list[float]] = defaultdict(list)
    opened: dict[str, list[float]] = defaultdict(list)
    memory: dict[str, list[float]] = defaultdict(list)
    async with start_shared_footlight() as shared:
        kinds.append((_SHARED, FOOTLIGHT, shared))
        kinds = [each for each in kinds if each[1] in names]
        for _ in range(starts):
            for label, _, kind in kinds:
                began = time.perf_counter()
                async with kind.running() as server:
                    greeted[label].append((time.perf_counter() - began) * 1000)
                    await server.navigate(url)
                    opened[label].append((time.perf_counter() - began) * 1000)
                async with kind.running() as server:
                    await server.client.list_tools()
                    memory[label].append(_memory(browsers=False))
    print(f"\ncold start, median of {starts}     initialize (ms)  first page (ms)  memory without it (MiB)")
    for label, name, _ in kinds:
        if label == name:
            figures.add("initialize", name, *greeted[label])
            figures.add("memory of the server without a session", name, *memory[label])
        medians = [statistics.median(each[label]) for each in (greeted, opened, memory)]
        print(f"  {label:<35}{medians[0]:12.0f} {medians[1]:16.0f} {medians[2]:16.0f}")
    for name in names:
        figures.add("first page, same browser", name, *opened[name])
    figures.add("first page, default browser", FOOTLIGHT, *opened[FOOTLIGHT])
    figures.add("first page, default browser", PLAYWRIGHT_MCP, *opened[_DEFAULT_BROWSER])
    figures.add("first page, shared server", FOOTLIGHT, *opened[_SHARED])
    figures.add("first page, shared server", PLAYWRIGHT_MCP, *opened[_DEFAULT_BROWSER])


_DEFAULT_BROWSER = f"{PLAYWRIGHT_MCP}, full Chromium"
_SHARED = f"{FOOTLIGHT} --shared"


async def compare_concurrency(site: Site, names: Sequence[str], figures: Figures) -> None:
    """Measure the memory of the process tree with 1 and 4 sessions, and actions per second with up to 8.

    Footlight serves all sessions from one process. The others run as one process per session.
    """
    url = site.page(page_of(10), path="/crowd")
    print("\nsessions                      MiB with 1   MiB with 4   actions per second with 1, 2, 4, 8")
    for kind in SERVERS:
        if kind.name in names:
            memory: dict[int, float] = {}
            rates: list[float] = []
            async with AsyncExitStack() as stack:
                servers: list[Server] = []
                for count in SESSION_COUNTS:
                    while len(servers) < count:
                        servers.append(await _open_session(kind, servers, stack))
                        await servers[-1].navigate(url)
                        await servers[-1].prepare()
                    memory[count] = _memory()
                    rates.append(await _rate(servers))
                    plural = "" if count == 1 else "s"
                    figures.add(f"actions per second, {count} session{plural}", kind.name, rates[-1])
                figures.add("memory of 4 sessions", kind.name, memory[4])
            per_second = "   ".join(f"{rate:6.1f}" for rate in rates)
            print(f"  {kind.name:<27}{memory[1]:11.0f} {memory[4]:12.0f}   {per_second}")


async def _open_session(kind: type[Server], servers: Sequence[Server], stack: AsyncExitStack) -> Server:
    if kind is not Footlight or not servers:
        return await stack.enter_async_context(kind.running())
    made: Any = (await servers[0].ask("create_session")).structured_content
    return Footlight(servers[0].client, {"sessionId": made["data"]["sessionId"]})


async def _rate(servers: Sequence[Server]) -> float:
    end = time.perf_counter() + RATE_SECONDS

    async def act(server: Server) -> int:
        count = 0
        while time.perf_counter() < end:
            await server.click()
            count += 1
        return count

    return sum(await asyncio.gather(*map(act, servers))) / RATE_SECONDS


def _memory(*, browsers: bool = True) -> float:
    """Return the memory of all child processes in MiB. Shared memory pages are counted once."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        try:
            if not browsers and Path(process.exe()).name.startswith("chrom"):
                continue
            used = process.memory_full_info()
        except psutil.Error:
            continue
        total += getattr(used, "pss", used.rss)
    return total / 2**20
