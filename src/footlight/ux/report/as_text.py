"""An audit at the end of a command, on a terminal or in the log of a build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from footlight.figures import duration, number_of
from footlight.ux.audited import Audit, PageAudit
from footlight.ux.findings import SEVERITIES
from footlight.ux.report.counts import severities
from footlight.ux.report.placed import Placed, placed
from footlight.ux.report.presentable import plain, presentable
from footlight.ux.report.verdict import UNFINISHED, Verdict, headline, undone
from footlight.ux.shortened import shortened

__all__ = ["as_text"]

MOST_FINDINGS = 20
WIDTH = 100
_MOST_UNDONE = 10
_LEAST = 20
"""Characters, of whatever is cut to the width."""


def as_text(
    audit: Audit, *, verdict: Verdict | None = None, most: int = MOST_FINDINGS, width: int = WIDTH
) -> Sequence[str]:
    """Lines without colours: each page, then `most` findings at most, the worst first, each on its line."""
    audit = presentable(audit)
    return [line.rstrip() for line in _lines(audit, verdict, most, width)]


def _lines(audit: Audit, verdict: Verdict | None, most: int, width: int) -> Iterator[str]:
    yield headline(audit)
    if audit.finished_ms is None:
        yield UNFINISHED
    yield ""
    yield from _pages(audit.pages, width)
    found = placed(audit)
    if found:
        yield ""
        yield from (_finding(each, len(audit.pages) > 1, width) for each in found[:most])
    if len(found) > most:
        yield f"… and {len(found) - most:,} more in the report"
    yield from _not_done(audit, width)
    if verdict is not None:
        yield ""
        yield from plain(verdict.text).splitlines()


def _pages(pages: Sequence[PageAudit], width: int) -> Iterator[str]:
    rows = [("", "Page", "State", *(severity.capitalize() for severity in SEVERITIES), "Time")]
    for number, page in enumerate(pages, 1):
        counts = [str(count) for count in severities(page.findings).values()]
        rows.append((str(number), shortened(page.url), page.status, *counts, duration(page.duration_ms)))
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sizes[1] = min(sizes[1], max(_LEAST, width - sum(sizes) + sizes[1] - 2 * (len(sizes) - 1)))
    for number, url, status, *figures in rows:
        left = f"{number:>{sizes[0]}}  {shortened(url, sizes[1]):<{sizes[1]}}  {status:<{sizes[2]}}"
        yield "  ".join([left, *(f"{each:>{size}}" for each, size in zip(figures, sizes[3:], strict=True))])


def _finding(placed: Placed, many: bool, width: int) -> str:
    finding = placed.finding
    where = f"{placed.number}:{finding.id}" if many else finding.id
    selector = finding.elements[0].selector if finding.elements else ""
    more = f"{number_of(finding.count, 'element')}: {selector}" if finding.count > 1 else selector
    by = f"for {finding.persona}" if finding.persona else ""
    told = " · ".join(filter(None, (finding.title, by, more)))
    start = f"{finding.severity:<8}  {where:<5}  {shortened(finding.rule, 28):<28}  "
    return start + shortened(told, max(_LEAST, width - len(start)))


def _not_done(audit: Audit, width: int) -> Iterator[str]:
    missing = undone(audit)
    if missing:
        yield ""
        yield "Not done:"
    for number, what, why in missing[:_MOST_UNDONE]:
        page = f"page {number}, " if len(audit.pages) > 1 else ""
        yield f"  {shortened(f'{page}{what}: {why}', max(_LEAST, width - 2))}"
    if len(missing) > _MOST_UNDONE:
        yield f"  … and {len(missing) - _MOST_UNDONE:,} more in the report"
