"""The evidence as a model is given it: a line for each thing, with the id by which it is cited. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from footlight.ux.audited import Walk, WalkStep
from footlight.ux.findings import Element, Evidence, Fact, Finding
from footlight.ux.shortened import shortened

__all__ = ["brief_of", "walks_told"]

CHARACTERS = 12_000
LONGEST_LINE = 400
LONGEST_FACT = 600
LONGEST_STEP = 160
MOST_ELEMENTS = 2


def brief_of(evidence: Evidence, *, characters: int = CHARACTERS) -> str:
    """Findings, the worst first, then facts. Where that is too long, first the elements of the mildest are
    left out, and at last their titles; ids never, so that each can still be cited."""
    head = [
        f"Page: {evidence.url} · {evidence.title} · status {evidence.status or 'unknown'}",
        f"Seen at {', '.join(str(width) for width in evidence.widths)} px",
        *_measures(evidence),
        *(f"Not measured: {each.what}: {each.why}" for each in evidence.skipped),
        "Findings, measured:",
    ]
    facts = ["Facts:", *map(_fact, evidence.facts)]
    room = characters - sum(len(line) + 1 for line in (*head, *facts))
    return "\n".join((*map(_line, head), *_fitted(evidence.findings, room), *facts))


def walks_told(walks: Sequence[Walk]) -> str:
    return "\n".join(line for walk in walks for line in _walk(walk)) or "Nothing was tried."


def _measures(evidence: Evidence) -> Iterator[str]:
    if evidence.metrics:
        yield "Measured: " + ", ".join(f"{name} {value:g}" for name, value in evidence.metrics.items())


def _fact(fact: Fact) -> str:
    return shortened(f"{fact.id} {fact.topic}: {fact.text}", LONGEST_FACT)


def _fitted(findings: Sequence[Finding], room: int) -> Sequence[str]:
    """As many of the worst as there is room for in full, then in short."""
    if not findings:
        return ("none",)
    full, short, names = ([form(each) for each in findings] for form in (_full, _short, _name))
    for forms in ((full, short), (short, names)):
        for kept in range(len(findings), -1, -1):
            lines = [*forms[0][:kept], *forms[1][kept:]]
            if sum(len(line) + 1 for line in lines) <= room:
                return lines
    return names


def _full(finding: Finding) -> str:
    where = "; ".join(_element(each) for each in finding.elements[:MOST_ELEMENTS])
    return _line(_short(finding) + (f" · {where}" if where else ""))


def _short(finding: Finding) -> str:
    count = f" ×{finding.count}" if finding.count > 1 else ""
    return _line(f"{finding.id} {finding.severity} {finding.rule}{count}: {finding.title}")


def _name(finding: Finding) -> str:
    return f"{finding.id} {finding.severity} {finding.rule}"


def _element(element: Element) -> str:
    said = [element.selector, f'"{element.text}"' if element.text else "", element.note]
    return " ".join(filter(None, said))


def _walk(walk: Walk) -> Iterable[str]:
    yield _line(f"{walk.persona}, goal: {walk.goal}")
    for step in walk.steps:
        yield "  " + shortened(_step(step), LONGEST_STEP)
    ended = " · ".join(filter(None, (walk.where, walk.why)))
    yield "  " + _line(f"{walk.outcome}{f': {ended}' if ended else ''}")


def _step(step: WalkStep) -> str:
    return f"{step.id} {step.tool} {step.input} → {'' if step.ok else 'failed: '}{step.said}"


def _line(text: str) -> str:
    return shortened(text, LONGEST_LINE)
