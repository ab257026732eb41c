"""Waiting for what an action started, and for nothing else.

A navigation, the requests that the page sent since, then the page itself: two frames without a change. Where
nothing was started, that is all.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from footlight.browser._playwright import Error

if TYPE_CHECKING:
    from playwright.async_api import Frame, Playwright

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["register_settling", "settle"]

_ENGINE = "footlight-settle"

MOST_FRAMES = 10
FRAME_MS = 250.0
"""How long a frame inside the page may take to answer once; one that hangs is not waited for."""


async def register_settling(playwright: Playwright) -> None:
    """Before any page is made."""
    source = Path(__file__).with_name("settle.js")
    await playwright.selectors.register(_ENGINE, path=source, content_script=True)


async def settle(page: Page, since: float, deadline: Deadline, *, limit_ms: float) -> None:
    """Wait until what began since then (`time.monotonic()`) is over, for no longer than the limit.

    Raises nothing of the page's: one that is closed, crashed or hung is as settled as it gets.
    """
    limit_ms = min(max(1.0, limit_ms), deadline.remaining_ms)
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_ms / 1000):
            await _settled(page, since, limit_ms)


async def _settled(page: Page, since: float, limit_ms: float) -> None:
    """What came to rest may have sent the next request by then."""
    traffic = page.traffic
    while True:
        await traffic.rest(since)
        if page.closed or page.crashed:
            return
        begun = traffic.begun
        await _still(page, limit_ms)
        if traffic.begun == begun and traffic.rests(since):
            return


async def _still(page: Page, limit_ms: float) -> None:
    main = page.playwright.main_frame
    inside = [frame for frame in page.playwright.frames if frame != main][:MOST_FRAMES]
    await asyncio.gather(
        _frame_still(main, timeout=limit_ms), *(_frame_still(frame, timeout=FRAME_MS) for frame in inside)
    )


async def _frame_still(frame: Frame, timeout: float) -> None:
    """Its document is at rest, or gone, or takes longer than that for an answer."""
    body = "begin"
    with suppress(Error):
        while wait_ms := float(await frame.get_attribute(f"{_ENGINE}={body}", "v", timeout=timeout) or 0):
            await asyncio.sleep(wait_ms / 1000)
            body = "go-on"
