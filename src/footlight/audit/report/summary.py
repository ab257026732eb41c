"""Summarise an audit: its headline, counts, and findings in the order of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from footlight.audit.findings import SEVERITIES, Finding, Severity, count_severities, describe_counts
from footlight.audit.results import Audit, PageAudit
from footlight.figures import format_count, join_with_and

__all__ = [
    "MEANINGS",
    "UNFINISHED",
    "ListedFinding",
    "anchor",
    "citable_anchors",
    "describe_criteria",
    "find_arrival",
    "group_by_rule",
    "group_by_severity",
    "has_notes",
    "headline",
    "list_findings",
    "list_to_check",
    "list_undone",
]


UNFINISHED = "This audit is not finished. It shows the results so far."

MEANINGS: Mapping[Severity, str] = {
    "critical": "blocks the reader",
    "high": "causes great difficulty",
    "medium": "slows the reader down",
    "low": "is a nuisance",
}


def find_arrival(page: PageAudit) -> str | None:
    """Return the URL of the measured page, or None if it is the requested one."""
    url = page.evidence.url if page.evidence else page.url
    return None if url.rstrip("/") == page.url.rstrip("/") else url


def headline(audit: Audit) -> str:
    """Return `2 critical and 3 high findings on 2 pages, of which 1 failed`."""
    failed = sum(page.status == "failed" for page in audit.pages)
    if failed == len(audit.pages):
        return "No page could be measured" if failed else "No page was measured"
    counts = describe_counts(count_severities(finding for page in audit.pages for finding in page.findings))
    pages = f" on {format_count(len(audit.pages), 'page')}" if len(audit.pages) > 1 else ""
    return f"{counts[0].upper()}{counts[1:]}{pages}{f', of which {failed} failed' if failed else ''}"


def list_undone(audit: Audit) -> Sequence[tuple[int, str, str]]:
    """Return what was not done: the number of the page, the parts with the same reason, and the reason."""
    parts: dict[tuple[int, str], list[str]] = {}
    for number, page in enumerate(audit.pages, 1):
        for what, why in _list_undone_parts(page):
            parts.setdefault((number, why), []).append(what)
    return [(number, join_with_and(dict.fromkeys(whats)), why) for (number, why), whats in parts.items()]


def _list_undone_parts(page: PageAudit) -> Iterator[tuple[str, str]]:
    if page.error:
        yield "the whole page", page.error
    for each in (*(page.evidence.skipped if page.evidence else ()), *page.skipped):
        yield each.what, each.why
    for each in page.dropped:
        yield f"a finding of the model: {each.title}", each.why


@dataclass(frozen=True, slots=True)
class ListedFinding:
    """A finding with its page. `number` is the number of the page, from 1.

    `name` is the id of the finding, with the number of the page before it if there are several pages: `2:F1`.
    """

    finding: Finding
    page: PageAudit
    number: int
    name: str

    @property
    def anchor(self) -> str:
        return anchor(self.number, self.finding.id)


def list_findings(audit: Audit) -> Sequence[ListedFinding]:
    """Return the findings by severity, then persona, then page. Findings without a persona come first."""
    found = [each for number in range(len(audit.pages)) for each in _list_page(audit, number, check=False)]
    return sorted(
        found, key=lambda each: (SEVERITIES.index(each.finding.severity), each.finding.persona or "")
    )


def list_to_check(audit: Audit) -> Sequence[ListedFinding]:
    """Return what code could not decide, page by page."""
    return [each for number in range(len(audit.pages)) for each in _list_page(audit, number, check=True)]


def _list_page(audit: Audit, place: int, *, check: bool) -> Iterator[ListedFinding]:
    page = audit.pages[place]
    number = place + 1
    prefix = f"{number}:" if len(audit.pages) > 1 else ""
    to_check = page.evidence.to_check if page.evidence else ()
    for each in to_check if check else page.findings:
        yield ListedFinding(each, page, number, f"{prefix}{each.id}")


def group_by_rule(found: Iterable[ListedFinding]) -> Sequence[Sequence[ListedFinding]]:
    """Return the findings in groups of one rule on several pages, in the order of their first findings.

    Each finding of a model is a group of its own: two with the same rule are different problems. So are two
    findings on the same page.
    """
    groups: dict[tuple[object, ...], list[ListedFinding]] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for each in found:
        finding = each.finding
        key = (finding.rule, finding.severity, finding.title, finding.persona)
        own = (each.number,) if finding.source == "judged" else ()
        seen[(each.number, *key)] += 1
        groups.setdefault((seen[(each.number, *key)], *key, *own), []).append(each)
    return [*groups.values()]


def describe_criteria(finding: Finding) -> str:
    """Return the success criteria and ACT rules of a finding: `WCAG 2.1.2 A, ACT 80af7b`."""
    unrelated = "no WCAG criterion" if finding.source == "measured" else ""
    wcag = f"WCAG {', '.join(finding.wcag)}" if finding.wcag else unrelated
    act = f"ACT {', '.join(finding.act)}" if finding.act else ""
    return ", ".join(filter(None, (wcag, act)))


def group_by_severity(found: Sequence[ListedFinding]) -> Iterator[tuple[Severity, Sequence[ListedFinding]]]:
    """Yield each severity that has findings, with these findings."""
    for severity in SEVERITIES:
        if group := [each for each in found if each.finding.severity == severity]:
            yield severity, group


def anchor(number: int, id: str) -> str:
    """Return an anchor that is unique in the report."""
    return f"page-{number}-{id}"


def has_notes(finding: Finding) -> bool:
    """Return whether the notes of the elements add anything to the advice."""
    return any(each.note not in finding.advice for each in finding.elements)


def citable_anchors(page: PageAudit, number: int) -> Mapping[str, str]:
    """Return the anchors of the page's evidence by id."""
    facts = page.evidence.facts if page.evidence else ()
    steps = [step for walk in page.walks for step in walk.steps]
    return {each.id: anchor(number, each.id) for each in (*page.findings, *facts, *steps) if each.id}
