"""The watch page over stdio, WebSocket and with the background server, and its accessibility."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from importlib.resources import files
from pathlib import Path
from typing import Literal

import playwright.async_api
import pytest
from playwright.async_api import Page, expect

from tests.conftest import server_command
from tests.http_client import initialize
from tests.site import Site
from tests.watch.conftest import LIMIT_MS, Agent, calls_of, person_at, take_over

pytestmark = pytest.mark.anyio

ADDRESS = re.compile(r"Watch the sessions at (\S+)/watch#token=(\S+)")


@pytest.mark.slow
async def test_stdio_server_prints_the_watch_url_on_standard_error(
    chromium: playwright.async_api.Browser, site: Site, tmp_path: Path
) -> None:
    process = await asyncio.create_subprocess_exec(
        *server_command("--watch"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        url, token = await address_in(process.stderr)
        call = {"name": "navigate", "arguments": {"url": site.page("<h1>On stdio</h1>")}}
        for message in (
            initialize(),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
        ):
            process.stdin.write(f"{json.dumps(message)}\n".encode())
        async with person_at(chromium, url, token) as person:
            await expect(calls_of(person).first).to_contain_text("navigate")
            await expect(person.locator("#picture")).to_be_visible()
        process.stdin.close()
        said = [json.loads(line) async for line in process.stdout]
        assert {each.get("id") for each in said} >= {1, 2}
        async with asyncio.timeout(LIMIT_MS / 1000):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def address_in(log: asyncio.StreamReader) -> tuple[str, str]:
    async with asyncio.timeout(LIMIT_MS / 1000):
        async for line in log:
            if found := ADDRESS.search(line.decode()):
                return found[1], found[2]
    raise AssertionError("the server ended before it had a page")


@pytest.mark.slow
async def test_background_server_has_the_watch_page_and_reports(
    chromium: playwright.async_api.Browser, site: Site, tmp_path: Path
) -> None:
    async with background(tmp_path) as command:
        called = await command("call", "navigate", "--url", site.page("<h1>Background</h1>"))
        assert called.returncode == 0, called.stderr
        displayed = await command("watch", "--no-open")
        url, _, token = displayed.stdout.strip().partition("/watch#token=")
        async with person_at(chromium, url, token) as person:
            await expect(calls_of(person).first).to_contain_text("navigate")
        made = await command("report", "last")
        assert made.stdout == "report.html\n", made.stderr
        assert "navigate" in (tmp_path / "report.html").read_text()


@contextlib.asynccontextmanager
async def background(folder: Path) -> AsyncGenerator:  # pyright: ignore[reportMissingTypeArgument]
    environment = {**os.environ, "FOOTLIGHT_DAEMON_DIR": str(folder / "daemon")}

    async def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "footlight", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    try:
        yield command
    finally:
        await command("daemon", "stop")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_page_fits_a_phone(
    chromium: playwright.async_api.Browser,
    person: Page,
    agent: Agent,
    site: Site,
    scheme: Literal["light", "dark"],
) -> None:
    await agent.show(site, "<h1>A heading</h1><button>Send</button>")
    await person.set_viewport_size({"width": 390, "height": 844})
    await person.emulate_media(color_scheme=scheme)
    await expect(person.locator("#picture")).to_be_visible()
    await calls_of(person).first.locator("summary").click()

    assert await person.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
async def test_own_audit_finds_nothing_critical_on_the_watch_page(
    person: Page, agent: Agent, site: Site, tmp_path: Path
) -> None:
    await agent.show(site, "<h1>A heading</h1><button>Send</button>")
    await agent.call("click", selector="#none", timeout=200)
    token = await person.evaluate("sessionStorage.getItem('footlight-watch-token')")
    command = [
        *(sys.executable, "-m", "footlight", "audit", f"{person.url}#token={token}"),
        *("--max-critical", "0", "--max-high", "0", "--out", "audit.json", "--quiet"),
    ]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=110, check=False, cwd=tmp_path
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_violation_during_human_control(
    person: Page, agent: Agent, site: Site, scheme: Literal["light", "dark"]
) -> None:
    await agent.show(site, "<h1>A heading</h1><button>Send</button>")
    await agent.call("click", selector="#none", timeout=200)
    await person.emulate_media(color_scheme=scheme)
    await take_over(person)
    await calls_of(person).nth(1).locator("summary").click()

    await person.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = await person.evaluate("axe.run()")

    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
