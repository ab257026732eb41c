"""Parsing Playwright's aria snapshots into nodes."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from footlight.browser_client.accessibility_tree import MAX_LEVELS, AccessibilityNode
from footlight.browser_client.dialects.aria_yaml import read_aria_yaml

PAGE = r"""- generic [active] [ref=e1]:
  - 'heading "Hi: there" [level=1] [ref=e2]'
  - 'link "Link: ''q'' \"d\" # hash" [ref=e3] [cursor=pointer]':
    - /url: /x?a=b#c
  - paragraph [ref=e4]: "para - text: \"x\""
  - generic [ref=e5]:
    - text: Name
    - textbox "Name" [ref=e6]: Ada
    - text: "- not: an item"
  - combobox "Pick" [ref=e7]:
    - option "a" [selected]
    - option "Bee"
  - slider [ref=e8]: "5"
  - 'textbox "Where: to" [ref=e9]':
    - /placeholder: "a: b"
    - text: "c: d"
  - checkbox "All" [checked=mixed] [disabled] [ref=e10]
  - button "x] [ref=e99" [pressed] [ref=e11] [box=1,2.5,30,40]
  - 'button "\\\n\ud83d\ude00 {y}" [ref=e12]'
  - iframe [ref=e13]:
    - button "inner" [ref=f1e2]
"""

TREE: list[AccessibilityNode] = [
    {
        "role": "generic",
        "states": ["active"],
        "ref": "e1",
        "children": [
            {"role": "heading", "name": "Hi: there", "states": ["level=1"], "ref": "e2"},
            {"role": "link", "name": "Link: 'q' \"d\" # hash", "ref": "e3", "url": "/x?a=b#c"},
            {"role": "paragraph", "ref": "e4", "text": 'para - text: "x"'},
            {
                "role": "generic",
                "ref": "e5",
                "children": [
                    {"role": "text", "name": "Name"},
                    {"role": "textbox", "name": "Name", "ref": "e6", "value": "Ada"},
                    {"role": "text", "name": "- not: an item"},
                ],
            },
            {
                "role": "combobox",
                "name": "Pick",
                "ref": "e7",
                "children": [
                    {"role": "option", "name": "a", "states": ["selected"]},
                    {"role": "option", "name": "Bee"},
                ],
            },
            {"role": "slider", "ref": "e8", "value": "5"},
            {"role": "textbox", "name": "Where: to", "ref": "e9", "placeholder": "a: b", "value": "c: d"},
            {"role": "checkbox", "name": "All", "states": ["checked=mixed", "disabled"], "ref": "e10"},
            {
                "role": "button",
                "name": "x] [ref=e99",
                "states": ["pressed"],
                "ref": "e11",
                "box": [1.0, 2.5, 30.0, 40.0],
            },
            {"role": "button", "name": "\\\n\U0001f600 {y}", "ref": "e12"},
            {
                "role": "iframe",
                "ref": "e13",
                "children": [{"role": "button", "name": "inner", "ref": "f1e2"}],
            },
        ],
    }
]

ODD = """\
- dash|# hash|null|1.0|2026-01-01|~|=|0x1F|1_000|12:30:45|<<|yes|"quoted"|'s|a: b|:x|x:|{a}|@x|`|? q|*c|&d|!e
%f|[g]|.5|1e3|.inf|NaN|a&b|x #y|\u2028z|\x85|\x7f|\ufffe|\ufeff|\x00|tab\tq| lead|trail |\\"""
"""What a YAML reader would take for something else than text, or not at all."""


def write_value(value: str) -> str:
    """Return a value as Playwright writes it."""
    if not _needs_quotes(value):
        return value
    escapes = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

    def escape(found: re.Match[str]) -> str:
        return escapes.get(found[0]) or f"\\x{ord(found[0]):02x}"

    return '"' + re.sub(r'[\\"\x00-\x1f\x7f-\x9f]', escape, value) + '"'


def _needs_quotes(value: str) -> bool:
    return (
        bool(re.search(r"^\s|\s$|[\x00-\x1f\x7f-\x9f]|^-|:(\s|$)|\s#|^[&*\],?!>|@\"'#%]|[{}`]|^\[", value))
        or not value
        or value.lower() in ("y", "n", "yes", "no", "true", "false", "on", "off", "null")
        or bool(
            re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|0x[0-9a-f]+|infinity", value, re.IGNORECASE)
        )
    )


def write_node(name: str) -> str:
    """Return the line that Playwright writes for a node of this name."""
    key = f"button {json.dumps(name, ensure_ascii=False)} [ref=e1]"
    return "'" + key.replace("'", "''") + "'" if _needs_quotes(key) else key


def test_snapshot_is_parsed_exactly() -> None:
    """An earlier implementation could not read what the server answers."""
    assert read_aria_yaml(PAGE) == TREE


def test_empty_text_is_an_empty_page() -> None:
    assert read_aria_yaml("") == read_aria_yaml("\n") == []


@pytest.mark.parametrize("word", [*ODD.replace("\n", "|").split("|"), "line\nbreak"])
def test_special_words_are_preserved(word: str) -> None:
    """The word is a text, the content of a node, and a name."""
    value = write_value(word)
    lines = f"- text: {value}\n- paragraph [ref=e1]: {value}\n- {write_node(word)}: {value}"

    assert read_aria_yaml(lines) == [
        {"role": "text", "name": word},
        {"role": "paragraph", "ref": "e1", "text": word},
        {"role": "button", "name": word, "ref": "e1", "text": word},
    ]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_words_are_preserved(words: str) -> None:
    lines = f"- {write_node(words)}:\n  - text: {write_value(words)}"

    assert read_aria_yaml(lines) == [
        {"role": "button", "name": words, "ref": "e1", "children": [{"role": "text", "name": words}]}
    ]


@given(st.text(st.characters(max_codepoint=0x7E), max_size=60))
def test_result_matches_a_yaml_parser(words: str) -> None:
    lines = f"- text: {write_value(words)}\n- {write_node(words)}: {write_value(words)}"

    text, button = yaml.load(lines, yaml.BaseLoader)

    assert read_aria_yaml(lines) == [
        {"role": "text", "name": text["text"]},
        {"role": "button", "name": words, "ref": "e1", "text": next(iter(button.values()))},
    ]


def test_name_may_exceed_the_yaml_key_length() -> None:
    name = 'a "long": name ' * 60
    lines = f"- {write_node(name)}:\n  - /url: x"

    with pytest.raises(yaml.YAMLError):
        yaml.load(lines, yaml.BaseLoader)
    assert read_aria_yaml(lines) == [{"role": "button", "name": name, "ref": "e1", "url": "x"}]


def test_node_depth_is_limited() -> None:
    lines = "\n".join(f"{'  ' * level}- group:" for level in range(2 * MAX_LEVELS))

    (node,) = read_aria_yaml(lines)

    levels = 1
    while (children := node.get("children")) is not None:
        node, levels = children[0], levels + 1
    assert levels == MAX_LEVELS - 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("button", "this is not a line of an aria snapshot: button"),
        (" - button", "this is not a line of an aria snapshot:  - button"),
        ("  - button", "this is not a line of an aria snapshot:   - button"),
        ("- button:\n      - deeper", "this is not a line of an aria snapshot:       - deeper"),
        ("- 'button", "this is not a key of an aria snapshot: 'button"),
        ('- "button"', 'this is not a key of an aria snapshot: "button"'),
        ('- button "x', "Unterminated string starting at: line 1 column 8 (char 7)"),
    ],
)
def test_invalid_snapshot_is_refused(line: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is what is compared
        read_aria_yaml(line)

    assert str(caught.value) == problem


@given(st.text(alphabet="- :'\"[]=#/\\\n abe1{}", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ValueError):
        read_aria_yaml(text)
