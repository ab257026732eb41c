"""Wrong input on the watch page: it explains the error, and nothing is left running."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import playwright.async_api
import psutil
import pytest
from playwright.async_api import Page, expect

from tests.http_client import HttpServer, Raw, handshake, raw, served
from tests.processes import kill_all
from tests.site import Site
from tests.transports.conftest import house_of_callers
from tests.watch.conftest import TOKEN, Agent, agent_of, choose, person_at

pytestmark = pytest.mark.anyio


async def test_wrong_token_is_reported_and_correct_token_opens_the_page(
    chromium: playwright.async_api.Browser, watched: HttpServer
) -> None:
    async with person_at(chromium, watched.url, "a-wrong-token-of-somebody") as page:
        await expect(page.locator("#door-why")).to_have_text("The token is missing or wrong.")
        assert "token" not in page.url

        await page.get_by_label("Server token").fill(TOKEN)
        await page.get_by_role("button", name="Watch").click()

        await expect(page.locator("#status")).to_contain_text("connected")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer another-token-altogether"}, 401),
        ({"Origin": "https://attacker.example"}, 403),
        ({"Origin": "http://localhost:1"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Host": "attacker.example"}, 421),
    ],
)
@pytest.mark.parametrize("path", ["state", "picture", "report", "still", "take"])
async def test_unauthorized_watcher_receives_only_an_error(
    client: Raw, path: str, headers: dict[str, Any], status: int
) -> None:
    method = "POST" if path == "take" else "GET"
    answer = await client.send(method=method, path=f"/watch/api/{path}", headers=headers)

    assert answer.status_code == status
    assert set(answer.json()) == {"error"}
    assert "access-control-allow-origin" not in answer.headers


async def test_page_cannot_be_framed_by_another_site(client: Raw) -> None:
    answer = await client.send(method="GET", path="/watch", headers={"Authorization": None})

    assert answer.status_code == 200
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"events": "click"},
        {"events": [7]},
        {"events": [{"type": "explode"}]},
        {"events": [{"type": "click", "x": "1", "y": 2}]},
        {"events": [{"type": "click", "x": 1e300, "y": 2}]},
        {"events": [{"type": "click", "x": 1, "y": 2, "count": 1.0}]},
        {"events": [{"type": "key", "key": "x" * 100}]},
        {"events": [{"type": "text", "text": "x" * 10_000}]},
    ],
)
async def test_invalid_input_events_are_refused(client: Raw, agent: Agent, body: dict[str, Any]) -> None:
    who = {"session": agent.id, "watcher": "w"}
    taken = await client.send(who, path="/watch/api/take")
    assert taken.status_code == 200

    answer = await client.send({**who, **body}, path="/watch/api/act")
    given = await client.send(who, path="/watch/api/give-back")

    assert answer.status_code in (400, 409)
    assert answer.json()["error"].startswith("events: ")
    assert given.status_code == 200


async def test_only_one_watcher_takes_over_a_session(client: Raw, agent: Agent) -> None:
    first, second = ({"session": agent.id, "watcher": watcher} for watcher in ("first", "second"))

    taken = [await client.send(who, path="/watch/api/take") for who in (first, second, first)]
    given = await client.send(first, path="/watch/api/give-back")

    assert [answer.status_code for answer in (*taken, given)] == [200, 409, 200, 200]
    assert taken[1].json() == {"error": "Another person controls the session."}


async def test_input_without_taking_over_is_refused(client: Raw, agent: Agent) -> None:
    who = {"session": agent.id, "watcher": "w", "events": [{"type": "key", "key": "Enter"}]}
    answer = await client.send(who, path="/watch/api/act")

    assert (answer.status_code, answer.json()) == (409, {"error": "Take over the session first."})


@pytest.mark.slow
async def test_stalled_watcher_does_not_block_other_requests(
    watched: HttpServer, client: Raw, agent: Agent, site: Site
) -> None:
    await agent.show(site, "<h1 id=t>0</h1><script>setInterval(() => t.textContent++, 20)</script>")
    lines = f"GET /watch/api/picture?session={agent.id} HTTP/1.1\r\nHost: localhost\r\n"
    message = f"{lines}Authorization: Bearer {TOKEN}\r\n\r\n".encode() * 20
    with socket.create_connection(("127.0.0.1", watched.port)) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        deaf.sendall(message)

        answers = [
            await client.send(method="GET", path=f"/watch/api/picture?session={agent.id}") for _ in range(5)
        ]

        assert [answer.status_code for answer in answers] == [200] * 5
        assert (await agent.call("get_text", selector="h1"))["success"]


async def test_session_end_is_reported_to_the_watcher(
    person: Page, agent: Agent, site: Site, client: Raw
) -> None:
    await agent.show(site, "<h1>Here</h1>")
    await expect(person.locator("#picture")).to_be_visible()
    await agent.call("close_session")

    await expect(person.locator("#message")).to_contain_text("This session has ended: was closed.")
    picture = await client.send(method="GET", path=f"/watch/api/picture?session={agent.id}")
    assert (picture.status_code, picture.json()) == (410, {"error": "The session was closed."})
    report = await client.send(method="GET", path=f"/watch/api/report?session={agent.id}")
    assert "navigate" in report.text


@pytest.mark.slow
async def test_browser_crash_is_reported_to_the_watcher(
    chromium: playwright.async_api.Browser, site: Site, tmp_path: Path
) -> None:
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    async with (
        served(tmp_path, config=config, FOOTLIGHT_TOKEN=TOKEN) as server,
        raw(server, token=TOKEN) as client,
        person_at(chromium, server.url) as person,
        agent_of(client) as agent,
    ):
        await choose(person, agent)
        await agent.show(site, "<h1>Here</h1>")
        await expect(person.locator("#picture")).to_be_visible()
        kill_all(browsers_of(server))

        await expect(person.locator("#message")).to_contain_text("its browser crashed")


@pytest.mark.slow
async def test_server_shutdown_is_reported_and_not_delayed(
    chromium: playwright.async_api.Browser, site: Site, tmp_path: Path
) -> None:
    async with (
        served(tmp_path, FOOTLIGHT_TOKEN=TOKEN) as server,
        raw(server, token=TOKEN) as client,
        person_at(chromium, server.url) as person,
    ):
        session = await handshake(client)
        await session.call("navigate", url=site.page("<h1>Here</h1>"))
        await expect(person.locator("#picture")).to_be_visible()
        server.process.terminate()
        async with asyncio.timeout(8):
            assert await server.exit() == 0
        await expect(person.locator("#status")).to_contain_text("The server cannot be reached")


@pytest.mark.slow
async def test_principals_see_only_their_own_sessions(tmp_path: Path, site: Site) -> None:
    async with (
        house_of_callers(tmp_path, {}) as house,
        raw(house, token="token-of-ada") as ada,
        raw(house, token="token-of-bob") as bob,
        agent_of(ada) as agent,
    ):
        await agent.show(site, "<h1>Of Ada</h1>")
        seen = (await bob.send(method="GET", path="/watch/api/state")).json()
        own = (await ada.send(method="GET", path="/watch/api/state")).json()

        assert (seen["sessions"], seen["calls"], seen["ended"]) == ([], [], [])
        assert [each["id"] for each in own["sessions"]] == [agent.id]
        for path in ("picture", "report"):
            answer = await bob.send(method="GET", path=f"/watch/api/{path}?session={agent.id}")
            assert answer.status_code == 404
        who = {"session": agent.id, "watcher": "bob"}
        assert (await bob.send(who, path="/watch/api/take")).status_code == 404


def browsers_of(server: HttpServer) -> list[psutil.Process]:
    children = psutil.Process(server.pid).children(recursive=True)
    return [each for each in children if "chrom" in each.name() or "headless" in each.name()]
