"""The evidence that collectors have gathered about a page: findings, facts, figures and pictures."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.finding_lists import add_finding, is_part, rank, with_boxes, with_place
from footlight.audit.evidence.page_source import PageSource
from footlight.audit.evidence.pictures import PageScreenshot
from footlight.audit.findings import Element, ElementBox, Fact, Finding, ScreenPicture, Skipped
from footlight.audit.page.page import AuditViewport
from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import an_object, text

__all__ = ["GatheredEvidence", "describe_failure"]

logger = logging.getLogger(__name__)

MAX_PICTURES = 3
"""How many elements of a finding have pictures."""


@dataclass
class GatheredEvidence:
    """The evidence collected so far. A problem that occurs at several widths is one finding."""

    findings: list[Finding] = field(default_factory=list[Finding])
    to_check: list[Finding] = field(default_factory=list[Finding])
    facts: list[Fact] = field(default_factory=list[Fact])
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    pictures: dict[int, PageScreenshot] = field(default_factory=dict[int, PageScreenshot])
    """The screenshots by width."""

    @property
    def status(self) -> int | None:
        """The HTTP status that the browser recorded, for servers that do not report it."""
        return int(self.metrics["status"]) if "status" in self.metrics else None

    def copy(self) -> GatheredEvidence:
        """Return a copy to which nothing is added. It shares the pictures."""
        return GatheredEvidence(
            [*self.findings],
            [*self.to_check],
            [*self.facts],
            dict(self.metrics),
            [*self.skipped],
            self.pictures,
        )

    def add(self, collected: Collected, view: AuditViewport) -> None:
        if collected.picture is not None:
            self.pictures[view.width] = collected.picture
        for known, found in ((self.findings, collected.findings), (self.to_check, collected.to_check)):
            for each in found:
                add_finding(known, each)
        if collected.boxes is not None:
            for known in (self.findings, self.to_check):
                known[:] = [with_boxes(each, collected.boxes, view) for each in known]
        self.skipped.extend(collected.skipped)
        self.facts.extend(collected.facts)
        self.metrics |= collected.metrics

    def skip(self, what: str, error: Exception) -> None:
        if isinstance(error, MCPError):
            logger.warning("%s failed: %s", what, error)
        else:
            logger.error("%s failed", what, exc_info=error)
        self.skipped.append(Skipped(what=what, why=describe_failure(error)))

    def merge(self, other: GatheredEvidence) -> None:
        """Add what was measured at another width."""
        for known, found in ((self.findings, other.findings), (self.to_check, other.to_check)):
            for each in found:
                add_finding(known, each)
        self.facts.extend(other.facts)
        self.metrics |= other.metrics
        self.skipped.extend(other.skipped)
        self.pictures |= other.pictures

    def number_findings(self) -> list[Finding]:
        return [
            replace(each, id=f"F{number}") for number, each in enumerate(sorted(self.findings, key=rank), 1)
        ]

    def number_checks(self) -> list[Finding]:
        return [
            replace(each, id=f"C{number}") for number, each in enumerate(sorted(self.to_check, key=rank), 1)
        ]

    def add_places(self, source: str) -> None:
        """Add their line and column in the source to the elements of all findings."""
        page = PageSource(source)
        for known in (self.findings, self.to_check):
            known[:] = [
                replace(each, elements=[with_place(element, page) for element in each.elements])
                for each in known
            ]

    def add_pictures(
        self, findings: list[Finding], views: Sequence[AuditViewport]
    ) -> Sequence[ScreenPicture]:
        """Add pictures to the first elements of each finding, and return the marked screenshots."""
        marks: dict[int, list[tuple[str, ElementBox]]] = {}
        for place, finding in enumerate(findings):
            for element in finding.elements:
                if is_part(element) and element.box is not None and element.width is not None:
                    marks.setdefault(element.width, []).append((finding.id, element.box))
            findings[place] = self.with_pictures(finding)
        return [
            shot
            for view in views
            if view.width in self.pictures
            for shot in self.pictures[view.width].first_screen(marks.get(view.width, ()), view)
        ]

    def with_pictures(self, finding: Finding) -> Finding:
        """Return the finding with pictures of its first elements."""
        pictured = [self.add_picture(element) for element in finding.elements[:MAX_PICTURES]]
        return replace(finding, elements=[*pictured, *finding.elements[MAX_PICTURES:]])

    def add_picture(self, element: Element) -> Element:
        if element.box is None or element.width not in self.pictures or not is_part(element):
            return element
        return replace(element, picture=self.pictures[element.width].cut_out(element.box))


def describe_failure(error: Exception) -> str:
    """Return the message without the advice that a server adds for the callers of its tools."""
    if isinstance(error, MCPError):
        return text(an_object(error.data).get("message")) or error.message
    return f"an internal error: {type(error).__name__}"
