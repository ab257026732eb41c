"""The rules of axe-core, which are those of WCAG 2.2 that code can decide."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from footlight.client.loose import an_object, items, text
from footlight.ux.evidence.collector import Collected
from footlight.ux.evidence.scripts import count_of, elements_of, script
from footlight.ux.findings import Finding, Severity
from footlight.ux.page import AuditedPage, View

__all__ = ["AxeRules"]

_IMPACTS: Mapping[str, Severity] = {
    "critical": "critical",
    "serious": "high",
    "moderate": "medium",
    "minor": "low",
}


class AxeRules:
    """Main document and open shadow roots. `version` is axe-core's, once it ran."""

    name = "axe-core's rules"
    every_view = False

    def __init__(self) -> None:
        self.version: str | None = None

    async def collect(self, page: AuditedPage, view: View) -> Collected:
        told = an_object(await page.evaluate(script("axe", before=_axe())))
        self.version = text(told.get("version"))
        how = f"axe-core {self.version} at {view.width} px"
        return Collected(
            findings=[_finding(an_object(each), view, how) for each in items(told.get("violations"))]
        )


def _axe() -> str:
    source = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    return f"if (!window.axe) {{\n{source}\n}}"


def _finding(told: Mapping[str, Any], view: View, how: str) -> Finding:
    return Finding(
        rule=f"axe/{text(told.get('id')) or 'unknown'}",
        severity=_IMPACTS.get(text(told.get("impact")) or "", "medium"),
        title=text(told.get("help")) or "",
        advice=text(told.get("description")) or "",
        measured_by=how,
        elements=elements_of(told, view),
        count=count_of(told),
        help_url=text(told.get("helpUrl")),
    )
