"""People watch the sessions of all workers on one page, and commands of this machine use the cluster."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import playwright.async_api
import psutil
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.subscriptions import ResourcesListChanged
from playwright.async_api import Page, expect

from tests.cluster.ray_cluster import (
    LIMIT_SECONDS,
    LOCAL_AND_RAY,
    RAY_ONLY,
    SECRET,
    Cluster,
    connect_browser,
    create_apart,
    front,
    open_cluster,
    worker_of,
)
from tests.conftest import Browser
from tests.site import Site
from tests.watch.conftest import calls_of, click_in_picture, person_at, take_over
from tests.watch.test_elicitation import ADDRESS, REASON, Question, check_help, help_in
from tests.watch.test_taking_over import PAGE

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

TOKEN = "t0ken-of-the-watchers"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module", params=LOCAL_AND_RAY)
async def cluster(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncGenerator[Cluster]:
    async with open_cluster(request.param) as cluster:
        yield cluster


@pytest.fixture(scope="module")
async def settings(folder: Path) -> Mapping[str, str]:
    return {
        "FOOTLIGHT_TOKEN": TOKEN,
        "FOOTLIGHT_WATCH_KEYFRAMES": "true",
        "FOOTLIGHT_DAEMON_LOCAL": "true",
        "FOOTLIGHT_DAEMON_DIR": str(folder / "daemon"),
    }


@pytest.fixture(scope="module")
async def origin(cluster: Cluster, folder: Path, settings: Mapping[str, str]) -> AsyncGenerator[str]:
    async with front(cluster, folder, **settings) as url:
        yield url.removesuffix("/mcp")


@pytest.fixture(scope="module")
async def http(origin: str) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=f"{origin}/watch/api/", headers=HEADERS, timeout=60) as http:
        yield http


@pytest.fixture
async def browser(origin: str, site: Site) -> AsyncGenerator[Browser]:
    async with (
        httpx2.AsyncClient(headers=HEADERS, timeout=60) as http,
        connect_browser(f"{origin}/mcp", site, http=http) as browser,
    ):
        yield browser


@pytest.fixture
async def ids(browser: Browser) -> AsyncGenerator[list[str]]:
    """A session on each worker, with a page."""
    ids = await create_apart(browser)
    for id in ids:
        page = browser.site.page(f"<title>{worker_of(id)}</title><button>Buy</button><input id=key>")
        await browser.call("navigate", url=page, sessionId=id)
    yield ids
    for id in ids:
        await browser.answer("close_session", sessionId=id)


async def state(http: httpx2.AsyncClient, **query: Any) -> dict[str, Any]:
    return (await http.get("state", params=query)).json()


def session_button(person: Page, id: str) -> playwright.async_api.Locator:
    return person.locator(f'#sessions button[data-id="{id}"]')


async def test_a_person_sees_the_sessions_of_all_workers_and_takes_one_over(
    chromium: playwright.async_api.Browser, origin: str, browser: Browser, ids: list[str]
):
    async with person_at(chromium, origin, TOKEN) as person:
        for id in ids:
            await expect(session_button(person, id)).to_contain_text(f"worker {worker_of(id)}")
        for id in ids:
            await session_button(person, id).click()
            await expect(person.locator("#picture")).to_be_visible()
            await browser.call("click", selector="button", sessionId=id)
            await expect(calls_of(person).first).to_contain_text("click")
        await take_over(person)
        waiting = await browser.refused("click", selector="button", timeout=1_500, sessionId=ids[-1])
        assert waiting["code"] == "HUMAN_IN_CONTROL"
        await browser.call("click", selector="button", sessionId=ids[0])  # It is another session.
        await click_in_picture(person, 20, 20)
        await expect(calls_of(person).first).to_contain_text("by a person")
        await person.get_by_role("button", name="Hand back").click()
        await expect(person.locator("#stage")).not_to_have_class("yours")
        assert await browser.call("click", selector="button", sessionId=ids[-1])


async def test_requests_of_watchers_reach_the_worker_of_the_session(
    http: httpx2.AsyncClient, browser: Browser, ids: list[str]
):
    for id in ids:
        await browser.call("fill", selector="#key", value="secret:PASSWORD", sessionId=id)
        await browser.call("trace", action="start", sessionId=id)
        await browser.call("click", selector="button", sessionId=id)
        await browser.call("trace", action="stop", sessionId=id)
    seen = await state(http)
    assert [each["worker"] for each in seen["sessions"] if each["id"] in ids] == [
        worker_of(each) for each in ids
    ]
    numbers = [each["number"] for each in seen["calls"]]
    assert len(numbers) == len(set(numbers))
    assert SECRET not in json.dumps(seen)
    for id in ids:
        calls = [each for each in seen["calls"] if each["session"] == id]
        (still,) = [each for each in calls if each["tool"] == "click" and each["hasPicture"]]
        assert (await http.get("still", params={"call": still["number"]})).content[:2] == b"\xff\xd8"
        picture = await http.get("picture", params={"session": id})
        assert (picture.status_code, picture.content[:2]) == (200, b"\xff\xd8")
        report = (await http.get("report", params={"session": id})).text
        assert worker_of(id) in report
        assert SECRET not in report
        (trace,) = [each for each in calls if each["hasTrace"]]
        for asked in ({"call": trace["number"]}, {"session": id}):
            viewer = (await http.post("open-trace", json=asked)).json()["url"]
            archive = await http.get(str(http.base_url.copy_with(path=viewer.partition("?trace=")[2])))
            assert archive.content[:2] == b"PK"
    assert (await http.get("picture", params={"session": "nobody.0"})).status_code == 404
    assert (await http.get("still", params={"call": "0-1"})).status_code == 404
    refused = await http.get("state", headers={"Authorization": "Bearer wrong"})
    assert refused.status_code == 401


@pytest.mark.slow
async def test_changes_arrive_while_a_watcher_waits_and_one_who_leaves_hands_back(
    http: httpx2.AsyncClient, browser: Browser, ids: list[str]
):
    id, who = ids[0], {"session": ids[0], "watcher": "ada"}
    assert (await http.post("take", json=who)).json() == {"ok": True}
    assert (await http.post("take", json={**who, "watcher": "bob"})).status_code == 409
    for watcher, is_theirs in (("ada", True), ("bob", False)):
        (seen,) = [each for each in (await state(http, watcher=watcher))["sessions"] if each["id"] == id]
        assert (seen["state"], seen["yours"]) == ("person", is_theirs)
    before = (await state(http, watcher="ada"))["revision"]
    waiting = asyncio.create_task(state(http, wait=1, after=before))
    act = {**who, "events": [{"type": "key", "key": "Tab"}]}
    assert (await http.post("act", json=act)).json() == {"ok": True}
    assert any(each["source"] == "person" for each in (await waiting)["calls"])
    await browser.call("click", selector="button", timeout=60_000, sessionId=id)  # After 20 silent seconds.


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_call_asks_the_person_behind_its_client(
    chromium: playwright.async_api.Browser, origin: str, site: Site, ids: list[str], mode: str
):
    question, session = Question(), {"sessionId": ids[0]}
    options: Any = {"mode": mode, "elicitation_callback": question.answer_sdk}
    async with (
        httpx2.AsyncClient(headers=HEADERS, timeout=60) as http,
        Client(streamable_http_client(f"{origin}/mcp", http_client=http), **options) as client,
    ):
        await client.call_tool("navigate", {"url": site.page(PAGE), **session})
        helping = asyncio.create_task(client.call_tool("request_help", {"reason": REASON, **session}))
        address = ADDRESS.fullmatch((await question.wait())["url"])
        assert address is not None
        question.reply.set_result({"action": "accept"})
        async with person_at(chromium, address[1], address[2]) as person:
            await expect(person.locator("#sessions button")).to_have_count(1)
            await help_in(person)
            check_help((await helping).structured_content)
        refusal = Question()
        refusal.reply.set_result({"action": "decline"})
        question.answer = refusal.answer
        refused = await client.call_tool("request_help", {"reason": REASON, **session})
        assert refused.structured_content["error"]["code"] == "HELP_REFUSED"


async def test_commands_of_this_machine_find_the_server_and_its_sessions(
    cluster: Cluster, settings: Mapping[str, str], browser: Browser, ids: list[str]
):
    environment = {**cluster.environment, **settings}
    shared = await start_command("serve", "--shared", environment=environment)
    status = json.loads(await run_command("daemon", "status", "--format", "json", environment=environment))
    assert status["sessions"] >= len(ids)
    listed = await run_command("call", "list_sessions", "--format", "json", environment=environment)
    assert "sessions" in listed
    assert shared.stdin is not None
    shared.stdin.close()
    assert await asyncio.wait_for(shared.wait(), 60) == 0


@pytest.mark.parametrize("cluster", [RAY_ONLY], indirect=True)
async def test_a_lost_worker_is_shown_with_its_sessions(
    cluster: Cluster, origin: str, http: httpx2.AsyncClient, site: Site, ids: list[str]
):
    lost = ids[0]
    assert lost in [each["id"] for each in (await state(http))["sessions"]]
    async with (
        asyncio.timeout(LIMIT_SECONDS),
        httpx2.AsyncClient(headers=HEADERS, timeout=60) as own_http,
        connect_browser(f"{origin}/mcp", site, mode="auto", http=own_http) as subscriber,
        subscriber.client.listen(resources_list_changed=True) as updates,
    ):
        psutil.Process((await cluster.status())[worker_of(lost)]["pid"]).send_signal(signal.SIGKILL)
        assert await anext(updates) == ResourcesListChanged()
        while not (ended := [each for each in (await state(http, wait=1))["ended"] if each["id"] == lost]):
            pass
    assert ended[0]["reason"] == f"was lost with worker {worker_of(lost)}"
    assert ids[1] in [each["id"] for each in (await state(http))["sessions"]]
    for path in ("picture", "report"):
        answer = await http.get(path, params={"session": lost})
        assert (answer.status_code, "was lost with worker" in answer.text) == (410, True)


async def start_command(*arguments: str, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "footlight", *arguments), env=environment, stdin=pipe, stdout=pipe
    )


async def run_command(*arguments: str, environment: Mapping[str, str]) -> str:
    process = await start_command(*arguments, environment=environment)
    out, _ = await asyncio.wait_for(process.communicate(), LIMIT_SECONDS)
    assert process.returncode == 0, out
    return out.decode()
