"""Measure the page on which people watch: the first frame, how late frames are, and what watching costs."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from playwright.async_api import Browser, async_playwright

from benchmarks.goals import FOOTLIGHT, Figures
from tests.chromium import launch_chromium
from tests.http_client import Handshaken, HttpServer, Raw, handshake, raw, served
from tests.site import Site

__all__ = ["measure_watching"]

TOKEN = "a-token-for-watching"
WORDS = f"<p>{'words and more words ' * 200}</p>"
MOVING = f"<h1 id=t>0</h1>{WORDS}<script>setInterval(() => {{ t.textContent = Date.now() }}, 50)</script>"
STATIC_PAGE = "<h1>Hello</h1><button onclick='t.textContent=Math.random()'>Go</button><p id=t>"
OPENINGS = 5
SECONDS = 10.0
WATCHERS = 20
LINGER_SECONDS = 4.0
"""A capture ends some seconds after its last watcher has left."""
_COLLECT = """() => {
  window.lags = [];
  new MutationObserver(() => lags.push(Number(picture.dataset.lag)))
    .observe(picture, { attributes: true, attributeFilter: ["data-frames"] });
}"""


async def measure_watching(site: Site, calls: int, figures: Figures) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            served(Path(folder), FOOTLIGHT_TOKEN=TOKEN) as server,
            raw(server, token=TOKEN) as client,
            async_playwright() as driver,
            launch_chromium(driver) as browser,
        ):
            session = await handshake(client)
            await session.call("navigate", url=site.page(STATIC_PAGE))
            first = [await _open(browser, server) for _ in range(OPENINGS)]
            await session.call("navigate", url=site.page(MOVING))
            unwatched = await _measure_load(server)
            lags, watched = await _watch(browser, server)
            captures, crowd = await _watch_together(client, server)
        clicks = [
            await _click(Path(folder), site, flag, calls) for flag in ("--no-watch", "--watch", "--keyframes")
        ]
    figures.add("first frame of the watch page", FOOTLIGHT, *first)
    figures.add("lag of a watched frame, p95", FOOTLIGHT, _p95(lags))
    figures.add("server while watched", FOOTLIGHT, watched)
    print("The page on which people watch")
    print(f"first frame after opening   {statistics.median(first):8.0f} ms, at most {max(first):.0f}")
    print(f"lag of a frame              {statistics.median(lags):8.0f} ms, p95 {_p95(lags):.0f}")
    print(f"frames in a second          {len(lags) / SECONDS:8.1f}")
    print(f"server, not watched         {unwatched:8.2f} % of a core")
    print(f"server, one watcher         {watched:8.2f} % of a core")
    print(f"server, {WATCHERS} watchers         {crowd:8.2f} % of a core, {captures} captures")
    without, with_journal, keyframes = clicks
    print(f"click, no page              {without:8.2f} ms")
    print(f"click, nobody watches       {with_journal:8.2f} ms")
    print(f"click, with keyframes       {keyframes:8.2f} ms\n")


async def _open(browser: Browser, server: HttpServer) -> float:
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    began = time.perf_counter()
    await page.goto(f"{server.url}/watch#token={TOKEN}")
    await page.wait_for_selector("#picture:not([hidden])")
    took_ms = (time.perf_counter() - began) * 1000
    await context.close()
    await asyncio.sleep(LINGER_SECONDS)
    return took_ms


async def _watch(browser: Browser, server: HttpServer) -> tuple[list[float], float]:
    """Return the age of each frame when it was drawn, and the share of a core that the server used."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    await page.goto(f"{server.url}/watch#token={TOKEN}")
    await page.wait_for_selector("#picture:not([hidden])")
    await page.evaluate(_COLLECT)
    busy = await _measure_load(server)
    lags: list[float] = await page.evaluate("lags")
    await context.close()
    return lags, busy


async def _watch_together(client: Raw, server: HttpServer) -> tuple[int, float]:
    before = await _state(client)
    session = before["sessions"][-1]["id"]
    end = time.monotonic() + SECONDS

    async def watch() -> None:
        after = "0"
        while time.monotonic() < end:
            path = f"/watch/api/picture?session={session}&after={after}"
            answer = await client.send(method="GET", path=path)
            after = answer.headers.get("X-Frame", after)

    busy, *_ = await asyncio.gather(_measure_load(server), *(watch() for _ in range(WATCHERS)))
    return (await _state(client))["captures"] - before["captures"], busy


async def _state(client: Raw) -> dict[str, Any]:
    return (await client.send(method="GET", path="/watch/api/state")).json()


async def _measure_load(server: HttpServer) -> float:
    """Return the percentage of a core that the server's own process uses."""
    process = psutil.Process(server.pid)
    before, began = process.cpu_times(), time.perf_counter()
    await asyncio.sleep(SECONDS)
    after = process.cpu_times()
    used = after.user - before.user + after.system - before.system
    return 100 * used / (time.perf_counter() - began)


async def _click(folder: Path, site: Site, flag: str, calls: int) -> float:
    """Return the median of a click that changes the page, in milliseconds."""
    async with served(folder, flag) as server, raw(server) as client:
        session: Handshaken = await handshake(client)
        await session.call("navigate", url=site.page(STATIC_PAGE))
        times: list[float] = []
        for _ in range(calls + 10):
            began = time.perf_counter()
            await session.call("click", selector="button")
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times[10:])


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]
