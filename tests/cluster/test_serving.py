"""A server whose browsers run on two workers: of a real Ray cluster, and in its own process."""

from __future__ import annotations

import asyncio
import random
from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import httpx2
import pytest
from mcp.shared.subscriptions import ResourceUpdated
from starlette.requests import Request
from starlette.responses import Response

from tests.cluster.ray_cluster import (
    LIMIT_SECONDS,
    LOCAL_AND_RAY,
    SECRET,
    SESSIONS,
    Cluster,
    connect_browser,
    create,
    create_apart,
    front,
    front_command,
    open_cluster,
    worker_of,
)
from tests.conftest import Browser
from tests.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]


@pytest.fixture(scope="module", params=LOCAL_AND_RAY)
async def cluster(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncGenerator[Cluster]:
    async with open_cluster(request.param) as cluster:
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


async def test_sessions_are_spread_over_workers_and_calls_reach_their_worker(browser: Browser):
    ids = await create_apart(browser)
    ids += await create(browser, 2)
    assert {worker_of(each) for each in ids[2:]} == {worker_of(each) for each in ids[:2]}
    url = browser.site.page("<title>one</title><input aria-label=Name>")

    async def use(id: str) -> str:
        await browser.call("navigate", url=url, sessionId=id)
        await browser.call("fill", selector="input", value=id, sessionId=id)
        read = await browser.call("get_attribute", selector="input", attribute="aria-label", sessionId=id)
        assert read
        return str(await browser.call("snapshot", sessionId=id))

    snapshots = await asyncio.gather(*map(use, ids))
    assert all(id in text for id, text in zip(ids, snapshots, strict=True))
    listed = await browser.call("list_sessions")
    assert set(ids) <= {each["sessionId"] for each in listed["sessions"]}
    assert "unanswered" not in listed
    for id in ids:
        assert (await browser.call("close_session", sessionId=id))["closed"]
    assert (await browser.refused("snapshot", sessionId=ids[0]))["code"] == "SESSION_NOT_FOUND"
    assert (await browser.refused("snapshot", sessionId="nobody.0"))["code"] == "SESSION_NOT_FOUND"


async def test_each_connection_has_its_own_default_session(url: str, browser: Browser):
    page, other_page = browser.site.page("<h1>Mine"), browser.site.page("<h1>Theirs")
    async with connect_browser(url, browser.site) as other:
        await browser.call("navigate", url=page)
        await other.call("navigate", url=other_page)
        assert "Mine" in str(await browser.call("snapshot"))
        assert "Theirs" in str(await other.call("snapshot"))
        assert len((await browser.call("list_sessions"))["sessions"]) == 1


async def test_images_secrets_progress_and_resources_work_in_a_cluster(browser: Browser):
    (id,) = await create(browser, 1)
    await browser.call("navigate", url=browser.site.page("<input aria-label=Key value=''>"), sessionId=id)
    await browser.call("fill", selector="input", value="secret:PASSWORD", sessionId=id)
    assert SECRET not in str(await browser.answer("snapshot", sessionId=id))
    shot = await browser.answer("screenshot", sessionId=id)
    assert any(each.type == "image" for each in shot.content)
    uris = [str(each.uri) for each in (await browser.client.list_resources()).resources]
    session_uri = f"playwright:///session/{id}"
    assert session_uri in uris
    assert (await browser.client.read_resource(session_uri)).contents
    stages: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        stages.append(message)

    answer = await browser.client.call_tool(
        "wait_for_selector",
        {"selector": "#never", "timeout": 3_000, "sessionId": id},
        progress_callback=hear,
    )
    assert answer.structured_content["error"]["code"] == "TIMEOUT"
    assert stages
    await browser.call("close_session", sessionId=id)


async def test_files_are_returned_as_links_without_machine_paths(browser: Browser):
    async def send(_: Request) -> Response:
        headers = {"Content-Disposition": 'attachment; filename="order.txt"'}
        return Response("one lamp", media_type="text/plain", headers=headers)

    (id,) = await create(browser, 1)
    link = browser.site.route(send)
    await browser.call("navigate", url=browser.site.page(f"<a href='{link}' download>Get</a>"), sessionId=id)
    clicked = await browser.call("click", selector="a", sessionId=id)
    (seen,) = clicked["downloads"]
    (listed,) = (await browser.call("downloads", sessionId=id))["entries"]
    printed = await browser.call("pdf", sessionId=id)
    assert [each for each in (seen, listed, printed) if "path" in each] == []
    assert seen["uri"] == listed["uri"] == f"playwright:///file/{id}/download-1-order.txt"
    read = await browser.client.read_resource(seen["uri"])
    assert [each.model_dump()["blob"] for each in read.contents] == [b64encode(b"one lamp").decode()]
    assert (await browser.client.read_resource(printed["uri"])).contents
    await browser.call("close_session", sessionId=id)


async def test_large_file_is_streamed_through_the_server_to_authorized_clients(
    cluster: Cluster, browser: Browser, folder: Path
):
    data = random.Random(1).randbytes(20_000_000)  # Larger than a message and than a resource.

    async def send(_: Request) -> Response:
        headers = {"Content-Disposition": 'attachment; filename="lamps 1.bin"'}
        return Response(data, media_type="application/octet-stream", headers=headers)

    token = folder / "token"
    token.write_text("t0ken-of-the-clients")
    authorization = {"Authorization": f"Bearer {token.read_text()}"}
    async with (
        front(cluster, folder, "--token-file", str(token)) as own_url,
        httpx2.AsyncClient(headers=authorization, timeout=60) as http,
        connect_browser(own_url, browser.site, http=http) as owner,
    ):
        (id,) = await create(owner, 1)
        page = browser.site.page(f"<a href='{browser.site.route(send)}' download>Get</a>")
        await owner.call("navigate", url=page, sessionId=id)
        answer = await owner.answer("click", selector="a", sessionId=id)
        (seen,) = answer.structured_content["data"]["downloads"]
        (listed,) = (await owner.call("downloads", sessionId=id))["entries"]
        assert {"path", "uri"}.isdisjoint({*seen, *listed})
        link = seen["downloadUrl"]
        assert link == listed["downloadUrl"]
        assert link.startswith(own_url.removesuffix("/mcp") + "/files/")
        assert [str(each.uri) for each in answer.content if each.type == "resource_link"] == [link]
        got = await http.get(link)
        assert (got.status_code, got.content == data) == (200, True)
        assert got.headers["content-disposition"] == "attachment; filename*=UTF-8''lamps%201.bin"
        facts = await http.head(link)
        assert (facts.headers["content-length"], facts.content) == (str(len(data)), b"")
        assert (await http.get(f"{link[:-20]}0")).status_code == 404
        assert (await http.post(link)).status_code == 405
        assert (await http.get(link, headers={"Authorization": "Bearer wrong"})).status_code == 401
        async with http.stream("GET", link) as cut:
            parts = cut.aiter_raw()
            await anext(parts)
            await owner.call("close_session", sessionId=id)
            with pytest.raises(httpx2.RemoteProtocolError):
                async for _ in parts:
                    pass
        assert (await http.get(link)).status_code == 404


async def test_results_name_files_without_their_machine_folder(browser: Browser):
    (id,) = await create(browser, 1)
    await browser.call("navigate", url=browser.site.page("<h1>Here"), sessionId=id)
    saved = await browser.call("visual_diff", save="tonight", sessionId=id)
    await browser.call("har", action="start", sessionId=id)
    error = await browser.refused("har", action="start", sessionId=id)
    assert saved["saved"] == "tonight.png"
    again = await browser.call("visual_diff", baseline=saved["saved"], sessionId=id)
    assert again["different"] is False
    assert error["message"].endswith("into requests.har")
    assert "path" not in error["details"]
    await browser.call("close_session", sessionId=id)


@pytest.mark.parametrize("parameter", ["httpCredentials", "proxy"])
async def test_passwords_are_accepted_only_as_secret_references(browser: Browser, parameter: str):
    credentials = {"server": "http://127.0.0.1:9"} if parameter == "proxy" else {}
    for password in ("p4ssword", "secret:PASSWORD"):
        given = {parameter: {**credentials, "username": "ada", "password": password}}
        if password == "p4ssword":
            error = await browser.refused("create_session", **given)
            assert (error["code"], error["details"]) == ("INVALID_PARAMETER", {"parameter": parameter})
            assert password not in str(error)
        else:
            id = (await browser.call("create_session", **given))["sessionId"]
            await browser.call("close_session", sessionId=id)


@pytest.mark.usefixtures("url")
async def test_a_server_that_is_stopped_writes_no_errors(
    cluster: Cluster, folder: Path, settings: Mapping[str, str]
):
    command, environment = front_command(cluster, folder, **settings)
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(LIMIT_SECONDS):
        while b"listening on" not in (line := await process.stdout.readline()):
            assert line, "the server ended before it listened"
        process.terminate()
        written = await process.communicate()
    assert (process.returncode, written) == (0, (b"", b""))


async def test_full_cluster_queues_a_session_and_then_refuses_it(url: str, browser: Browser):
    ids = await create_apart(browser)
    ids += await create(browser, 2 * SESSIONS - 2)
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    refused = await browser.client.call_tool("create_session", {}, progress_callback=hear)
    assert refused.structured_content is not None
    assert refused.structured_content["error"]["code"] == "RESOURCE_EXHAUSTED"
    assert heard == ["waiting for a place on a worker, 1 in the queue"]
    waiting = asyncio.create_task(create(browser, 1))
    await browser.call("close_session", sessionId=ids.pop())
    ids += await waiting
    for id in ids:
        await browser.call("close_session", sessionId=id)


async def test_a_cancelled_call_ends_on_its_worker(browser: Browser):
    (id,) = await create(browser, 1)
    await browser.call("navigate", url=browser.site.page("<h1>Here"), sessionId=id)
    waiting = asyncio.create_task(
        browser.call("wait_for_selector", selector="#never", timeout=100_000, sessionId=id)
    )
    assert await asyncio.wait([waiting], timeout=1) == (set(), {waiting})
    waiting.cancel()
    await asyncio.wait([waiting])
    # The session's lock is free again long before the deadline of the cancelled call.
    assert "Here" in str(await browser.call("snapshot", sessionId=id, timeout=20_000))
    await browser.call("close_session", sessionId=id)


async def test_subscriber_is_notified_of_a_navigation(url: str, site: Site):
    async with connect_browser(url, site, mode="auto") as browser:
        ids = await create_apart(browser)
        for id in ids:
            await browser.call("navigate", url=site.page("<p>one"), sessionId=id)
            page = f"playwright:///page/{id}/page-1"
            async with browser.client.listen(resource_subscriptions=[page]) as updates:
                await browser.call("navigate", url=site.page("<p>two"), sessionId=id)
                update = await asyncio.wait_for(anext(updates), LIMIT_SECONDS)
                assert update == ResourceUpdated(uri=page)
            await browser.call("close_session", sessionId=id)
