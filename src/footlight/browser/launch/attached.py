"""Attach to a page of a browser that another process has started, over Chromium's DevTools endpoint.

Tests in a separate process use this to work in a session of the server. The browser is not reconfigured, and
detaching closes neither pages nor the browser.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from playwright.async_api import async_playwright
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright import async_api, sync_api

__all__ = ["attached_page", "attached_page_async"]

CONNECT_MS = 10_000.0
WAIT_MS = 10_000.0
"""The default timeout. It is shorter than Playwright's 30 s, the total time that the test's caller waits."""


@contextmanager
def attached_page(endpoint: str, *, target: str | None = None) -> Generator[sync_api.Page]:
    """Yield the page with this target id, or the only page.

    Raises:
        playwright.sync_api.Error: no browser responds at the endpoint.
        LookupError: the browser has no such page, or has several and no id is given.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(endpoint, timeout=CONNECT_MS, no_defaults=True)
        pages = [page for context in browser.contexts for page in context.pages]
        for page in pages:
            page.set_default_timeout(WAIT_MS)
        if target is None and len(pages) == 1:
            yield pages[0]
            return
        for page in pages:
            session = page.context.new_cdp_session(page)
            if session.send("Target.getTargetInfo")["targetInfo"]["targetId"] == target:
                session.detach()
                yield page
                return
        raise _missing_page_error(endpoint, target, len(pages))


@asynccontextmanager
async def attached_page_async(endpoint: str, *, target: str | None = None) -> AsyncGenerator[async_api.Page]:
    """Yield the page as `attached_page` does, for asyncio."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(endpoint, timeout=CONNECT_MS, no_defaults=True)
        pages = [page for context in browser.contexts for page in context.pages]
        for page in pages:
            page.set_default_timeout(WAIT_MS)
        if target is None and len(pages) == 1:
            yield pages[0]
            return
        for page in pages:
            session = await page.context.new_cdp_session(page)
            if (await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"] == target:
                await session.detach()
                yield page
                return
        raise _missing_page_error(endpoint, target, len(pages))


def _missing_page_error(endpoint: str, target: str | None, count: int) -> LookupError:
    if target is not None:
        return LookupError(f"The browser at {endpoint} has no page {target}")
    return LookupError(
        f"The browser at {endpoint} has {count or 'no'} pages; name one, by the id of its target"
    )
