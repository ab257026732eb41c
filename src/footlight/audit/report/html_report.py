"""Render an audit as one self-contained HTML page, for reading, printing and sending.

Its text comes from pages and from models. It is escaped, the page has no address to load anything from,
and its content security policy lets nothing run but its own script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from footlight.audit.findings import count_severities
from footlight.audit.report.html_findings import render_findings, render_to_check
from footlight.audit.report.html_pages import render_pages
from footlight.audit.report.html_parts import (
    EmbeddedPictures,
    definition_list,
    page_title,
    render_labelled_text,
    render_prose,
    report_section,
    tag,
)
from footlight.audit.report.presentable import make_plain, make_presentable
from footlight.audit.report.summary import (
    MEANINGS,
    UNFINISHED,
    anchor,
    citable_anchors,
    headline,
    list_undone,
)
from footlight.audit.results import Audit, PageAudit, Walk, WalkStep
from footlight.audit.thresholds import Verdict
from footlight.figures import format_count, format_duration, format_time
from footlight.markup import Html, element, render_document

__all__ = [
    "render_analysis",
    "render_header",
    "render_html",
    "render_not_done",
    "render_provenance",
    "render_walks",
    "report_title",
]

_PICTURES_NOTE = (
    ". Frames and numbers in the pictures are the audit's, everything else in them is the page's."
)


def render_html(audit: Audit, *, verdict: Verdict | None = None) -> str:
    """Render the HTML report. Its script only filters the findings."""
    audit = make_presentable(audit)
    pictures = EmbeddedPictures(audit)
    parts: list[tuple[str, str, Html | None]] = [
        ("findings", "Findings", render_findings(audit, pictures)),
        ("to-check", "To check by hand", render_to_check(audit, pictures)),
        ("pages", "Pages" if len(audit.pages) > 1 else "The page", render_pages(audit, pictures)),
        ("walks", "Walks", render_walks(audit)),
        ("analysis", "Analysis", render_analysis(audit)),
        ("not-done", "Not done", render_not_done(audit, pictures.left_out)),
        ("made-by", "Made by", render_provenance(audit)),
    ]
    sections = [(id, name, part) for id, name, part in parts if part is not None]
    style, script = (_read_asset(f"page.{ending}") for ending in ("css", "js"))
    return render_document(
        report_title(audit),
        element("a", "Skip to the report", class_="skip", href="#main"),
        render_header(audit, verdict, [(id, name) for id, name, _ in sections]),
        element("main", *(part for _, _, part in sections), id="main", tabindex="-1"),
        element("footer", element("p", "Made by ", element("code", "footlight audit"), _PICTURES_NOTE)),
        style=style,
        script=script,
    )


@cache
def _read_asset(name: str) -> str:
    return files("footlight.audit.report").joinpath(name).read_text("utf-8")


def report_title(audit: Audit) -> str:
    titles = [page_title(page) for page in audit.pages[:1]]
    return " · ".join([f"UX audit: {headline(audit)}", *titles])


def render_header(audit: Audit, verdict: Verdict | None, parts: Sequence[tuple[str, str]]) -> Html:
    """Render the header. `parts` has the anchor and the name of each section."""
    return element(
        "header",
        element("p", _describe_kind(audit.pages), class_="kind text"),
        element("h1", headline(audit)),
        element("p", UNFINISHED, class_="notice", role="note") if audit.finished_ms is None else None,
        _render_verdict(verdict) if verdict else None,
        _render_counts(audit),
        _render_head_facts(audit),
        _render_contents(parts),
    )


def _describe_kind(pages: Sequence[PageAudit]) -> str:
    return f"UX audit of {page_title(pages[0])}" if len(pages) == 1 else "UX audit"


def _render_verdict(verdict: Verdict) -> Html:
    first, _, others = make_plain(verdict.text).partition("\n")
    kind = "good" if verdict.passed else "bad"
    return element("p", element("strong", first), "\n", others, class_=f"verdict {kind} text")


def _render_counts(audit: Audit) -> Html:
    """Render the counts by severity, with the meanings and links to the findings."""
    counts = count_severities(finding for page in audit.pages for finding in page.findings)
    return element(
        "ul",
        *(
            element(
                "li",
                _render_link(
                    element("span", f"{count:,}", class_="figure"),
                    element("span", severity, class_="name"),
                    to=f"#{severity}" if count else None,
                ),
                element("span", MEANINGS[severity], class_="quiet"),
                class_=severity if count else "none",
            )
            for severity, count in counts.items()
        ),
        class_="counts",
        aria_label="Findings by severity",
    )


def _render_link(*content: Any, to: str | None) -> Html:
    parts = (content[0], " ", *content[1:])
    return element("a", *parts, href=to) if to else element("span", *parts, class_="led")


def _render_head_facts(audit: Audit) -> Html:
    walks = [walk for page in audit.pages for walk in page.walks]
    judged = sum(finding.source == "judged" for page in audit.pages for finding in page.findings)
    reached = sum(walk.outcome == "reached" for walk in walks)
    made = audit.provenance
    return definition_list(
        (
            ("Page", audit.pages[0].url if len(audit.pages) == 1 else ""),
            ("Pages", len(audit.pages) if len(audit.pages) > 1 else ""),
            ("Goals reached", f"{reached} of {len(walks)}" if walks else ""),
            (
                "Judged by",
                f"{made.model}, {format_count(judged, 'finding')}"
                if made.model
                else "no model: measured only",
            ),
            ("Began", format_time(audit.started_ms)),
            (
                "Took",
                "" if audit.finished_ms is None else format_duration(audit.finished_ms - audit.started_ms),
            ),
        ),
        "facts text",
    )


def _render_contents(parts: Sequence[tuple[str, str]]) -> Html:
    return element(
        "nav",
        element(
            "ul",
            *(element("li", element("a", name, href=f"#{id}")) for id, name in parts),
        ),
        aria_label="Contents",
    )


_KINDS = {"reached": "good", "stopped": "bad", "unfinished": "fair"}


def render_walks(audit: Audit) -> Html | None:
    """Render the walks by persona, or return None if there are none."""
    found = [(walk, number) for number, page in enumerate(audit.pages, 1) for walk in page.walks]
    if not found:
        return None
    reached = sum(walk.outcome == "reached" for walk, _ in found)
    return report_section(
        "walks",
        "Walks",
        *(
            element(
                "section",
                element("h3", persona, class_="text"),
                *(
                    _render_walk(walk, number, len(audit.pages) > 1)
                    for walk, number in found
                    if walk.persona == persona
                ),
                class_="group",
            )
            for persona in dict.fromkeys(walk.persona for walk, _ in found)
        ),
        count=f"{reached} of {format_count(len(found), 'goal')} reached",
    )


def _render_walk(walk: Walk, number: int, many: bool) -> Html:
    return element(
        "article",
        element("h4", walk.goal, class_="text"),
        element("p", *_render_walk_summary(walk, number, many), class_="line"),
        render_labelled_text("Where", element("code", walk.where), kind="how") if walk.where else None,
        render_labelled_text("Why", walk.why, kind="how") if walk.why else None,
        element(
            "details",
            element("summary", format_count(len(walk.steps), "step")),
            element("ol", *(_render_step(step, number) for step in walk.steps), class_="steps"),
            open=walk.outcome != "reached",
        )
        if walk.steps
        else None,
        class_=f"walk card {walk.outcome}",
    )


def _render_walk_summary(walk: Walk, number: int, many: bool) -> Iterator[Html]:
    yield tag(walk.outcome, _KINDS[walk.outcome])
    if many:
        yield element("a", f"page {number}", href=f"#page-{number}")
    yield element("span", f"in {format_duration(walk.duration_ms)}", class_="quiet")


def _render_step(step: WalkStep, number: int) -> Html:
    return element(
        "li",
        element("span", step.id, class_="cite"),
        element(
            "div",
            element("p", element("code", step.tool), " ", element("span", step.input, class_="text")),
            element("p", tag("failed", "bad") if not step.ok else None, " ", step.answer, class_="said text"),
        ),
        id=anchor(number, step.id),
        class_="ok" if step.ok else "failed",
    )


def render_analysis(audit: Audit) -> Html | None:
    """Render the analysis, or return None if no model wrote one."""
    parts = [
        element(
            "article",
            element("h3", page_title(page), class_="text"),
            render_prose(page.analysis_text, citable_anchors(page, number)),
            class_="card judged",
        )
        for number, page in enumerate(audit.pages, 1)
        if page.analysis_text.strip()
    ]
    lead = element("p", "Written by the model from the evidence. It can be wrong.", class_="quiet")
    return report_section("analysis", "Analysis", lead, *parts) if parts else None


def render_not_done(audit: Audit, pictures_left_out: int) -> Html | None:
    """Render what was not done, or return None if everything was done."""
    rows = [*_render_not_done_rows(audit, pictures_left_out)]
    if not rows:
        return None
    return report_section(
        "not-done", "Not done", element("ul", *rows, class_="not-done card"), count=len(rows)
    )


def _render_not_done_rows(audit: Audit, pictures_left_out: int) -> Iterator[Html]:
    for number, what, why in list_undone(audit):
        page = element("a", f"page {number}", href=f"#page-{number}") if len(audit.pages) > 1 else None
        yield element("li", page, element("strong", what, class_="text"), element("span", why, class_="text"))
    if pictures_left_out:
        what = element("strong", f"{format_count(pictures_left_out, 'picture')} of elements or screens")
        yield element("li", what, element("span", "omitted to limit the size of this file"))


def render_provenance(audit: Audit) -> Html:
    made = audit.provenance
    requests = sum(page.usage.requests for page in audit.pages)
    tokens = sum(page.usage.tokens for page in audit.pages)
    ended = audit.finished_ms
    return report_section(
        "made-by",
        "Made by",
        definition_list(
            (
                ("Footlight", made.footlight),
                ("Server", made.server),
                ("axe-core", made.axe),
                ("Provider", made.provider),
                ("Model", made.model),
                (
                    "Cost",
                    f"{format_count(requests, 'request')}, {format_count(tokens, 'token')}"
                    if requests
                    else "",
                ),
                ("Personas", ", ".join(made.personas)),
                ("Focus", ", ".join(made.focus_areas)),
                ("Began", format_time(audit.started_ms)),
                ("Ended", "" if ended is None else format_time(ended)),
                ("Took", "" if ended is None else format_duration(ended - audit.started_ms)),
            ),
            "made card text",
        ),
    )
