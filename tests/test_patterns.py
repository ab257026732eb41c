"""Patterns given by callers: what they match, which are refused, and that none takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.patterns import AnyOf, LinearPattern, PatternError, matches_wildcard


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("*", "", True),
        ("a*", "abc", True),
        ("*c", "abc", True),
        ("a*c", "ac", True),
        ("ab*ba", "aba", False),
        ("a*b*c", "axbxbxc", True),
        ("*b*b*", "ab", False),
        ("a.c?d*", "a.c?d[1]", True),
        ("a.c*", "abc", False),
        ("a*\n", "a\nb\n", True),
        ("plain", "plain", True),
        ("plain", "plainer", False),
    ],
)
def test_a_star_is_any_text_and_nothing_else_is_special(pattern: str, text: str, fits: bool) -> None:
    assert matches_wildcard(pattern, text) is fits


@given(st.text("ab*", max_size=8), st.text("ab", max_size=12))
def test_a_wildcard_fits_as_trying_every_way_would(pattern: str, text: str) -> None:
    assert matches_wildcard(pattern, text) is _try_pattern(pattern, text)


def _try_pattern(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(_try_pattern(pattern[1:], text[at:]) for at in range(len(text) + 1))
    return text[:1] == pattern[0] and _try_pattern(pattern[1:], text[1:])


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 100_000 + "!"),
        (r"(x+x+)+y", "x" * 100_000),
        ("[ab]*a[ab]{900}$", "ab" * 50_000 + "!"),
    ],
)
def test_no_expression_takes_long(pattern: str, text: str) -> None:
    began = time.thread_time()

    assert not LinearPattern(pattern).is_in(text)
    assert time.thread_time() - began < 1


def test_thousands_of_groups_take_no_time_for_each_text() -> None:
    pattern = LinearPattern(f"{'(' * 5_000}b{')' * 5_000}")
    began = time.thread_time()

    assert all(pattern.is_in(f"b{n}") for n in range(100))
    assert time.thread_time() - began < 0.5


def test_no_wildcard_takes_long() -> None:
    began = time.thread_time()

    assert not matches_wildcard("*a" * 1_000 + "*b", "a" * 100_000)
    assert time.thread_time() - began < 0.05


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(", "missing ): (; the syntax is RE2"),
        ("a(?=b)", "invalid perl operator: (?=; the syntax is RE2, which has no lookarounds"),
        (r"(a)\1", r"invalid escape sequence: \1; the syntax"),
        (r"\p{L}{500}", "it is too large; write fewer or smaller counted repetitions"),
    ],
)
def test_what_cannot_be_matched_so_is_refused_with_the_reason(expression: str, reason: str) -> None:
    with pytest.raises(PatternError) as raised:
        LinearPattern(expression)

    assert str(raised.value).startswith(reason)


def test_half_a_character_is_no_obstacle() -> None:
    assert LinearPattern("b").is_in("a\ud800b")
    assert AnyOf(["b"]).replace("a\ud800bé", lambda *_: "c") == "a\ud800cé"


def test_the_first_of_several_expressions_counts() -> None:
    marked = AnyOf(["ab+", "(?i)a", "ä"])

    assert marked.replace("abbAäx", lambda index, found: f"{index}{found.upper()} ") == "0ABB 1A 2Ä x"
