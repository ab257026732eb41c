"""Collect the content of a report from the journal of a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footlight.browser.network.console import MessageFilter
from footlight.browser.network.request_log import LogFilter
from footlight.watch.entry import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footlight.browser.sessions.session import Session
    from footlight.watch.entry import Entry
    from footlight.watch.redaction import Redactor

__all__ = [
    "Report",
    "ReportMessage",
    "ReportRequest",
    "collect_messages",
    "collect_report",
    "collect_requests",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """A request that a page sent. `at_ms` is in milliseconds since the epoch."""

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
    """The report of a session. All of its texts are masked."""

    title: str
    entries: Sequence[Entry]
    requests: Sequence[ReportRequest] = ()
    messages: Sequence[ReportMessage] = ()
    notes: Sequence[str] = ()
    """Notes about the report itself, such as parts that are left out."""


MAX_REQUESTS = 300
MAX_MESSAGES = 200
MAX_URL = 500


def collect_report(
    session_id: str,
    entries: Sequence[Entry],
    requests: Sequence[ReportRequest],
    messages: Sequence[ReportMessage],
) -> Report:
    notes = ["The report does not contain text that was typed into fields."]
    if len(requests) == MAX_REQUESTS:
        notes.append(f"Only the latest {MAX_REQUESTS} requests are shown.")
    return Report(
        title=f"Session {session_id}", entries=entries, requests=requests, messages=messages, notes=notes
    )


def collect_requests(session: Session, redactor: Redactor) -> list[ReportRequest]:
    """Return the latest requests of a session, oldest first."""
    return [
        ReportRequest(
            method=entry.method,
            url=redactor.text(entry.url, MAX_URL),
            status=entry.status,
            kind=entry.resource_type,
            at_ms=entry.started_at,
            duration_ms=entry.duration,
            failure=redactor.text(entry.failure or ""),
        )
        for entry in session.log.select(LogFilter())[-MAX_REQUESTS:]
    ]


def collect_messages(session: Session, redactor: Redactor) -> list[ReportMessage]:
    """Return the latest known console messages of a session, oldest first."""
    return [
        ReportMessage(
            level=message.level,
            text=redactor.text(message.text),
            source=redactor.text(message.source, MAX_URL),
            count=message.count,
        )
        for message in session.console.select(MessageFilter())[-MAX_MESSAGES:]
    ]
