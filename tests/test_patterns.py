"""Patterns given by callers: what they match, which are refused, and that none takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.patterns import AnyOf, LinearPattern, PatternError, matches_wildcard
from tests.processor_time import limit_processor_time


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
def test_star_matches_any_text_and_other_characters_are_literal(pattern: str, text: str, fits: bool) -> None:
    assert matches_wildcard(pattern, text) is fits


@given(st.text("ab*", max_size=8), st.text("ab", max_size=12))
def test_wildcard_matches_like_a_backtracking_search(pattern: str, text: str) -> None:
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
def test_regular_expressions_match_in_linear_time(pattern: str, text: str) -> None:
    began = time.thread_time()

    assert not LinearPattern(pattern).is_in(text)
    assert time.thread_time() - began < 1


def test_nested_groups_add_no_cost_per_text() -> None:
    pattern = LinearPattern(f"{'(' * 4_999}b{')' * 4_999}")
    began = time.thread_time()

    assert all(pattern.is_in(f"b{n}") for n in range(100))
    assert time.thread_time() - began < 0.5


def test_long_wildcard_is_split_once_for_many_texts() -> None:
    """A log of requests has a thousand."""
    with limit_processor_time(2):
        assert all(matches_wildcard("*" * 100_000, f"http://a.test/{number}") for number in range(1_000))


def test_wildcards_match_in_linear_time() -> None:
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
        ("a?" * 5_001, "it has more than 10000 characters"),
    ],
)
def test_unsupported_expression_is_refused_with_the_reason(expression: str, reason: str) -> None:
    with pytest.raises(PatternError) as raised:
        LinearPattern(expression)

    assert str(raised.value).startswith(reason)


def test_unpaired_surrogate_can_be_searched_and_replaced() -> None:
    assert LinearPattern("b").is_in("a\ud800b")
    assert AnyOf(["b"]).replace("a\ud800bé", lambda *_: "c") == "a\ud800cé"


def test_first_matching_expression_wins() -> None:
    marked = AnyOf(["ab+", "(?i)a", "ä"])

    assert marked.replace("abbAäx", lambda index, found: f"{index}{found.upper()} ") == "0ABB 1A 2Ä x"
