"""Collect the report of a session from the journal of its server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footlight.browser.network.console import MessageFilter
from footlight.browser.network.request_log import LogFilter
from footlight.watch.report.content import Report, ReportMessage, ReportRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footlight.browser.sessions.session import Session
    from footlight.watch.entry import Entry
    from footlight.watch.redaction import Redactor

__all__ = ["collect_messages", "collect_report", "collect_requests"]

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
        for entry in session.log.matching(LogFilter())[-MAX_REQUESTS:]
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
        for message in session.console.matching(MessageFilter())[-MAX_MESSAGES:]
    ]
