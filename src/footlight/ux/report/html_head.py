"""The head of the page: what the audit comes to, how much of what was found, and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from footlight.figures import at, duration, number_of
from footlight.markup import Html, element
from footlight.ux.audited import Audit, PageAudit
from footlight.ux.report.counts import severities
from footlight.ux.report.html_parts import facts, page_title
from footlight.ux.report.presentable import plain
from footlight.ux.report.verdict import MEANINGS, UNFINISHED, Verdict, headline

__all__ = ["header", "title"]


def title(audit: Audit) -> str:
    told = [page_title(page) for page in audit.pages[:1]]
    return " · ".join([f"UX audit: {headline(audit)}", *told])


def header(audit: Audit, verdict: Verdict | None, parts: Sequence[tuple[str, str]]) -> Html:
    """`parts` are those of the page: an anchor and a name each."""
    return element(
        "header",
        element("p", _kind(audit.pages), class_="kind text"),
        element("h1", headline(audit)),
        element("p", UNFINISHED, class_="notice", role="note") if audit.finished_ms is None else None,
        _verdict(verdict) if verdict else None,
        _counts(audit),
        _facts(audit),
        _contents(parts),
    )


def _kind(pages: Sequence[PageAudit]) -> str:
    return f"UX audit of {page_title(pages[0])}" if len(pages) == 1 else "UX audit"


def _verdict(verdict: Verdict) -> Html:
    first, _, others = plain(verdict.text).partition("\n")
    kind = "good" if verdict.passed else "bad"
    return element("p", element("strong", first), "\n", others, class_=f"verdict {kind} text")


def _counts(audit: Audit) -> Html:
    """What a severity means stands with it; where there are findings of it, it leads to them."""
    counts = severities(finding for page in audit.pages for finding in page.findings)
    return element(
        "ul",
        *(
            element(
                "li",
                _led(
                    element("span", f"{count:,}", class_="figure"),
                    element("span", severity, class_="name"),
                    to=f"#{severity}" if count else None,
                ),
                element("span", MEANINGS[severity], class_="quiet"),
                class_=severity if count else "none",
            )
            for severity, count in counts.items()
        ),
        class_="counts",
        aria_label="Findings by severity",
    )


def _led(*content: Any, to: str | None) -> Html:
    parts = (content[0], " ", *content[1:])
    return element("a", *parts, href=to) if to else element("span", *parts, class_="led")


def _facts(audit: Audit) -> Html:
    walks = [walk for page in audit.pages for walk in page.walks]
    judged = sum(finding.source == "judged" for page in audit.pages for finding in page.findings)
    reached = sum(walk.outcome == "reached" for walk in walks)
    made = audit.provenance
    return facts(
        (
            ("Page", audit.pages[0].url if len(audit.pages) == 1 else ""),
            ("Pages", len(audit.pages) if len(audit.pages) > 1 else ""),
            ("Goals reached", f"{reached} of {len(walks)}" if walks else ""),
            (
                "Judged by",
                f"{made.model}, {number_of(judged, 'finding')}" if made.model else "nobody: measured only",
            ),
            ("Began", at(audit.started_ms)),
            ("Took", "" if audit.finished_ms is None else duration(audit.finished_ms - audit.started_ms)),
        ),
        "facts text",
    )


def _contents(parts: Sequence[tuple[str, str]]) -> Html:
    return element(
        "nav",
        element(
            "ul",
            *(element("li", element("a", name, href=f"#{id}")) for id, name in parts),
        ),
        aria_label="Contents",
    )
