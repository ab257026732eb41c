"""Keep the findings of a page in one list: each problem once, with its elements at all widths."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace

from footlight.audit.evidence.page_source import PageSource
from footlight.audit.findings import SEVERITIES, Element, ElementBox, Finding
from footlight.audit.page.page import AuditedPage, AuditViewport
from footlight.protocol.errors import MCPError

__all__ = ["add_finding", "add_refs", "is_part", "rank", "with_boxes", "with_place"]

logger = logging.getLogger(__name__)

MAX_REFS = 40
_AT_WIDTH = re.compile(r"(.*) at (\d[\d, and]*) px")


def add_finding(findings: list[Finding], found: Finding) -> None:
    place = next((n for n, each in enumerate(findings) if _is_same(each, found)), None)
    if place is None:
        findings.append(found)
    else:
        findings[place] = _merge_findings(findings[place], found)


def _is_same(one: Finding, other: Finding) -> bool:
    """Return whether two findings are the same problem, seen at different widths."""
    return (one.rule, one.severity, one.title) == (other.rule, other.severity, other.title)


def _merge_findings(one: Finding, other: Finding) -> Finding:
    known = {each.selector for each in one.elements}
    added = [each for each in other.elements if each.selector not in known]
    return replace(
        one,
        elements=[*one.elements, *added],
        count=max(one.count, other.count, len(known) + len(added)),
        measured_by=_merge_methods(one.measured_by, other.measured_by),
    )


def _merge_methods(one: str, other: str) -> str:
    """Return `the boxes at 1280 and 360 px` for `the boxes at 1280 px` and `the boxes at 360 px`."""
    first, second = _AT_WIDTH.fullmatch(one), _AT_WIDTH.fullmatch(other)
    if one == other:
        return one
    if first is None or second is None or first[1] != second[1]:
        return f"{one}; {other}"
    return f"{first[1]} at {first[2].replace(' and ', ', ')} and {second[2]} px"


def with_boxes(finding: Finding, boxes: Mapping[int, ElementBox], view: AuditViewport) -> Finding:
    """Return the finding with the boxes that its elements had when the screenshot was taken."""
    elements = [
        replace(each, box=boxes.get(each.handle), handle=None)
        if each.handle is not None and each.width == view.width
        else each
        for each in finding.elements
    ]
    return replace(finding, elements=elements)


def with_place(element: Element, source: PageSource) -> Element:
    place = source.find(element.html) if " >> " not in element.selector else None
    return element if place is None else replace(element, line=place.line, column=place.column)


def is_part(element: Element) -> bool:
    """Return whether the element is a part of the page rather than the whole."""
    return element.selector not in ("html", "body")


def rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


async def add_refs(findings: list[Finding], page: AuditedPage) -> None:
    """Add the server's ref to the first element of each finding, so that a model can act on it."""
    refs: dict[str, str | None] = {}
    for place, finding in enumerate(findings[:MAX_REFS]):
        if finding.elements and (selector := finding.elements[0].selector):
            first, *others = finding.elements
            try:
                if selector not in refs:
                    refs[selector] = await page.find_ref(selector)
            except MCPError as error:
                logger.info("no ref for %s: %s", selector, error)
            else:
                findings[place] = replace(finding, elements=[replace(first, ref=refs[selector]), *others])
