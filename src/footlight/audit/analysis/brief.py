"""Describe the evidence for a model: a line for each finding and fact, with the id to cite. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from footlight.audit.findings import Element, Evidence, Fact, Finding
from footlight.audit.page.page_text import shorten
from footlight.audit.results import Walk, WalkStep

__all__ = ["describe_evidence", "describe_walks"]

CHARACTERS = 12_000
MAX_LINE_LENGTH = 400
MAX_FACT_LENGTH = 600
MAX_STEP_LENGTH = 160
MAX_ELEMENTS = 2


def describe_evidence(evidence: Evidence, *, characters: int = CHARACTERS) -> str:
    """Return the findings, the worst first, then the facts.

    If that is too long, the elements of the mildest findings are left out, then their titles. Ids stay, so
    that each finding can be cited.
    """
    head = [
        f"Page: {evidence.url} · {evidence.title} · status {evidence.status or 'unknown'}",
        f"Measured at {', '.join(str(width) for width in evidence.widths)} px",
        *_measures(evidence),
        *(f"Not measured: {each.what}: {each.why}" for each in evidence.skipped),
        "Findings, measured:",
    ]
    facts = ["Facts:", *map(_fact, evidence.facts)]
    room = characters - sum(len(line) + 1 for line in (*head, *facts))
    return "\n".join((*map(_line, head), *_fit_findings(evidence.findings, room), *facts))


def describe_walks(walks: Sequence[Walk]) -> str:
    return "\n".join(line for walk in walks for line in _walk(walk)) or "No walks."


def _measures(evidence: Evidence) -> Iterator[str]:
    if evidence.metrics:
        yield "Measured: " + ", ".join(f"{name} {value:g}" for name, value in evidence.metrics.items())


def _fact(fact: Fact) -> str:
    return shorten(f"{fact.id} {fact.topic}: {fact.text}", MAX_FACT_LENGTH)


def _fit_findings(findings: Sequence[Finding], room: int) -> Sequence[str]:
    """Return as many of the worst findings in full as fit, and the others in short."""
    if not findings:
        return ("none",)
    full, short, names = (
        [form(each) for each in findings] for form in (_describe_with_elements, _describe_briefly, _name)
    )
    for forms in ((full, short), (short, names)):
        for full_count in range(len(findings), -1, -1):
            lines = [*forms[0][:full_count], *forms[1][full_count:]]
            if sum(len(line) + 1 for line in lines) <= room:
                return lines
    return names


def _describe_with_elements(finding: Finding) -> str:
    where = "; ".join(_element(each) for each in finding.elements[:MAX_ELEMENTS])
    return _line(_describe_briefly(finding) + (f" · {where}" if where else ""))


def _describe_briefly(finding: Finding) -> str:
    count = f" ×{finding.count}" if finding.count > 1 else ""
    return _line(f"{finding.id} {finding.severity} {finding.rule}{count}: {finding.title}")


def _name(finding: Finding) -> str:
    return f"{finding.id} {finding.severity} {finding.rule}"


def _element(element: Element) -> str:
    parts = [element.selector, f'"{element.text}"' if element.text else "", element.note]
    return " ".join(filter(None, parts))


def _walk(walk: Walk) -> Iterable[str]:
    yield _line(f"{walk.persona}, goal: {walk.goal}")
    for step in walk.steps:
        yield "  " + shorten(_step(step), MAX_STEP_LENGTH)
    ended = " · ".join(filter(None, (walk.where, walk.why)))
    yield "  " + _line(f"{walk.outcome}{f': {ended}' if ended else ''}")


def _step(step: WalkStep) -> str:
    return f"{step.id} {step.tool} {step.input} → {'' if step.ok else 'failed: '}{step.answer}"


def _line(text: str) -> str:
    return shorten(text, MAX_LINE_LENGTH)
