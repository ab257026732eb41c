"""Compare Footlight with plain Playwright and with other servers.

The candidates take turns, call by call, on the same pages in browsers of the same kind, so that load on the
machine affects all of them equally. Prints medians in milliseconds and their ratios, the size of answers in
characters and tokens, the time from process start to first page, memory, and actions per second; at the end a
table of all figures that have a goal.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from playwright.async_api import async_playwright

from benchmarks.answers.compare import compare_answers
from benchmarks.audit import compare_audits
from benchmarks.clients import compare_clients
from benchmarks.fixtures import measure_fixtures
from benchmarks.fleet import compare_fleet, simulate_placement
from benchmarks.goals import PLAYWRIGHT_MCP, Figures
from benchmarks.knowledge import measure_knowledge
from benchmarks.peers import compare_cold, compare_concurrency, compare_work
from benchmarks.servers import SERVERS, install_peers
from benchmarks.tokens import compare_lists
from benchmarks.transports import compare_transports
from benchmarks.wallet import compare_wallet
from benchmarks.watching import measure_watching
from footlight.browser.launch.chromium_flags import NO_OWN_REQUESTS
from footlight.browser.launch.installation import find_browser
from footlight.config import BrowserSettings
from tests.site import serve_site

README = Path(__file__).parents[1] / "README.md"
PERFORMANCE_PAGE = Path(__file__).parents[1] / "docs/performance.md"
PAGE = "<!doctype html><title>Tiny</title><h1 id=t>Hello</h1><button id=b>Press</button><input id=i>"
_BARE = {"observe": "none", "settle": "none"}

Call = Callable[[], Awaitable[Any]]


@dataclass(frozen=True)
class Row:
    """The times of one call in milliseconds, for Footlight and for the peer."""

    name: str
    ours: list[float]
    peer: list[float]

    def __str__(self) -> str:
        ours, peer = statistics.median(self.ours), statistics.median(self.peer)
        ours95, peer95 = _p95(self.ours), _p95(self.peer)
        return (
            f"{self.name:<10} {ours:9.2f} {peer:9.2f} {ours - peer:+9.2f} {ours / peer:8.2f}"
            f" {ours95:11.2f} {peer95:11.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--calls", type=int, default=60, help="number of calls of each kind")
    parser.add_argument("--starts", type=int, default=3, help="number of cold starts")
    parser.add_argument("--records", type=int, default=100_000, help="number of steps in the knowledge store")
    parser.add_argument("--only", choices=PARTS, action="append", help="run only this part; repeatable")
    parser.add_argument("--transcripts", type=Path, help="write the calls of part answers to this folder")
    parser.add_argument(
        "--write", action="store_true", help="write docs/performance.md and the table in README.md"
    )
    options = parser.parse_args()
    parts = options.only or PARTS
    if options.transcripts:
        options.transcripts.mkdir(parents=True, exist_ok=True)
    if set(parts) - {"plain", "transports", "clients", "knowledge", "audit", "pytest", "watching", "fleet"}:
        install_peers()
    if "knowledge" in parts:
        measure_knowledge(options.records)
    figures = Figures()
    if "pytest" in parts:
        measure_fixtures(figures)
    asyncio.run(_run(parts, options.calls, options.starts, figures, options.transcripts))
    if table := figures.table():
        print(f"\nFigures with a goal: medians, and the ratio to {PLAYWRIGHT_MCP}\n\n{table}")
    if options.write:
        figures.write_page(PERFORMANCE_PAGE)
        figures.write_excerpt(README)


PARTS = [
    "plain",
    "transports",
    "clients",
    "tools",
    "cold",
    "work",
    "crowds",
    "watching",
    "wallet",
    "knowledge",
    "audit",
    "answers",
    "pytest",
    "fleet",
]


async def _run(
    parts: Sequence[str], calls: int, starts: int, figures: Figures, transcripts: Path | None
) -> None:
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    names = [kind.name for kind in SERVERS]
    async with serve_site() as site:
        if "plain" in parts:
            await _compare_plain(site.page(PAGE, path="/tiny"), calls)
        if "transports" in parts:
            await compare_transports(calls)
        if "clients" in parts:
            await compare_clients(calls)
        if "tools" in parts:
            await asyncio.to_thread(compare_lists, figures)
        if "cold" in parts:
            await compare_cold(site, names, starts, figures)
            await _measure_cold_start(site.page(PAGE, path="/tiny"), starts)
        if "work" in parts:
            await compare_work(site, names, figures)
        if "crowds" in parts:
            await compare_concurrency(site, names, figures)
        if "fleet" in parts:
            await simulate_placement()
            await compare_fleet(site)
        if "watching" in parts:
            await measure_watching(site, calls, figures)
    if "wallet" in parts:
        await compare_wallet(calls)
    if "audit" in parts:
        await compare_audits()
    if "answers" in parts:
        await compare_answers(transcripts)


async def _compare_plain(url: str, calls: int) -> None:
    print("Footlight and plain Playwright, with observe none and settle none (ms)")
    header = f"{'call':<10} {'footlight':>9} {'plain':>9} {'diff':>9} {'ratio':>8}"
    print(f"{header} {'p95 ours':>11} {'p95 plain':>11}")
    for row in await _compare(url, calls):
        print(row)


async def _compare(url: str, calls: int) -> list[Row]:
    async with _ours() as client, _open_plain() as page:

        def tool(name: str, **arguments: Any) -> Call:
            async def call() -> None:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result

            return call

        pairs: list[tuple[str, Call, Call]] = [
            ("navigate", tool("navigate", url=url, **_BARE), lambda: page.goto(url)),
            ("click", tool("click", selector="#b", **_BARE), lambda: page.click("#b")),
            ("fill", tool("fill", selector="#i", value="a", **_BARE), lambda: page.fill("#i", "a")),
            ("get_text", tool("get_text", selector="#t"), lambda: page.inner_text("#t")),
            ("evaluate", tool("evaluate", script="1 + 1", **_BARE), lambda: page.evaluate("1 + 1")),
        ]
        return [await _alternate(name, ours, peer, calls) for name, ours, peer in pairs]


async def _alternate(name: str, ours: Call, peer: Call, calls: int) -> Row:
    for _ in range(5):
        await ours()
        await peer()
    row = Row(name, [], [])
    for turn in range(calls):
        first, second = ((ours, row.ours), (peer, row.peer))[:: 1 if turn % 2 else -1]
        for call, times in (first, second):
            times.append(await _measure_ms(call))
    return row


async def _measure_ms(call: Call) -> float:
    began = time.perf_counter()
    await call()
    return (time.perf_counter() - began) * 1000


async def _measure_cold_start(url: str, starts: int) -> None:
    """Measure the time from process start to the first page."""
    ours: list[float] = []
    plain: list[float] = []
    listed: list[float] = []
    for _ in range(starts):
        began = time.perf_counter()
        async with _ours() as client:
            await client.list_tools()
            listed.append((time.perf_counter() - began) * 1000)
            await client.call_tool("navigate", {"url": url})
            ours.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", _PLAIN_START, url, _executable())
        await process.wait()
        plain.append((time.perf_counter() - began) * 1000)
    print("Footlight and plain Playwright, which has no server to start")
    print(f"  footlight: tools listed      {statistics.median(listed):8.0f}")
    print(f"  footlight: first page        {statistics.median(ours):8.0f}")
    print(f"  plain Playwright: first page {statistics.median(plain):8.0f}")


_PLAIN_START = """
import asyncio, os, sys
from playwright.async_api import async_playwright
async def main():
    async with async_playwright() as p:
        browser = await p.chromium.launch(executable_path=sys.argv[2] or None)
        page = await browser.new_page()
        await page.goto(sys.argv[1])
        os._exit(0)
asyncio.run(main())
"""


@asynccontextmanager
async def _ours() -> AsyncGenerator[Client]:
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-m", "footlight", "serve", "--enable-script-evaluation", "--log-level", "error"]
        server = StdioServerParameters(
            command=sys.executable,
            args=[*arguments, "--state-directory", folder],
            env={**os.environ, "FOOTLIGHT_POOL_MIN_BROWSERS": "1"},
        )
        async with Client(server) as client:
            yield client


@asynccontextmanager
async def _open_plain() -> AsyncGenerator[Any]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=_executable() or None, args=list(NO_OWN_REQUESTS)
        )
        yield await browser.new_page()
        await browser.close()


def _executable() -> str:
    """Return the browser that the server uses, or "" if Playwright finds it."""
    own = Path(tempfile.gettempdir()) / "no-such-build"
    return str(find_browser(BrowserSettings(), own).executable or "")


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__":
    main()
