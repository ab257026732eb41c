"""Run axe-core, whose rules cover the parts of WCAG 2.2 that code can decide."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.scripts import count_of, elements_of, script
from footlight.audit.findings import Element, Fact, Finding, Severity
from footlight.audit.page.page import AuditedPage, AuditViewport
from footlight.protocol.untrusted_json import an_object, integer, items, text

__all__ = ["AxeRules"]

MAX_WAYS = 3
"""How many of the ways to satisfy a rule an advice and a note name, where one of them is enough."""

_IMPACTS: Mapping[str, Severity] = {
    "critical": "critical",
    "serious": "high",
    "moderate": "medium",
    "minor": "low",
}


_SEVERITIES: Mapping[str, Severity] = {
    # Assistive technology ignores such an attribute.
    "aria-allowed-attr": "medium",
    "aria-prohibited-attr": "medium",
    # Of level AAA, which few pages aim at.
    "color-contrast-enhanced": "low",
    "meta-refresh-no-exceptions": "low",
    "th-has-data-cells": "medium",
}
"""Severities of rules whose impact axe-core overstates."""
_ACT: Mapping[str, Sequence[str]] = {
    "aria-prohibited-attr": ("kb1m8s",),
    "landmark-one-main": ("b40fd1",),
}
"""ACT rules that axe-core does not name."""
_TO_CHECK = "axe-core could not decide whether the rule is met. Check these elements by hand."
_LEVELS = {
    **{"wcag2a": "A", "wcag21a": "A", "wcag22a": "A", "wcag2aa": "AA", "wcag21aa": "AA", "wcag22aa": "AA"},
    "wcag2aaa": "AAA",
}
_CRITERION = re.compile(r"wcag(\d)(\d)(\d{1,2})")


class AxeRules:
    """Run axe-core on the document, its open shadow roots and its frames of the same origin.

    `version` is the version of axe-core once it has run. At widths other than the first, only the rules that
    depend on the width run: contrast and target size.
    """

    name = "axe-core's rules"
    every_view = True

    def __init__(self, *, rule: str | None = None) -> None:
        """Create the collector, for all rules or for one (`image-alt`)."""
        self._rule = rule
        self.version: str | None = None
        self.first: AuditViewport | None = None
        """The width at which all rules run. By default, that of the first call."""

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        self.first = self.first or view
        repeats = "true" if view != self.first else "false"
        settings = f"const AGAIN = {repeats}, RULE = {json.dumps(self._rule)}, MAX_WAYS = {MAX_WAYS};"
        answer = an_object(await page.evaluate(script("axe", before=f"{_axe()}{settings}")))
        self.version = text(answer.get("version"))
        how = f"axe-core {self.version} at {view.width} px"
        return Collected(
            findings=[_finding(an_object(each), view, how) for each in items(answer.get("violations"))],
            to_check=[
                replace(_finding(an_object(each), view, how), advice=_TO_CHECK)
                for each in items(answer.get("incomplete"))
            ],
            facts=[Fact(topic="page", text=fact) for fact in _facts(answer) if view == self.first],
        )


@cache
def _axe() -> str:
    """Return the source of axe-core. It leaves a page's own `window.axe` unchanged."""
    source = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    return f"""
const pagesOwn = Object.getOwnPropertyDescriptor(window, 'axe');
const axe = (function (module) {{ let define; {source}; return module.exports; }})({{ exports: {{}} }});
pagesOwn ? Object.defineProperty(window, 'axe', pagesOwn) : delete window.axe;
"""


def _finding(answer: Mapping[str, Any], view: AuditViewport, how: str) -> Finding:
    rule = text(answer.get("id")) or "unknown"
    elements = elements_of(answer, view)
    return Finding(
        rule=f"axe/{rule}",
        severity=_SEVERITIES.get(rule) or _IMPACTS.get(text(answer.get("impact")) or "", "medium"),
        title=text(answer.get("help")) or "",
        advice=_advice(answer, elements),
        measured_by=how,
        elements=elements,
        count=count_of(answer),
        help_url=text(answer.get("helpUrl")),
        wcag=_criteria(answer),
        act=sorted({*_ACT.get(rule, ()), *(id for each in items(answer.get("act")) if (id := text(each)))}),
    )


def _criteria(answer: Mapping[str, Any]) -> Sequence[str]:
    """Return the success criteria of a rule with their level: `1.4.3 AA`."""
    tags = [tag for each in items(answer.get("tags")) if (tag := text(each))]
    level = next((_LEVELS[tag] for tag in tags if tag in _LEVELS), "")
    found = (_CRITERION.fullmatch(tag) for tag in tags)
    return [f"{'.'.join(each.groups())} {level}".strip() for each in found if each]


def _advice(answer: Mapping[str, Any], elements: Sequence[Element]) -> str:
    """Return what the rule requires, and how to satisfy it if that is the same at all described elements."""
    sentences = [text(answer.get("description")) or ""]
    summary = text(answer.get("summary")) or ""
    for group in summary.split("\n\n") if len({each.note for each in elements}) == 1 else ():
        head, *ways = (line.strip() for line in group.splitlines()) if group else ("",)
        sentences.append(f"{head} {'; '.join(ways if ' all ' in head else ways[:MAX_WAYS])}")
    return " ".join(f"{each.strip().rstrip('.')}." for each in sentences if each.strip())


def _facts(answer: Mapping[str, Any]) -> Iterator[str]:
    if closed := integer(answer.get("closed")):
        yield (
            f"{closed} frame{'s' * (closed > 1)} of other sites, or closed by their policy, "
            f"{'were' if closed > 1 else 'was'} not looked into."
        )
    if sampled := integer(answer.get("sampled")):
        yield f"The page is large, so contrast was measured at {sampled} places, some for each look of text."
