"""The live picture of a page: frames are sent as long as a person watches.

Chromium sends a frame when the page has changed, and the next one only after an acknowledgement, which limits
the rate. The CDP session is separate, so a video of the same page can be recorded at the same time. If the
server has secrets, a frame only signals a change, and a screenshot with the secrets covered is shown. In
other browsers, screenshots are taken at intervals.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.playwright_api import Error
from footlight.browser.reading.screenshots import ScreenshotOptions, take_screenshot
from footlight.errors import FootlightError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

    from footlight.browser.page.page import Page

__all__ = ["LiveFrame", "show_live", "take_still"]

logger = logging.getLogger(__name__)

FRAME_SECONDS = 0.35
"""The delay before a frame is acknowledged. Two may be in transit, so about six arrive per second."""
FIRST_SECONDS = 0.05
"""How long to wait for the first frame. A page that sends none is not changing, so a screenshot is taken."""
POLL_SECONDS = 0.5
QUALITY = 60
MAX_SIDE = 1_600
SCREENSHOT_MS = 3_000
STOP_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class LiveFrame:
    """A JPEG of the viewport, whose size is in CSS pixels. `at_ms` is the time when the browser drew it."""

    data: bytes
    width: int
    height: int
    at_ms: float


OnFrame = Callable[[LiveFrame], None]


@contextlib.asynccontextmanager
async def show_live(page: Page, on_frame: OnFrame) -> AsyncGenerator[None]:
    """Pass the frames of a page to `on_frame` during this block."""
    live = _LivePicture(page, on_frame)
    try:
        await live.start()
        yield
    finally:
        await live.stop()


async def take_still(
    page: Page, *, quality: int = QUALITY, timeout_ms: float = SCREENSHOT_MS
) -> bytes | None:
    """Return a JPEG screenshot of the page with the secrets covered, or None if the page does not respond."""
    options = ScreenshotOptions(type="jpeg", quality=quality)
    with contextlib.suppress(FootlightError, Error, TimeoutError):
        async with asyncio.timeout(timeout_ms / 1000):
            return await take_screenshot(page, options, Deadline.after(timeout_ms))
    return None


class _LivePicture:
    def __init__(self, page: Page, on_frame: OnFrame) -> None:
        self._page = page
        self._on_frame = on_frame
        self._cdp: CDPSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._size = (0, 0)
        self._last: bytes | None = None
        self._last_at = 0.0
        self._stopped = False
        self._one_still = asyncio.Lock()

    async def start(self) -> None:
        if self._page.session.engine == "chromium":
            try:
                await self._start_screencast()
            except Error:
                logger.debug("the browser sends no frames", exc_info=True)
                self._cdp = None
        self._spawn(self._show_first() if self._cdp else self._poll())

    async def stop(self) -> None:
        self._stopped = True
        for task in self._tasks:
            task.cancel()
        if self._cdp is not None:
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    await self._cdp.send("Page.stopScreencast")
                    await self._cdp.detach()

    async def _start_screencast(self) -> None:
        page = self._page.playwright
        self._cdp = cdp = await page.context.new_cdp_session(page)
        cdp.on("Page.screencastFrame", self._on_screencast_frame)
        parameters = {"format": "jpeg", "quality": QUALITY, "maxWidth": MAX_SIDE, "maxHeight": MAX_SIDE}
        await cdp.send("Page.startScreencast", parameters)

    def _on_screencast_frame(self, event: dict[str, Any]) -> None:
        self._spawn(self._on_event(event))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._stopped:
            work.close()
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, Error):
            logger.error("the live picture of %s failed", self._page.id, exc_info=error)

    async def _on_event(self, event: dict[str, Any]) -> None:
        """Show one frame. The browser sends the next one after the acknowledgement."""
        metadata: dict[str, Any] = event.get("metadata") or {}
        self._size = (round(metadata.get("deviceWidth") or 0), round(metadata.get("deviceHeight") or 0))
        try:
            if self._page.session.secrets:
                async with self._one_still:
                    await self._show_still()
            else:
                at_ms = float(metadata.get("timestamp") or time.time()) * 1000
                self._show(base64.b64decode(event["data"]), at_ms)
            await asyncio.sleep(max(0.0, self._last_at + FRAME_SECONDS - time.monotonic()))
        finally:
            if self._cdp is not None and not self._stopped:
                await self._cdp.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    async def _show_first(self) -> None:
        await asyncio.sleep(FIRST_SECONDS)
        if self._last is None:
            await self._show_still()

    async def _poll(self) -> None:
        while not self._page.closed:
            await self._show_still()
            await asyncio.sleep(POLL_SECONDS)

    async def _show_still(self) -> None:
        at_ms = time.time() * 1000
        picture = await take_still(self._page)
        if picture is not None and picture != self._last:
            self._show(picture, at_ms)

    def _show(self, picture: bytes, at_ms: float) -> None:
        if self._stopped:
            return
        self._last, self._last_at = picture, time.monotonic()
        viewport = self._page.playwright.viewport_size
        width, height = (viewport["width"], viewport["height"]) if viewport else self._size
        self._on_frame(LiveFrame(picture, width, height, at_ms))
