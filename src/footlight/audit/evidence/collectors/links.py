"""Check the targets and the texts of links."""

from __future__ import annotations

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.rule import WCAG, Rule, findings_of
from footlight.audit.evidence.scripts import facts_of, find_failed_rules, script
from footlight.audit.page.page import AuditedPage, AuditViewport

__all__ = ["Links"]

SCRIPTS = ("words", "link_targets", "link_facts", "link_requests", "link_names", "frame_names", "links")

RULES = (
    Rule(
        id="links/broken",
        severity="high",
        title="A link leads to a page that does not exist",
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
        wcag=("2.4.4 A",),
        act=("5effbb",),
        severity="medium",
        title="Links with the same words that say nothing lead to different pages",
        advice="Say where it leads: `More about sencha`; in `aria-label` where there is no room.",
        help_url=f"{WCAG}link-purpose-in-context",
    ),
    Rule(
        id="links/same-text",
        wcag=("2.4.4 A",),
        act=("fd3a94", "b20e66"),
        severity="medium",
        title="Links of the same name in the same place lead to different pages",
        advice="Name each by what is different.",
        help_url=f"{WCAG}link-purpose-in-context",
    ),
    Rule(
        id="links/same-frame-name",
        wcag=("4.1.2 A",),
        act=("4b1c6c",),
        severity="medium",
        title="Frames of the same name show different documents",
        advice="Say in the `title` of each frame what it shows.",
        help_url=f"{WCAG}name-role-value",
    ),
    Rule(
        id="links/same-name",
        wcag=("2.4.9 AAA",),
        act=("b20e66",),
        severity="low",
        title="Links of the same name in different places lead to different pages",
        advice="Name each by what is different, so that they are not confused in a list of all links.",
        help_url=f"{WCAG}link-purpose-link-only",
    ),
    Rule(
        id="links/new-window",
        wcag=("3.2.5 AAA",),
        severity="low",
        title="A link opens a new window without saying so",
        advice="Let it open in place, or say it in its text: `(opens in a new tab)`.",
        help_url=f"{WCAG}change-on-request",
    ),
)


class Links:
    """Check links.

    Sends HEAD requests to the page's own site, and GET requests for links of the same name, except for URLs
    that may change something.
    """

    name = "the links"
    every_view = False

    def __init__(self, *, renders: bool = False) -> None:
        """Create the collector. `renders`: load targets in hidden frames where scripts make their content."""
        self._renders = renders

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        settings = f"const RENDERS = {str(self._renders).lower()};"
        answer = await page.evaluate(script(*SCRIPTS, before=settings))
        return Collected(
            findings=findings_of(RULES, answer, view, "the links of the page, and requests to its own site"),
            facts=facts_of(answer, "links"),
            skipped=find_failed_rules(answer, self.name),
        )
