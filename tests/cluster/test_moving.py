"""Persistent sessions of a cluster move to another worker when theirs is lost or drained."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import psutil
import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tests.cluster.ray_cluster import LIMIT_SECONDS, Cluster, worker_of
from tests.cluster.shop import open_shop, read_saved_cart
from tests.conftest import Browser
from tests.site import Site

pytest.importorskip("ray", reason="Ray is not installed: pip install 'footlight[ray]'")

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(600)]

SETTINGS = {"FOOTLIGHT_SESSION_PERSISTENT_SESSIONS": "true", "FOOTLIGHT_CLUSTER_MAX_WORKERS": "3"}


@pytest.fixture(scope="module")
def settings() -> Mapping[str, str]:
    return SETTINGS


async def test_session_of_a_killed_worker_reopens_with_page_and_state(
    cluster: Cluster, browser: Browser, folder: Path
):
    id, ref = await open_shop(browser)
    process = psutil.Process((await cluster.status())[worker_of(id)]["pid"])
    await wait_until_saved(folder, id)
    process.kill()
    await asyncio.to_thread(psutil.wait_procs, [process], timeout=LIMIT_SECONDS)
    async with asyncio.timeout(LIMIT_SECONDS):
        while not (answer := await browser.answer("get_page_metadata", sessionId=id)).structured_content[
            "success"
        ]:
            assert answer.structured_content["error"]["code"] == "WORKER_LOST"
    assert answer.structured_content["data"]["title"] == "Shop"
    assert answer.structured_content["data"]["restored"] is True
    assert await read_saved_cart(browser, id) == "tea"
    assert (await browser.refused("click", selector=ref, sessionId=id))["code"] == "STALE_REF"
    again = await browser.call("get_page_metadata", sessionId=id)
    assert "restored" not in again
    await browser.call("close_session", sessionId=id)
    assert (await browser.refused("snapshot", sessionId=id))["code"] == "SESSION_NOT_FOUND"


async def wait_until_saved(folder: Path, id: str) -> None:
    """Wait until the state of the session is on disk, which happens soon after a call."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while not (folder / "state" / "sessions" / f"{id}.json").exists():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.05)


async def test_idle_sessions_of_a_drained_machine_move_without_failed_calls(
    cluster: Cluster, browser: Browser
):
    asking, download = await open_asking(browser), Download(browser.site)
    drained = worker_of(asking)
    loading = await create_on(browser, drained)
    ids = [(await open_shop(browser))[0] for _ in range(4)]
    assert drained in map(worker_of, ids)
    page = browser.site.page(f"<a href='{download.url}' download>Get</a>")
    await browser.call("navigate", url=page, sessionId=loading)
    getting = asyncio.create_task(browser.call("click", selector="a", settle="none", sessionId=loading))
    await asyncio.wait_for(download.begun.wait(), LIMIT_SECONDS)
    stop = asyncio.Event()
    calls = 0

    async def use(id: str) -> None:
        nonlocal calls
        while not stop.is_set():
            assert (await browser.call("get_page_metadata", sessionId=id))["title"] == "Shop"
            calls += 1

    using = [asyncio.create_task(use(id)) for id in ids]
    draining = asyncio.create_task(cluster.run_command("drain", (await cluster.status())[drained]["nodeId"]))
    async with asyncio.timeout(LIMIT_SECONDS):
        while (await cluster.status())[drained]["sessions"] > 2:
            pass
    # Its page waits for an answer, and the other session for its file.
    assert (await browser.call("handle_dialog", accept=True, sessionId=asking))["handled"] == "accepted"
    await browser.call("close_session", sessionId=asking)
    download.release.set()
    await getting
    out = await draining
    before = calls
    async with asyncio.timeout(LIMIT_SECONDS):
        while calls < before + 4:
            ended, _ = await asyncio.wait(using, timeout=0.1)
            assert [each.exception() for each in ended] == []
    stop.set()
    await asyncio.gather(*using)
    assert f"ended: {drained}\n" in out
    for id in ids:
        assert await read_saved_cart(browser, id) == "tea"
    for id in (*ids, loading):
        await browser.call("close_session", sessionId=id)


class Download:
    """A file of a site whose end is sent when `release` is set."""

    def __init__(self, site: Site) -> None:
        self.begun = asyncio.Event()
        self.release = asyncio.Event()
        self.url = site.route(self._send)

    async def _send(self, _: Request) -> Response:
        async def parts() -> AsyncGenerator[bytes]:
            yield b"one "
            self.begun.set()
            await self.release.wait()
            yield b"lamp"

        headers = {"Content-Disposition": 'attachment; filename="order.txt"'}
        return StreamingResponse(parts(), headers=headers)


async def create_on(browser: Browser, worker: str) -> str:
    """Create a session on this worker."""
    others: list[str] = []
    while worker_of(id := (await browser.call("create_session"))["sessionId"]) != worker:
        others.append(id)
    for each in others:
        await browser.call("close_session", sessionId=each)
    return id


async def open_asking(browser: Browser) -> str:
    """Return the id of a session whose page has an open dialog."""
    id = (await browser.call("create_session", dialogs={"confirm": "ask"}))["sessionId"]
    page = browser.site.page("<button onclick='confirm()'>Pay</button>")
    await browser.call("navigate", url=page, sessionId=id)
    (dialog,) = (await browser.call("click", selector="button", sessionId=id))["dialogs"]
    assert dialog["handled"] == "open"
    return id


async def test_cluster_commands_start_and_end_workers(cluster: Cluster, url: str, tmp_path: Path):
    out = await cluster.run_command("down")
    assert re.fullmatch(r"(ended: [0-9a-f]{8}\n)+", out)
    config = tmp_path / "footlight.toml"
    config.write_text("[cluster]\nminWorkers = 1\n")
    names = set(await cluster.status())
    out = await cluster.run_command("up", "--config", str(config))
    started = {line.removeprefix("started: ") for line in out.splitlines()}
    assert started | names == set(await cluster.status())
