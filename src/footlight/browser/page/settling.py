"""Wait for what an action has started, and for nothing else.

That is a navigation, the requests that the page has sent since, and changes of the page itself until it has
drawn two frames without one.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from footlight.browser.driver.playwright_api import Error
from footlight.javascript import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Frame, Playwright

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["ask_and_watch", "register_settling", "settle"]

_ENGINE = "footlight-settle"

WATCH_SECONDS = 0.1
"""A watch over a document that began no longer ago is continued."""
MAX_FRAMES = 10
FRAME_MS = 250.0
"""How long a frame inside the page may take to answer once. One that hangs is not waited for."""


async def register_settling(playwright: Playwright) -> None:
    """Register the settling script. Call this before any page is opened."""
    source = selector_engine(Path(__file__).parent, "settling")
    await playwright.selectors.register(_ENGINE, source, content_script=True)


async def ask_and_watch(page: Page, question: str) -> str:
    """Return another engine's reply about the main document, and begin to watch that in the same request."""
    reply = await page.playwright.main_frame.get_attribute(f"{question} >> {_ENGINE}=begin", "v", timeout=0)
    page.watched_for_rest_at = time.monotonic()
    return (reply or "").partition(" ")[2]


async def settle(page: Page, since: float, deadline: Deadline, *, limit_ms: float) -> None:
    """Wait until what began since then (`time.monotonic()`) is over, for no longer than the limit.

    A page that is closed, has crashed or hangs counts as settled.
    """
    limit_ms = min(max(1.0, limit_ms), deadline.remaining_ms)
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_ms / 1000):
            await _settle(page, since, limit_ms)


async def _settle(page: Page, since: float, limit_ms: float) -> None:
    traffic = page.traffic
    while True:
        await traffic.wait_until_idle(since)
        if page.closed or page.crashed:
            return
        begun = traffic.begun
        await _wait_for_still_frames(page, limit_ms)
        if traffic.begun == begun and traffic.is_idle(since):
            return


async def _wait_for_still_frames(page: Page, limit_ms: float) -> None:
    main = page.playwright.main_frame
    inside = [frame for frame in page.playwright.frames if frame != main][:MAX_FRAMES]
    begun = time.monotonic() - page.watched_for_rest_at < WATCH_SECONDS
    page.watched_for_rest_at = 0.0
    await asyncio.gather(
        _wait_for_still_frame(main, timeout=limit_ms, begun=begun),
        *(_wait_for_still_frame(frame, timeout=FRAME_MS) for frame in inside),
    )


async def _wait_for_still_frame(frame: Frame, timeout: float, *, begun: bool = False) -> None:
    """Wait until the frame's document is still or gone, or takes longer than `timeout` for an answer."""
    body = "go-on" if begun else "begin"
    with suppress(Error):
        while wait_ms := float(await frame.get_attribute(f"{_ENGINE}={body}", "v", timeout=timeout) or 0):
            await asyncio.sleep(wait_ms / 1000)
            body = "go-on"
