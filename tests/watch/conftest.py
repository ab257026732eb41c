"""A server over HTTP with the watch page, an agent that calls it, and a person who watches."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import playwright.async_api
import pytest
from playwright.async_api import Page, expect

from tests.http_client import Handshaken, HttpServer, Raw, handshake, raw, served

TOKEN = "a-token-for-watching"
SECRET = "kumquat-7731-velvet"
LIMIT_MS = 60_000


@pytest.fixture(scope="session")
async def watched(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[HttpServer]:
    """The shared server, over HTTP with a token. It knows a secret and keeps a picture after each action."""
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 2}}
    folder = tmp_path_factory.mktemp("watched")
    flags = ("--tools", "all", "--secrets", str(write_secret(folder)), "--keyframes")
    async with served(folder, *flags, config=config, FOOTLIGHT_TOKEN=TOKEN) as server:
        yield server


@dataclass
class Agent:
    """Calls the tools of a server in a separate session."""

    session: Handshaken
    id: str

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return await self.session.call(tool, sessionId=self.id, **arguments)

    async def ref_of(self, text: str) -> str:
        """Return the ref of the first element with this text."""
        found = re.search(r"\be\d+\b", (await self.call("find", text=text))["data"]["matches"])
        assert found is not None
        return found[0]

    async def show(self, site: Any, html: str) -> None:
        assert (await self.call("navigate", url=site.page(html)))["success"]


@asynccontextmanager
async def agent_of(client: Raw) -> AsyncGenerator[Agent]:
    session = await handshake(client)
    made = await session.call("create_session")
    agent = Agent(session, made["data"]["sessionId"])
    try:
        yield agent
    finally:
        await session.call("close_session", sessionId=agent.id)


@pytest.fixture
async def client(watched: HttpServer) -> AsyncGenerator[Raw]:
    async with raw(watched, token=TOKEN) as client:
        yield client


@pytest.fixture
async def agent(client: Raw) -> AsyncGenerator[Agent]:
    async with agent_of(client) as agent:
        yield agent


@asynccontextmanager
async def person_at(
    chromium: playwright.async_api.Browser, url: str, token: str | None = TOKEN, **options: Any
) -> AsyncGenerator[Page]:
    """Yield the page of a server, open in a browser of the person's own. Errors of its scripts fail the
    test.
    """
    context = await chromium.new_context(viewport={"width": 1280, "height": 900}, **options)
    context.set_default_timeout(LIMIT_MS)
    page = await context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        await page.goto(f"{url}/watch" + (f"#token={token}" if token else ""))
        yield page
        assert errors == []
    finally:
        await context.close()


@pytest.fixture
async def person(
    chromium: playwright.async_api.Browser, watched: HttpServer, agent: Agent
) -> AsyncGenerator[Page]:
    """A person who watches the session of the agent."""
    async with person_at(chromium, watched.url) as page:
        await choose(page, agent)
        yield page


async def choose(page: Page, agent: Agent) -> None:
    await page.locator(f'#sessions button[data-id="{agent.id}"]').click()


async def take_over(page: Page) -> None:
    await page.get_by_role("button", name="Take over").click()
    await expect(page.locator("#stage")).to_have_class("yours")


async def click_in_picture(page: Page, x: float, y: float) -> None:
    """Click at a point of the watched page, in its own pixels, of a viewport that is 1280 wide."""
    await expect(page.locator("#picture")).to_be_visible()
    area = await page.locator("#picture").bounding_box()
    assert area is not None
    scale = area["width"] / 1280
    await page.mouse.click(area["x"] + x * scale, area["y"] + y * scale)


def calls_of(page: Page) -> playwright.async_api.Locator:
    """Return the calls that are shown, the latest first."""
    return page.locator("#calls > li:not([hidden])")


def write_secret(folder: Path) -> Path:
    file = folder / "secrets.env"
    file.write_text(f"CODE='{SECRET}'\n")
    file.chmod(0o600)
    return file
