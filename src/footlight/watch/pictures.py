"""Live pictures for any number of watchers, which share one capture for each page."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from footlight.browser.driver.playwright_api import Error
from footlight.browser.recording.live_picture import LiveFrame, show_live

if TYPE_CHECKING:
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.session import Session

__all__ = ["Pictures"]

logger = logging.getLogger(__name__)

LINGER_SECONDS = 3.0
"""The time for which a capture continues after the last request for a frame."""


class Pictures:
    """Numbers the frames of pages. A watcher requests the next frame when it has shown the last one.

    A slow watcher therefore misses frames, but does not delay other watchers.
    """

    def __init__(self) -> None:
        self.captures = 0
        """The number of started captures, for tests and measurements."""
        self._streams: dict[tuple[str, str], _PageStream] = {}
        self._numbers = itertools.count(1)

    def is_watched(self, session_id: str) -> bool:
        return any(watched == session_id for watched, _ in self._streams)

    def count_watchers(self, session_id: str) -> int:
        return sum(stream.waiting for (watched, _), stream in self._streams.items() if watched == session_id)

    def latest(self, session_id: str) -> LiveFrame | None:
        """Return the last frame of a session that is being watched."""
        frames = [stream.frame for (watched, _), stream in self._streams.items() if watched == session_id]
        return max((frame for frame in frames if frame), key=lambda frame: frame.at_ms, default=None)

    async def wait_for_next(
        self, session: Session, page: Page, after: int, seconds: float
    ) -> tuple[int, LiveFrame] | None:
        """Return a frame whose number is greater than `after`, or None after the time limit."""
        key = (session.id, page.id)
        stream = self._streams.get(key)
        if stream is None or stream.page is not page:
            stream = self._streams[key] = _PageStream(page, self._numbers)
            self.captures += 1
            stream.task = asyncio.create_task(self._run(key, stream))
        return await stream.wait_for_next(after, seconds)

    async def _run(self, key: tuple[str, str], stream: _PageStream) -> None:
        try:
            async with show_live(stream.page, stream.on_frame):
                while stream.is_wanted:  # noqa: ASYNC110 - it depends on the time of the last request
                    await asyncio.sleep(LINGER_SECONDS / 4)
        except Error:
            logger.debug("the picture of %s has ended", stream.page.id, exc_info=True)
        except Exception:
            logger.exception("the picture of %s has ended", stream.page.id)
        finally:
            if self._streams.get(key) is stream:
                del self._streams[key]
            stream.end()

    async def close(self) -> None:
        """Stop all captures."""
        tasks = [stream.task for stream in self._streams.values() if stream.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _PageStream:
    """The frames of one page."""

    def __init__(self, page: Page, numbers: Iterator[int]) -> None:
        """Create the stream. All share `numbers`, so that a watcher never waits for a past number."""
        self.page = page
        self._numbers = numbers
        self.frame: LiveFrame | None = None
        self.waiting = 0
        self.task: asyncio.Task[None] | None = None
        self._number = 0
        self._over = False
        self._asked_at = time.monotonic()
        self._changed = asyncio.Condition()
        self._notifying: set[asyncio.Task[None]] = set()

    @property
    def is_wanted(self) -> bool:
        if self.page.closed or self.page.crashed:
            return False
        return self.waiting > 0 or time.monotonic() - self._asked_at < LINGER_SECONDS

    def on_frame(self, frame: LiveFrame) -> None:
        self.frame = frame
        self._number = next(self._numbers)
        self._notify()

    def end(self) -> None:
        self._over = True
        self._notify()

    def _notify(self) -> None:
        task = asyncio.create_task(self._notify_all())
        self._notifying.add(task)
        task.add_done_callback(self._notifying.discard)

    async def _notify_all(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def wait_for_next(self, after: int, seconds: float) -> tuple[int, LiveFrame] | None:
        self.waiting += 1
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds), self._changed:
                    await self._changed.wait_for(lambda: self._number > after or self._over)
        finally:
            self.waiting -= 1
            self._asked_at = time.monotonic()
        if self.frame is None or self._number <= after:
            return None
        return self._number, self.frame
