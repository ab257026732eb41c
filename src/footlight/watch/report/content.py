"""What a report is made of, wherever it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from footlight.watch.entry import Entry

__all__ = ["Report", "ReportMessage", "ReportRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """A request that a page sent. Times are in milliseconds; `at_ms` is since the epoch."""

    method: str
    url: str
    status: int
    kind: str
    at_ms: float
    duration_ms: float | None
    failure: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.failure) or self.status >= 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMessage:
    """A message in the console of a page."""

    level: str
    text: str
    source: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A session as a report tells it. Everything in it is masked."""

    title: str
    entries: Sequence[Entry]
    requests: Sequence[ReportRequest] = ()
    messages: Sequence[ReportMessage] = ()
    notes: Sequence[str] = ()
    """Sentences about the report itself, such as what it leaves out."""
