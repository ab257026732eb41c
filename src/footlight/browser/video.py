"""A video of a page while it lives: the browser itself encodes it, so that nothing else need be installed.

Playwright's own recorder needs its build of ffmpeg, which is missing where the browser came with the system.
Its pictures of a page need none; a page of ours, apart from the session, makes VP9 of them, or VP8.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from footlight.browser._playwright import Error, PlaywrightTimeout, is_closed
from footlight.browser.webm import Codec, WebmWriter
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Route, ScreencastFrame
    from playwright.async_api import Page as PlaywrightPage

__all__ = ["VideoRecorder"]

logger = logging.getLogger(__name__)

LONGEST_MS = 3_600_000
"""What a page shows after an hour is not recorded any more."""
ADDRESS = "https://recorder.invalid/"
"""Only pages over https have an encoder. This one never leaves the browser."""
LAST_SECONDS = 5.0
"""How long the browser may take for what is left at the end."""


class Encoded(TypedDict):
    """Frames are (milliseconds, whether it is a key frame, base64)."""

    codec: Codec
    width: int
    height: int
    frames: list[tuple[int, bool, str]]


class VideoRecorder:
    """Records from `start` to `finish`; the file is WebM."""

    def __init__(self, page: PlaywrightPage, encoder: PlaywrightPage, path: Path) -> None:
        self.path = path
        self._page = page
        self._encoder = encoder
        self._file = path.open("wb")
        self._writer: WebmWriter | None = None
        self._began = time.monotonic()
        self._clock: float | None = None
        """The browser's time, in milliseconds, at that of ours."""
        self._turn = asyncio.Lock()
        self._over = False

    @classmethod
    async def start(
        cls, page: PlaywrightPage, browser: Browser, path: Path, *, first: bytes
    ) -> VideoRecorder:
        """`first` is what the page shows now, a JPEG: a page that does not change sends nothing.

        Raises:
            InvalidParameter: the browser has no encoder.
        """
        context = await browser.new_context()
        async with contextlib.AsyncExitStack() as unless_started:
            unless_started.push_async_callback(_close, context)
            recorder = cls(page, await _open_encoder(context), path)
            unless_started.callback(recorder._file.close)
            await recorder._add(first, 0)
            await page.screencast.start(on_frame=recorder._on_frame, size=page.viewport_size, quality=90)
            unless_started.pop_all()
        return recorder

    async def finish(self) -> None:
        """Write what is left, and end. The page may be gone by now; what came until then is a whole video."""
        with contextlib.suppress(Error):
            await self._page.screencast.stop()
        try:
            async with self._turn, asyncio.timeout(LAST_SECONDS):
                self._write(await self._encoder.evaluate("ms => finish(ms)", self._elapsed_ms()))
        except (Error, TimeoutError):
            logger.warning("the end of the video %s is missing", self.path.name, exc_info=True)
        finally:
            self._over = True
            if self._writer is not None:
                self._writer.close()
            self._file.close()
            await _close(self._encoder.context)

    async def _on_frame(self, frame: ScreencastFrame) -> None:
        """The browser sends the next picture when this one is done."""
        async with self._turn:
            if self._clock is None:
                self._clock = frame["timestamp"] - self._elapsed_ms()
            at_ms = round(frame["timestamp"] - self._clock)
            if self._over or at_ms > LONGEST_MS:
                return
            try:
                await self._add(frame["data"], at_ms)
            except Error as error:
                if not is_closed(error):
                    logger.warning("a picture of the video %s is missing", self.path.name, exc_info=True)

    async def _add(self, jpeg: bytes, at_ms: int) -> None:
        picture = base64.b64encode(jpeg).decode("ascii")
        encoded: Encoded = await self._encoder.evaluate("each => add(each)", [picture, at_ms])
        if self._writer is None:
            self._began = time.monotonic()
            self._writer = WebmWriter(
                self._file, codec=encoded["codec"], width=encoded["width"], height=encoded["height"]
            )
        self._write(encoded)

    def _write(self, encoded: Encoded) -> None:
        assert self._writer is not None
        for at_ms, key, data in encoded["frames"]:
            self._writer.add(base64.b64decode(data), at_ms=at_ms, key=key)

    def _elapsed_ms(self) -> int:
        """Since the first picture: the last one stands until now."""
        return min(LONGEST_MS, round((time.monotonic() - self._began) * 1000))


async def _open_encoder(context: BrowserContext) -> PlaywrightPage:
    async def answer(route: Route) -> None:
        await route.fulfill(content_type="text/html", body="<!doctype html>")

    encoder = await context.new_page()
    await encoder.route("**/*", answer)
    await encoder.add_init_script(path=Path(__file__).with_name("encoder.js"))
    with contextlib.suppress(PlaywrightTimeout):
        await encoder.goto(ADDRESS, timeout=LAST_SECONDS * 1000)
    if not await encoder.evaluate("() => choose()"):
        raise InvalidParameter(
            "video needs a browser that encodes VP9 or VP8, such as Chromium; this one does not"
        )
    return encoder


async def _close(context: BrowserContext) -> None:
    with contextlib.suppress(Error):
        await context.close()
