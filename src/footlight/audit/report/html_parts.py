"""Shared parts of the HTML report: tags, links, prose, pictures."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence

from footlight.audit.findings import EvidencePicture, Severity
from footlight.audit.report.prose import CODE_SPAN, Block, Span, parse_blocks
from footlight.audit.report.summary import list_findings, list_to_check
from footlight.audit.results import Audit, PageAudit
from footlight.markup import Html, element, join

__all__ = [
    "MAX_PICTURES_BYTES",
    "MAX_PICTURE_BYTES",
    "MAX_SCREENS_BYTES",
    "EmbeddedPictures",
    "citation_links",
    "definition_list",
    "page_title",
    "render_code_spans",
    "render_labelled_text",
    "render_prose",
    "report_section",
    "severity_tags",
    "tag",
    "web_link",
]


def report_section(id: str, title: str, *content: object, count: object = None) -> Html:
    number = element("span", count, class_="quiet") if count is not None else None
    return element("section", element("h2", title, " ", number), *content, id=id)


def tag(text: object, kind: str) -> Html:
    return element("span", text, class_=f"tag {kind}")


def severity_tags(counts: Mapping[Severity, int]) -> Sequence[Html]:
    return [tag(f"{count:,} {severity}", severity) for severity, count in counts.items() if count]


def render_labelled_text(label: str, *content: object, kind: str) -> Html:
    return element("p", element("span", label, class_="label"), " ", *content, class_=f"{kind} text")


def definition_list(entries: Iterable[tuple[str, object]], kind: str) -> Html:
    """Return a `dl` with the entries that have a value."""
    return element(
        "dl",
        *(element("div", element("dt", name), element("dd", fact)) for name, fact in entries if fact),
        class_=kind,
    )


def web_link(text: str, url: str | None) -> Html:
    """Return a link to an http or https URL, or the text alone."""
    if not (url or "").startswith(("http://", "https://")):
        return element("span", text, class_="text")
    return element("a", text, href=url, rel="noreferrer noopener", class_="text")


def page_title(page: PageAudit) -> str:
    return (page.evidence.title.strip() if page.evidence else "") or page.url


def citation_links(ids: Iterable[str], known: Mapping[str, str]) -> Html:
    """Return ids as links to the evidence."""
    return join(part for id in ids for part in (_citation(id, known), " "))


def render_code_spans(text: str) -> Html:
    """Render a text in which backticks enclose code."""
    parts = CODE_SPAN.split(text)
    return join(element("code", part) if index % 2 else part for index, part in enumerate(parts))


def render_prose(text: str, known: Mapping[str, str]) -> Html:
    """Render a model's text, with the evidence that it cites as links."""
    return element("div", *(_block(block, known) for block in parse_blocks(text)), class_="prose text")


def _block(block: Block, known: Mapping[str, str]) -> Html:
    rows = [join(_span(span, known) for span in row) for row in block.rows]
    match block.kind:
        case "heading":
            return element("h4", *rows)
        case "paragraph":
            return element("p", *rows)
        case "bullets":
            return element("ul", *(element("li", row) for row in rows))
        case "numbers":
            return element("ol", *(element("li", row) for row in rows))


def _span(span: Span, known: Mapping[str, str]) -> Html:
    match span.style:
        case "plain":
            return join([span.text])
        case "cite":
            return _citation(span.text, known) if span.text in known else join([span.text])
        case _:
            return element(span.style, span.text)


def _citation(id: str, known: Mapping[str, str]) -> Html:
    if id not in known:
        return element("span", id, class_="cite")
    return element("a", id, href=f"#{known[id]}", class_="cite")


MAX_PICTURE_BYTES = 2_000_000
MAX_PICTURES_BYTES = 8_000_000
"""The maximum size of all picture files together. Base64 makes them a third larger."""
MAX_SCREENS_BYTES = 5_000_000
"""The maximum size of the screenshots of whole screens among them."""


class EmbeddedPictures:
    """The pictures that fit: screens in the order of pages, then elements of the worst findings first."""

    def __init__(self, audit: Audit) -> None:
        self._chosen: set[int] = set()
        self.left_out = 0
        room = self._choose_fitting(_screen_pictures(audit), MAX_SCREENS_BYTES)
        self._choose_fitting(_element_pictures(audit), MAX_PICTURES_BYTES - MAX_SCREENS_BYTES + room)

    def image(self, picture: EvidencePicture | None, *, alt: str, kind: str | None = None) -> Html | None:
        """Return an `img` element, or None if there is no picture or it does not fit."""
        if picture is None or id(picture) not in self._chosen:
            return None
        data = base64.b64encode(picture.data).decode()
        return element(
            "img",
            src=Html(f"data:image/{picture.type};base64,{data}"),
            alt=alt,
            width=picture.width,
            height=picture.height,
            class_=kind,
        )

    def _choose_fitting(self, pictures: Iterable[EvidencePicture], room: int) -> int:
        """Choose the pictures that fit, and return the remaining room in bytes."""
        for picture in pictures:
            if len(picture.data) <= min(room, MAX_PICTURE_BYTES):
                room -= len(picture.data)
                self._chosen.add(id(picture))
            else:
                self.left_out += 1
        return room


def _screen_pictures(audit: Audit) -> Iterator[EvidencePicture]:
    for page in audit.pages:
        yield from (shot.picture for shot in (page.evidence.screenshots if page.evidence else ()))


def _element_pictures(audit: Audit) -> Iterator[EvidencePicture]:
    """Yield the first picture of each finding, then the second of each."""
    found = [
        (place, each.picture)
        for one in (*list_findings(audit), *list_to_check(audit))
        for place, each in enumerate(one.finding.elements)
        if each.picture
    ]
    yield from (picture for _, picture in sorted(found, key=lambda each: each[0]))
