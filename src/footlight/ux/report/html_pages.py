"""Each page of the audit: its state, its figures against what is good, and what it looks like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from footlight.figures import duration, number_of
from footlight.markup import Html, element, join
from footlight.ux.audited import Audit, PageAudit
from footlight.ux.findings import SEVERITIES, Evidence, Screenshot
from footlight.ux.report.counts import severities
from footlight.ux.report.html_parts import page_title, section, severity_tags, tag, web_link
from footlight.ux.report.html_pictures import Pictures
from footlight.ux.report.metrics import Metric, metrics
from footlight.ux.report.placed import anchor

__all__ = ["pages"]


def pages(audit: Audit, pictures: Pictures) -> Html:
    many = len(audit.pages) > 1
    return section(
        "pages",
        "Pages" if many else "The page",
        _overview(audit.pages) if many else None,
        *(_page(page, number, many, pictures) for number, page in enumerate(audit.pages, 1)),
    )


def _overview(all: Sequence[PageAudit]) -> Html:
    head = ["Page", "State", *(severity.capitalize() for severity in SEVERITIES), "Time"]
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
            element("tbody", *(_row(page, number) for number, page in enumerate(all, 1))),
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="All pages",
    )


def _row(page: PageAudit, number: int) -> Html:
    link = element("a", f"{number}. {page_title(page)}", href=f"#page-{number}", class_="text")
    return element(
        "tr",
        element("th", link, scope="row"),
        element("td", _state(page)),
        *(
            element("td", count, class_=f"figure {severity if count else 'none'}")
            for severity, count in severities(page.findings).items()
        ),
        element("td", duration(page.duration_ms), class_="figure"),
    )


def _page(page: PageAudit, number: int, many: bool, pictures: Pictures) -> Html:
    name = page_title(page)
    evidence = page.evidence
    return element(
        "article",
        element("h3", f"{number}. {name}" if many else name, class_="text"),
        element("p", *_line(page), class_="line"),
        element("p", page.error, class_="error text") if page.error else None,
        *(_measured(evidence, number, pictures) if evidence else ()),
        id=f"page-{number}",
        class_="page card",
    )


def _line(page: PageAudit) -> Iterator[object]:
    yield web_link(page.url, page.url)
    evidence = page.evidence
    if evidence and evidence.url.rstrip("/") != page.url.rstrip("/"):
        yield element("span", "led to ", web_link(evidence.url, evidence.url), class_="text")
    yield _state(page)
    if evidence and evidence.status:
        yield tag(f"HTTP {evidence.status}", "plain")
    yield from severity_tags(severities(page.findings))
    yield element("span", f"in {duration(page.duration_ms)}", class_="quiet")


def _state(page: PageAudit) -> Html:
    return tag(page.status, {"complete": "good", "partial": "fair", "failed": "bad"}[page.status])


def _measured(evidence: Evidence, number: int, pictures: Pictures) -> Iterator[Html | None]:
    told = [*metrics(evidence.metrics)]
    rated, others = [each for each in told if each.rating], [each for each in told if not each.rating]
    if rated:
        yield element("dl", *map(_rated, rated), class_="metrics")
    if others:
        yield element("dl", *map(_other, others), class_="facts")
    yield _screens(evidence.screenshots, number, pictures)
    if evidence.facts:
        yield element(
            "details",
            element("summary", f"What else is so: {number_of(len(evidence.facts), 'fact')}"),
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


def _rated(metric: Metric) -> Html:
    """On a scale of three thirds: good, fair, poor."""
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
            "dd", element("span", metric.told, class_="figure"), " ", tag(metric.rating, metric.rating or "")
        ),
        element(
            "dd", element("svg", *thirds, mark, aria_hidden="true"), f"good {metric.limit}", class_="quiet"
        ),
    )


def _other(metric: Metric) -> Html:
    return element("div", element("dt", metric.label), element("dd", metric.told))


def _screens(shots: Sequence[Screenshot], number: int, pictures: Pictures) -> Html | None:
    """Side by side. A switch, which needs no script, takes the marks away."""
    shown = [
        _screen(width, [*group], number, pictures) for width, group in groupby(shots, lambda shot: shot.width)
    ]
    if not any(shown):
        return None
    id = f"page-{number}-marks"
    switch = (
        Html(f'<input type="checkbox" id="{id}" class="marks" checked>'),
        element("label", "Frame what findings are about", for_=id),
    )
    return element(
        "div",
        *(switch if any(shot.marked for shot in shots) else ()),
        element("div", *shown, class_="row"),
        class_="screens",
    )


def _screen(width: int, shots: Sequence[Screenshot], number: int, pictures: Pictures) -> Html | None:
    images = [
        image
        for shot in shots
        if (
            image := pictures.image(
                shot.picture,
                alt=f"The page at {width} px{', what findings are about in frames' if shot.marked else ''}",
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
            element("a", "Make it small again", href=f"#page-{number}", class_="back"),
        ),
        id=id,
        class_="screen both" if len(images) > 1 else "screen",
    )
