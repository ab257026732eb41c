"""Where the links of a page lead, and what they say."""

from __future__ import annotations

from footlight.ux.evidence.collector import Collected
from footlight.ux.evidence.rule import WCAG, Rule, findings_of
from footlight.ux.evidence.scripts import facts_of, script
from footlight.ux.page import AuditedPage, View

__all__ = ["Links"]

RULES = (
    Rule(
        id="links/broken",
        severity="high",
        title="A link leads to a page that is not there",
        advice="Correct the address, redirect it on the server, or take the link away.",
    ),
    Rule(
        id="links/local-address",
        severity="high",
        title="A link leads to the reader's own computer",
        advice="Use the public address: this one works only where the page was written.",
    ),
    Rule(
        id="links/unusable-address",
        severity="high",
        title="A link to write or to call has no address that could be used",
        advice="Write `mailto:name@example.org` or `tel:+441234567890`.",
    ),
    Rule(
        id="links/link-as-button",
        severity="medium",
        title="A link leads nowhere",
        advice="Use `<button>` for what acts on the page, and an address for what leads on.",
        help_url=f"{WCAG}name-role-value",
    ),
    Rule(
        id="links/missing-fragment",
        severity="medium",
        title="A link leads to a place on the page that does not exist",
        advice="Give the place that `id`, or correct the link.",
    ),
    Rule(
        id="links/vague-text",
        severity="medium",
        title="Links with the same words that say nothing lead to different pages",
        advice="Say where it leads: `More about sencha`; in `aria-label` where there is no room.",
        help_url=f"{WCAG}link-purpose-in-context",
    ),
    Rule(
        id="links/same-text",
        severity="medium",
        title="Links of the same name, side by side, lead to different pages",
        advice="Name each by what is different.",
        help_url=f"{WCAG}link-purpose-in-context",
    ),
    Rule(
        id="links/new-window",
        severity="low",
        title="A link opens a new window without saying so",
        advice="Let it open in place, or say it in its text: `(opens in a new tab)`.",
        help_url=f"{WCAG}change-on-request",
    ),
)


class Links:
    """Addresses of the page's own site are asked for by HEAD, but for those that may change something."""

    name = "the links"
    every_view = False

    async def collect(self, page: AuditedPage, view: View) -> Collected:
        told = await page.evaluate(script("link_words", "links"))
        return Collected(
            findings=findings_of(
                RULES, told, view, "each link read, and those of the site asked for by HEAD"
            ),
            facts=facts_of(told, "links"),
        )
