"""Compare a server whose browsers run on a Ray cluster with one that has them in its own process."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp import Client

from footlight.cluster.fleet.fleet import Fleet
from footlight.cluster.fleet.known_worker import KnownWorker
from footlight.cluster.ray_api import RemoteActor
from footlight.cluster.worker import Load, WorkerStatus
from footlight.config import ClusterSettings
from footlight.errors import ConfigurationError
from tests.network import listening
from tests.site import Site

__all__ = ["compare_fleet", "simulate_placement"]

SESSIONS = 8
CALLS = 125
MEASURE_SECONDS = 90.0
"""How long each part of the comparison takes at most, on a machine that is too busy for all calls."""
SIMULATED_SESSIONS = 10_000
SIMULATED_WORKERS = (1, 10, 100)


async def compare_fleet(site: Site) -> None:
    """Print the times of calls in 8 sessions, on one machine and on two workers with the same settings.

    Each call is made on both in turn, so that load on this machine affects both. `added` are the differences
    of the columns. A crossed answer is one of another session.
    """
    from footlight.cluster.ray_api import require_token
    from tests.cluster.ray_cluster import front, ray_cluster

    try:
        require_token()
    except ConfigurationError as error:
        if "not installed" in error.message:
            print(f"fleet: skipped, {error.message}\n")
            return
    with tempfile.TemporaryDirectory() as folder:
        async with (
            ray_cluster() as cluster,
            front(cluster, Path(folder), secret="") as fleet_url,
            listening("http", "--tools", "all", FOOTLIGHT_POOL_MIN_BROWSERS="1") as url,
            Client(fleet_url, mode="legacy") as fleet,
            Client(f"{url}/mcp", mode="legacy") as single,
        ):
            clients = {"one machine": single, "two workers": fleet}
            ids = {name: await _open_sessions(client, site) for name, client in clients.items()}
            for name in clients:
                await _measure(clients[name], ids[name], 5)
            times: dict[str, list[float]] = {name: [] for name in clients}
            crossed = dict.fromkeys(clients, 0)
            began = time.perf_counter()
            for turn in range(CALLS):
                if time.perf_counter() - began > MEASURE_SECONDS:
                    break
                for session in range(SESSIONS):
                    for name in [*clients][:: 1 if (turn + session) % 2 else -1]:
                        measured, wrong = await _measure(clients[name], [ids[name][session]], 1)
                        times[name] += measured
                        crossed[name] += wrong
            print(f"{SESSIONS} sessions, {len(times['two workers']) // SESSIONS} calls of get_text in each")
            print(f"{'':<14} {'p50':>8} {'p95':>8} {'crossed':>8}   one call at a time (ms)")
            figures = {name: (statistics.median(each), _p95(each)) for name, each in times.items()}
            for name, (median, p95) in figures.items():
                print(f"{name:<14} {median:8.2f} {p95:8.2f} {crossed[name]:8}")
            added = [two - one for one, two in zip(*figures.values(), strict=True)]
            print(f"{'added':<14} {added[0]:8.2f} {added[1]:8.2f}")
            began = time.perf_counter()
            measured = await asyncio.gather(*(_measure(fleet, [id], CALLS) for id in ids["two workers"]))
            calls = sum(len(each) for each, _ in measured)
            print(
                f"all sessions at once on two workers: {calls / (time.perf_counter() - began):.0f} calls/s, "
                f"{sum(each for _, each in measured)} crossed\n"
            )


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


async def simulate_placement() -> None:
    """Print the processor time in which the front places a session and finds its worker, without browsers."""
    print(f"placement of {SIMULATED_SESSIONS:,} simulated sessions")
    print(f"{'workers':>8} {'place (µs)':>11} {'find (µs)':>11} {'fewest':>8} {'most':>8}")
    for count in SIMULATED_WORKERS:
        fleet = Fleet(ClusterSettings(), build="", max_sessions=SIMULATED_SESSIONS, worker_settings={})
        names = [f"{number:08x}" for number in range(count)]
        for name in names:
            fleet.add(_idle_worker(name, SIMULATED_SESSIONS // count + 1))
        began = time.process_time()
        for _ in range(SIMULATED_SESSIONS):
            async with fleet.reserve_place(lambda _: None) as worker:
                assert worker.load is not None
                load = replace(worker.load, sessions=worker.load.sessions + 1)
            fleet.note_load(worker, load)
        placed = time.process_time()
        for number in range(SIMULATED_SESSIONS):
            assert fleet.find(f"{names[number % count]}.{number:032x}".partition(".")[0])
        found = time.process_time()
        sessions = [each.used for each in fleet.workers]
        await fleet.close()
        each_us = [
            (end - start) / SIMULATED_SESSIONS * 1e6 for start, end in [(began, placed), (placed, found)]
        ]
        print(f"{count:>8} {each_us[0]:>11.1f} {each_us[1]:>11.1f} {min(sessions):>8,} {max(sessions):>8,}")
    print()


def _idle_worker(name: str, max_sessions: int) -> KnownWorker:
    load = Load(0, max_sessions, is_draining=False)
    status = WorkerStatus("", "", "", 0, load, None)
    return KnownWorker(name, _SilentActor(None), status, load)


class _SilentActor(RemoteActor):
    """An actor that never answers."""

    async def call(self, method: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ARG002
        await asyncio.Event().wait()


async def _open_sessions(client: Client, site: Site) -> list[str]:
    ids: list[str] = []
    for _ in range(SESSIONS):
        id = (await _call(client, "create_session"))["sessionId"]
        await _call(client, "navigate", sessionId=id, url=site.page(f"<h1 id=t>{id}</h1>"))
        ids.append(id)
    return ids


async def _measure(client: Client, ids: list[str], calls: int) -> tuple[list[float], int]:
    """Return the milliseconds of each call, and how many answers were of another session."""
    times: list[float] = []
    crossed = 0
    end = time.perf_counter() + MEASURE_SECONDS
    for _ in range(calls):
        if time.perf_counter() > end:
            break
        for id in ids:
            began = time.perf_counter()
            data = await _call(client, "get_text", sessionId=id, selector="#t")
            times.append((time.perf_counter() - began) * 1000)
            crossed += id not in str(data)
    return times, crossed


async def _call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert result.structured_content is not None
    assert not result.is_error, result.structured_content
    return result.structured_content["data"]
