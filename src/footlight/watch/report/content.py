"""The content of a report, which comes from a journal or from a call log."""

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
    """The report of a session. All of it is masked."""

    title: str
    entries: Sequence[Entry]
    requests: Sequence[ReportRequest] = ()
    messages: Sequence[ReportMessage] = ()
    notes: Sequence[str] = ()
    """Notes about the report itself, such as parts that are left out."""
