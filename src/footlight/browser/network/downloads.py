"""The downloads of a session's pages. They are saved in a folder, and reported in the action's result."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Literal

from footlight.browser.driver.output_folder import MAX_NAME_BYTES, cut_to_bytes, write_error
from footlight.browser.driver.playwright_api import Error, cause
from footlight.browser.driver.playwright_connection import download_files
from footlight.errors import QuotaExceededError
from footlight.private_files import make_private

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Download, Frame, Page, Request

    from footlight.browser.driver.file_quota import SessionFiles

__all__ = ["ABORTED_SECONDS", "DownloadSeen", "DownloadState", "Downloads", "KnownDownload"]

DownloadState = Literal["running", "completed", "failed"]

ANNOUNCED_SECONDS = 3.0
"""How long a download may take to begin after a click on a link with the attribute `download`."""
ABORTED_SECONDS = 0.25
"""How long after an aborted navigation its download may be reported."""
GROWTH_SECONDS = 0.2
"""The interval at which the size of a running download is compared with the quota."""
MAX_KNOWN = 200
"""The number of downloads of a session that can be listed."""
MAX_URL = 1_000
MAX_NUMBER = 20
"""The maximum number of a file among those of one name. Further ones have a random addition."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)", re.IGNORECASE)
"""The beginning of a name that Windows takes for a device, with any suffix."""


@dataclass(frozen=True, slots=True)
class DownloadSeen:
    """A download that has ended. It has the `path` of its file, or a `failure`."""

    suggested_filename: str
    url: str
    path: Path | None
    failure: str | None


@dataclass(slots=True)
class KnownDownload:
    """A download of a session. When completed, it has a `path` and its size in `bytes`."""

    id: str
    suggested_filename: str
    url: str
    page: str
    state: DownloadState = "running"
    path: Path | None = None
    bytes: int | None = None
    failure: str | None = None


class Downloads:
    """Tracks the downloads of a session, and waits for those that an action begins.

    It is uncertain whether an action begins a download until the server has responded. Two events make a
    download likely: a click on a link with the attribute `download`, and a navigation that is aborted, which
    happens if its response is a file.
    """

    def __init__(
        self,
        folder: Path,
        on_end: Callable[[DownloadSeen], None],
        page_id_of: Callable[[Page], str],
        *,
        files: SessionFiles,
        mask: Callable[[str], str] = str,
    ) -> None:
        """Create the tracker. `on_end` is called for each download that has ended.

        `files` counts the bytes that are written, and `mask` removes secrets from file names.
        """
        self._files = files
        self._mask = mask
        self.count = 0
        self._page_id_of = page_id_of
        self._known: deque[KnownDownload] = deque(maxlen=MAX_KNOWN)
        self._folder = folder
        self._on_end = on_end
        self._saving: set[asyncio.Task[None]] = set()
        self._earlier: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._expected_until = 0.0
        self._count_before = 0

    @property
    def known(self) -> Sequence[KnownDownload]:
        """The latest downloads, newest last."""
        return tuple(self._known)

    @property
    def are_running(self) -> bool:
        return bool(self._saving)

    def watch(self, context: BrowserContext) -> None:
        context.on("requestfailed", self._on_request_failed)

    def watch_page(self, page: Page) -> None:
        page.on("download", self._on_download)
        page.on("framenavigated", self._on_navigated)

    def on_link_clicked(self) -> None:
        """Expect a download, because a link with the attribute `download` was clicked."""
        if self.count == self._count_before:
            self.expect()

    def expect(self, seconds: float = ANNOUNCED_SECONDS) -> None:
        """Expect a download to begin within this time."""
        self._expected_until = time.monotonic() + seconds

    def begin(self) -> None:
        """Begin a new action, which has started no download yet."""
        self._expected_until = 0.0
        self._count_before = self.count
        self._earlier = set(self._saving)

    @property
    def has_begun(self) -> bool:
        """Return whether this action has begun a download."""
        return self.count > self._count_before

    async def settle(self) -> None:
        """Wait for the expected download, and for those that this action has begun."""
        while (seconds := self._expected_until - time.monotonic()) > 0:
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
        while saving := self._saving - self._earlier:
            await asyncio.wait(saving, return_when=asyncio.FIRST_COMPLETED)

    async def wait_for_change(self) -> None:
        """Wait until a download begins or ends."""
        self._changed.clear()
        await self._changed.wait()

    def close(self) -> None:
        for task in self._saving:
            task.cancel()

    def _on_download(self, download: Download) -> None:
        self.count += 1
        self._expected_until = 0.0
        self._changed.set()
        url = download.url if len(download.url) <= MAX_URL else f"{download.url[:MAX_URL]}…"
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
        """Stop expecting a download, because the link led to a page."""
        if frame.parent_frame is None:
            self._expected_until = 0.0
            self._changed.set()

    async def _save(self, download: Download, known: KnownDownload) -> None:
        path: Path | None = None
        failure: str | None = None
        try:
            path = _create_file(self._folder, self._mask(download.suggested_filename))
            await self._write(download, path)
            known.state, known.path, known.bytes = "completed", path, path.stat().st_size
        except (Error, OSError, QuotaExceededError) as error:
            failure = _describe_failure(error)
            known.state, known.failure = "failed", failure
        finally:
            if path is not None and known.state != "completed":  # Also if the session has ended.
                self._files.remove(path)
        self._changed.set()
        self._on_end(DownloadSeen(download.suggested_filename, download.url, path, failure))

    async def _write(self, download: Download, path: Path) -> None:
        """Write a download to `path`. Cancel it as soon as it is larger than the quota allows.

        Raises:
            QuotaExceededError: the download is too large.
        """
        saving: asyncio.Future[None] | None = None
        try:
            self._files.check()
            saving = asyncio.ensure_future(download.save_as(path))
            while not (await asyncio.wait([saving], timeout=GROWTH_SECONDS))[0]:
                self._files.set_size(path, _size_of(download))
            await saving
            make_private(path)  # It has the mode of the copy that the browser created.
            self._files.count(path)
        except QuotaExceededError:
            await download.cancel()
            raise
        finally:
            if saving is not None:
                saving.cancel()
        await download.delete()  # The browser would keep its own copy until the session ends.


def _size_of(download: Download) -> int:
    """Return the number of bytes of a download that the browser has written so far."""
    for path in download_files(download):
        with contextlib.suppress(OSError):
            return path.stat().st_size
    return 0


def _describe_failure(error: Error | OSError | QuotaExceededError) -> str:
    if isinstance(error, QuotaExceededError):
        return f"{error.code}: {error.message}. {error.suggestion}"
    if known := write_error(error, "The download folder", remedy=""):
        return known.message
    return cause(error) if isinstance(error, Error) else str(error)


def _create_file(folder: Path, name: str) -> Path:
    """Create a new empty file in the folder. Files outside it and existing files are never written.

    No command takes the name for an option, and Windows does not take it for a device.
    """
    clean = (
        re.sub(r"[^\w.\- ()]", "_", Path(name.replace("\\", "/")).name).lstrip("-. ").rstrip(". ")
        or "download"
    )
    clean = f"_{clean}" if _DEVICE.match(clean) else clean
    suffix = cut_to_bytes(Path(clean).suffix, 40)
    stem = cut_to_bytes(Path(clean).stem, MAX_NAME_BYTES - len(suffix.encode()))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    number = 0
    while True:
        addition = f"-{number if number <= MAX_NUMBER else token_hex(8)}" if number else ""
        path = folder / f"{stem}{addition}{suffix}"
        try:
            path.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return path
