"""Describe sessions, pages, requests and downloads as plain JSON."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NotRequired, cast

from typing_extensions import TypedDict

from footlight.browser.driver.playwright_api import Error
from footlight.browser.network.console import Level
from footlight.browser.network.downloads import DownloadState
from footlight.browser.page.page_operations import read_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footlight.browser.launch.extensions import LoadedExtension
    from footlight.browser.network.console import Message
    from footlight.browser.network.downloads import KnownDownload
    from footlight.browser.network.request_log import LogEntry
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.session import Session

__all__ = [
    "DownloadInfo",
    "EntryInfo",
    "EntryTiming",
    "ExtensionInfo",
    "LogCounts",
    "MessageInfo",
    "PageDetails",
    "PageInfo",
    "SessionInfo",
    "Viewport",
    "download_info",
    "entry_info",
    "extension_info",
    "log_counts",
    "message_info",
    "page_details",
    "session_info",
]


class PageInfo(TypedDict):
    pageId: str
    url: str


class ExtensionInfo(TypedDict):
    """`pages` has the URLs of the pages in the manifest by role: popup, options, side-panel."""

    id: str
    name: str
    version: str
    pages: dict[str, str]


class SessionInfo(TypedDict):
    """A session. Times are UTC, ISO 8601."""

    sessionId: str
    browser: str
    createdAt: str
    pages: list[PageInfo]
    blocked: list[str]
    mocks: list[str]
    extensions: NotRequired[list[ExtensionInfo]]


class Viewport(TypedDict):
    """The size of a viewport in CSS pixels."""

    width: int
    height: int


class PageDetails(TypedDict):
    """`createdAt` is in milliseconds since the epoch. `title` is "" if the page did not respond."""

    url: str
    title: str
    viewport: Viewport
    createdAt: int


class EntryTiming(TypedDict):
    """Times in milliseconds. `startTime` is since the epoch; `duration` is null while the request runs."""

    startTime: float
    duration: float | None


class EntryInfo(TypedDict):
    """A request. `status` is 0 until there is a response."""

    id: str
    url: str
    method: str
    status: int
    resourceType: str
    pageId: str
    timing: EntryTiming
    failure: NotRequired[str]


class LogCounts(TypedDict):
    requestCount: int
    responseCount: int
    errorCount: int


class MessageInfo(TypedDict):
    """`source` is a URL with line and column. `count` is the number of consecutive repetitions, if any."""

    level: Level
    text: str
    source: NotRequired[str]
    pageId: NotRequired[str]
    count: NotRequired[int]


class DownloadInfo(TypedDict):
    """A download. In a cluster it has a `uri` instead of `path`, or a `downloadUrl` if it is large."""

    id: str
    suggestedFilename: str
    url: str
    pageId: str
    state: DownloadState
    path: NotRequired[str]
    uri: NotRequired[str]
    downloadUrl: NotRequired[str]
    bytes: NotRequired[int]
    failure: NotRequired[str]


def session_info(session: Session) -> SessionInfo:
    info: SessionInfo = {
        "sessionId": session.id,
        "browser": session.engine,
        "createdAt": datetime.fromtimestamp(session.created_at, UTC).isoformat(timespec="milliseconds"),
        "pages": [{"pageId": page.id, "url": page.url} for page in session.pages],
        "blocked": list(session.rules.blocked),
        "mocks": list(session.rules.mocks),
    }
    if session.extensions:
        info["extensions"] = [extension_info(each) for each in session.extensions]
    return info


def extension_info(loaded: LoadedExtension) -> ExtensionInfo:
    extension = loaded.extension
    return {
        "id": loaded.id,
        "name": extension.name,
        "version": extension.version,
        "pages": {role: loaded.url(path) for role, path in extension.pages.items()},
    }


async def page_details(page: Page, *, timeout_ms: float) -> PageDetails:
    """Describe a page without taking a lock. A page that hangs has no title after `timeout_ms`."""
    title, viewport = "", page.playwright.viewport_size
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            title = await read_title(page)
            viewport = viewport or cast("Viewport", await page.playwright.evaluate(_WINDOW))
    except (Error, TimeoutError):  # Navigating, closed, or in an endless loop.
        pass
    return {
        "url": page.url,
        "title": title,
        "viewport": cast("Viewport", viewport or {"width": 0, "height": 0}),
        "createdAt": round(page.created_at * 1000),
    }


_WINDOW = "() => ({width: Number(innerWidth) || 0, height: Number(innerHeight) || 0})"
"""Reads the size of a page in an attached browser, whose windows have different sizes."""


def entry_info(entry: LogEntry) -> EntryInfo:
    info: EntryInfo = {
        "id": entry.id,
        "url": entry.url,
        "method": entry.method,
        "status": entry.status,
        "resourceType": entry.resource_type,
        "pageId": entry.page,
        "timing": {
            "startTime": round(entry.started_at),
            "duration": None if entry.duration is None else round(entry.duration, 1),
        },
    }
    if entry.failure is not None:
        info["failure"] = entry.failure
    return info


def log_counts(entries: Sequence[LogEntry]) -> LogCounts:
    return {
        "requestCount": len(entries),
        "responseCount": sum(entry.status > 0 for entry in entries),
        "errorCount": sum(entry.failure is not None or entry.status >= 400 for entry in entries),
    }


def message_info(message: Message) -> MessageInfo:
    info: MessageInfo = {"level": message.level, "text": message.text}
    if message.source:
        info["source"] = message.source
    if message.page:
        info["pageId"] = message.page
    if message.count > 1:
        info["count"] = message.count
    return info


def download_info(download: KnownDownload) -> DownloadInfo:
    info: DownloadInfo = {
        "id": download.id,
        "suggestedFilename": download.suggested_filename,
        "url": download.url,
        "pageId": download.page,
        "state": download.state,
    }
    if download.path is not None:
        info["path"] = str(download.path)
    if download.bytes is not None:
        info["bytes"] = download.bytes
    if download.failure is not None:
        info["failure"] = download.failure
    return info
