"""The text report in a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footlight.audit.findings import Skipped
from footlight.audit.report.text_report import render_text
from tests.audit.report.audits import HOSTILE, audit, element, finding, page, shop, three_pages
from tests.audit.report.verdicts import FAILED


def test_text_lists_pages_findings_skipped_work_and_verdict() -> None:
    assert "\n".join(render_text(shop(), verdict=FAILED)) == (
        """\
1 critical, 1 high, 1 medium and 1 low findings on 2 pages, of which 1 failed

   Page                     State    Critical  High  Medium  Low   Time
1  https://shop.test/order  partial         1     1       1    1  9.1 s
2  https://shop.test/gone   failed          0     0       0    0  40 ms

critical  1:F1   axe/image-alt                 Images must have alternative text · 8 elements: main…
high      1:J1   judged/wording                The total is told only after paying · for Ana · #pay
medium    1:F2   layout/target-size            What is to be touched is too small · #pay
low       1:F3   console/error                 The page reports an error

Not done:
  page 1, axe-core's rules at 768 px: timed out after 60 s
  page 1, a finding of the model: The colours are sad: it cites F9, which does not exist
  page 2, the whole page: net::ERR_CONNECTION_REFUSED

Not passed:
  over  1 critical finding, at most 0 allowed"""
    )


def test_findings_beyond_the_limit_are_counted() -> None:
    many = [finding(id=f"F{number}", severity="low" if number % 2 else "high") for number in range(1, 33)]

    reported = render_text(audit(page(many)), most=20)

    assert [line.split()[0] for line in reported[5:25]] == ["high"] * 16 + ["low"] * 4
    assert reported[-1] == "… and 12 more in the report"


@pytest.mark.parametrize(
    ("count", "last"), [(10, "  part 9: reason 9"), (11, "  … and 1 more in the report")]
)
def test_skipped_work_beyond_the_limit_is_counted(count: int, last: str) -> None:
    skipped = [Skipped(what=f"part {number}", why=f"reason {number}") for number in range(count)]

    assert render_text(audit(replace(page([]), skipped=skipped)))[-1] == last


def test_parts_with_the_same_reason_are_one_line_that_shows_the_reason() -> None:
    parts = ["click handlers that scripts set", "keyboard shortcuts at 1280 px", "keyboard focus"]
    skipped = [Skipped(what=what, why="the page replaced document.title") for what in parts]

    assert render_text(audit(replace(page([]), skipped=skipped)))[-1] == (
        "  click handlers that scripts set, keyboard…: the page replaced document.title"
    )


def test_elements_of_a_rule_are_counted_on_all_its_pages() -> None:
    pages = [page([finding(count=count, elements=[element("#pay")])]) for count in (1, 2)]

    assert render_text(audit(*pages), width=200)[-1].endswith(" · on 2 pages · 3 elements: #pay")


def test_a_rule_is_one_line_for_all_its_pages() -> None:
    reported = render_text(three_pages())

    assert reported[-2:] == [
        "critical  1:F1   axe/image-alt                 Images must have alternative text · on 3 pages · 3…",
        "high      2:F2   layout/overflow               Too wide · main > img",
    ]


def test_address_of_the_page_measured_instead_is_shown() -> None:
    reported = render_text(audit(page(url="https://shop.test/account")))

    assert reported[4] == "   measured at https://shop.test/order"


def test_empty_audit_has_a_headline() -> None:
    assert render_text(audit(page()))[0] == "No findings"
    assert render_text(audit())[0] == "No page was measured"
    assert (
        render_text(audit(page(status="failed", evidence=None, error="gone")))[0]
        == "No page could be measured"
    )


def test_unfinished_audit_is_marked() -> None:
    assert render_text(replace(shop(), finished_ms=None))[1] == (
        "This audit is not finished. It shows the results so far."
    )


def test_lines_are_limited_in_width_and_printable() -> None:
    hostile = finding(HOSTILE, title=HOSTILE * 9, persona=HOSTILE, elements=[element(HOSTILE)])

    message = render_text(audit(page([hostile], url=f"https://shop.test/{HOSTILE}", error=HOSTILE)), width=80)

    assert max(map(len, message)) <= 80
    assert all(line.isprintable() for line in message)
    assert len(message) == 10
