"""Every regular expression of our JavaScript matches in linear time, whatever the text."""

from __future__ import annotations

import pytest

from tests.patterns.javascript import (
    JavaScriptPattern,
    find_slow_patterns,
    literal_patterns,
    pattern_constructions,
)

MADE_FROM_TEXT = {
    "audit/evidence/javascript/focus_exits.js": [
        r"\b(?:press|use)\s+(?:the\s+)?(esc|f\d{1,2}|[a-z])(?:[\s-]key)?\b[^.!?\n]{0,40}\b(?:exit|leave)\b"
    ],
    "audit/evidence/javascript/fields.js": [r"^(password|pass word|new password)$"],
    "audit/evidence/javascript/form_marks.js": [r"[*✱＊]|必須|\b(required|mandatory|requerid[oa])\b"],
    "audit/evidence/javascript/link_facts.js": [r"log-?out|sign-?off"],
    "audit/evidence/javascript/link_names.js": [r"^(click( here)?|more( info(rmation)?)?|details?)$"],
    "audit/evidence/javascript/outline.js": [r"^(untitled|document|home)( page)?$"],
    "browser/page/scripts/inspect/likeness.js": [r"sa|ve|del|ok"],
}
"""Examples of the expressions that each script makes from text."""
PARTS = 8


@pytest.mark.sampled(PARTS)
@pytest.mark.parametrize("start", range(PARTS))
def test_no_javascript_regex_backtracks(start: int) -> None:
    patterns = literal_patterns()[start::PARTS]

    assert len(patterns) > 100 // PARTS
    assert find_slow_patterns(patterns) == []


def test_no_javascript_regex_built_from_text_backtracks() -> None:
    assert pattern_constructions() == {path: len(made) for path, made in MADE_FROM_TEXT.items()}
    made = [JavaScriptPattern(path, body, "iu") for path, bodies in MADE_FROM_TEXT.items() for body in bodies]

    assert find_slow_patterns(made) == []


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    "body", [r"(a+)+$", r"\s*$", r"\([^)]*\)", r"[\s.…]+$", r"a.*b.*c", r"\]\([^)]*\)", r'"(?:[^"\\]|\\.)*"']
)
def test_backtracking_javascript_regexes_are_detected(body: str) -> None:
    assert find_slow_patterns([JavaScriptPattern("", body, "")])
