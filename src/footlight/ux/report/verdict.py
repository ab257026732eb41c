"""What an audit comes to, in a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from footlight.figures import number_of
from footlight.ux.audited import Audit
from footlight.ux.findings import Severity
from footlight.ux.report.counts import counted, severities

__all__ = ["MEANINGS", "UNFINISHED", "Verdict", "headline", "undone"]

UNFINISHED = "This audit is not finished: what is here is what was found so far."

MEANINGS: Mapping[Severity, str] = {
    "critical": "a reader cannot go on",
    "high": "a reader goes on with great trouble",
    "medium": "a reader is held up",
    "low": "a reader is annoyed",
}


class Verdict(Protocol):
    """Whether thresholds were kept. The first line of the text says it, a line for each of them follows."""

    @property
    def passed(self) -> bool: ...

    @property
    def text(self) -> str: ...


def headline(audit: Audit) -> str:
    """`2 critical and 3 high findings on 2 pages, of which 1 failed`."""
    failed = sum(page.status == "failed" for page in audit.pages)
    if failed == len(audit.pages):
        return "No page could be measured" if failed else "No page was measured"
    told = counted(severities(finding for page in audit.pages for finding in page.findings))
    on = f" on {number_of(len(audit.pages), 'page')}" if len(audit.pages) > 1 else ""
    return f"{told[0].upper()}{told[1:]}{on}{f', of which {failed} failed' if failed else ''}"


def undone(audit: Audit) -> Sequence[tuple[int, str, str]]:
    """The page's number, what was not done, and why."""
    return [
        (number, what, why)
        for number, page in enumerate(audit.pages, 1)
        for what, why in (
            *([("the whole page", page.error)] if page.error else []),
            *((each.what, each.why) for each in (page.evidence.skipped if page.evidence else ())),
            *((each.what, each.why) for each in page.skipped),
            *((f"a finding of the model: {each.title}", each.why) for each in page.dropped),
        )
    ]
