"""Parsing selectors."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.browser.page.selectors import parse
from footlight.errors import InvalidSelectorError


@pytest.mark.parametrize(
    ("selector", "parts"),
    [
        ("#save", ("#save",)),
        ("  form > button  ", ("form > button",)),
        ("//button[1]", ("xpath=//button[1]",)),
        ("(//button)[last()]", ("xpath=(//button)[last()]",)),
        ("//a >> ..", ("xpath=//a", "xpath=..")),
        ("testid=save", ('[data-testid="save"]',)),
        ("testid='save all'", ('[data-testid="save all"]',)),
        ('testid=say "hi', ('[data-testid="say \\"hi"]',)),
        ("#frame >> button", ("#frame", "button")),
        ("#a >> iframe>>testid=b >> //c", ("#a", "iframe", '[data-testid="b"]', "xpath=//c")),
        ("text=Save", ("text=Save",)),
        ("role=button[name='a >> b']", ("role=button[name='a >> b']",)),
        ('[title="a >> b"] >> c', ('[title="a >> b"]', "c")),
        ('[title="a \\" >> b"] >> c', ('[title="a \\" >> b"]', "c")),
        ("a > b", ("a > b",)),
        ("li >> nth=2", ("li >> nth=2",)),
        ("ul >> li >>nth=-1 >> visible=true >> a", ("ul", "li >> nth=-1 >> visible=true", "a")),
        ("testid=row >> nth=1", ('[data-testid="row"] >> nth=1',)),
        ("//li >> nth=0", ("xpath=//li >> nth=0",)),
        ("e7 >> nth=0", ("footlight=e7 >> nth=0",)),
    ],
)
def test_selector_is_split_into_parts(selector: str, parts: tuple[str, ...]) -> None:
    assert parse(selector) == parts


@pytest.mark.parametrize("selector", ["", "   ", ">>", "#a >>", ">> #a", "#a >> >> #b"])
def test_empty_selector_part_is_refused(selector: str) -> None:
    with pytest.raises(InvalidSelectorError) as caught:
        parse(selector)

    assert caught.value.code == "INVALID_SELECTOR"
    assert caught.value.message == f'The selector "{selector}" has an empty part'
    assert caught.value.details == {"selector": selector}


plain = st.text(st.characters(exclude_characters="\"'>\\"), min_size=1).filter(
    lambda part: part.strip() and not part.strip().startswith(("testid=", "//", "(//", ".."))
)


@given(st.lists(plain, min_size=1, max_size=4))
def test_unquoted_parts_are_preserved(parts: list[str]) -> None:
    assert parse(" >> ".join(parts)) == tuple(part.strip() for part in parts)


@given(st.text())
def test_quoted_text_is_not_split(text: str) -> None:
    part = f"[title={json.dumps(text, ensure_ascii=False)}]"

    assert parse(f"{part} >> {part}") == (part, part)


@given(plain)
def test_xpath_is_passed_unsplit(text: str) -> None:
    assert parse(f"//{text}") == (f"xpath=//{text.rstrip()}",)


@given(st.text())
def test_any_text_is_split_or_refused(text: str) -> None:
    try:
        parts = parse(text)
    except InvalidSelectorError:
        return

    assert parts
    assert all(parts)
