"""Events of a session that results report: pages that opened or closed, dialogs, downloads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from footlight.browser.network.downloads import DownloadSeen

__all__ = ["DialogSeen", "Events", "PageOpened"]

MAX_EVENTS = 20
"""The maximum number of events of each kind in one result, for pages that open dialogs in a loop."""


@dataclass(frozen=True, slots=True)
class PageOpened:
    page_id: str
    url: str


@dataclass(frozen=True, slots=True)
class DialogSeen:
    """A dialog that opened. `page_id` is "" if the page did not have an id yet."""

    page_id: str
    type: str
    message: str
    default_value: str
    handled: Literal["accepted", "dismissed", "open"]


@dataclass(slots=True)
class Events:
    """Collects events until they are taken for a result. Beyond the limit, the oldest are dropped.

    `closed` has the ids of pages that closed themselves, or were closed because their script did not end.
    `restored` is set after the session was reopened: whether all of its saved state was restored.
    """

    pages: list[PageOpened] = field(default_factory=list[PageOpened])
    dialogs: list[DialogSeen] = field(default_factory=list[DialogSeen])
    downloads: list[DownloadSeen] = field(default_factory=list[DownloadSeen])
    closed: list[str] = field(default_factory=list[str])
    restored: bool | None = None
    refused: int = 0
    """How many pages were closed at once, because the session has the maximum number of pages."""

    def add_download(self, download: DownloadSeen) -> None:
        self.downloads.append(download)

    def copy(self) -> Events:
        """Return a copy of the events so far."""
        return Events(
            [*self.pages], [*self.dialogs], [*self.downloads], [*self.closed], self.restored, self.refused
        )

    def after(self, earlier: Events) -> Events:
        """Return the events that were added since `earlier`, a copy of an earlier state."""
        return Events(
            self.pages[len(earlier.pages) :],
            self.dialogs[len(earlier.dialogs) :],
            self.downloads[len(earlier.downloads) :],
            self.closed[len(earlier.closed) :],
            self.restored if earlier.restored is None else None,
            self.refused - earlier.refused,
        )

    def take(self) -> Events:
        """Return the collected events and clear them."""
        events = Events(
            self.pages[-MAX_EVENTS:],
            self.dialogs[-MAX_EVENTS:],
            self.downloads[-MAX_EVENTS:],
            self.closed[-MAX_EVENTS:],
            self.restored,
            self.refused,
        )
        self.pages, self.dialogs, self.downloads, self.closed = [], [], [], []
        self.restored, self.refused = None, 0
        return events
