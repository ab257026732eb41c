"""A recorded trace opens in the trace viewer of the Playwright package."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import zipfile
from pathlib import Path

import playwright.async_api
import pytest
from playwright.async_api import Page, expect

from tests.http_client import HttpServer, Raw
from tests.site import Site
from tests.watch.conftest import LIMIT_MS, SECRET, TOKEN, Agent, calls_of

pytestmark = pytest.mark.anyio

HOSTILE = """<h1>Shop</h1><button onclick="this.textContent='Done'">Buy</button><input id=i>
<img src=x onerror="fetch('/watch/api/state').then(() => document.title = 'attacked')">"""


async def record(agent: Agent, site: Site) -> Path:
    """Record a trace of two calls, and return its file."""
    assert (await agent.call("trace", action="start"))["success"]
    await agent.show(site, HOSTILE)
    await agent.call("fill", selector="#i", value="secret:CODE")
    await agent.call("click", selector="button")
    stopped = await agent.call("trace", action="stop")
    return Path(stopped["data"]["path"])


async def expect_actions(viewer: Page) -> None:
    """Expect that the viewer lists the actions of the trace and shows a page of it."""
    await expect(viewer.locator("body")).to_contain_text("Navigate", timeout=LIMIT_MS)
    await expect(viewer.locator("body")).to_contain_text("Fill")


@pytest.mark.slow
async def test_a_trace_opens_from_the_watch_page(person: Page, agent: Agent, site: Site) -> None:
    trace = await record(agent, site)
    stop = calls_of(person).first
    await expect(stop).to_contain_text("trace")
    await stop.locator("summary").click()
    async with person.expect_popup() as opening:
        await stop.get_by_role("button", name="Open in the trace viewer").click()
    viewer = await opening.value
    answered: list[playwright.async_api.Response] = []
    viewer.on("response", lambda response: answered.append(response))

    await expect_actions(viewer)

    own = (person.url.removesuffix("/watch"), "data:", "blob:")
    sent = [response.url for response in answered if not response.from_service_worker]
    assert [url for url in sent if not url.startswith(own) or "/watch/api/" in url] == []
    assert await viewer.title() == "Playwright Trace Viewer"
    with zipfile.ZipFile(trace) as archive:
        assert not any(SECRET.encode() in archive.read(name) for name in archive.namelist())


async def test_trace_files_are_served_only_under_their_private_url(
    client: Raw, agent: Agent, site: Site
) -> None:
    none = await client.send({"session": agent.id}, path="/watch/api/open-trace")
    assert (none.status_code, none.json()["error"][:21]) == (404, "No trace was recorded")
    trace = await record(agent, site)
    asked = {"session": agent.id}
    opened = await client.send(asked, path="/watch/api/open-trace")
    url = opened.json()["url"]
    folder, _, _ = url.partition("index.html")

    async def status(path: str, **headers: str | None) -> int:
        return (await client.send(method="GET", path=path, headers=headers)).status_code

    assert await status(f"{folder}index.html", Authorization=None) == 200
    assert await status(f"{folder}trace.zip", Authorization=None) == 200
    assert await status(f"{folder}../../../etc/passwd") == 404
    assert await status(f"{folder}%2e%2e/index.html") == 404
    assert await status("/watch/trace/guess/trace.zip") == 404
    assert await status(f"{folder}trace.zip", Origin="https://attacker.example") == 403
    assert await status(f"{folder}trace.zip", **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert await status(f"{folder}trace.zip", Host="attacker.example") == 421
    refused = await client.send(asked, path="/watch/api/open-trace", headers={"Authorization": None})
    assert refused.status_code == 401

    trace.unlink()
    assert await status(f"{folder}trace.zip") == 404
    gone = await client.send(asked, path="/watch/api/open-trace")
    assert (gone.status_code, gone.json()) == (410, {"error": f"The file {trace.name} no longer exists."})


@pytest.mark.slow
async def test_trace_command_opens_traces_of_sessions_and_logs(
    chromium: playwright.async_api.Browser, watched: HttpServer, agent: Agent, site: Site, tmp_path: Path
) -> None:
    trace = await record(agent, site)
    token = tmp_path / "token"
    token.write_text(TOKEN)
    result = {"success": True, "data": {"path": str(trace), "bytes": trace.stat().st_size}}
    call = {"name": "trace", "arguments": {"action": "stop"}, "_seq": 1}
    lines = [{**call, "_phase": "before"}, {**call, "_phase": "after", "_result": result, "_ok": True}]
    (tmp_path / "calls.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    for arguments in (
        (agent.id, "--url", watched.url, "--token-file", str(token)),
        ("calls.jsonl",),
    ):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "footlight", "report", "--trace", "--no-open", *arguments),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        context = await chromium.new_context()
        try:
            async with asyncio.timeout(LIMIT_MS / 1000):
                url = (await process.stdout.readline()).decode().strip()
            viewer = await context.new_page()
            await viewer.goto(url)
            await expect_actions(viewer)
        finally:
            await context.close()
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
        async with asyncio.timeout(LIMIT_MS / 1000):
            assert await process.wait() == 0
