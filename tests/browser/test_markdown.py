"""Cutting Markdown to a budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footlight.browser.reading.markdown import MarkdownPart, cut_part

TEXTS = st.text(st.sampled_from("ab \n"), max_size=3_000)


def test_text_within_the_budget_is_unchanged() -> None:
    assert cut_part("a" * 200, 0, 200) == MarkdownPart("a" * 200, None)
    assert cut_part("a" * 200, 150, 200) == MarkdownPart("a" * 50, None)
    assert cut_part("short", 99, 200) == MarkdownPart("", None)


def test_part_ends_between_blocks_and_names_the_next_offset() -> None:
    text = "\n\n".join(letter * 60 for letter in "abcdef")

    first = cut_part(text, 0, 250)

    assert first == MarkdownPart(
        "\n\n".join(
            [*(letter * 60 for letter in "abc"), "[cut: 184 more characters; go on with offset 186]"]
        ),
        186,
    )
    assert cut_part(text, 186, 250) == MarkdownPart("\n\n".join(letter * 60 for letter in "def"), None)


@given(TEXTS, st.integers(200, 400))
def test_parts_form_the_whole_text_within_the_budget(text: str, budget: int) -> None:
    offset, parts = 0, []
    while True:
        part = cut_part(text, offset, budget)
        assert len(part.text) <= budget
        if part.following is None:
            parts.append(part.text)
            break
        assert part.following > offset
        parts.append(part.text.partition("\n\n[cut: ")[0])
        offset = part.following

    assert "".join("".join(parts).split()) == "".join(text.split())
