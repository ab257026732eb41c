"""The result of a collector in a form that tests can compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from footlight.audit.evidence.collector import Collected, Collector
from footlight.audit.page.page import DESKTOP, AuditedPage

__all__ = ["collect_at", "summarize"]


async def collect_at(url: str, page: AuditedPage, collector: Collector) -> Collected:
    await page.open(url, DESKTOP)
    return await collector.collect(page, DESKTOP)


def summarize(collected: Collected) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the selector and the note of each element, by the rules that have findings."""
    return {
        finding.rule: [(element.selector, element.note) for element in finding.elements]
        for finding in collected.findings
    }
