"""What the pages of a session download: kept in a folder, and told in the answer of the action."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from footlight.browser._playwright import Error, cause
from footlight.browser.events import DownloadSeen, Events

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Download, Frame, Page, Request

__all__ = ["ABORTED_SECONDS", "DownloadState", "Downloads", "KnownDownload"]

DownloadState = Literal["running", "completed", "failed"]

ANNOUNCED_SECONDS = 3.0
"""How long a link that says it is a download may take to become one."""
ABORTED_SECONDS = 0.25
"""How long after a navigation that came to nothing its download may be announced."""
MOST_KNOWN = 200
"""Downloads of a session that can be listed."""
LONGEST_URL = 1_000


@dataclass(slots=True)
class KnownDownload:
    """One of a session. It has a `path` and its size in `bytes` when it is completed."""

    id: str
    suggested_filename: str
    url: str
    page: str
    state: DownloadState = "running"
    path: Path | None = None
    bytes: int | None = None
    failure: str | None = None


class Downloads:
    """Nothing tells for certain that an action begins a download, until its server has answered.

    Two things hint at it: a link with the attribute `download` was clicked, by a person or a script, or a
    navigation was aborted, as it is when its answer turns out to be a file.
    """

    def __init__(self, folder: Path, events: Events, page_id_of: Callable[[Page], str]) -> None:
        self.count = 0
        self._page_id_of = page_id_of
        self._known: deque[KnownDownload] = deque(maxlen=MOST_KNOWN)
        self._folder = folder
        self._events = events
        self._saving: set[asyncio.Task[None]] = set()
        self._earlier: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._hoped_until = 0.0
        self._count_before = 0

    @property
    def known(self) -> Sequence[KnownDownload]:
        """The latest ones, newest last."""
        return tuple(self._known)

    def watch(self, context: BrowserContext) -> None:
        context.on("requestfailed", self._on_request_failed)

    def watch_page(self, page: Page) -> None:
        page.on("download", self._on_download)
        page.on("framenavigated", self._on_navigated)

    def announced(self) -> None:
        """A link that says it is a download was clicked."""
        if self.count == self._count_before:
            self.expect()

    def expect(self, seconds: float = ANNOUNCED_SECONDS) -> None:
        """One is likely to be announced within this time."""
        self._hoped_until = time.monotonic() + seconds

    def begin(self) -> None:
        """A new action begins, and nothing is expected of it yet."""
        self._hoped_until = 0.0
        self._count_before = self.count
        self._earlier = set(self._saving)

    async def settle(self) -> None:
        """Wait for the one that is expected, and for those that this action began."""
        while (left := self._hoped_until - time.monotonic()) > 0:
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._changed.wait()
        while saving := self._saving - self._earlier:
            await asyncio.wait(saving, return_when=asyncio.FIRST_COMPLETED)

    async def change(self) -> None:
        """Wait until one begins or is over."""
        self._changed.clear()
        await self._changed.wait()

    def close(self) -> None:
        for task in self._saving:
            task.cancel()

    def _on_download(self, download: Download) -> None:
        self.count += 1
        self._hoped_until = 0.0
        self._changed.set()
        url = download.url if len(download.url) <= LONGEST_URL else f"{download.url[:LONGEST_URL]}…"
        known = KnownDownload(
            f"download-{self.count}", download.suggested_filename, url, self._page_id_of(download.page)
        )
        self._known.append(known)
        task = asyncio.create_task(self._save(download, known))
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)

    def _on_request_failed(self, request: Request) -> None:
        if "ABORTED" in (request.failure or "") and request.is_navigation_request():
            self.expect(ABORTED_SECONDS)

    def _on_navigated(self, frame: Frame) -> None:
        """The link led to a page after all."""
        if frame.parent_frame is None:
            self._hoped_until = 0.0
            self._changed.set()

    async def _save(self, download: Download, known: KnownDownload) -> None:
        path: Path | None = None
        failure: str | None = None
        try:
            path = _free_path(self._folder, download.suggested_filename)
            await download.save_as(path)
            known.state, known.path, known.bytes = "completed", path, path.stat().st_size
        except (Error, OSError) as error:
            failure = cause(error) if isinstance(error, Error) else str(error)
            known.state, known.failure = "failed", failure
            if path is not None:
                path.unlink(missing_ok=True)
        self._changed.set()
        self._events.downloads.append(DownloadSeen(download.suggested_filename, download.url, path, failure))


def _free_path(folder: Path, name: str) -> Path:
    """A new empty file in the folder: nothing is written elsewhere or over anything."""
    clean = re.sub(r"[^\w.\- ()]", "_", Path(name.replace("\\", "/")).name).lstrip(". ") or "download"
    stem, suffix = Path(clean).stem[:100], Path(clean).suffix[:20]
    folder.mkdir(parents=True, exist_ok=True)
    number = 0
    while True:
        path = folder / (f"{stem}-{number}{suffix}" if number else f"{stem}{suffix}")
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return path
