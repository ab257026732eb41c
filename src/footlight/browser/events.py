"""What happened in a session beside the answer of a call: pages that came and went, dialogs, downloads."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

__all__ = ["DialogSeen", "DownloadSeen", "Events", "PageOpened"]

MOST = 20
"""Of each kind, between two answers: a page that opens dialogs for ever must not fill an answer."""


@dataclass(frozen=True, slots=True)
class PageOpened:
    page_id: str
    url: str


@dataclass(frozen=True, slots=True)
class DialogSeen:
    """`page_id` is empty where a page opened it before there was an id for the page."""

    page_id: str
    type: str
    message: str
    default_value: str
    handled: Literal["accepted", "dismissed", "open"]


@dataclass(frozen=True, slots=True)
class DownloadSeen:
    """`path` is the file, `failure` what went wrong instead."""

    suggested_filename: str
    url: str
    path: Path | None
    failure: str | None


@dataclass(slots=True)
class Events:
    """Gathered until somebody takes them; past the limit the oldest go.

    `closed` are the ids of the pages that closed themselves, or had to be closed: their script did not end.
    """

    pages: list[PageOpened] = field(default_factory=list[PageOpened])
    dialogs: list[DialogSeen] = field(default_factory=list[DialogSeen])
    downloads: list[DownloadSeen] = field(default_factory=list[DownloadSeen])
    closed: list[str] = field(default_factory=list[str])

    def take(self) -> Events:
        taken = Events(self.pages[-MOST:], self.dialogs[-MOST:], self.downloads[-MOST:], self.closed[-MOST:])
        self.pages, self.dialogs, self.downloads, self.closed = [], [], [], []
        return taken
