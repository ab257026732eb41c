"""Failure drills: machines and servers that end, are stopped, added or removed.

Drills that have a cluster of their own run side by side, because most of their time is spent on waiting.
"""

from __future__ import annotations

import asyncio
import functools
import json
from pathlib import Path

import httpx2
import psutil
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tests.cluster.ray_cluster import (
    LIMIT_SECONDS,
    Cluster,
    autoscaling_cluster,
    connect_browser,
    create,
    create_apart,
    front,
    is_running,
    ray_cluster,
    ray_node,
    start_front,
    worker_of,
)
from tests.conftest import Browser
from tests.processes import descendants_of, name_of
from tests.side_by_side import run_in_folders
from tests.site import Site

pytest.importorskip("ray", reason="Ray is not installed: pip install 'footlight[ray]'")

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(600)]

PERSISTENT = {"FOOTLIGHT_SESSION_PERSISTENT_SESSIONS": "true"}


def chromiums_below(process: psutil.Process) -> list[psutil.Process]:
    return [each for each in descendants_of(process) if "chrom" in name_of(each)]


async def wait_until_gone(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Return those that still run at the end of the time."""
    await asyncio.to_thread(psutil.wait_procs, processes, timeout=seconds)
    return [each for each in processes if is_running(each)]


class Gate:
    """An image of the site that arrives when `release` is set."""

    def __init__(self, site: Site) -> None:
        self.reached = asyncio.Event()
        self.release = asyncio.Event()
        self.url = site.route(self._hold)

    async def _hold(self, _: Request) -> Response:
        self.reached.set()
        await self.release.wait()
        return HTMLResponse("<title>Late</title>")


async def test_sessions_leave_a_terminated_machine_or_worker_without_a_failed_call(
    site: Site, tmp_path: Path
):
    await run_in_folders(
        tmp_path,
        functools.partial(leave_a_terminated_machine, site),
        functools.partial(leave_a_terminated_worker, site),
    )


async def leave_a_terminated_machine(site: Site, tmp_path: Path) -> None:
    async with (
        ray_cluster(1) as cluster,
        ray_node(cluster, cpus=1) as node,
        front(cluster, tmp_path, **PERSISTENT) as url,
        connect_browser(url, site) as browser,
    ):
        ids = [*await create_apart(browser), *await create(browser, 1)]
        for id in ids:
            await browser.call("navigate", url=site.page("<title>Shop</title>"), sessionId=id)
        machine = psutil.Process(node.pid)
        workers = await cluster.status()
        pids = {each.pid for each in descendants_of(machine)}
        (leaving,) = [name for name, each in workers.items() if each["pid"] in pids]
        processes = descendants_of(machine)
        assert chromiums_below(machine)
        gate = Gate(site)
        id = next(each for each in ids if worker_of(each) == leaving)
        running = asyncio.create_task(browser.call("navigate", url=gate.url, sessionId=id))
        await asyncio.wait_for(gate.reached.wait(), LIMIT_SECONDS)
        node.terminate()
        others = [each for each in ids if each != id]
        while node.returncode is None and not (await cluster.status())[leaving]["draining"]:
            for each in others:
                assert (await browser.call("get_page_metadata", sessionId=each))["title"] == "Shop"
        (new,) = await create(browser, 1)
        assert worker_of(new) != leaving
        assert not running.done()
        gate.release.set()
        assert (await asyncio.wait_for(running, LIMIT_SECONDS))["status"] == 200
        ended = asyncio.create_task(node.wait())
        while not ended.done():
            for each in others:
                assert (await browser.call("get_page_metadata", sessionId=each))["title"] == "Shop"
        assert await wait_until_gone(processes, 5) == []
        assert (await browser.call("get_page_metadata", sessionId=id))["title"] == "Late"
        assert leaving not in await cluster.status()


async def leave_a_terminated_worker(site: Site, tmp_path: Path) -> None:
    async with (
        # On a busy machine the commands that look at the cluster take many seconds.
        ray_cluster(2, RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S="180") as cluster,
        front(cluster, tmp_path, **PERSISTENT) as url,
        connect_browser(url, site) as browser,
    ):
        ids = await create(browser, 4)
        for id in ids:
            await browser.call("navigate", url=site.page("<title>Shop</title>"), sessionId=id)
        leaving = worker_of(ids[0])
        process = psutil.Process((await cluster.status())[leaving]["pid"])
        browsers = chromiums_below(process)
        gate = Gate(site)
        running = asyncio.create_task(browser.call("navigate", url=gate.url, sessionId=ids[0]))
        await asyncio.wait_for(gate.reached.wait(), LIMIT_SECONDS)
        process.terminate()
        while not (await cluster.status())[leaving]["draining"]:
            for each in ids[1:]:
                assert (await browser.call("get_page_metadata", sessionId=each))["title"] == "Shop"
        (new,) = await create(browser, 1)
        assert worker_of(new) != leaving
        assert not running.done()
        gate.release.set()
        assert (await asyncio.wait_for(running, LIMIT_SECONDS))["status"] == 200
        while is_running(process):
            for each in ids[1:]:
                assert (await browser.call("get_page_metadata", sessionId=each))["title"] == "Shop"
        assert await wait_until_gone(browsers, 5) == []
        assert (await browser.call("get_page_metadata", sessionId=ids[0]))["title"] == "Late"
        assert leaving not in await cluster.status()


async def test_browsers_end_with_a_terminated_worker_a_lease_or_the_head(site: Site, tmp_path: Path):
    await run_in_folders(
        tmp_path,
        functools.partial(close_sessions_that_cannot_move, site),
        functools.partial(end_workers_without_a_server, site),
        functools.partial(end_browsers_without_a_head, site),
    )


async def close_sessions_that_cannot_move(site: Site, tmp_path: Path) -> None:
    async with (
        ray_cluster(1, RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S="12") as cluster,
        front(cluster, tmp_path, FOOTLIGHT_CLUSTER_MIN_WORKERS="1") as url,
        connect_browser(url, site) as browser,
    ):
        (id,) = await create(browser, 1)
        process = psutil.Process((await cluster.status())[worker_of(id)]["pid"])
        browsers = chromiums_below(process)
        process.terminate()
        assert await browser.call("snapshot", sessionId=id) is not None
        assert await wait_until_gone([process, *browsers], LIMIT_SECONDS) == []


async def end_workers_without_a_server(site: Site, tmp_path: Path) -> None:
    variables = {"FOOTLIGHT_CLUSTER_LEASE": "10000", "FOOTLIGHT_CLUSTER_MIN_WORKERS": "1"}
    async with ray_cluster(1) as cluster:  # No other server asks for its workers.
        async with (
            start_front(cluster, tmp_path, **variables) as (url, process),
            connect_browser(url, site) as browser,
        ):
            await create(browser, 2)
            browsers = chromiums_below(psutil.Process(cluster.process.pid))
            assert browsers
            process.kill()
            await process.wait()
        assert await wait_until_gone(browsers, LIMIT_SECONDS) == []
        async with asyncio.timeout(LIMIT_SECONDS):
            while await cluster.status():  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.2)


async def end_browsers_without_a_head(site: Site, tmp_path: Path) -> None:
    async with (
        ray_cluster(1, RAY_gcs_rpc_server_reconnect_timeout_s="8") as cluster,
        start_front(cluster, tmp_path, FOOTLIGHT_CLUSTER_MIN_WORKERS="1") as (url, server),
    ):
        ray = descendants_of(psutil.Process(cluster.process.pid))
        (head,) = (each for each in ray if name_of(each) == "gcs_server")
        (raylet,) = (each for each in ray if name_of(each) == "raylet")
        async with connect_browser(url, site) as browser:
            (id,) = await create(browser, 1)
            worker = psutil.Process((await cluster.status())[worker_of(id)]["pid"])
            processes = [worker, *descendants_of(worker)]
            head.kill()
            assert await browser.call("snapshot", sessionId=id) is not None
        await asyncio.wait_for(server.wait(), LIMIT_SECONDS)
        async with asyncio.timeout(LIMIT_SECONDS):
            while is_running(raylet):  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.2)
        assert await wait_until_gone(processes, 10) == []


async def test_calls_to_an_unreachable_worker_end_at_their_deadline(cluster: Cluster, browser: Browser):
    silent, other = ids = await create_apart(browser)
    for id in ids:
        page = "<button onclick=\"document.title = 'bought'\">Buy</button>"
        await browser.call("navigate", url=browser.site.page(page), sessionId=id)
    process = psutil.Process((await cluster.status())[worker_of(silent)]["pid"])
    process.suspend()
    try:
        # The limit is far below the time for which a worker may look for the reason.
        read = await asyncio.wait_for(
            browser.refused("get_text", selector="button", timeout=2_000, sessionId=silent), 8
        )
        act = await asyncio.wait_for(
            browser.refused("click", selector="button", timeout=2_000, sessionId=silent), 8
        )
        assert (read["code"], read["retryable"]) == ("TIMEOUT", True)
        assert (act["code"], act["retryable"]) == ("TIMEOUT", False)
        assert act["details"]["dispatched"] == "unknown"
        assert "Buy" in str(await browser.call("get_text", selector="button", sessionId=other))
        listed = await browser.call("list_sessions")
        assert listed["unanswered"] == [worker_of(silent)]
        drain = await cluster.start_command("drain", "other-machine")
        out, _ = await asyncio.wait_for(drain.communicate(), LIMIT_SECONDS)
        assert out.decode().splitlines() == [
            f"does not answer: {worker_of(silent)}",
            "No worker runs on other-machine.",
        ]
        assert drain.returncode == 3
    finally:
        process.resume()
    assert "Buy" in str(await browser.call("get_text", selector="button", sessionId=silent))
    # The client was told that the click has failed, so it is not done later.
    assert (await browser.call("get_page_metadata", sessionId=silent))["title"] != "bought"
    for id in ids:
        await browser.call("close_session", sessionId=id)


async def test_read_on_a_lost_worker_is_retryable(cluster: Cluster, browser: Browser):
    (id,) = await create(browser, 1)
    await browser.call("navigate", url=browser.site.page("<p>Here"), sessionId=id)
    process = psutil.Process((await cluster.status())[worker_of(id)]["pid"])
    browsers = chromiums_below(process)
    started = asyncio.Event()

    async def note_progress(progress: float, total: float | None, message: str | None) -> None:
        started.set()

    waiting = asyncio.create_task(
        browser.client.call_tool(
            "wait_for_selector",
            {"selector": "#never", "timeout": 100_000, "sessionId": id},
            progress_callback=note_progress,
        )
    )
    await asyncio.wait_for(started.wait(), LIMIT_SECONDS)
    process.kill()
    answer = await asyncio.wait_for(waiting, LIMIT_SECONDS)
    assert answer.structured_content is not None
    error = answer.structured_content["error"]
    assert (error["code"], error["retryable"]) == ("WORKER_LOST", True)
    assert await wait_until_gone(browsers, 5) == []


async def test_sessions_of_a_killed_server_are_kept_for_the_lease(cluster: Cluster, site: Site, folder: Path):
    async with start_front(cluster, folder) as (url, process), connect_browser(url, site) as browser:
        ids = await create(browser, 5)
        for id in ids:
            await browser.call("navigate", url=site.page(f"<h1>{id}"), sessionId=id)
        process.kill()
        await process.wait()
    async with front(cluster, folder) as url, connect_browser(url, site) as browser:
        listed = await browser.call("list_sessions")
        assert {each["sessionId"] for each in listed["sessions"]} >= set(ids)
        for id in ids:
            assert id in str(await browser.call("snapshot", sessionId=id))
            await browser.call("close_session", sessionId=id)


async def test_sessions_wait_for_machines_that_are_added(site: Site, tmp_path: Path):
    await run_in_folders(
        tmp_path,
        functools.partial(scale_with_the_sessions, site),
        functools.partial(wait_for_a_worker_that_can_start, site),
    )


async def scale_with_the_sessions(site: Site, tmp_path: Path) -> None:
    variables = {
        "FOOTLIGHT_CLUSTER_MIN_WORKERS": "1",
        "FOOTLIGHT_CLUSTER_MAX_WORKERS": "3",
        "FOOTLIGHT_CLUSTER_IDLE_TIMEOUT": "1000",
        "FOOTLIGHT_CLUSTER_QUEUE_TIMEOUT": "120000",
        "FOOTLIGHT_SESSION_MAX_SESSIONS": "1",
    }
    async with (
        autoscaling_cluster(max_nodes=2) as cluster,
        front(cluster, tmp_path, **variables) as url,
        connect_browser(url, site) as browser,
    ):
        ids = await create(browser, 1)
        assert await count_nodes(cluster, 1) == 1
        # The first machine has a processor for one of these two.
        ids += [id for each in await asyncio.gather(*(create(browser, 1) for _ in range(2))) for id in each]
        assert len({worker_of(each) for each in ids}) == 3
        assert await count_nodes(cluster, 2) == 2
        for id in ids[1:]:
            await browser.call("close_session", sessionId=id)
        assert await count_nodes(cluster, 1) == 1
        assert list(await cluster.status()) == [worker_of(ids[0])]
        assert await browser.call("snapshot", sessionId=ids[0]) is not None


async def count_nodes(cluster: Cluster, expected: int) -> int:
    """Wait until the cluster has this many nodes besides its head, and return the number."""
    head = psutil.Process(cluster.process.pid)
    async with asyncio.timeout(LIMIT_SECONDS):
        while (count := sum(name_of(each) == "raylet" for each in descendants_of(head)) - 1) != expected:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.2)
    return count


async def wait_for_a_worker_that_can_start(site: Site, tmp_path: Path) -> None:
    async with (
        ray_cluster(0) as cluster,
        front(cluster, tmp_path, FOOTLIGHT_CLUSTER_QUEUE_TIMEOUT="2000") as url,
        httpx2.AsyncClient() as client,
    ):
        ready = url.removesuffix("/mcp") + "/readyz"
        answer = await client.get(ready)
        assert (answer.status_code, "No worker of the cluster answers" in answer.text) == (503, True)
        async with connect_browser(url, site) as browser:
            assert (await browser.refused("create_session"))["code"] == "RESOURCE_EXHAUSTED"
            missing = str(tmp_path / "missing.env")
            async with ray_node(cluster, cpus=1, FOOTLIGHT_SECURITY_SECRETS_FILE=missing):
                async with asyncio.timeout(LIMIT_SECONDS):
                    while "can start" not in (await client.get(ready)).text:  # noqa: ASYNC110 - nothing tells
                        await asyncio.sleep(0.2)
                error = await browser.refused("create_session")
                assert (error["code"], missing in str(error)) == ("RESOURCE_EXHAUSTED", False)
                error = await browser.refused("list_sessions")
                assert (error["code"], missing in str(error)) == ("WORKER_LOST", False)
                assert (await browser.client.list_resources()).resources == []
                process = await cluster.start_command("status", "--format", "json")
                out, _ = await asyncio.wait_for(process.communicate(), LIMIT_SECONDS)
                assert process.returncode == 3
                assert any(missing in each.get("failure", "") for each in json.loads(out))
            async with ray_node(cluster, cpus=2), asyncio.timeout(LIMIT_SECONDS):
                while not (created := (await browser.answer("create_session")).structured_content)["success"]:
                    pass
                id = created["data"]["sessionId"]
                (tmp_path / "secrets.env").unlink()
                psutil.Process((await cluster.status())[worker_of(id)]["pid"]).kill()
                while not (await cluster.status()).get(worker_of(id), {}).get("failure"):
                    assert (await browser.refused("snapshot", sessionId=id))["code"] == "WORKER_LOST"
                assert (await browser.refused("snapshot", sessionId=id))["code"] == "WORKER_LOST"


async def test_server_with_other_settings_gets_its_own_workers(
    cluster: Cluster, browser: Browser, site: Site, folder: Path
):
    (id,) = await create(browser, 1)
    others = {"FOOTLIGHT_CLUSTER_MIN_WORKERS": "1", "FOOTLIGHT_CLUSTER_LEASE": "10000"}
    async with (
        front(cluster, folder, "--timeout", "9000", **others) as url,
        connect_browser(url, site) as other,
    ):
        (own,) = await create(other, 1)
        workers = await cluster.status()
        assert workers[worker_of(own)]["build"] != workers[worker_of(id)]["build"]
        for each in (id, own):
            await other.call("close_session", sessionId=each)
    # The other server asks for the worker, too, but does not keep it.
    async with asyncio.timeout(LIMIT_SECONDS):
        while worker_of(own) in await cluster.status():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.2)
