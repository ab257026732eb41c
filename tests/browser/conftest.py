"""Fixtures for scripts that run in a page without a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from playwright.async_api import Browser, Page


@pytest.fixture(scope="module")
async def shared_tab(chromium: Browser) -> AsyncGenerator[Page]:
    tab = await chromium.new_page(viewport={"width": 800, "height": 600})
    yield tab
    await tab.close()


@pytest.fixture
async def empty_tab(shared_tab: Page) -> Page:
    """An empty page, its world as new. The tests of a module share its tab."""
    await shared_tab.goto("about:blank")
    return shared_tab
