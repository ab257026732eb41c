"""Making the texts of pages and models safe for all report formats."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.audit.findings import ElementBox
from footlight.audit.page.page_text import shorten
from footlight.audit.report.presentable import (
    MAX_ANALYSIS_LENGTH,
    MAX_TEXT_LENGTH,
    make_plain,
    make_presentable,
)
from tests.audit.report.audits import audit, element, evidence, finding, page, picture, shop


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as it is: ä ж 漢 👍", "as it is: ä ж 漢 👍"),
        ("two\nlines\r\nand\ta tab", "two\nlines\nand\ta tab"),
        ("\x1b[31mred\x00\x9b", "\\x1b[31mred\\x00\\x9b"),
        ("\u202egnp.exe\u2066\u2069", "\\u202egnp.exe\\u2066\\u2069"),
        ("half \ud83d of one", "half \ufffd of one"),
        ("both \ud83d\udc4d of one", "both 👍 of one"),
        ("مرحبا", "مرحبا"),
    ],
)
def test_unsafe_characters_are_escaped_or_replaced(text: str, expected: str) -> None:
    assert make_plain(text) == expected


@given(st.text(alphabet=st.characters(), max_size=50))
def test_any_text_becomes_encodable_and_printable(text: str) -> None:
    """Lone surrogates and all control characters among them."""
    reported = make_plain(text)

    assert reported.encode().decode() == reported
    assert not any(character < " " and character not in "\n\t" for character in reported)


def test_huge_text_is_truncated_with_more_room_for_the_analysis() -> None:
    huge = "x" * 5_000_000
    displayed = make_presentable(
        audit(page([finding(title=huge, elements=[element(html=huge)])], analysis_text=huge, error=huge))
    )
    one = displayed.pages[0]

    assert [
        len(text) for text in (one.error or "", one.findings[0].title, one.findings[0].elements[0].html)
    ] == [MAX_TEXT_LENGTH] * 3
    assert len(one.analysis_text) == MAX_ANALYSIS_LENGTH
    assert one.analysis_text.endswith("x…")


def test_harmless_content_is_unchanged() -> None:
    """Pictures too: they are the very same ones."""
    given = shop()
    displayed = make_presentable(given)

    assert make_presentable(displayed) == displayed
    assert displayed.pages[0].findings[1] == replace(
        given.pages[0].findings[1], elements=tuple(given.pages[0].findings[1].elements)
    )
    assert displayed.pages[0].findings[0].elements[0].picture is picture()


def test_non_finite_numbers_become_zero() -> None:
    """JSON has no others."""
    boundless = element(box=ElementBox(float("inf"), 1, float("nan"), 2))
    displayed = make_presentable(
        audit(page(evidence=evidence([finding(elements=[boundless])], metrics={"lcp_ms": float("inf")})))
    )
    measured = displayed.pages[0].evidence

    assert measured is not None
    assert (measured.findings[0].elements[0].box, measured.metrics) == (ElementBox(0, 1, 0, 2), {"lcp_ms": 0})


def test_shortened_text_has_no_line_breaks() -> None:
    assert shorten(" two\n\n  lines\tof  it ") == "two lines of it"
    assert shorten("What works here", 12) == "What works…"
    assert shorten("https://shop.test/soups", 12) == "https://sho…"
