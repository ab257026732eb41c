"""The persistent sessions of a worker that is drained move to another one. Ray is not necessary for it."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.cluster.ray_cluster import LIMIT_SECONDS, connect_browser, create_apart, local_cluster, start_front
from tests.cluster.shop import open_shop, read_saved_cart
from tests.site import Site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGUSR1"),
]


async def test_sessions_of_a_drained_worker_move_with_their_page_and_state(site: Site, tmp_path: Path):
    settings = {"FOOTLIGHT_SESSION_PERSISTENT_SESSIONS": "true"}
    async with (
        start_front(local_cluster(), tmp_path, **settings) as (url, server),
        connect_browser(url, site) as browser,
        asyncio.timeout(LIMIT_SECONDS),
    ):
        for id in await create_apart(browser):
            await browser.call("close_session", sessionId=id)
        opened = [await open_shop(browser) for _ in range(3)]
        server.send_signal(signal.SIGUSR1)
        moved: set[str] = set()
        while not moved:
            for id, _ in opened:
                page = await browser.call("get_page_metadata", sessionId=id)
                assert page["title"] == "Shop"
                moved |= {id} if page.get("restored") else set()
        for id, ref in opened:
            assert await read_saved_cart(browser, id) == "tea"
            if id in moved:
                assert (await browser.refused("click", selector=ref, sessionId=id))["code"] == "STALE_REF"
            await browser.call("close_session", sessionId=id)
            assert (await browser.refused("snapshot", sessionId=id))["code"] == "SESSION_NOT_FOUND"
