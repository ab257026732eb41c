"""Record a video of a page. The browser itself encodes it, so no other program is required.

Playwright's own recorder needs its build of ffmpeg, which is missing if the browser was installed with the
system. Playwright's screencast of a page does not need it. A separate page outside of the session encodes its
images to VP9 or VP8.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import shutil
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypedDict

from footlight.browser.driver.output_folder import disk_full_error
from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout, is_closed
from footlight.browser.driver.shielding import shield_until_done
from footlight.browser.recording.kept_recording import KeptRecording
from footlight.browser.recording.webm import Codec, WebmWriter
from footlight.errors import InvalidParameterError, QuotaExceededError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Route, ScreencastFrame
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.driver.file_quota import SessionFiles

__all__ = ["VideoRecorder"]

logger = logging.getLogger(__name__)

MAX_DURATION_MS = 3_600_000
"""The maximum duration of a video: one hour."""
ADDRESS = "https://recorder.invalid/"
"""Only https pages have an encoder. Requests for this address never leave the browser."""
LAST_SECONDS = 5.0
"""How long the browser may take to encode the last images."""
LAST_PICTURE_MS = 1_000.0
"""How long the page may take to draw the last image. It is left out if the page hangs."""


class EncodedFrames(TypedDict):
    """Encoded frames, each as (milliseconds, whether it is a key frame, base64)."""

    codec: Codec
    width: int
    height: int
    frames: list[tuple[int, bool, str]]


class VideoRecorder(KeptRecording):
    """Records from `start` to `stop` into a WebM file in the temporary folder, which `stop` copies."""

    def __init__(
        self, page: PlaywrightPage, encoder: PlaywrightPage, path: Path, scratch: Path, *, files: SessionFiles
    ) -> None:
        super().__init__(path, scratch, "video.webm")
        self._files = files
        self._page = page
        self._encoder = encoder
        self._file = self._raw.open("wb")
        self._writer: WebmWriter | None = None
        self._began = time.monotonic()
        self._clock: float | None = None
        """The difference between the browser's time and the time in the video, in milliseconds."""
        self._turn = asyncio.Lock()
        self._over = False
        self._failure: OSError | QuotaExceededError | None = None
        """The error that prevents further writing to the file."""

    @classmethod
    async def start(
        cls,
        page: PlaywrightPage,
        browser: Browser,
        path: Path,
        scratch: Path,
        *,
        first: bytes,
        files: SessionFiles,
    ) -> VideoRecorder:
        """Start to record. `first` is a JPEG of the current page, because an unchanged page sends no image.

        Raises:
            InvalidParameterError: the browser has no encoder.
        """
        context = await browser.new_context()
        async with contextlib.AsyncExitStack() as unless_started:
            unless_started.push_async_callback(_close, context)
            recorder = cls(page, await _open_encoder(context), path, scratch, files=files)
            unless_started.callback(recorder._folder.cleanup)
            unless_started.callback(recorder._file.close)
            await recorder._add(first, 0)
            await page.screencast.start(on_frame=recorder._on_frame, size=page.viewport_size, quality=90)
            unless_started.pop_all()
        return recorder

    async def stop(self) -> None:
        """Write the remaining frames and then the file.

        Raises:
            PermissionDeniedError, ResourceExhaustedError: the file could not be written.
            QuotaExceededError: the session has written more than it may.
        """
        await self._write(self._finish, self._copy)

    def _copy(self, file: BinaryIO) -> None:
        with self._raw.open("rb") as raw:
            shutil.copyfileobj(raw, file)

    async def _finish(self) -> None:
        """Write the remaining frames and end.

        If the page is gone, its frames so far become a complete video.
        """
        with contextlib.suppress(Error):
            await self._page.screencast.stop()
            # A busy browser may not have sent its last changes yet.
            last = await self._page.screenshot(type="jpeg", quality=90, timeout=LAST_PICTURE_MS)
            async with self._turn:
                await self._try_to_add(last, self._measure_elapsed_ms())
        try:
            async with self._turn, asyncio.timeout(LAST_SECONDS):
                self._write_frames(
                    await self._encoder.evaluate("ms => finish(ms)", self._measure_elapsed_ms())
                )
        except (Error, TimeoutError):
            logger.warning("the end of the video %s is missing", self.path.name, exc_info=True)
        finally:
            self._over = True
            await _close(self._encoder.context)
            self._end_file()
        if self._failure is not None:
            raise disk_full_error(self._failure) or self._failure

    def _end_file(self) -> None:
        with self._note_failure():
            if self._writer is not None and self._failure is None:
                self._writer.close()
        with self._note_failure():
            self._file.close()

    @contextlib.contextmanager
    def _note_failure(self) -> Generator[None]:
        """Store the first error of the file for the caller who stops the video."""
        try:
            yield
        except (OSError, QuotaExceededError) as error:
            self._failure = self._failure or error

    async def _on_frame(self, frame: ScreencastFrame) -> None:
        """Add a frame. The browser sends the next one when this one is acknowledged."""
        async with self._turn:
            if self._clock is None:
                self._clock = frame["timestamp"] - self._measure_elapsed_ms()
            await self._try_to_add(frame["data"], round(frame["timestamp"] - self._clock))

    async def _try_to_add(self, jpeg: bytes, at_ms: int) -> None:
        if self._over or self._failure or at_ms > MAX_DURATION_MS:
            return
        try:
            await self._add(jpeg, at_ms)
        except Error as error:
            if not is_closed(error):
                logger.warning("a picture of the video %s is missing", self.path.name, exc_info=True)

    async def _add(self, jpeg: bytes, at_ms: int) -> None:
        picture = base64.b64encode(jpeg).decode("ascii")
        encoded: EncodedFrames = await self._encoder.evaluate("each => add(each)", [picture, at_ms])
        if self._writer is None:
            self._began = time.monotonic()
            self._writer = WebmWriter(
                self._file, codec=encoded["codec"], width=encoded["width"], height=encoded["height"]
            )
        self._write_frames(encoded)

    def _write_frames(self, encoded: EncodedFrames) -> None:
        assert self._writer is not None
        with self._note_failure():
            for at_ms, key, data in encoded["frames"]:
                self._writer.add(base64.b64decode(data), at_ms=at_ms, key=key)
            self._files.set_size(self.path, self._file.tell())

    def _measure_elapsed_ms(self) -> int:
        """Return the time since the first image in milliseconds, up to which the last image is shown."""
        return min(MAX_DURATION_MS, round((time.monotonic() - self._began) * 1000))


async def _open_encoder(context: BrowserContext) -> PlaywrightPage:
    async def answer(route: Route) -> None:
        await route.fulfill(content_type="text/html", body="<!doctype html>")

    encoder = await context.new_page()
    await encoder.route("**/*", answer)
    await encoder.add_init_script(path=Path(__file__).with_name("encoder.js"))
    with contextlib.suppress(PlaywrightTimeout):
        await encoder.goto(ADDRESS, timeout=LAST_SECONDS * 1000)
    if not await encoder.evaluate("() => choose()"):
        raise InvalidParameterError(
            "video needs a browser that encodes VP9 or VP8, such as Chromium; this one does not"
        )
    return encoder


async def _close(context: BrowserContext) -> None:
    with contextlib.suppress(Error):
        await shield_until_done(context.close())
