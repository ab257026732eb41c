"""Check headings, landmarks, language and texts of the page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.language import find_other_language
from footlight.audit.evidence.rule import WCAG, Rule, findings_of
from footlight.audit.evidence.scripts import facts_of, find_failed_rules, script
from footlight.audit.findings import Finding
from footlight.audit.page.page import AuditedPage, AuditViewport
from footlight.protocol.untrusted_json import an_object, items, text

__all__ = ["Outline"]

MAX_PARTS = 40

PAGE_LANGUAGE = Rule(
    id="outline/wrong-language",
    wcag=("3.1.1 A",),
    act=("ucwvc8",),
    severity="high",
    title="The declared language of the page is not that of its text",
    advice="Set `lang` of the html element to that language: a screen reader speaks by its rules.",
    help_url=f"{WCAG}language-of-page",
)
PART_LANGUAGE = Rule(
    id="outline/wrong-language-of-part",
    wcag=("3.1.2 AA",),
    act=("off6ek",),
    severity="medium",
    title="The declared language of a part is not that of its text",
    advice="Set `lang` of the part to its language, or take it away where it is the language of the page.",
    help_url=f"{WCAG}language-of-parts",
)
RULES = (
    Rule(
        id="outline/wrong-direction",
        wcag=("1.3.2 A",),
        severity="high",
        title="Text from right to left is laid out from left to right",
        advice='Set `dir="rtl"` on the html element, or on what is in that script.',
    ),
    Rule(
        id="outline/garbled-text",
        severity="high",
        title="Letters are garbled: the text was read in a wrong encoding",
        advice="Store and send the text as UTF-8, and say so in `<meta charset>` and in the Content-Type.",
    ),
    Rule(
        id="outline/left-over-text",
        severity="high",
        title="Text is shown that was meant to be replaced",
        advice="Find out why the value is missing, and say so, or show nothing, where there is none.",
    ),
    Rule(
        id="outline/title-says-nothing",
        wcag=("2.4.2 A",),
        act=("c4a8a4",),
        severity="medium",
        title="The title does not say what the page is",
        advice="Name the page and the site: `Green teas – Brook & Leaf`. Tabs and bookmarks show it.",
        help_url=f"{WCAG}page-titled",
    ),
    Rule(
        id="outline/alt-says-nothing",
        wcag=("1.1.1 A",),
        act=("qt1vmo",),
        severity="medium",
        title="The text of an image is a file's name, or only that it is an image",
        advice='Say in `alt` what the image tells its readers; `alt=""` where it tells nothing.',
        help_url=f"{WCAG}non-text-content",
    ),
    Rule(
        id="outline/no-bypass",
        wcag=("2.4.1 A",),
        act=("cf77f2", "ye5d6e", "3e12e1"),
        severity="medium",
        title="Nothing leads past what is the same on each page",
        advice="Put the content into `<main>` with a heading, and begin the page with a link to it.",
        help_url=f"{WCAG}bypass-blocks",
    ),
    Rule(
        id="outline/description-of-no-role",
        act=("kb1m8s",),
        severity="medium",
        title="An ARIA attribute describes the role of an element that has none",
        advice="Give the element the role that the attribute describes, or take the attribute away.",
        help_url="https://www.w3.org/TR/wai-aria-1.3/#prohibitedattributes",
    ),
    Rule(
        id="outline/no-content-heading",
        act=("047fe0",),
        severity="low",
        title="The content has no heading",
        advice="Begin what is particular to the page with a heading, so that readers can jump to it.",
        help_url=f"{WCAG}bypass-blocks",
    ),
    Rule(
        id="outline/drawn-list",
        wcag=("1.3.1 A",),
        severity="low",
        title="A list is drawn with characters, so screen readers do not announce it",
        advice="Write `<ul>` with `<li>`, so that screen readers announce the number of items.",
        help_url=f"{WCAG}info-and-relationships",
    ),
)


class Outline:
    """Check the document and its open shadow roots, without frames."""

    name = "the outline"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        answer = await page.evaluate(script("outline"))
        how = f"the document as it is at {view.width} px"
        languages = await asyncio.to_thread(_find_wrong_languages, answer, view, how)
        return Collected(
            findings=[*findings_of(RULES, answer, view, how), *languages],
            facts=facts_of(answer, "outline"),
            skipped=find_failed_rules(answer, self.name),
        )


def _find_wrong_languages(answer: object, view: AuditViewport, how: str) -> Sequence[Finding]:
    elements: dict[str, list[object]] = {PAGE_LANGUAGE.id: [], PART_LANGUAGE.id: []}
    parts = [an_object(each) for each in items(an_object(answer).get("languages"))[:MAX_PARTS]]
    declared = [text(part.get("lang")) or "" for part in parts]
    for part, lang in zip(parts, declared, strict=True):
        other = find_other_language(lang, text(part.get("text")) or "", of_page=declared)
        if other is not None:
            rule = PAGE_LANGUAGE if part.get("isPage") is True else PART_LANGUAGE
            note = f'lang="{lang[:20]}", but the text is in the language “{other}”'
            described = items(an_object(part.get("element")).get("elements"))[:1]
            elements[rule.id] += [{**an_object(each), "note": note} for each in described]
    found = (
        rule.finding({"elements": elements[rule.id]}, view, how) for rule in (PAGE_LANGUAGE, PART_LANGUAGE)
    )
    return [each for each in found if each is not None]
