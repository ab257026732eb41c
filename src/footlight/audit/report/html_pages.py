"""Render the pages of the HTML report: state, metrics with their limits, and screenshots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from footlight.audit.findings import SEVERITIES, Evidence, ScreenPicture, count_severities
from footlight.audit.report.html_parts import (
    EmbeddedPictures,
    page_title,
    report_section,
    severity_tags,
    tag,
    web_link,
)
from footlight.audit.report.metrics import Metric, read_metrics
from footlight.audit.report.summary import anchor, find_arrival
from footlight.audit.results import Audit, PageAudit
from footlight.figures import format_count, format_duration
from footlight.markup import Html, element, join

__all__ = ["render_pages"]


def render_pages(audit: Audit, pictures: EmbeddedPictures) -> Html:
    many = len(audit.pages) > 1
    return report_section(
        "pages",
        "Pages" if many else "The page",
        _render_overview(audit.pages) if many else None,
        *(_render_page(page, number, many, pictures) for number, page in enumerate(audit.pages, 1)),
    )


def _render_overview(all: Sequence[PageAudit]) -> Html:
    head = ["Page", "State", *(severity.capitalize() for severity in SEVERITIES), "Time"]
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
            element("tbody", *(_render_row(page, number) for number, page in enumerate(all, 1))),
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="All pages",
    )


def _render_row(page: PageAudit, number: int) -> Html:
    link = element("a", f"{number}. {page_title(page)}", href=f"#page-{number}", class_="text")
    return element(
        "tr",
        element("th", link, scope="row"),
        element("td", _render_state(page)),
        *(
            element("td", count, class_=f"figure {severity if count else 'none'}")
            for severity, count in count_severities(page.findings).items()
        ),
        element("td", format_duration(page.duration_ms), class_="figure"),
    )


def _render_page(page: PageAudit, number: int, many: bool, pictures: EmbeddedPictures) -> Html:
    name = page_title(page)
    evidence = page.evidence
    return element(
        "article",
        element("h3", f"{number}. {name}" if many else name, class_="text"),
        element("p", *_render_summary(page), class_="line"),
        element("p", page.error, class_="error text") if page.error else None,
        *(_render_evidence(evidence, number, pictures) if evidence else ()),
        id=f"page-{number}",
        class_="page card",
    )


def _render_summary(page: PageAudit) -> Iterator[object]:
    yield web_link(page.url, page.url)
    evidence = page.evidence
    if arrival := find_arrival(page):
        yield element("span", "redirected to ", web_link(arrival, arrival), class_="text")
    yield _render_state(page)
    if evidence and evidence.status:
        yield tag(f"HTTP {evidence.status}", "plain")
    yield from severity_tags(count_severities(page.findings))
    yield element("span", f"in {format_duration(page.duration_ms)}", class_="quiet")


def _render_state(page: PageAudit) -> Html:
    return tag(page.status, {"complete": "good", "partial": "fair", "failed": "bad"}[page.status])


def _render_evidence(evidence: Evidence, number: int, pictures: EmbeddedPictures) -> Iterator[Html | None]:
    all_metrics = [*read_metrics(evidence.metrics)]
    rated, others = (
        [each for each in all_metrics if each.rating],
        [each for each in all_metrics if not each.rating],
    )
    if rated:
        yield element("dl", *map(_render_rated_metric, rated), class_="metrics")
    if others:
        yield element("dl", *map(_render_metric, others), class_="facts")
    yield _render_screens(evidence.screenshots, number, pictures)
    if evidence.facts:
        yield element(
            "details",
            element("summary", f"Facts: {format_count(len(evidence.facts), 'fact')}"),
            element(
                "ul",
                *(
                    element(
                        "li",
                        element("span", fact.id, class_="cite"),
                        element("span", fact.topic, class_="quiet"),
                        element("span", fact.text, class_="text"),
                        id=anchor(number, fact.id),
                    )
                    for fact in evidence.facts
                ),
                class_="also",
            ),
        )


def _render_rated_metric(metric: Metric) -> Html:
    """Render a metric on a scale of three thirds: good, fair, poor."""
    thirds = (
        element("rect", x=f"{100 * place / 3:.2f}%", width="33%", height="100%", class_=kind)
        for place, kind in enumerate(("good", "fair", "poor"))
    )
    mark = element(
        "rect", x=f"{min(metric.share * 100, 98.5):.2f}%", width="1.5%", height="100%", class_="mark"
    )
    return element(
        "div",
        element("dt", metric.label),
        element(
            "dd", element("span", metric.text, class_="figure"), " ", tag(metric.rating, metric.rating or "")
        ),
        element(
            "dd", element("svg", *thirds, mark, aria_hidden="true"), f"good {metric.limit}", class_="quiet"
        ),
    )


def _render_metric(metric: Metric) -> Html:
    return element("div", element("dt", metric.label), element("dd", metric.text))


def _render_screens(shots: Sequence[ScreenPicture], number: int, pictures: EmbeddedPictures) -> Html | None:
    """Render the screenshots side by side, with a switch that hides the marks without a script."""
    screens = [
        _render_screen(width, [*group], number, pictures)
        for width, group in groupby(shots, lambda shot: shot.width)
    ]
    if not any(screens):
        return None
    id = f"page-{number}-marks"
    switch = (
        Html(f'<input type="checkbox" id="{id}" class="marks" checked>'),
        element("label", "Frame elements with findings", for_=id),
    )
    return element(
        "div",
        *(switch if any(shot.marked for shot in shots) else ()),
        element("div", *screens, class_="row"),
        class_="screens",
    )


def _render_screen(
    width: int, shots: Sequence[ScreenPicture], number: int, pictures: EmbeddedPictures
) -> Html | None:
    images = [
        image
        for shot in shots
        if (
            image := pictures.image(
                shot.picture,
                alt=f"The page at {width} px{', elements with findings framed' if shot.marked else ''}",
                kind="marked" if shot.marked else "unmarked",
            )
        )
    ]
    if not images:
        return None
    id = f"page-{number}-at-{width}"
    return element(
        "figure",
        element("a", join(images), href=f"#{id}"),
        element(
            "figcaption",
            f"{width} px wide ",
            element("a", "Back to small size", href=f"#page-{number}", class_="back"),
        ),
        id=id,
        class_="screen both" if len(images) > 1 else "screen",
    )
