"""Collect the content of a report from the journal of a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    "SessionTraffic",
    "collect_traffic",
    "make_report",
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
MAX_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class SessionTraffic:
    """The latest requests and console messages of a session, oldest first.

    They are masked when somebody reads them, because that takes seconds for a hostile page.
    """

    redactor: Redactor
    requests: Sequence[ReportRequest] = ()
    messages: Sequence[ReportMessage] = ()

    def mask(self) -> tuple[list[ReportRequest], list[ReportMessage]]:
        """Return the masked requests and messages. This runs in a thread."""
        text = self.redactor.text
        requests = [
            replace(each, url=text(each.url, MAX_URL), failure=text(each.failure, MAX_TEXT))
            for each in self.requests
        ]
        messages = [
            replace(each, text=text(each.text, MAX_TEXT), source=text(each.source, MAX_URL))
            for each in self.messages
        ]
        return requests, messages


def collect_traffic(session: Session, redactor: Redactor) -> SessionTraffic:
    """Copy the latest requests and the known console messages of a session, and the secrets known now."""
    requests = [
        ReportRequest(
            method=entry.method,
            url=entry.url,
            status=entry.status,
            kind=entry.resource_type,
            at_ms=entry.started_at,
            duration_ms=entry.duration,
            failure=entry.failure or "",
        )
        for entry in session.log.select(LogFilter())[-MAX_REQUESTS:]
    ]
    messages = [
        ReportMessage(level=message.level, text=message.text, source=message.source, count=message.count)
        for message in session.console.select(MessageFilter())[-MAX_MESSAGES:]
    ]
    return SessionTraffic(redactor.copy(), requests, messages)


def make_report(session_id: str, entries: Sequence[Entry], traffic: SessionTraffic | None) -> Report:
    """Return the report of a session. This runs in a thread, because it masks the traffic."""
    requests, messages = traffic.mask() if traffic else ([], [])
    notes = ["The report does not contain text that was typed into fields."]
    if len(requests) == MAX_REQUESTS:
        notes.append(f"Only the latest {MAX_REQUESTS} requests are shown.")
    return Report(
        title=f"Session {session_id}", entries=entries, requests=requests, messages=messages, notes=notes
    )
