"""A Chromium that tests use directly, without a server."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, Playwright

__all__ = ["launch_chromium", "open_report"]


@asynccontextmanager
async def launch_chromium(playwright: Playwright) -> AsyncGenerator[Browser]:
    """Launch Chromium: the system's where it has one, else Playwright's."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    sandbox = not (hasattr(os, "geteuid") and os.geteuid() == 0)
    browser = await playwright.chromium.launch(executable_path=path, chromium_sandbox=sandbox)
    try:
        yield browser
    finally:
        await browser.close()


@asynccontextmanager
async def open_report(chromium: Browser, file: Path) -> AsyncGenerator[Page]:
    """Open a page that needs no network. Whatever it requests or complains of is a failure."""
    tab = await chromium.new_page(viewport={"width": 1280, "height": 900})
    trouble: list[str] = []
    tab.on("console", lambda message: trouble.append(message.text))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("request", lambda request: trouble.append(request.url) if request.url.startswith("http") else None)
    await tab.goto(file.as_uri())
    yield tab
    await tab.close()
    assert trouble == []
