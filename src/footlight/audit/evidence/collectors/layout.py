"""Check at each width whether content fits the screen and is legible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.rule import Rule, findings_of
from footlight.audit.evidence.scripts import find_failed_rules, script
from footlight.audit.findings import Fact
from footlight.audit.page.page import AuditedPage, AuditViewport
from footlight.protocol.untrusted_json import an_object, number

__all__ = ["Layout"]

NARROW = 480
"""Viewports up to this width count as phones, and from `WIDE` on as desktops; in CSS pixels."""
WIDE = 1000
WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"

RULES = (
    Rule(
        id="layout/overflow",
        wcag=("1.4.10 AA",),
        severity="high",
        title="The page is wider than the screen",
        advice="Let it shrink: max-width: 100% for images and tables, wrapping for rows, no fixed widths in "
        "pixels; and a place of its own to scroll for what must stay wide.",
        help_url=f"{WCAG}reflow.html",
    ),
    Rule(
        id="layout/overlap",
        severity="high",
        title="Texts overlap",
        advice="Let boxes grow with their text instead of giving them a height or a place in pixels.",
    ),
    Rule(
        id="layout/cut-off",
        wcag=("1.4.4 AA",),
        severity="medium",
        title="Text is cut off",
        advice="Let the text wrap and its box grow, or show with an ellipsis that there is more and where.",
        help_url=f"{WCAG}resize-text.html",
    ),
    Rule(
        id="layout/no-viewport",
        severity="high",
        title="On a phone the whole page is shown tiny",
        advice='Add <meta name="viewport" content="width=device-width, initial-scale=1">.',
        help_url="https://developer.mozilla.org/docs/Web/HTML/Guides/Viewport_meta_element",
    ),
    Rule(
        id="layout/fixed-viewport",
        severity="medium",
        title="On a phone the page is laid out at a fixed width",
        advice="Say width=device-width in the viewport's <meta>, so that each phone has its own.",
        help_url="https://developer.mozilla.org/docs/Web/HTML/Guides/Viewport_meta_element",
    ),
    Rule(
        id="layout/no-zoom",
        wcag=("1.4.4 AA",),
        act=("b4f0c3",),
        severity="high",
        title="A word in the viewport's <meta> prevents zooming",
        advice="Take user-scalable and maximum-scale away: browsers read a word they do not know as 0.",
        help_url=f"{WCAG}resize-text.html",
    ),
    Rule(
        id="layout/fixed-bars",
        severity="medium",
        title="Fixed content takes much of a phone's screen",
        advice="Let bars scroll away with the page on small screens, or make them lower.",
    ),
    Rule(
        id="layout/tiny-text",
        severity="medium",
        title="Text is too small to read",
        advice="Give it at least 12 px, and running text 16.",
    ),
    Rule(
        id="layout/small-text",
        severity="low",
        title="Text is small",
        advice="Give it at least 12 px, and running text 16.",
    ),
    Rule(
        id="layout/field-zoom",
        severity="low",
        title="Phones zoom into the page when a field is tapped",
        advice="Give fields a font size of at least 16 px on small screens.",
    ),
    Rule(
        id="layout/stretched-image",
        severity="low",
        title="Images are stretched out of their proportion",
        advice="Set only one side and leave the other auto, or use object-fit: cover or contain.",
    ),
    Rule(
        id="layout/long-lines",
        wcag=("1.4.8 AAA",),
        severity="low",
        title="Lines are too long to find the next one",
        advice="Limit the width of running text, for example to 70ch.",
        help_url=f"{WCAG}visual-presentation.html",
    ),
)


class Layout:
    """Check the layout, except target size and contrast, which axe-core checks."""

    name = "the layout"
    every_view = True

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        narrow, wide = _javascript_boolean(view.width <= NARROW), _javascript_boolean(view.width >= WIDE)
        settings = f"const NARROW = {narrow}, WIDE = {wide};"
        answer = an_object(await page.evaluate(script("layout_text", "layout", before=settings)))
        how = f"the boxes of elements and their lines at {view.width} px"
        return Collected(
            findings=findings_of(RULES, answer, view, how),
            facts=[Fact(topic="layout", text=_describe_size(answer, view))],
            skipped=find_failed_rules(answer, self.name),
        )


def _javascript_boolean(value: bool) -> str:
    return str(value).lower()


def _describe_size(answer: Mapping[str, Any], view: AuditViewport) -> str:
    parts = [f"At {view.width} px the page is {number(answer.get('screens')) or 0:g} screens high"]
    smallest, staying = number(answer.get("smallest")), number(answer.get("staying"))
    if smallest is not None:
        parts.append(f"its smallest text {smallest:g} px")
    if staying:
        parts.append(f"{staying:g} % of the screen stay in their place")
    return ", ".join(parts) + "."
