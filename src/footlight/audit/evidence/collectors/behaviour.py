"""Detect what a page does on its own: motion, overlays, and blocked browser functions."""

from __future__ import annotations

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.rule import Rule, findings_of
from footlight.audit.evidence.scripts import find_failed_rules, script
from footlight.audit.page.page import AuditedPage, AuditViewport

__all__ = ["Behaviour", "ChangingText", "TextWatch"]

WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"

RULES = (
    Rule(
        id="page/autoplay-sound",
        wcag=("1.4.2 A",),
        act=("80f0bf", "4c31df", "aaa1bf"),
        severity="high",
        title="Sound plays by itself for more than three seconds and cannot be stopped",
        advice="Let readers start it, or give it controls: a screen reader cannot be heard beside it.",
        help_url=f"{WCAG}audio-control.html",
    ),
    Rule(
        id="page/no-captions",
        wcag=("1.2.2 A",),
        act=("f51b46", "eac66b"),
        severity="high",
        title="A video with sound has no captions",
        advice='Add a <track kind="captions"> with all that is said and the sounds that matter. Captions '
        "that are part of the picture cannot be seen by this check.",
        help_url=f"{WCAG}captions-prerecorded.html",
    ),
    Rule(
        id="page/no-transcript",
        wcag=("1.2.1 A",),
        act=("e7aa44", "2eb176", "afb423"),
        severity="high",
        title="A recording has no transcript",
        advice="Put what is said beside the recording, or behind a link next to it.",
        help_url=f"{WCAG}audio-only-and-video-only-prerecorded.html",
    ),
    Rule(
        id="page/silent-video",
        wcag=("1.2.1 A",),
        act=("c3232f", "ee13b5", "d7ba54"),
        severity="medium",
        title="A video without sound has no description",
        advice="Say beside the video what it shows, or add a spoken description.",
        help_url=f"{WCAG}audio-only-and-video-only-prerecorded.html",
    ),
    Rule(
        id="page/autoplay",
        wcag=("2.2.2 A",),
        severity="medium",
        title="A video plays by itself and cannot be stopped",
        advice="Give it controls or a button to pause it, or let readers start it.",
        help_url=f"{WCAG}pause-stop-hide.html",
    ),
    Rule(
        id="page/endless-motion",
        wcag=("2.2.2 A",),
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
        title="The page blocks the browser's context menu",
        advice="Leave it: readers open links in tabs, translate and correct with it.",
    ),
)


class Behaviour:
    """Examine the page as it opens, before any interaction."""

    name = "behaviour without interaction"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        answer = await page.evaluate(script("media", "behaviour"))
        how = f"the page as loaded at {view.width} px, before any interaction"
        return Collected(
            findings=findings_of(RULES, answer, view, how), skipped=find_failed_rules(answer, self.name)
        )


CHANGING_TEXT = Rule(
    id="changes/changing-text",
    wcag=("2.2.2 A",),
    act=("efbfc7",),
    severity="medium",
    title="Text changes by itself and cannot be stopped",
    advice="Give a button that pauses, stops or hides it, or let readers choose how often it changes.",
    help_url=f"{WCAG}pause-stop-hide.html",
)


class TextWatch:
    """Begin to watch for text that changes by itself."""

    name = "the texts as they are now"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        del view
        await page.evaluate(_changes(begins=True))
        return Collected()


class ChangingText:
    """Find text that has gone on changing by itself since `TextWatch`.

    Runs after the other collectors that leave the page alone. Waits for changes only where a script has set a
    timer that repeats, or a first change was seen.
    """

    name = "text that changes by itself"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        answer = await page.evaluate(_changes(begins=False))
        how = f"the page without any interaction at {view.width} px"
        return Collected(findings=findings_of((CHANGING_TEXT,), answer, view, how))


def _changes(*, begins: bool) -> str:
    return script("controls", "changing_text", "changes", before=f"const BEGINS = {str(begins).lower()};")
