"""Playwright without a server, for the same work: what the browser itself takes."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp_types import CallToolResult, ImageContent, TextContent
from playwright.async_api import Page, async_playwright

from benchmarks.servers import Worker, executable
from footlight.browser.launch import QUIET

__all__ = ["Plain"]


class Plain(Worker):
    """No process of its own beside the driver and the browser. A look is Playwright's snapshot for models."""

    name = "plain Playwright"

    def __init__(self, page: Page) -> None:
        self._page = page

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncGenerator[Plain]:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=executable() or None, args=list(QUIET))
            yield cls(await browser.new_page())
            await browser.close()

    async def navigate(self, url: str) -> CallToolResult:
        await self._page.goto(url)
        return _told("")

    async def click(self) -> CallToolResult:
        await self._page.click("#b")
        return _told("")

    async def click_and_look(self) -> CallToolResult:
        await self.click()
        return await self.snapshot()

    async def fill(self, value: str) -> CallToolResult:
        await self._page.fill("#i", value)
        return _told("")

    async def snapshot(self) -> CallToolResult:
        return _told(await self._page.aria_snapshot(mode="ai"))

    async def read_text(self) -> CallToolResult:
        return _told(await self._page.inner_text("#t"))

    async def screenshot(self) -> CallToolResult:
        image = base64.b64encode(await self._page.screenshot()).decode()
        return CallToolResult(content=[ImageContent(type="image", data=image, mime_type="image/png")])


def _told(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])
