"""Small pieces that each part of the page is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from footlight.markup import Html, element, join
from footlight.ux.audited import PageAudit
from footlight.ux.findings import Severity
from footlight.ux.report.prose import Block, Span, blocks

__all__ = [
    "citations",
    "facts",
    "labelled",
    "page_title",
    "prose",
    "section",
    "severity_tags",
    "tag",
    "web_link",
]


def section(id: str, title: str, *content: object, count: object = None) -> Html:
    number = element("span", count, class_="quiet") if count is not None else None
    return element("section", element("h2", title, " ", number), *content, id=id)


def tag(text: object, kind: str) -> Html:
    return element("span", text, class_=f"tag {kind}")


def severity_tags(counts: Mapping[Severity, int]) -> Sequence[Html]:
    return [tag(f"{count:,} {severity}", severity) for severity, count in counts.items() if count]


def labelled(label: str, *content: object, kind: str) -> Html:
    return element("p", element("span", label, class_="label"), " ", *content, class_=f"{kind} text")


def facts(told: Iterable[tuple[str, object]], kind: str) -> Html:
    """Those that there are."""
    return element(
        "dl",
        *(element("div", element("dt", name), element("dd", fact)) for name, fact in told if fact),
        class_=kind,
    )


def web_link(text: str, url: str | None) -> Html:
    """Only to the web; otherwise the text alone."""
    if not (url or "").startswith(("http://", "https://")):
        return element("span", text, class_="text")
    return element("a", text, href=url, rel="noreferrer noopener", class_="text")


def page_title(page: PageAudit) -> str:
    return (page.evidence.title.strip() if page.evidence else "") or page.url


def citations(ids: Iterable[str], known: Mapping[str, str]) -> Html:
    """As links to the evidence."""
    return join(part for id in ids for part in (_citation(id, known), " "))


def prose(text: str, known: Mapping[str, str]) -> Html:
    """A model's text, with the evidence that it cites as links."""
    return element("div", *(_block(block, known) for block in blocks(text)), class_="prose text")


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
