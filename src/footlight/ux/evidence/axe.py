"""The rules of axe-core, which are those of WCAG 2.2 that code can decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from footlight.client.loose import an_object, integer, items, text
from footlight.ux.evidence.collector import Collected
from footlight.ux.evidence.scripts import count_of, elements_of, script
from footlight.ux.findings import Fact, Finding, Severity
from footlight.ux.page import AuditedPage, View

__all__ = ["AxeRules"]

MOST_WAYS = 3
"""That an advice tells, of those that would satisfy a rule."""

_IMPACTS: Mapping[str, Severity] = {
    "critical": "critical",
    "serious": "high",
    "moderate": "medium",
    "minor": "low",
}


class AxeRules:
    """The document, open shadow roots, frames of the same origin. `version` is axe-core's, once it ran.

    At other widths than the first only the rules for which a width matters: contrast, and targets' size.
    """

    name = "axe-core's rules"
    every_view = True

    def __init__(self) -> None:
        self.version: str | None = None
        self._first: View | None = None

    async def collect(self, page: AuditedPage, view: View) -> Collected:
        self._first = self._first or view
        again = "true" if view != self._first else "false"
        told = an_object(await page.evaluate(script("axe", before=f"{_axe()}const AGAIN = {again};")))
        self.version = text(told.get("version"))
        how = f"axe-core {self.version} at {view.width} px"
        return Collected(
            findings=[_finding(an_object(each), view, how) for each in items(told.get("violations"))],
            facts=[Fact(topic="page", text=fact) for fact in _facts(told) if view == self._first],
        )


@cache
def _axe() -> str:
    """A page may have an axe-core of its own, which stays what it is."""
    source = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    return f"""
const pagesOwn = Object.getOwnPropertyDescriptor(window, 'axe');
const axe = (module => {{ let define; {source}; return module.exports; }})({{ exports: {{}} }});
pagesOwn ? Object.defineProperty(window, 'axe', pagesOwn) : delete window.axe;
"""


def _finding(told: Mapping[str, Any], view: View, how: str) -> Finding:
    return Finding(
        rule=f"axe/{text(told.get('id')) or 'unknown'}",
        severity=_IMPACTS.get(text(told.get("impact")) or "", "medium"),
        title=text(told.get("help")) or "",
        advice=_advice(told),
        measured_by=how,
        elements=elements_of(told, view),
        count=count_of(told),
        help_url=text(told.get("helpUrl")),
    )


def _advice(told: Mapping[str, Any]) -> str:
    """What the rule wants, and what would satisfy it at the first element."""
    sentences = [text(told.get("description")) or ""]
    for group in (text(told.get("summary")) or "").split("\n\n"):
        head, *ways = (line.strip() for line in group.splitlines()) if group else ("",)
        sentences.append(f"{head} {'; '.join(ways[:MOST_WAYS])}")
    return " ".join(f"{each.strip().rstrip('.')}." for each in sentences if each.strip())


def _facts(told: Mapping[str, Any]) -> Iterator[str]:
    if closed := integer(told.get("closed")):
        yield (
            f"{closed} frame{'s' * (closed > 1)} of other sites, or closed by their policy, "
            f"{'were' if closed > 1 else 'was'} not looked into."
        )
    if sampled := integer(told.get("sampled")):
        yield f"The page is large, so contrast was measured at {sampled} places, some for each look of text."
    if undecided := [rule for each in items(told.get("undecided")) if (rule := text(each))]:
        yield f"Rules that code could not decide somewhere, and eyes should: {', '.join(undecided)}."[:600]
