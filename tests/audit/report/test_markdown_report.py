"""The Markdown report, parsed by a Markdown renderer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from footlight.audit.report.markdown_report import MAX_LENGTH, code, inline, link, render_markdown
from footlight.audit.report.presentable import make_plain
from footlight.audit.results import Audit
from tests.audit.report.audits import (
    HOSTILE,
    audit,
    element,
    evidence,
    finding,
    order_page,
    page,
    shop,
    three_pages,
)
from tests.audit.report.verdicts import FAILED, HOSTILE_VERDICT

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(text: str) -> Iterator[Token]:
    for token in RENDERER.parse(text):
        yield token
        yield from token.children or ()


def read_words(text: str) -> str:
    """Return the words alone."""
    return "".join(token.content for token in tokens(text) if token.type in ("text", "code_inline"))


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


def test_report_sections_are_in_order() -> None:
    assert headings(render_markdown(shop(), verdict=FAILED)) == [
        "# UX audit: 1 critical, 1 high, 1 medium and 1 low findings on 2 pages, of which 1 failed",
        "## Findings",
        "### Critical: blocks the reader",
        "#### 1:F1 Images must have alternative text",
        "### High: causes great difficulty",
        "#### 1:J1 The total is told only after paying",
        "### Medium: slows the reader down",
        "#### 1:F2 What is to be touched is too small",
        "### Low: is a nuisance",
        "#### 1:F3 The page reports an error",
        "## Figures",
        "## Walks",
        "## Analysis",
        "### Page 1",
        "#### What works",
        "## Not done",
        "## Made by",
    ]


def test_pages_and_metrics_are_tables() -> None:
    reported = render_markdown(shop(), verdict=FAILED)

    assert "\n**Not passed:**\n\n- over 1 critical finding, at most 0 allowed\n" in reported
    assert (
        """\
|  | Page | State | Critical | High | Medium | Low | Time |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 1 | `https://shop.test/order` | partial | 1 | 1 | 1 | 1 | 9.1 s |
| 2 | `https://shop.test/gone` | failed | 0 | 0 | 0 | 0 | 40 ms |
"""
        in reported
    )
    assert (
        """\
## Figures

| Figure | Good | Page 1 | Page 2 |
| --- | --- | --- | --- |
| Largest paint (LCP) | up to 2.5 s | 2.1 s |  |
| Layout shift (CLS) | up to 0.1 | **0.31** (poor) |  |
| First byte (TTFB) | up to 800 ms | **900 ms** (fair) |  |
| Transferred | up to 3.0 MB | 812 kB |  |
| Requests |  | 23 |  |
"""
        in reported
    )


def test_finding_shows_rule_elements_and_advice() -> None:
    reported = render_markdown(shop())

    assert (
        """\
#### 1:F1 Images must have alternative text

`axe/image-alt` · measured · no WCAG criterion · page 1 · 8 elements · [about it](<https://dequeuniversity.com/rules/axe/4.12/image-alt>)

- **To do:** Give each image an alt that says what it shows.
- **Measured:** axe-core 4.12.1 at 1280 px
- `main > img`: Element does not have an alt attribute
- `#soup-2`: Element does not have an alt attribute
- `#soup-3`: Element does not have an alt attribute
- … and 5 more
"""
        in reported
    )
    assert (
        "`judged/wording` · **judged** by a model for Ana, from F2, W3, P1 · page 1 · 1 element" in reported
    )


def test_open_check_shows_its_first_elements_and_the_number_of_the_others() -> None:
    elements = [element(f"#soup-{number}") for number in range(1, 6)]
    few = finding("axe/contrast", id="C1", title="Measure the contrast", elements=elements[:3])
    many = finding("axe/video", id="C2", title="Watch it", elements=elements, count=8)

    reported = render_markdown(audit(page(evidence=evidence(to_check=[few, many]))))

    section = reported.partition("To check by hand")[2]
    assert [line.split(":")[0] for line in section.splitlines() if line.startswith("  - ")] == [
        *(f"  - `#soup-{number}`" for number in (1, 2, 3, 1, 2, 3)),
        "  - … and 5 more",
    ]


def test_a_rule_is_reported_once_with_its_pages() -> None:
    reported = render_markdown(three_pages())

    assert [line for line in headings(reported) if line.startswith("####")] == [
        "#### 1:F1 Images must have alternative text",
        "#### 2:F2 Too wide",
    ]
    assert "`axe/image-alt` · measured · WCAG 1.1.1 A · pages 1, 2, 3 · 3 elements" in reported


def test_code_in_advice_is_rendered_as_code() -> None:
    reported = render_markdown(
        audit(page([finding(advice="Put a `<label>` above the field. A ` alone stays.")]))
    )

    assert "- **To do:** Put a `<label>` above the field. A \\` alone stays.\n" in reported


def test_walk_shows_steps_and_where_it_stopped() -> None:
    assert """\
**Ana** · Pay for a soup · **stopped** at `https://shop.test/order`: Enter on the button does nothing.

- W1 `navigateToPage https://shop.test/order` Order
- W2 `pressKey Tab` focus: button Pay \\[e7\\]
- W3 `pressKey Enter` **failed** nothing happened
""" in render_markdown(shop())


def test_findings_of_equal_severity_are_sorted_by_persona() -> None:
    found = [
        finding(id=f"J{number}", persona=persona, title=persona or "nobody")
        for number, persona in enumerate(["Ben", "Ana", None, "Ben"])
    ]

    assert headings(render_markdown(audit(page(found))))[3:] == [
        "#### J2 nobody",
        "#### J1 Ana",
        "#### J0 Ben",
        "#### J3 Ben",
        "## Made by",
    ]


def test_unfinished_audit_is_marked() -> None:
    assert "> **This audit is not finished. It shows the results so far.**" in render_markdown(
        replace(shop(), finished_ms=None)
    )


def hostile() -> Audit:
    found = finding(
        HOSTILE,
        title=HOSTILE,
        advice=HOSTILE,
        measured_by=HOSTILE,
        persona=HOSTILE,
        source="judged",
        cites=[HOSTILE],
        help_url='https://x.test/a">(b)<c> d`|\n&copy;',
        elements=[element(HOSTILE, html=HOSTILE, note=HOSTILE), element("", html=HOSTILE, note="")],
    )
    order = order_page()
    walks = [
        replace(
            walk,
            persona=HOSTILE,
            goal=HOSTILE,
            where=HOSTILE,
            why=HOSTILE,
            steps=[
                replace(step, id=HOSTILE, tool=HOSTILE, input=HOSTILE, answer=HOSTILE) for step in walk.steps
            ],
        )
        for walk in order.walks
    ]
    return audit(
        page(
            [found],
            url=f"https://shop.test/{HOSTILE}",
            error=HOSTILE,
            evidence=evidence([found], title=HOSTILE, metrics={HOSTILE: 1}),
            walks=walks,
            analysis_text=f"{HOSTILE}\n\n# {HOSTILE}\n\n- {HOSTILE}\n\n1. **{HOSTILE}** `{HOSTILE}`",
        )
    )


def test_hostile_text_does_not_become_markup() -> None:
    """No link, no picture, no HTML, no cell or heading of its own; and nobody is called."""
    reported = render_markdown(hostile(), verdict=HOSTILE_VERDICT)
    found = [*tokens(reported)]
    columns = {line.count(" | ") for line in reported.splitlines() if line.startswith("| ")}

    assert [token.attrs["href"] for token in found if token.type == "link_open"] == [
        "https://x.test/a%22%3E(b)%3Cc%3E%20d%60%7C%0A&copy;"
    ]
    assert {token.type for token in found} & {
        "image",
        "html_block",
        "html_inline",
        "fence",
        "code_block",
        "hr",
    } == set()
    assert [token.type for token in found].count("s_open") == 0
    assert "\x1b" not in reported
    assert not re.search(r"@\w|#\d", "".join(token.content for token in found if token.type == "text"))
    assert columns <= {2, 7}


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]) | st.sampled_from("`*_[]()<>&~|\\#-+=1.!@$ \n"))
)
def test_any_text_is_escaped_and_read_back_unchanged(text: str) -> None:
    text = make_plain(text)
    words = " ".join(text.split())
    for reported in (f"- a {inline(text)}", f"- a {code(text)}"):
        found = [token for token in tokens(reported) if token.type not in ("text", "code_inline", "inline")]

        assert [token.type for token in found if token.nesting == 0] == []
        assert " ".join(read_words(reported).replace("\u200b", "").split()) == f"a {words}".strip()


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//x.test", "", None])
def test_only_web_addresses_become_links(url: str | None) -> None:
    assert link("about it", url) == "about it"


def test_large_audit_is_truncated_to_comment_length() -> None:
    many = [finding(id=f"F{number}", severity="low", advice="do " * 300) for number in range(400)]
    large = replace(order_page(), evidence=evidence(many), analysis_text="So it is. " * 5000)

    reported = render_markdown(audit(large, *(page(many[:2]) for _ in range(60))))

    assert len(reported) <= MAX_LENGTH
    assert re.search(r"\n… and \d+ more in the whole report\.\n", reported)
    assert "\n… and 31 pages more.\n" in reported
    assert headings(reported)[-1] == "## Made by"


def test_empty_audit_has_only_a_headline() -> None:
    assert headings(render_markdown(audit(page()))) == ["# UX audit: No findings", "## Made by"]
