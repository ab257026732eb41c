"""Parsing a model's Markdown."""

from __future__ import annotations

from footlight.audit.report.prose import Block, Span, parse_blocks
from tests.audit.report.audits import ANALYSIS, HOSTILE


def test_headings_paragraphs_and_lists_are_distinguished() -> None:
    assert parse_blocks(ANALYSIS) == [
        Block("heading", [[Span("What works")]]),
        Block(
            "paragraph",
            [
                [
                    Span("The "),
                    Span("basket", "strong"),
                    Span(" is "),
                    Span("very", "em"),
                    Span(" plain ("),
                    Span("P1", "cite"),
                    Span(")."),
                ]
            ],
        ),
        Block(
            "bullets",
            [
                [Span("Pay", "code"), Span(" is small: "), Span("F2", "cite")],
                [Span("W3", "cite"), Span(" fails, as "), Span("F9", "cite"), Span(" does")],
            ],
        ),
        Block("numbers", [[Span("First")], [Span("Then")]]),
    ]


def test_lines_of_a_paragraph_are_joined() -> None:
    assert parse_blocks("one\ntwo\n\nthree") == [
        Block("paragraph", [[Span("one"), Span(" "), Span("two")]]),
        Block("paragraph", [[Span("three")]]),
    ]


def test_consecutive_headings_are_separate_blocks() -> None:
    assert parse_blocks("# One\n## Two") == [
        Block("heading", [[Span("One")]]),
        Block("heading", [[Span("Two")]]),
    ]


def test_code_fence_separates_paragraphs_and_is_dropped() -> None:
    assert parse_blocks("say\n```html\n<b>\n```\nso") == [
        Block("paragraph", [[Span("say")]]),
        Block("paragraph", [[Span("<b>")]]),
        Block("paragraph", [[Span("so")]]),
    ]


def test_hostile_text_loses_only_marks_and_whitespace() -> None:
    reported = "".join(span.text for block in parse_blocks(HOSTILE) for row in block.rows for span in row)
    marks = str.maketrans("", "", "`*# \n\t")

    assert reported.translate(marks) == HOSTILE.translate(marks)


def test_empty_text_has_no_blocks() -> None:
    assert parse_blocks(" \n\n") == []


def test_endless_text_is_parsed_in_linear_time() -> None:
    """A limit of the whole suite watches: none of the patterns is tried from each place to the end."""
    for text in ("*" * 100_000, "`" * 100_000, "**a" * 30_000, "*a" * 50_000, "1. " * 30_000, " " * 100_000):
        assert len(parse_blocks(text)) <= 1
