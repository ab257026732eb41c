"""What a collector gives, in the form in which tests compare it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from footlight.audit.evidence.collector import Collected, Collector
from footlight.audit.page.page import DESKTOP, AuditedPage

__all__ = ["collected_at", "seen"]


async def collected_at(url: str, page: AuditedPage, collector: Collector) -> Collected:
    await page.open(url, DESKTOP)
    return await collector.collect(page, DESKTOP)


def seen(collected: Collected) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Of each rule that found something, each element's selector and note."""
    return {
        finding.rule: [(element.selector, element.note) for element in finding.elements]
        for finding in collected.findings
    }
