"""Findings and their elements, as the answers of the audit tools describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from footlight.audit.findings import Finding
    from footlight.toolsets.browser.auditing.live_page import LivePage

__all__ = [
    "MAX_ELEMENTS",
    "AuditFinding",
    "AuditedElement",
    "describe_element",
    "describe_finding",
    "shorten",
]

MAX_ELEMENTS = 3
MAX_TEXT = 200


class AuditedElement(TypedDict):
    """`ref` can be used as a selector."""

    selector: str
    ref: NotRequired[str]
    note: NotRequired[str]


class AuditFinding(TypedDict):
    """`id` is for `recheck`. `count` is the number of all elements, and `elements` has the first."""

    id: str
    rule: str
    severity: Literal["critical", "high", "medium", "low"]
    title: str
    count: int
    elements: list[AuditedElement]
    wcag: NotRequired[list[str]]
    advice: NotRequired[str]
    helpUrl: NotRequired[str]


async def describe_finding(page: LivePage, finding: Finding, *, whole: bool = False) -> AuditFinding:
    """Return a finding for an answer, with the advice and all of its elements if it is `whole`."""
    elements = finding.elements if whole else finding.elements[:MAX_ELEMENTS]
    described = [await describe_element(page, each.selector, each.note, each.ref) for each in elements]
    place = described[0].get("ref") or described[0]["selector"] if described else ""
    result: AuditFinding = {
        "id": f"{finding.rule}@{place}" if place else finding.rule,
        "rule": finding.rule,
        "severity": finding.severity,
        "title": finding.title,
        "count": finding.count,
        "elements": described,
    }
    if finding.wcag:
        result["wcag"] = [*finding.wcag]
    if whole:
        result["advice"] = finding.advice
        if finding.help_url:
            result["helpUrl"] = finding.help_url
    return result


async def describe_element(
    page: LivePage, selector: str, note: str, ref: str | None = None
) -> AuditedElement:
    described: AuditedElement = {"selector": selector}
    if ref := ref or await page.find_ref(selector):
        described["ref"] = ref
    if note:
        described["note"] = shorten(note)
    return described


def shorten(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
