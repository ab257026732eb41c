"""An audit for a pull request's comment or a wiki. What does not fit into a comment is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from footlight.figures import at, duration, number_of
from footlight.ux.audited import Audit, PageAudit, Walk
from footlight.ux.findings import SEVERITIES, Element, Finding
from footlight.ux.report.counts import severities
from footlight.ux.report.markdown_text import code, inline, link
from footlight.ux.report.metrics import Metric, metrics
from footlight.ux.report.placed import Placed, by_severity, has_notes, placed
from footlight.ux.report.presentable import plain, presentable
from footlight.ux.report.prose import Block, Span, blocks
from footlight.ux.report.verdict import MEANINGS, UNFINISHED, Verdict, headline, undone

__all__ = ["LONGEST", "as_markdown"]

LONGEST = 60_000
"""Characters. GitHub takes comments of 65,536."""
_LONGEST_SECTION = 10_000
"""But for the findings, which have what the others leave."""
_MOST_PAGES = 30
_MOST_COLUMNS = 6
_MOST_ELEMENTS = 3
_MOST_STEPS = 12


def as_markdown(audit: Audit, *, verdict: Verdict | None = None) -> str:
    """Findings by severity, then persona; each page's figures; walks; the analysis; what was not done."""
    audit = presentable(audit)
    before = [*_head(audit, verdict), _pages(audit.pages), *_figures(audit.pages)]
    after = [
        *_section("Walks", [_walk(walk) for page in audit.pages for walk in page.walks]),
        *_section("Analysis", [*_analysis(audit.pages)]),
        *_section("Not done", [*_not_done(audit)]),
        *_section("Made by", [_provenance(audit)]),
    ]
    left = LONGEST - sum(len(part) + 2 for part in (*before, *after))
    found = _section("Findings", [*_findings(placed(audit), len(audit.pages) > 1)], left)
    return "\n\n".join([*before, *found, *after]) + "\n"


def _section(title: str, parts: Sequence[str], longest: int = _LONGEST_SECTION) -> Iterator[str]:
    """As many as there is room for, at least one; nothing where there are none."""
    left = longest
    for number, part in enumerate(parts):
        left -= len(part) + 2
        if number == 0:
            yield f"## {title}"
        elif left < 0:
            yield f"… and {len(parts) - number:,} more in the whole report."
            return
        yield part


def _head(audit: Audit, verdict: Verdict | None) -> Iterator[str]:
    yield f"# UX audit: {inline(headline(audit))}"
    if audit.finished_ms is None:
        yield f"> **{UNFINISHED}**"
    if verdict is not None:
        first, *others = plain(verdict.text).splitlines() or [""]
        yield "\n".join([f"**{inline(first)}**\n", *(f"- {inline(line)}" for line in others)]).rstrip()


def _pages(pages: Sequence[PageAudit]) -> str:
    rows = [
        [
            str(number),
            code(page.url).replace("|", "\\|"),
            page.status,
            *(str(count) for count in severities(page.findings).values()),
            duration(page.duration_ms),
        ]
        for number, page in enumerate(pages[:_MOST_PAGES], 1)
    ]
    table = _table(["", "Page", "State", *(each.capitalize() for each in SEVERITIES), "Time"], rows)
    more = len(pages) - _MOST_PAGES
    return f"{table}\n\n… and {number_of(more, 'page')} more." if more > 0 else table


def _figures(pages: Sequence[PageAudit]) -> Iterator[str]:
    """A column for each page. Of too many pages they are left out."""
    columns = [
        {each.label: each for each in metrics(page.evidence.metrics if page.evidence else {})}
        for page in pages[:_MOST_COLUMNS]
    ]
    labels = {label: metric for column in reversed(columns) for label, metric in column.items()}
    if not labels or len(pages) > _MOST_COLUMNS:
        return
    head = [
        "Figure",
        "Good",
        *(f"Page {number}" if len(pages) > 1 else "Here" for number in range(1, len(pages) + 1)),
    ]
    yield _table(
        head,
        [
            [inline(label), known.limit, *(_figure(column.get(label)) for column in columns)]
            for label, known in labels.items()
        ],
    )


def _figure(metric: Metric | None) -> str:
    if metric is None:
        return ""
    return metric.told if metric.rating in (None, "good") else f"**{metric.told}** ({metric.rating})"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _findings(found: Sequence[Placed], many: bool) -> Iterator[str]:
    for severity, group in by_severity(found):
        heading = f"### {severity.capitalize()}: {MEANINGS[severity]}\n\n"
        for each in group:
            yield heading + _finding(each, many)
            heading = ""


def _finding(placed: Placed, many: bool) -> str:
    finding = placed.finding
    facts = [
        code(finding.rule),
        _source(finding),
        f"page {placed.number}" if many else "",
        number_of(finding.count, "element") if finding.count else "",
        link("about it", finding.help_url) if finding.help_url else "",
    ]
    more = finding.count - len(finding.elements[:_MOST_ELEMENTS])
    noted = has_notes(finding)
    return "\n".join(
        [
            f"#### {inline(finding.id)} {inline(finding.title)}\n",
            f"{' · '.join(filter(None, facts))}\n",
            f"- **To do:** {inline(finding.advice, 1000)}",
            *([f"- **Measured:** {inline(finding.measured_by)}"] if finding.measured_by else []),
            *(f"- {_element(each, noted)}" for each in finding.elements[:_MOST_ELEMENTS]),
            *([f"- … and {more:,} more"] if more > 0 and finding.elements else []),
        ]
    )


def _source(finding: Finding) -> str:
    if finding.source == "measured":
        return "measured"
    persona = f" for {inline(finding.persona)}" if finding.persona else ""
    cited = f", from {inline(', '.join(finding.cites))}" if finding.cites else ""
    return f"**judged** by a model{persona}{cited}"


def _element(element: Element, noted: bool) -> str:
    told = code(element.selector), inline(element.note) if noted else ""
    return ": ".join(filter(None, told)) or code(element.html)


def _walk(walk: Walk) -> str:
    where = f" at {code(walk.where)}" if walk.where else ""
    why = f": {inline(walk.why)}" if walk.why else ""
    lines = [f"**{inline(walk.persona)}** · {inline(walk.goal)} · **{walk.outcome}**{where}{why}\n"]
    skipped = max(0, len(walk.steps) - _MOST_STEPS)
    lines += [f"- … {number_of(skipped, 'step')} before"] if skipped else []
    lines += [
        f"- {inline(step.id)} {code(f'{step.tool} {step.input}', 160)}{'' if step.ok else ' **failed**'}"
        f" {inline(step.said, 160)}".rstrip()
        for step in walk.steps[skipped:]
    ]
    return "\n".join(lines)


def _analysis(pages: Sequence[PageAudit]) -> Iterator[str]:
    for number, page in enumerate(pages, 1):
        heading = f"### Page {number}\n\n" if len(pages) > 1 else ""
        for block in blocks(page.analysis_text):
            yield heading + _prose(block)
            heading = ""


def _prose(block: Block) -> str:
    rows = ["".join(map(_span, row)).strip() for row in block.rows]
    match block.kind:
        case "heading":
            return f"#### {rows[0]}"
        case "paragraph":
            return rows[0]
        case "bullets":
            return "\n".join(f"- {row}" for row in rows)
        case "numbers":
            return "\n".join(f"{number}. {row}" for number, row in enumerate(rows, 1))


def _span(span: Span) -> str:
    if span.style == "code":
        return code(span.text)
    left, right = (" " * (side != span.text) for side in (span.text.lstrip(), span.text.rstrip()))
    told = inline(span.text, len(span.text))
    mark = {"strong": "**", "em": "*"}.get(span.style, "")
    return f"{left}{mark}{told}{mark}{right}" if told else left


def _not_done(audit: Audit) -> Iterator[str]:
    for number, what, why in undone(audit):
        page = f"page {number}, " if len(audit.pages) > 1 else ""
        yield f"- {page}{inline(what)}: {inline(why)}"


def _provenance(audit: Audit) -> str:
    made = audit.provenance
    model = f"{made.provider} {made.model}" if made.model else "none: only what was measured"
    until = "" if audit.finished_ms is None else f", for {duration(audit.finished_ms - audit.started_ms)}"
    facts = [
        ("Footlight", made.footlight),
        ("Server", made.server),
        ("axe-core", made.axe or ""),
        ("Model", model),
        ("Personas", ", ".join(made.personas)),
        ("Focus", ", ".join(made.focus_areas)),
    ]
    told = [f"- {name}: {inline(fact)}" for name, fact in facts if fact]
    return "\n".join([*told, f"- Began: {at(audit.started_ms)}{until}"])
