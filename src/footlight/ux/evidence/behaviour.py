"""What the page does without being asked: it moves, stands in the way, takes away what browsers can do."""

from __future__ import annotations

from footlight.ux.evidence.collector import Collected
from footlight.ux.evidence.rule import Rule, findings_of
from footlight.ux.evidence.scripts import script
from footlight.ux.page import AuditedPage, View

__all__ = ["Behaviour"]

WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"

RULES = (
    Rule(
        id="page/autoplay",
        severity="medium",
        title="A video plays by itself and cannot be stopped",
        advice="Give it controls or a button to pause it, or let readers start it.",
        help_url=f"{WCAG}pause-stop-hide.html",
    ),
    Rule(
        id="page/endless-motion",
        severity="medium",
        title="Something moves without end, also for readers who asked for less motion",
        advice="Let it end within five seconds, give a button to pause it, and take it away with "
        "@media (prefers-reduced-motion: reduce).",
        help_url=f"{WCAG}pause-stop-hide.html",
    ),
    Rule(
        id="page/overlay",
        severity="medium",
        title="Something covers the page as soon as it opens",
        advice="Let readers see what they came for first. Put notices into the page, or at its edge.",
        help_url="https://developers.google.com/search/docs/appearance/avoid-intrusive-interstitials",
    ),
    Rule(
        id="page/no-selection",
        severity="low",
        title="Text cannot be selected",
        advice="Take user-select: none away from running text: readers copy it and translate it.",
    ),
    Rule(
        id="page/no-context-menu",
        severity="low",
        title="The page takes away the browser's menu",
        advice="Leave it: readers open links in tabs, translate and correct with it.",
    ),
)


class Behaviour:
    """Of the page as it opens, before anybody does anything."""

    name = "what the page does by itself"
    every_view = False

    async def collect(self, page: AuditedPage, view: View) -> Collected:
        told = await page.evaluate(script("behaviour"))
        how = f"the page at {view.width} px as it was loaded, before anybody did anything"
        return Collected(findings=findings_of(RULES, told, view, how))
