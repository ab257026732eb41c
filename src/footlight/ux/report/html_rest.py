"""What stands behind the findings: the model's analysis, what was not done, and by what all was made."""

from __future__ import annotations

from collections.abc import Iterator

from footlight.figures import at, duration, number_of
from footlight.markup import Html, element
from footlight.ux.audited import Audit
from footlight.ux.report.html_parts import facts, page_title, prose, section
from footlight.ux.report.placed import citable
from footlight.ux.report.verdict import undone

__all__ = ["analysis", "not_done", "provenance"]


def analysis(audit: Audit) -> Html | None:
    """None where no model wrote one."""
    parts = [
        element(
            "article",
            element("h3", page_title(page), class_="text"),
            prose(page.analysis_text, citable(page, number)),
            class_="card judged",
        )
        for number, page in enumerate(audit.pages, 1)
        if page.analysis_text.strip()
    ]
    lead = element("p", "Written by the model from the evidence. It can be wrong.", class_="quiet")
    return section("analysis", "Analysis", lead, *parts) if parts else None


def not_done(audit: Audit, pictures_left_out: int) -> Html | None:
    """None where all was done."""
    rows = [*_not_done(audit, pictures_left_out)]
    if not rows:
        return None
    return section("not-done", "Not done", element("ul", *rows, class_="told card"), count=len(rows))


def _not_done(audit: Audit, pictures_left_out: int) -> Iterator[Html]:
    for number, what, why in undone(audit):
        page = element("a", f"page {number}", href=f"#page-{number}") if len(audit.pages) > 1 else None
        yield element("li", page, element("strong", what, class_="text"), element("span", why, class_="text"))
    if pictures_left_out:
        told = element("strong", f"{number_of(pictures_left_out, 'picture')} of elements or screens")
        yield element("li", told, element("span", "left out, so that this file stays of a size to be sent"))


def provenance(audit: Audit) -> Html:
    made = audit.provenance
    requests = sum(page.usage.requests for page in audit.pages)
    tokens = sum(page.usage.tokens for page in audit.pages)
    ended = audit.finished_ms
    return section(
        "made-by",
        "Made by",
        facts(
            (
                ("Footlight", made.footlight),
                ("Server", made.server),
                ("axe-core", made.axe),
                ("Provider", made.provider),
                ("Model", made.model),
                (
                    "Cost",
                    f"{number_of(requests, 'request')}, {number_of(tokens, 'token')}" if requests else "",
                ),
                ("Personas", ", ".join(made.personas)),
                ("Focus", ", ".join(made.focus_areas)),
                ("Began", at(audit.started_ms)),
                ("Ended", "" if ended is None else at(ended)),
                ("Took", "" if ended is None else duration(ended - audit.started_ms)),
            ),
            "made card text",
        ),
    )
