"""What a server does with the machines and processes of a real Ray cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse

from tests.cluster.ray_cluster import (
    LIMIT_SECONDS,
    Cluster,
    connect_browser,
    create,
    create_apart,
    front,
    is_running,
    ray_cluster,
    worker_of,
)
from tests.conftest import Browser, server_command
from tests.processes import descendants_of, name_of
from tests.site import Site

pytest.importorskip("ray", reason="Ray is not installed: pip install 'footlight[ray]'")

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
async def cluster(anyio_backend: str) -> AsyncGenerator[Cluster]:
    async with ray_cluster(1, 1) as cluster:  # Both workers cannot be on one node.
        yield cluster


@pytest.fixture(scope="module")
def settings() -> Mapping[str, str]:
    return {"FOOTLIGHT_CLUSTER_QUEUE_TIMEOUT": "2000"}


@pytest.fixture(scope="module")
async def url(cluster: Cluster, folder: Path, settings: Mapping[str, str], site: Site) -> AsyncGenerator[str]:
    async with front(cluster, folder, **settings) as url:
        async with connect_browser(url, site) as browser:
            for id in await create_apart(browser):
                await browser.call("close_session", sessionId=id)
        yield url


async def test_a_restarted_server_finds_all_sessions_again(
    cluster: Cluster, url: str, browser: Browser, folder: Path
):
    ids = await create(browser, 3)
    async with front(cluster, folder) as second_url, connect_browser(second_url, browser.site) as second:
        listed = await second.call("list_sessions")
        assert set(ids) <= {each["sessionId"] for each in listed["sessions"]}
        for id in ids:
            await second.call("close_session", sessionId=id)


async def test_killed_worker_fails_one_call_and_leaves_no_browser(cluster: Cluster, browser: Browser):
    reached = asyncio.Event()
    seen: list[str] = []

    async def hold(request: Request) -> HTMLResponse:
        seen.append(request.url.path)
        reached.set()
        await asyncio.sleep(30)
        return HTMLResponse("late")

    ids = await create_apart(browser)
    lost, kept = ids
    ids += await create(browser, 2)
    target = browser.site.route(hold)
    await browser.call("navigate", url=browser.site.page(f"<a href='{target}'>Go</a>"), sessionId=lost)
    victim = psutil.Process((await cluster.status())[worker_of(lost)]["pid"])
    click = asyncio.create_task(browser.refused("click", selector="a", sessionId=lost))
    await asyncio.wait_for(reached.wait(), LIMIT_SECONDS)
    children = descendants_of(victim)
    assert any("chrom" in name_of(each) or "headless" in name_of(each) for each in children)
    assert not any("RAY_AUTH_TOKEN" in each.environ() for each in children if "chrom" in name_of(each))
    victim.kill()
    error = await asyncio.wait_for(click, LIMIT_SECONDS)
    assert (error["code"], error["retryable"]) == ("WORKER_LOST", False)
    assert error["details"] == {"dispatched": "unknown"}
    await asyncio.to_thread(psutil.wait_procs, children, timeout=5)
    assert [each for each in children if is_running(each)] == []
    assert len(seen) == 1
    await browser.call("snapshot", sessionId=kept)
    assert (await wait_until_restarted(browser, lost))["code"] == "SESSION_NOT_FOUND"
    for id in ids:
        if worker_of(id) != worker_of(lost):
            await browser.call("close_session", sessionId=id)


async def wait_until_restarted(browser: Browser, id: str) -> dict[str, Any]:
    """Return the first error about the session that is not WORKER_LOST: Ray starts the worker again."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while (error := await browser.refused("snapshot", sessionId=id))["code"] == "WORKER_LOST":
            assert error["retryable"]
    return error


@pytest.fixture(scope="module")
def without_token(cluster: Cluster, folder: Path) -> dict[str, str]:
    given = {name: value for name, value in cluster.environment.items() if not name.startswith("RAY_AUTH")}
    return {**given, "HOME": str(folder)}  # Ray also looks for a token at home.


async def test_a_cluster_without_token_authentication_is_refused(
    cluster: Cluster, without_token: dict[str, str]
):
    process = await asyncio.create_subprocess_exec(
        *server_command("--transport", "http", "--port", "0", "--cluster", cluster.address),
        env=without_token,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), LIMIT_SECONDS)
    assert (process.returncode, out) == (2, b"")
    assert b"needs Ray's token authentication, which is off" in err


async def test_a_cluster_that_accepts_clients_without_a_token_is_refused(tmp_path: Path):
    async with ray_cluster(0, mode="disabled") as open_cluster:
        process = await asyncio.create_subprocess_exec(
            *server_command("--transport", "http", "--port", "0", "--cluster", open_cluster.address),
            env={**open_cluster.environment, "RAY_AUTH_MODE": "token"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), LIMIT_SECONDS)
    assert (process.returncode, out) == (2, b"")
    assert b"accepts clients without a token" in err


async def test_drained_worker_gets_no_sessions_and_ends_after_its_last(cluster: Cluster, browser: Browser):
    ids = await create_apart(browser)
    drained, other = map(worker_of, ids)
    node = (await cluster.status())[drained]["nodeId"]
    process = await cluster.start_command("drain", node)
    assert process.stdout is not None
    first = await asyncio.wait_for(process.stdout.readline(), LIMIT_SECONDS)
    assert first.decode() == f"draining: {drained}\n"
    more = await create(browser, 2)
    assert {worker_of(each) for each in more} == {other}
    assert await browser.call("snapshot", sessionId=ids[0]) is not None
    for id in (*ids, *more):
        await browser.call("close_session", sessionId=id)
    out, _ = await asyncio.wait_for(process.communicate(), LIMIT_SECONDS)
    assert (process.returncode, out.decode()) == (0, f"ended: {drained}\n")
    assert list(await cluster.status()) == [other]
