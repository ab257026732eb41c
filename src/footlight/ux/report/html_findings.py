"""The findings, of the worst first: what is wrong, where, how that is known, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from footlight.figures import number_of
from footlight.markup import Html, element
from footlight.ux.audited import Audit
from footlight.ux.findings import Element, Finding
from footlight.ux.report.html_choosing import toolbar
from footlight.ux.report.html_parts import citations, labelled, section, tag, web_link
from footlight.ux.report.html_pictures import Pictures
from footlight.ux.report.placed import Placed, by_severity, citable, has_notes, placed
from footlight.ux.report.verdict import MEANINGS

__all__ = ["findings"]

MOST_OPEN = 3
"""Elements that are seen at once; the others of a finding are folded away."""


def findings(audit: Audit, pictures: Pictures) -> Html:
    found = placed(audit)
    known = [citable(page, number) for number, page in enumerate(audit.pages, 1)]
    many = len(audit.pages) > 1
    return section(
        "findings",
        "Findings",
        toolbar(audit, found) if found else element("p", "Nothing was found.", class_="quiet"),
        *(
            element(
                "section",
                element("h3", tag(severity, severity), f" {MEANINGS[severity]}"),
                *(_finding(each, known[each.number - 1], many, pictures) for each in group),
                id=severity,
                class_="group",
            )
            for severity, group in by_severity(found)
        ),
        element("p", "No finding is like that.", class_="quiet", id="no-finding", hidden=True),
        count=len(found),
    )


def _finding(placed: Placed, known: Mapping[str, str], many: bool, pictures: Pictures) -> Html:
    finding = placed.finding
    page = element("a", f"page {placed.number}", href=f"#page-{placed.number}") if many else None
    return element(
        "article",
        element("h4", element("span", finding.id, class_="cite"), " ", finding.title, class_="text"),
        element("p", *_tags(finding), page, class_="line"),
        labelled("What to do", finding.advice, " ", _help(finding), kind="advice"),
        _how(finding, known),
        *_elements(finding, pictures),
        id=placed.anchor,
        class_=f"finding card {finding.severity} {finding.source}",
        data_severity=finding.severity,
        data_source=finding.source,
        data_persona=finding.persona,
        data_page=placed.number,
    )


def _tags(finding: Finding) -> Iterator[Html]:
    yield tag(finding.severity, finding.severity)
    if finding.source == "judged":
        yield tag("judged by a model", "judged")
    if finding.persona:
        yield tag(f"for {finding.persona}", "persona")
    yield element("code", finding.rule)
    if finding.count:
        yield element("span", number_of(finding.count, "element"), class_="quiet")


def _help(finding: Finding) -> Html | None:
    return web_link("More about this rule", finding.help_url) if finding.help_url else None


def _how(finding: Finding, known: Mapping[str, str]) -> Html | None:
    """Of a judged one: from which evidence."""
    if finding.source == "measured":
        return labelled("Measured", finding.measured_by, kind="how") if finding.measured_by else None
    cited = citations(finding.cites, known) if finding.cites else "none"
    return labelled("Evidence", cited, finding.measured_by, kind="how")


def _elements(finding: Finding, pictures: Pictures) -> Iterator[Html]:
    noted = has_notes(finding)
    first, others = finding.elements[:MOST_OPEN], finding.elements[MOST_OPEN:]
    if first:
        yield _list(first, noted, pictures)
    if others:
        summary = element("summary", f"{number_of(len(others), 'element')} more")
        yield element("details", summary, _list(others, noted, pictures))
    unlisted = finding.count - len(finding.elements)
    if unlisted > 0 and finding.elements:
        yield element("p", f"and {number_of(unlisted, 'element')} that are not listed.", class_="quiet")


def _list(elements: Iterable[Element], noted: bool, pictures: Pictures) -> Html:
    return element("ul", *(_element(each, noted, pictures) for each in elements), class_="elements")


def _element(each: Element, noted: bool, pictures: Pictures) -> Html:
    at = element("span", f"at {each.width} px", class_="quiet") if each.width else None
    image = pictures.image(each.picture, alt=f"{each.text or each.selector}, framed in what is around it")
    left_out = each.picture is not None and image is None
    return element(
        "li",
        element(
            "div",
            element("p", each.note, class_="note text") if noted and each.note else None,
            element("p", element("code", each.selector), " ", at) if each.selector else None,
            element("pre", element("code", each.html)) if each.html else None,
            element("p", "Its picture is left out, as there are too many.", class_="quiet")
            if left_out
            else None,
        ),
        element("figure", image) if image else None,
        class_="pictured" if image else None,
    )
