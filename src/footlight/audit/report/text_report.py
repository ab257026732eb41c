"""Render an audit as text for a terminal or the log of a build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from footlight.audit.findings import SEVERITIES, count_severities
from footlight.audit.page.page_text import shorten
from footlight.audit.report.presentable import make_plain, make_presentable
from footlight.audit.report.summary import (
    UNFINISHED,
    ListedFinding,
    find_arrival,
    group_by_rule,
    headline,
    list_findings,
    list_to_check,
    list_undone,
)
from footlight.audit.results import Audit, PageAudit
from footlight.audit.thresholds import Verdict
from footlight.figures import format_count, format_duration

__all__ = ["render_text"]

MAX_FINDINGS = 20
WIDTH = 100
_MAX_UNDONE = 10
_MIN_LENGTH = 20
"""The minimum number of characters of a text that is cut to the width."""


def render_text(
    audit: Audit, *, verdict: Verdict | None = None, most: int = MAX_FINDINGS, width: int = WIDTH
) -> Sequence[str]:
    """Return plain lines: a table of the pages, then up to `most` findings, the worst first."""
    audit = make_presentable(audit)
    return [line.rstrip() for line in _render_lines(audit, verdict, most, width)]


def _render_lines(audit: Audit, verdict: Verdict | None, most: int, width: int) -> Iterator[str]:
    yield headline(audit)
    if audit.finished_ms is None:
        yield UNFINISHED
    yield ""
    yield from _render_pages(audit.pages, width)
    rules = group_by_rule(list_findings(audit))
    if rules:
        yield ""
        yield from (_render_rule(each, width) for each in rules[:most])
    if len(rules) > most:
        yield f"… and {sum(map(len, rules[most:])):,} more in the report"
    if checks := list_to_check(audit):
        yield ""
        yield f"{format_count(len(checks), 'rule')} to check by hand, listed in the reports"
    yield from _render_not_done(audit, width)
    if verdict is not None:
        yield ""
        yield from make_plain(verdict.text).splitlines()


def _render_pages(pages: Sequence[PageAudit], width: int) -> Iterator[str]:
    rows = [("", "Page", "State", *(severity.capitalize() for severity in SEVERITIES), "Time")]
    for number, page in enumerate(pages, 1):
        counts = [str(count) for count in count_severities(page.findings).values()]
        rows.append((str(number), shorten(page.url), page.status, *counts, format_duration(page.duration_ms)))
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sizes[1] = min(sizes[1], max(_MIN_LENGTH, width - sum(sizes) + sizes[1] - 2 * (len(sizes) - 1)))
    arrivals = [None, *(find_arrival(page) for page in pages)]
    for (number, url, status, *figures), arrival in zip(rows, arrivals, strict=True):
        first_columns = f"{number:>{sizes[0]}}  {shorten(url, sizes[1]):<{sizes[1]}}  {status:<{sizes[2]}}"
        yield "  ".join(
            [first_columns, *(f"{each:>{size}}" for each, size in zip(figures, sizes[3:], strict=True))]
        )
        if arrival:
            yield f"{'':{sizes[0]}}  measured at {shorten(arrival, max(_MIN_LENGTH, width - sizes[0] - 14))}"


def _render_rule(group: Sequence[ListedFinding], width: int) -> str:
    finding = group[0].finding
    selector = finding.elements[0].selector if finding.elements else ""
    count = sum(each.finding.count for each in group)
    more = f"{format_count(count, 'element')}: {selector}" if count > 1 else selector
    by = f"for {finding.persona}" if finding.persona else ""
    pages = len({each.number for each in group})
    on = f"on {format_count(pages, 'page')}" if pages > 1 else ""
    description = " · ".join(filter(None, (finding.title, by, on, more)))
    start = f"{finding.severity:<8}  {group[0].name:<5}  {shorten(finding.rule, 28):<28}  "
    return start + shorten(description, max(_MIN_LENGTH, width - len(start)))


def _render_not_done(audit: Audit, width: int) -> Iterator[str]:
    missing = list_undone(audit)
    if missing:
        yield ""
        yield "Not done:"
    for number, what, why in missing[:_MAX_UNDONE]:
        page = f"page {number}, " if len(audit.pages) > 1 else ""
        part = shorten(what, max(_MIN_LENGTH, width // 2))  # The reason needs room, too.
        yield f"  {shorten(f'{page}{part}: {why}', max(_MIN_LENGTH, width - 2))}"
    if len(missing) > _MAX_UNDONE:
        yield f"  … and {len(missing) - _MAX_UNDONE:,} more in the report"
