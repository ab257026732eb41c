"""Chromium without a server before it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Playwright

__all__ = ["launched"]


@asynccontextmanager
async def launched(playwright: Playwright) -> AsyncGenerator[Browser]:
    """Launch Chromium: the system's where it has one, else Playwright's."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    sandbox = not (hasattr(os, "geteuid") and os.geteuid() == 0)
    browser = await playwright.chromium.launch(executable_path=path, chromium_sandbox=sandbox)
    try:
        yield browser
    finally:
        await browser.close()
