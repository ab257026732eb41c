"""Playwright without a server, to measure the browser itself."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp_types import CallToolResult, ImageContent, TextContent
from playwright.async_api import Page, async_playwright

from benchmarks.goals import PLAIN
from benchmarks.servers import Worker, executable
from footlight.browser.launch.chromium_flags import NO_OWN_REQUESTS

__all__ = ["Plain"]


class Plain(Worker):
    """Calls of Playwright in this process. The snapshot is Playwright's `aria_snapshot` for models."""

    name = PLAIN

    def __init__(self, page: Page) -> None:
        self._page = page

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncGenerator[Plain]:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=executable() or None, args=list(NO_OWN_REQUESTS)
            )
            yield cls(await browser.new_page())
            await browser.close()

    async def navigate(self, url: str) -> CallToolResult:
        await self._page.goto(url)
        return _text_result("")

    async def click(self) -> CallToolResult:
        await self._page.click("#b")
        return _text_result("")

    async def click_and_look(self) -> CallToolResult:
        await self.click()
        return await self.snapshot()

    async def fill(self, value: str) -> CallToolResult:
        await self._page.fill("#i", value)
        return _text_result("")

    async def snapshot(self) -> CallToolResult:
        return _text_result(await self._page.aria_snapshot(mode="ai"))

    async def evaluate(self) -> CallToolResult:
        return _text_result(str(await self._page.evaluate("1 + 1")))

    async def add_rows(self) -> CallToolResult:
        await self._page.click("#more")
        return await self.snapshot()

    async def read_text(self) -> CallToolResult:
        return _text_result(await self._page.inner_text("#t"))

    async def screenshot(self) -> CallToolResult:
        image = base64.b64encode(await self._page.screenshot()).decode()
        return CallToolResult(content=[ImageContent(type="image", data=image, mime_type="image/png")])


def _text_result(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])
