"""What is recorded of a session while it goes on, into files: a trace, a HAR, videos of its pages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from footlight.browser import har, reading
from footlight.browser.output import write_new
from footlight.browser.reading import ScreenshotOptions
from footlight.browser.video import VideoRecorder
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Recordings"]

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""How long the end of a session waits for its recordings."""

Reserve = Callable[[], Path]
"""Makes the file, when it is certain that there will be something for it."""


@dataclass(frozen=True, slots=True)
class HarRecorder:
    """As it is recorded it has secrets in it, and is kept in a folder that goes with it."""

    path: Path
    folder: tempfile.TemporaryDirectory[str]

    @property
    def raw(self) -> Path:
        return Path(self.folder.name) / "raw.har"


class Recordings:
    """Of one session. A recording has its file from the beginning; what still runs at the end is saved."""

    def __init__(
        self, context: BrowserContext, browser: Browser, scratch: Path, *, secrets: Sequence[str] = ()
    ) -> None:
        self._context = context
        self._browser = browser
        self._scratch = scratch
        self._secrets = secrets
        self._trace: Path | None = None
        self._har: HarRecorder | None = None
        self._videos: dict[str, VideoRecorder] = {}
        self._ended: list[str] = []
        self._finishing: set[asyncio.Task[Path]] = set()

    async def start_trace(self, reserve: Reserve) -> Path:
        """Raises InvalidParameter where there is one."""
        if self._trace is not None:
            raise _runs("trace", self._trace)
        with _or_no_file(reserve()) as path:
            await self._context.tracing.start(screenshots=True, snapshots=True, sources=False)
        self._trace = path
        return path

    async def stop_trace(self) -> Path:
        """Raises InvalidParameter where there is none."""
        if self._trace is None:
            raise _does_not_run("trace")
        trace, self._trace = self._trace, None
        with _or_no_file(trace) as path:
            await self._context.tracing.stop(path=path)
        return path

    async def start_har(self, reserve: Reserve, *, bodies: bool) -> Path:
        """Raises InvalidParameter where there is one."""
        if self._har is not None:
            raise _runs("har", self._har.path)
        with _or_no_file(reserve()) as path:
            recorder = HarRecorder(path, tempfile.TemporaryDirectory(prefix="har-", dir=self._scratch))
            try:
                content = "embed" if bodies else "omit"
                await self._context.tracing.start_har(recorder.raw, content=content, mode="full")
            except BaseException:
                recorder.folder.cleanup()
                raise
        self._har = recorder
        return path

    async def stop_har(self) -> Path:
        """Raises InvalidParameter where there is none."""
        if self._har is None:
            raise _does_not_run("har")
        recorder, self._har = self._har, None
        with recorder.folder, _or_no_file(recorder.path) as path:
            await self._context.tracing.stop_har()
            raw = recorder.raw.read_bytes()
            write_new(path, await asyncio.to_thread(har.masked, raw, self._secrets))
        return path

    async def start_video(self, page: Page, reserve: Reserve, deadline: Deadline) -> Path:
        """Raises InvalidParameter where this page has one, or its browser cannot."""
        if page.id in self._videos:
            raise _runs("video", self._videos[page.id].path, of=page.id)
        first = await reading.screenshot(page, ScreenshotOptions(type="jpeg", quality=90), deadline)
        with _or_no_file(reserve()) as path:
            recorder = await VideoRecorder.start(page.playwright, self._browser, path, first=first)
        self._videos[page.id] = recorder
        page.playwright.once("close", lambda _: self._on_page_closed(page.id))
        return path

    async def stop_video(self, page_id: str) -> Path:
        """Raises InvalidParameter where this page has none."""
        recorder = self._videos.pop(page_id, None)
        if recorder is None:
            await asyncio.gather(*self._finishing, return_exceptions=True)
            raise _does_not_run("video", of=page_id, others=[*self._videos, *self._ended])
        await recorder.finish()
        return recorder.path

    def _on_page_closed(self, page_id: str) -> None:
        """Its video ends with it; whoever asks for one hears of that."""
        if page_id in self._videos:
            self._ended.append(f"{page_id}, which was closed, in {self._videos[page_id].path}")
            task = asyncio.create_task(self.stop_video(page_id))
            self._finishing.add(task)
            task.add_done_callback(self._finishing.discard)

    async def close(self) -> None:
        """Save what still runs. Bounded in time."""
        running = [
            *([self.stop_trace()] if self._trace else ()),
            *([self.stop_har()] if self._har else ()),
            *(self.stop_video(page_id) for page_id in list(self._videos)),
            *self._finishing,
        ]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                for outcome in await asyncio.gather(*running, return_exceptions=True):
                    if isinstance(outcome, Exception):
                        logger.warning("a recording could not be saved", exc_info=outcome)


@contextlib.contextmanager
def _or_no_file(path: Path) -> Generator[Path]:
    """Nothing stays where a recording was to be."""
    try:
        yield path
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _runs(kind: str, path: Path, *, of: str | None = None) -> InvalidParameter:
    whose = f" of {of}" if of else ""
    return InvalidParameter(
        f"action: a {kind}{whose} is being recorded already, into {path}",
        suggestion=f"Call {kind} with action stop first.",
        parameter="action",
        path=str(path),
    )


def _does_not_run(kind: str, *, of: str | None = None, others: list[str] | None = None) -> InvalidParameter:
    whose = f" of {of}" if of else ""
    there = f"; there is one of {'; '.join(others)}" if others else ""
    return InvalidParameter(
        f"action: no {kind}{whose} is being recorded{there}",
        suggestion=f"Call {kind} with action start first, and stop when what is to be seen has happened.",
        parameter="action",
    )
