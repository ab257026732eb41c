"""All findings of an audit on one list, and where in it each thing is that can be cited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from footlight.ux.audited import Audit, PageAudit
from footlight.ux.findings import SEVERITIES, Finding, Severity

__all__ = ["Placed", "anchor", "by_severity", "citable", "has_notes", "placed"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding with its page. `number` is the page's, from 1."""

    finding: Finding
    page: PageAudit
    number: int

    @property
    def anchor(self) -> str:
        return anchor(self.number, self.finding.id)


def placed(audit: Audit) -> Sequence[Placed]:
    """By severity, then persona, those of none first; then in the order of the pages."""
    found = [
        Placed(finding, page, number)
        for number, page in enumerate(audit.pages, 1)
        for finding in page.findings
    ]
    return sorted(
        found, key=lambda each: (SEVERITIES.index(each.finding.severity), each.finding.persona or "")
    )


def by_severity(found: Sequence[Placed]) -> Iterator[tuple[Severity, Sequence[Placed]]]:
    """Those severities only of which there are findings."""
    for severity in SEVERITIES:
        if group := [each for each in found if each.finding.severity == severity]:
            yield severity, group


def anchor(number: int, id: str) -> str:
    """Unique in a report, as ids are on their page."""
    return f"page-{number}-{id}"


def has_notes(finding: Finding) -> bool:
    """Whether what was measured of its elements is more than the advice says already."""
    return any(each.note not in finding.advice for each in finding.elements)


def citable(page: PageAudit, number: int) -> Mapping[str, str]:
    """The ids of the page's evidence, each with its anchor."""
    facts = page.evidence.facts if page.evidence else ()
    steps = [step for walk in page.walks for step in walk.steps]
    return {each.id: anchor(number, each.id) for each in (*page.findings, *facts, *steps) if each.id}
