"""The running recordings of a session: a trace, a HAR, and videos of its pages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.output_folder import fill_reserved
from footlight.browser.reading.screenshots import ScreenshotOptions, take_screenshot
from footlight.browser.recording.har import HarRecorder
from footlight.browser.recording.kept_recording import KeptRecording
from footlight.browser.recording.trace import TraceRecorder
from footlight.browser.recording.video import VideoRecorder
from footlight.errors import FootlightError, InvalidParameterError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.driver.file_quota import SessionFiles
    from footlight.browser.page.page import Page

__all__ = ["Recordings"]

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""How long the end of a session waits for its recordings."""

Reserve = Callable[[], Path]
"""A function that reserves the file of a recording, called when the recording is certain to begin."""


class Recordings:
    """Each recording reserves its file when it starts.

    A recording that is still running at the end is saved.
    """

    def __init__(
        self,
        context: BrowserContext,
        browser: Browser,
        scratch: Path,
        *,
        files: SessionFiles,
        mask: Callable[[Any], Any] | None = None,
    ) -> None:
        """Create the recordings.

        `files` counts the bytes that are written. `mask` removes the server's secrets from a text before
        that.
        """
        self._context = context
        self._browser = browser
        self._scratch = scratch
        self._files = files
        self._mask = mask
        self._running: dict[str, TraceRecorder | HarRecorder] = {}
        """The trace and the HAR that are being recorded, by their kind."""
        self._videos: dict[str, VideoRecorder] = {}
        self._ended: list[str] = []
        """The files of the videos of closed pages, or the errors that prevented them."""
        self._finishing: set[asyncio.Task[None]] = set()

    @property
    def is_tracing(self) -> bool:
        trace = self._running.get("trace")
        return trace is not None and not trace.has_ended

    async def start_trace(self, reserve: Reserve) -> Path:
        """Start to record a trace, and return its file.

        Raises:
            InvalidParameterError: a trace is already being recorded.
        """
        return await self._start(
            "trace", reserve, lambda path: TraceRecorder.start(self._context, path, self._scratch)
        )

    async def stop_trace(self) -> Path:
        """Write the trace, and return its file.

        Raises:
            InvalidParameterError: no trace is being recorded.
        """
        return await self._stop("trace")

    async def start_har(self, reserve: Reserve, *, bodies: bool) -> Path:
        """Start to record a HAR, and return its file.

        Raises:
            InvalidParameterError: a HAR is already being recorded.
        """
        return await self._start(
            "har", reserve, lambda path: HarRecorder.start(self._context, path, self._scratch, bodies=bodies)
        )

    async def stop_har(self) -> Path:
        """Write the HAR, and return its file.

        Raises:
            InvalidParameterError: no HAR is being recorded.
        """
        return await self._stop("har")

    async def _start(
        self, kind: str, reserve: Reserve, start: Callable[[Path], Awaitable[TraceRecorder | HarRecorder]]
    ) -> Path:
        if running := self._running.get(kind):
            raise _already_running_error(kind, running.path)
        with fill_reserved(reserve()) as path:
            self._running[kind] = await start(path)
        return path

    async def _stop(self, kind: str) -> Path:
        recorder = self._running.get(kind)
        if recorder is None:
            raise _not_running_error(kind)
        try:
            with _advise_to_repeat(kind, recorder):
                await recorder.stop(self._mask)
        finally:
            if not recorder.is_kept:
                del self._running[kind]
        self._files.count(recorder.path)
        return recorder.path

    async def start_video(self, page: Page, reserve: Reserve, deadline: Deadline) -> Path:
        """Start to record a video of the page, and return its file.

        Raises:
            InvalidParameterError: the page is already being recorded, or its browser cannot encode a video.
        """
        if page.id in self._videos:
            raise _already_running_error("video", self._videos[page.id].path, page_id=page.id)
        first = await take_screenshot(page, ScreenshotOptions(type="jpeg", quality=90), deadline)
        with fill_reserved(reserve()) as path:
            recorder = await VideoRecorder.start(
                page.playwright, self._browser, path, self._scratch, first=first, files=self._files
            )
        self._videos[page.id] = recorder
        page.playwright.once("close", lambda _: self._on_page_closed(page.id))
        return path

    async def stop_video(self, page_id: str) -> Path:
        """Write the remaining video, and return its file.

        Raises:
            InvalidParameterError: the page is not being recorded.
        """
        recorder = self._videos.pop(page_id, None)
        if recorder is None:
            await asyncio.gather(*self._finishing, return_exceptions=True)
            raise _not_running_error("video", page_id=page_id, others=[*self._videos, *self._ended])
        try:
            with _advise_to_repeat("video", recorder):
                await recorder.stop()
        except BaseException:
            self._files.remove(recorder.path)
            if recorder.is_kept:
                self._videos[page_id] = recorder
            raise
        self._files.count(recorder.path)
        return recorder.path

    def _on_page_closed(self, page_id: str) -> None:
        """End the video of a closed page. The next `stop_video` reports its file."""
        if page_id in self._videos:
            task = asyncio.create_task(self._finish_closed(page_id))
            self._finishing.add(task)
            task.add_done_callback(self._finishing.discard)

    async def _finish_closed(self, page_id: str) -> None:
        try:
            outcome = f"in {await self.stop_video(page_id)}"
        except FootlightError as error:
            outcome = f"which could not be saved: {error.message}"
        self._ended.append(f"{page_id}, which was closed, {outcome}")

    async def close(self) -> None:
        """Save the recordings that are still running, within `CLOSE_SECONDS`."""
        running = [
            *(self._stop(kind) for kind in self._running),
            *(self.stop_video(page_id) for page_id in list(self._videos)),
            *self._finishing,
        ]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                for outcome in await asyncio.gather(*running, return_exceptions=True):
                    if isinstance(outcome, Exception):
                        logger.warning("a recording could not be saved", exc_info=outcome)


@contextlib.contextmanager
def _advise_to_repeat(tool: str, recorder: KeptRecording) -> Generator[None]:
    """Add to an error in this block that the recording can be stopped again, if it is kept."""
    try:
        yield
    except FootlightError as error:
        if recorder.is_kept:
            error.suggestion += f" The recording is kept: then call {tool} with action stop again."
        raise


def _already_running_error(kind: str, path: Path, *, page_id: str | None = None) -> InvalidParameterError:
    of_page = f" of {page_id}" if page_id else ""
    return InvalidParameterError(
        f"action: a {kind}{of_page} is being recorded already, into {path}",
        suggestion=f"Call {kind} with action stop first.",
        parameter="action",
        path=str(path),
    )


def _not_running_error(
    kind: str, *, page_id: str | None = None, others: list[str] | None = None
) -> InvalidParameterError:
    of_page = f" of {page_id}" if page_id else ""
    alternatives = f"; there is one of {'; '.join(others)}" if others else ""
    return InvalidParameterError(
        f"action: no {kind}{of_page} is being recorded{alternatives}",
        suggestion=f"Call {kind} with action start first, and with action stop at the end.",
        parameter="action",
    )
