"""Events of a session that an answer reports: pages that opened or closed, dialogs, downloads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from footlight.browser.network.downloads import DownloadSeen

__all__ = ["DialogSeen", "Events", "PageOpened"]

MAX_EVENTS = 20
"""Events of each kind between two answers. A page that opens dialogs for ever must not fill an answer."""


@dataclass(frozen=True, slots=True)
class PageOpened:
    page_id: str
    url: str


@dataclass(frozen=True, slots=True)
class DialogSeen:
    """`page_id` is "" where a page opened the dialog before it had an id."""

    page_id: str
    type: str
    message: str
    default_value: str
    handled: Literal["accepted", "dismissed", "open"]


@dataclass(slots=True)
class Events:
    """Collects events until an answer takes them. Past the limit the oldest are dropped.

    `closed` has the ids of pages that closed themselves, or were closed because their script did not end.
    `restored` says, after the session was opened again, whether all of its saved state was restored.
    """

    pages: list[PageOpened] = field(default_factory=list[PageOpened])
    dialogs: list[DialogSeen] = field(default_factory=list[DialogSeen])
    downloads: list[DownloadSeen] = field(default_factory=list[DownloadSeen])
    closed: list[str] = field(default_factory=list[str])
    restored: bool | None = None

    def add_download(self, download: DownloadSeen) -> None:
        self.downloads.append(download)

    def copy(self) -> Events:
        """Return the events so far."""
        return Events([*self.pages], [*self.dialogs], [*self.downloads], [*self.closed], self.restored)

    def after(self, earlier: Events) -> Events:
        """Return the events without those of `earlier`, with which they begin."""
        return Events(
            self.pages[len(earlier.pages) :],
            self.dialogs[len(earlier.dialogs) :],
            self.downloads[len(earlier.downloads) :],
            self.closed[len(earlier.closed) :],
            self.restored if earlier.restored is None else None,
        )

    def take(self) -> Events:
        """Return the collected events and clear them."""
        events = Events(
            self.pages[-MAX_EVENTS:],
            self.dialogs[-MAX_EVENTS:],
            self.downloads[-MAX_EVENTS:],
            self.closed[-MAX_EVENTS:],
            self.restored,
        )
        self.pages, self.dialogs, self.downloads, self.closed, self.restored = [], [], [], [], None
        return events
