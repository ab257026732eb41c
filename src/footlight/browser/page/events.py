"""Events of a session that results report: pages that opened or closed, dialogs, downloads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from footlight.browser.network.downloads import DownloadSeen

__all__ = ["DialogSeen", "Events", "PageOpened", "keep_recent"]

Event = TypeVar("Event")

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


def keep_recent(events: Iterable[Event] = ()) -> deque[Event]:
    """Return a collection of the last events. What a page does between two calls must not fill the memory."""
    return deque(events, MAX_EVENTS)


@dataclass(slots=True)
class Events:
    """Collects events until they are taken for a result. Beyond the limit, the oldest are dropped.

    `closed` has the ids of pages that closed themselves, or were closed because their script did not end.
    `restored` is set after the session was reopened: whether all of its saved state was restored.
    """

    pages: deque[PageOpened] = field(default_factory=lambda: keep_recent())
    dialogs: deque[DialogSeen] = field(default_factory=lambda: keep_recent())
    downloads: deque[DownloadSeen] = field(default_factory=lambda: keep_recent())
    closed: deque[str] = field(default_factory=lambda: keep_recent())
    restored: bool | None = None
    refused: int = 0
    """How many pages were closed at once, because the session has the maximum number of pages."""

    def add_download(self, download: DownloadSeen) -> None:
        self.downloads.append(download)

    def copy(self) -> Events:
        """Return a copy of the events so far."""
        return Events(
            self.pages.copy(),
            self.dialogs.copy(),
            self.downloads.copy(),
            self.closed.copy(),
            self.restored,
            self.refused,
        )

    def after(self, earlier: Events) -> Events:
        """Return the events that were added since `earlier`, a copy of an earlier state."""
        return Events(
            _added(self.pages, earlier.pages),
            _added(self.dialogs, earlier.dialogs),
            _added(self.downloads, earlier.downloads),
            _added(self.closed, earlier.closed),
            self.restored if earlier.restored is None else None,
            self.refused - earlier.refused,
        )

    def take(self) -> Events:
        """Return the collected events and clear them."""
        events = self.copy()
        for kept in (self.pages, self.dialogs, self.downloads, self.closed):
            kept.clear()
        self.restored, self.refused = None, 0
        return events


def _added(events: deque[Event], earlier: deque[Event]) -> deque[Event]:
    """Return the events after the last earlier one, which may have been dropped since."""
    last = earlier[-1] if earlier else None
    added: deque[Event] = keep_recent()
    for event in reversed(events):
        if event is last:
            break
        added.appendleft(event)
    return added
