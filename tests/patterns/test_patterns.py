"""Every regular expression of our Python matches in linear time, whatever the text."""

from __future__ import annotations

import re

import pytest

from footlight.knowledge.redaction_rules import REVEALING_IDS, SECRET_NAMES
from tests.patterns.collecting import Found, collect_patterns
from tests.patterns.timing import find_slow

AT_RUN_TIME = {
    "client/server_tools.py:_names_unknown_tool": [
        r"(MCP error -?\d+: |### Error\s+)?((unknown tool|tool not found):? ['\"`]?a\ tool['\"`]?|tool:? "
        r"['\"`]?a\ tool['\"`]? (was )?not found)(?!\w).{0,100}"
    ],
    "client/export/body.py:_parts": [r"(hunter2\ \ hunter2|hunter2)"],
    "client/replay/variables.py:replace_keys": [r"hunter2\ \ hunter2|hunter2"],
    "client/secret_words.py:_in_query": ["([/?&;#])", "([?&;#])"],
    "client/server_address.py:expand": [r"\$\{API_TOKEN\}|\$\{API_TOKEN_2\}", r"(?!)"],
    "demo/shop/order_check.py:_check_pattern": [r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+", r"\+?[\d ()/-]{5,24}"],
    "knowledge/redaction_rules.py:_search_word": [REVEALING_IDS, SECRET_NAMES],
    "knowledge/index/search.py:_snippet": [" (?:send|sent|pay) "],
    "knowledge/secret_texts.py:_compile_phrase_parts": [
        r"(?<![^\W_])(?:abandon|able)(?![^\W\d_])(?:(?:[\W\d_]|\\[nrt])+(?:abandon|able)(?![^\W\d_])){2,}+"
    ],
    "knowledge/secret_texts.py:redact_words": [r"(?<![^\W_])abandon(?![^\W_])"],
    "knowledge/secret_texts.py:_redact_secrets": [r"([\s?&#=;]+)", r"(\s+)"],
}
"""An example of each pattern that is put together at run time."""

BACKTRACKING = [
    r"(a+)+$",
    r"^(a|a)*b",
    r"\s+$",
    r"a.*b.*c",
    r"\beyJ[\w-]{8,}\.[\w-]+",
    r"(?<=://)[^/@]*:[^\s]*@",
    r"(?:[a-z]{3,8}(?:[\s,]|[0-9]{1,2}[.)]?)+){11,}[a-z]{3,8}(?!\w)",
    r'"(?:[^"\\]|\\.)*"',
    r"/\*.*?\*/",
]


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["browser", "client", "knowledge", "server", "audit", "others"])
def test_no_python_regex_backtracks(folder: str) -> None:
    folders = {"browser", "client", "knowledge", "server", "audit"}
    expected = [
        found
        for found in collect_patterns().patterns
        if (found.place.split("/")[0] if found.place.split("/")[0] in folders else "others") == folder
    ]

    assert expected
    assert {found.place: slow for found in expected if (slow := find_slow(found))} == {}


@pytest.mark.slow
def test_no_regex_built_at_run_time_backtracks() -> None:
    assert set(collect_patterns().dynamic) == set(AT_RUN_TIME)
    made = [
        Found(place, re.compile(pattern), frozenset({"search", "fullmatch", "sub"} - _not_used(place)))
        for place, patterns in AT_RUN_TIME.items()
        for pattern in patterns
    ]

    assert {found.place: slow for found in made if (slow := find_slow(found))} == {}


def _not_used(place: str) -> set[str]:
    """Return patterns that are never searched from each character on, because they match whole texts."""
    whole = place.startswith(("client/server_tools.py", "demo/shop/order_check.py"))
    return {"search", "sub"} if whole else {"fullmatch"}


@pytest.mark.parametrize("pattern", BACKTRACKING)
def test_backtracking_regexes_are_detected(pattern: str) -> None:
    assert find_slow(Found("", re.compile(pattern, re.DOTALL), frozenset({"sub"})))
