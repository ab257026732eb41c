"""Render an audit as Markdown, for the comment of a pull request or a wiki page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from footlight.audit.findings import SEVERITIES, Element, Finding, count_severities
from footlight.audit.page.page_text import shorten
from footlight.audit.report.metrics import Metric, read_metrics
from footlight.audit.report.presentable import make_plain, make_presentable
from footlight.audit.report.prose import CODE_SPAN, Block, Span, parse_blocks
from footlight.audit.report.summary import (
    MEANINGS,
    UNFINISHED,
    ListedFinding,
    describe_criteria,
    find_arrival,
    group_by_rule,
    group_by_severity,
    has_notes,
    headline,
    list_findings,
    list_to_check,
    list_undone,
)
from footlight.audit.results import Audit, PageAudit, Walk
from footlight.audit.thresholds import Verdict
from footlight.figures import format_count, format_duration, format_time

__all__ = ["MAX_LENGTH", "code", "inline", "link", "render_markdown"]

MAX_LENGTH = 60_000
"""The maximum number of characters of a report. GitHub accepts comments of 65,536."""
_MAX_SECTION_LENGTH = 10_000
"""The maximum number of characters of each section. The findings get the rest."""
_MAX_PAGES = 30
_MAX_COLUMNS = 6
_MAX_ELEMENTS = 3
_MAX_STEPS = 12


def render_markdown(audit: Audit, *, verdict: Verdict | None = None) -> str:
    """Render the report: metrics, findings by severity and persona, walks, analysis, what was not done."""
    audit = make_presentable(audit)
    before = [*_render_head(audit, verdict), _render_pages(audit.pages)]
    after = [
        *_render_section(
            "To check by hand", [_render_check(each, len(audit.pages) > 1) for each in list_to_check(audit)]
        ),
        *_render_section("Figures", [*_render_metrics(audit.pages)]),
        *_render_section("Walks", [_render_walk(walk) for page in audit.pages for walk in page.walks]),
        *_render_section("Analysis", [*_render_analysis(audit.pages)]),
        *_render_section("Not done", [*_render_not_done(audit)]),
        *_render_section("Made by", [_render_provenance(audit)]),
    ]
    room = MAX_LENGTH - sum(len(part) + 2 for part in (*before, *after))
    found = _render_section("Findings", [*_render_findings(list_findings(audit), len(audit.pages) > 1)], room)
    return "\n\n".join([*before, *found, *after]) + "\n"


def _render_section(title: str, parts: Sequence[str], longest: int = _MAX_SECTION_LENGTH) -> Iterator[str]:
    """Yield a section with as many parts as fit, at least one, or nothing if there are no parts."""
    room = longest
    for number, part in enumerate(parts):
        room -= len(part) + 2
        if number == 0:
            yield f"## {title}"
        elif room < 0:
            yield f"… and {len(parts) - number:,} more in the whole report."
            return
        yield part


def _render_head(audit: Audit, verdict: Verdict | None) -> Iterator[str]:
    yield f"# UX audit: {inline(headline(audit))}"
    if audit.finished_ms is None:
        yield f"> **{UNFINISHED}**"
    if verdict is not None:
        first, *others = make_plain(verdict.text).splitlines() or [""]
        yield "\n".join([f"**{inline(first)}**\n", *(f"- {inline(line)}" for line in others)]).rstrip()


def _render_pages(pages: Sequence[PageAudit]) -> str:
    rows = [
        [
            str(number),
            " → ".join(code(each).replace("|", "\\|") for each in (page.url, find_arrival(page)) if each),
            page.status,
            *(str(count) for count in count_severities(page.findings).values()),
            format_duration(page.duration_ms),
        ]
        for number, page in enumerate(pages[:_MAX_PAGES], 1)
    ]
    table = _render_table(["", "Page", "State", *(each.capitalize() for each in SEVERITIES), "Time"], rows)
    more = len(pages) - _MAX_PAGES
    return f"{table}\n\n… and {format_count(more, 'page')} more." if more > 0 else table


def _render_metrics(pages: Sequence[PageAudit]) -> Iterator[str]:
    """Yield a table of metrics with a column for each page, unless there are too many pages."""
    columns = [
        {each.label: each for each in read_metrics(page.evidence.metrics if page.evidence else {})}
        for page in pages[:_MAX_COLUMNS]
    ]
    labels = {label: metric for column in reversed(columns) for label, metric in column.items()}
    if not labels or len(pages) > _MAX_COLUMNS:
        return
    head = [
        "Figure",
        "Good",
        *(f"Page {number}" if len(pages) > 1 else "Here" for number in range(1, len(pages) + 1)),
    ]
    yield _render_table(
        head,
        [
            [inline(label), known.limit, *(_render_metric(column.get(label)) for column in columns)]
            for label, known in labels.items()
        ],
    )


def _render_metric(metric: Metric | None) -> str:
    if metric is None:
        return ""
    return metric.text if metric.rating in (None, "good") else f"**{metric.text}** ({metric.rating})"


def _render_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _render_findings(found: Sequence[ListedFinding], many: bool) -> Iterator[str]:
    for severity, group in group_by_severity(found):
        heading = f"### {severity.capitalize()}: {MEANINGS[severity]}\n\n"
        for each in group_by_rule(group):
            yield heading + _render_rule(each, many)
            heading = ""


def _render_rule(group: Sequence[ListedFinding], many: bool) -> str:
    """Render a rule with its pages. What to do, and the elements, are those of its first page."""
    finding = group[0].finding
    facts = [
        code(finding.rule),
        _describe_source(finding),
        describe_criteria(finding),
        f"{'pages' if len(group) > 1 else 'page'} {_join_numbers(group)}" if many else "",
        format_count(sum(each.finding.count for each in group), "element") if finding.count else "",
        link("about it", finding.help_url) if finding.help_url else "",
    ]
    more = finding.count - len(finding.elements[:_MAX_ELEMENTS])
    on = f" on page {group[0].number}" if len(group) > 1 else ""
    noted = has_notes(finding)
    return "\n".join(
        [
            f"#### {inline(group[0].name)} {inline(finding.title)}\n",
            f"{' · '.join(filter(None, facts))}\n",
            f"- **To do:** {_render_code_spans(finding.advice)}",
            *([f"- **Measured:** {inline(finding.measured_by)}"] if finding.measured_by else []),
            *(f"- {_render_element(each, noted)}" for each in finding.elements[:_MAX_ELEMENTS]),
            *([f"- … and {more:,} more{on}"] if more > 0 and finding.elements else []),
        ]
    )


def _join_numbers(group: Sequence[ListedFinding]) -> str:
    numbers = [str(each) for each in dict.fromkeys(each.number for each in group)]
    more = len(numbers) - _MAX_PAGES
    return ", ".join(numbers[:_MAX_PAGES]) + (f" and {more:,} more" if more > 0 else "")


def _render_code_spans(text: str) -> str:
    """Render a text in which backticks enclose code."""
    parts = CODE_SPAN.split(shorten(text, 1000))
    return "".join(_render_span(Span(each, "code" if at % 2 else "plain")) for at, each in enumerate(parts))


def _render_check(placed: ListedFinding, many: bool) -> str:
    finding = placed.finding
    facts = [code(finding.rule), describe_criteria(finding), f"page {placed.number}" if many else ""]
    more = finding.count - len(finding.elements[:_MAX_ELEMENTS])
    return "\n".join(
        [
            f"- **{inline(placed.name)} {inline(finding.title)}** · {' · '.join(filter(None, facts))}",
            *(f"  - {_render_element(each, True)}" for each in finding.elements[:_MAX_ELEMENTS]),
            *([f"  - … and {more:,} more"] if more > 0 else []),
        ]
    )


def _describe_source(finding: Finding) -> str:
    if finding.source == "measured":
        return "measured"
    persona = f" for {inline(finding.persona)}" if finding.persona else ""
    cited = f", from {inline(', '.join(finding.cites))}" if finding.cites else ""
    return f"**judged** by a model{persona}{cited}"


def _render_element(element: Element, noted: bool) -> str:
    parts = code(element.selector), inline(element.note) if noted else ""
    return ": ".join(filter(None, parts)) or code(element.html)


def _render_walk(walk: Walk) -> str:
    where = f" at {code(walk.where)}" if walk.where else ""
    why = f": {inline(walk.why)}" if walk.why else ""
    lines = [f"**{inline(walk.persona)}** · {inline(walk.goal)} · **{walk.outcome}**{where}{why}\n"]
    skipped = max(0, len(walk.steps) - _MAX_STEPS)
    lines += [f"- … {format_count(skipped, 'step')} before"] if skipped else []
    lines += [
        f"- {inline(step.id)} {code(f'{step.tool} {step.input}', 160)}{'' if step.ok else ' **failed**'}"
        f" {inline(step.answer, 160)}".rstrip()
        for step in walk.steps[skipped:]
    ]
    return "\n".join(lines)


def _render_analysis(pages: Sequence[PageAudit]) -> Iterator[str]:
    for number, page in enumerate(pages, 1):
        heading = f"### Page {number}\n\n" if len(pages) > 1 else ""
        for block in parse_blocks(page.analysis_text):
            yield heading + _render_block(block)
            heading = ""


def _render_block(block: Block) -> str:
    rows = ["".join(map(_render_span, row)).strip() for row in block.rows]
    match block.kind:
        case "heading":
            return f"#### {rows[0]}"
        case "paragraph":
            return rows[0]
        case "bullets":
            return "\n".join(f"- {row}" for row in rows)
        case "numbers":
            return "\n".join(f"{number}. {row}" for number, row in enumerate(rows, 1))


def _render_span(span: Span) -> str:
    if span.style == "code":
        return code(span.text)
    left, right = (" " * (side != span.text) for side in (span.text.lstrip(), span.text.rstrip()))
    text = inline(span.text, len(span.text))
    mark = {"strong": "**", "em": "*"}.get(span.style, "")
    return f"{left}{mark}{text}{mark}{right}" if text else left


def _render_not_done(audit: Audit) -> Iterator[str]:
    for number, what, why in list_undone(audit):
        page = f"page {number}, " if len(audit.pages) > 1 else ""
        yield f"- {page}{inline(what)}: {inline(why)}"


def _render_provenance(audit: Audit) -> str:
    made = audit.provenance
    model = f"{made.provider} {made.model}" if made.model else "none: only what was measured"
    until = (
        "" if audit.finished_ms is None else f", for {format_duration(audit.finished_ms - audit.started_ms)}"
    )
    facts = [
        ("Footlight", made.footlight),
        ("Server", made.server),
        ("axe-core", made.axe or ""),
        ("Model", model),
        ("Personas", ", ".join(made.personas)),
        ("Focus", ", ".join(made.focus_areas)),
    ]
    lines = [f"- {name}: {inline(fact)}" for name, fact in facts if fact]
    return "\n".join([*lines, f"- Began: {format_time(audit.started_ms)}{until}"])


_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_SPECIAL = re.compile(
    r"(?P<mark>[\\`*_\[\]~|$]|(?<=[A-Za-z]):(?=//)|(?<=www)\.|^[-+=#])|(?P<number>^\d+(?=[.)]))|(?P<call>@|#(?=\d))",
    re.IGNORECASE,
)
"""Code hosts link `@name` and `#number` even if escaped; a zero-width space prevents it."""


def inline(text: str, longest: int = 500) -> str:
    """Return text escaped for a line or a table cell."""
    return _SPECIAL.sub(_escape, shorten(text, longest).translate(_ENTITIES))


def code(text: str, longest: int = 300) -> str:
    """Return a code span, in which nothing is linked."""
    line = shorten(text, longest)
    if not line:
        return ""
    fence = "`" * (1 + max(map(len, re.findall(r"`+", line)), default=0))
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def link(text: str, url: str | None) -> str:
    """Return a link to an http or https URL, or the text alone."""
    if not (url or "").startswith(("http://", "https://")):
        return inline(text)
    target = re.sub(r"[^!#-;=?-Z_a-z~%&]", lambda found: _percent_encode(found[0]), url or "")
    return f"[{inline(text)}](<{target.replace('&', '&amp;')}>)"


def _escape(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "mark":
            return f"\\{found[0]}"
        case "number":
            return f"{found[0]}\\"
        case _:
            return f"{found[0]}&#8203;"


def _percent_encode(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())
