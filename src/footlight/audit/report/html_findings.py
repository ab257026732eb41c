"""Render the findings of the HTML report, the worst first, and the controls that filter them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from footlight.audit.findings import Element, Finding
from footlight.audit.report.html_parts import (
    EmbeddedPictures,
    citation_links,
    page_title,
    render_code_spans,
    render_labelled_text,
    report_section,
    tag,
    web_link,
)
from footlight.audit.report.summary import (
    MEANINGS,
    ListedFinding,
    citable_anchors,
    describe_criteria,
    group_by_rule,
    group_by_severity,
    has_notes,
    list_findings,
    list_to_check,
)
from footlight.audit.results import Audit
from footlight.figures import format_count
from footlight.markup import Html, element

__all__ = ["render_findings", "render_to_check", "render_toolbar"]

MAX_OPEN_ELEMENTS = 3
"""How many elements of a finding are visible at once; the others are collapsed."""


def render_findings(audit: Audit, pictures: EmbeddedPictures) -> Html:
    found = list_findings(audit)
    known = [citable_anchors(page, number) for number, page in enumerate(audit.pages, 1)]
    many = len(audit.pages) > 1
    rules = len(group_by_rule(found))
    return report_section(
        "findings",
        "Findings",
        render_toolbar(audit, found) if found else element("p", "No findings.", class_="quiet"),
        *(
            element(
                "section",
                element("h3", tag(severity, severity), f" {MEANINGS[severity]}"),
                *(_render_rule(each, known, many, pictures) for each in group_by_rule(group)),
                id=severity,
                class_="group",
            )
            for severity, group in group_by_severity(found)
        ),
        element("p", "No finding matches the filter.", class_="quiet", id="no-finding", hidden=True),
        count=f"{len(found):,} of {format_count(rules, 'rule')}" if rules < len(found) else len(found),
    )


def render_to_check(audit: Audit, pictures: EmbeddedPictures) -> Html | None:
    """Render what code could not decide, or return None if there is nothing."""
    found = list_to_check(audit)
    if not found:
        return None
    lead = "Code could not decide whether these rules are met. Nothing here counts as a finding."
    many = len(audit.pages) > 1
    return report_section(
        "to-check",
        "To check by hand",
        element("p", lead, class_="quiet"),
        *(_render_check(each, many, pictures) for each in found),
        count=len(found),
    )


def _render_check(listed: ListedFinding, many: bool, pictures: EmbeddedPictures) -> Html:
    finding = listed.finding
    page = element("a", f"page {listed.number}", href=f"#page-{listed.number}") if many else None
    criteria = describe_criteria(finding)
    return element(
        "article",
        element("h3", element("span", listed.name, class_="cite"), " ", finding.title, class_="text"),
        element(
            "p",
            element("code", finding.rule),
            element("span", criteria, class_="quiet") if criteria else None,
            element("span", format_count(finding.count, "element"), class_="quiet"),
            page,
            class_="line",
        ),
        *_render_elements(finding, pictures),
        id=listed.anchor,
        class_="card",
    )


def _render_rule(
    group: Sequence[ListedFinding],
    known: Sequence[Mapping[str, str]],
    many: bool,
    pictures: EmbeddedPictures,
) -> Html:
    """Render the card of a rule. Each page with the finding is a part of it, and the first one is open."""
    first = group[0]
    finding = first.finding
    if len(group) == 1:
        return _render_finding(first, known[first.number - 1], many, pictures)
    pages = len({each.number for each in group})
    count = sum(each.finding.count for each in group)
    return element(
        "article",
        element("h4", finding.title, class_="text"),
        element(
            "p",
            *_render_tags(replace(finding, count=count)),
            element("span", f"on {format_count(pages, 'page')}", class_="quiet"),
            class_="line",
        ),
        *(_render_place(each, each is first, known[each.number - 1], pictures) for each in group),
        class_=f"finding card {finding.severity} {finding.source}",
        data_severity=finding.severity,
        data_source=finding.source,
        data_persona=finding.persona,
        data_page=" ".join(str(each.number) for each in group),
    )


def _render_place(
    placed: ListedFinding, is_first: bool, known: Mapping[str, str], pictures: EmbeddedPictures
) -> Html:
    finding = placed.finding
    name = element("span", placed.name, class_="cite")
    count = f" · {format_count(finding.count, 'element')}" if finding.count else ""
    return element(
        "details",
        element("summary", name, f" {page_title(placed.page)}{count}", class_="text"),
        _render_advice(finding),
        _render_evidence(finding, known),
        element("p", element("a", f"page {placed.number}", href=f"#page-{placed.number}")),
        *_render_elements(finding, pictures),
        id=placed.anchor,
        class_="place",
        open=is_first,
        data_page=placed.number,
    )


def _render_advice(finding: Finding) -> Html:
    return render_labelled_text(
        "What to do", render_code_spans(finding.advice), " ", _render_help(finding), kind="advice"
    )


def _render_finding(
    placed: ListedFinding, known: Mapping[str, str], many: bool, pictures: EmbeddedPictures
) -> Html:
    finding = placed.finding
    page = element("a", f"page {placed.number}", href=f"#page-{placed.number}") if many else None
    return element(
        "article",
        element("h4", element("span", placed.name, class_="cite"), " ", finding.title, class_="text"),
        element("p", *_render_tags(finding), page, class_="line"),
        _render_advice(finding),
        _render_evidence(finding, known),
        *_render_elements(finding, pictures),
        id=placed.anchor,
        class_=f"finding card {finding.severity} {finding.source}",
        data_severity=finding.severity,
        data_source=finding.source,
        data_persona=finding.persona,
        data_page=placed.number,
    )


def _render_tags(finding: Finding) -> Iterator[Html]:
    yield tag(finding.severity, finding.severity)
    if finding.source == "judged":
        yield tag("judged by a model", "judged")
    if finding.persona:
        yield tag(f"for {finding.persona}", "persona")
    yield element("code", finding.rule)
    if criteria := describe_criteria(finding):
        yield element("span", criteria, class_="quiet")
    if finding.count:
        yield element("span", format_count(finding.count, "element"), class_="quiet")


def _render_help(finding: Finding) -> Html | None:
    return web_link("More about this rule", finding.help_url) if finding.help_url else None


def _render_evidence(finding: Finding, known: Mapping[str, str]) -> Html | None:
    """Render how the finding was made: measured, or from which evidence."""
    if finding.source == "measured":
        return (
            render_labelled_text("Measured", finding.measured_by, kind="how") if finding.measured_by else None
        )
    cited = citation_links(finding.cites, known) if finding.cites else "none"
    return render_labelled_text("Evidence", cited, finding.measured_by, kind="how")


def _render_elements(finding: Finding, pictures: EmbeddedPictures) -> Iterator[Html]:
    noted = has_notes(finding)
    first, others = finding.elements[:MAX_OPEN_ELEMENTS], finding.elements[MAX_OPEN_ELEMENTS:]
    if first:
        yield _render_list(first, noted, pictures)
    if others:
        summary = element("summary", f"{format_count(len(others), 'element')} more")
        yield element("details", summary, _render_list(others, noted, pictures))
    unlisted = finding.count - len(finding.elements)
    if unlisted > 0 and finding.elements:
        yield element("p", f"and {format_count(unlisted, 'element')} that are not listed.", class_="quiet")


def _render_list(elements: Iterable[Element], noted: bool, pictures: EmbeddedPictures) -> Html:
    return element("ul", *(_render_element(each, noted, pictures) for each in elements), class_="elements")


def _render_element(each: Element, noted: bool, pictures: EmbeddedPictures) -> Html:
    at = element("span", f"at {each.width} px", class_="quiet") if each.width else None
    image = pictures.image(each.picture, alt=f"{each.text or each.selector}, framed")
    left_out = each.picture is not None and image is None
    return element(
        "li",
        element(
            "div",
            element("p", each.note, class_="note text") if noted and each.note else None,
            element("p", element("code", each.selector), " ", at) if each.selector else None,
            element("pre", element("code", each.html)) if each.html else None,
            element("p", "Its picture is omitted, because there are too many.", class_="quiet")
            if left_out
            else None,
        ),
        element("figure", image) if image else None,
        class_="pictured" if image else None,
    )


_MAX_TITLE_LENGTH = 60
_NO_NAMES: Mapping[str, str] = {}


def render_toolbar(audit: Audit, found: Sequence[ListedFinding]) -> Html:
    findings = [group[0].finding for group in group_by_rule(found)]
    pages = {
        str(number): f"{number}. {page_title(page)}"[:_MAX_TITLE_LENGTH]
        for number, page in enumerate(audit.pages, 1)
    }
    return element(
        "div",
        _render_select("severity", "Severity", (each.severity for each in findings)),
        _render_select(
            "source",
            "Found by",
            (each.source for each in findings),
            {"measured": "code", "judged": "a model"},
        ),
        _render_select("persona", "Persona", (each.persona or "" for each in findings), {"": "nobody's"}),
        _render_select("page", "Page", (str(each.number) for each in found), pages),
        element("label", "Text ", Html('<input type="search" id="by-text" size="14">')),
        element("output", id="shown"),
        class_="toolbar",
        role="group",
        aria_label="Filter the findings",
        hidden=True,
    )


def _render_select(
    name: str, label: str, values: Iterable[str], names: Mapping[str, str] = _NO_NAMES
) -> Html | None:
    """Return a select element, or None if all findings have the same value."""
    counts = Counter(values)
    if len(counts) < 2:
        return None
    options = [
        element("option", f"{names.get(value, value)} ({count:,})", value=f"={value}")
        for value, count in counts.items()
    ]
    every = element("option", "all", value="")
    return element("label", f"{label} ", element("select", every, *options, data_by=name))
