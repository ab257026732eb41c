"""JSON values as Python source: it evaluates to the same values, and `ruff format` changes nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footlight.client.codegen.python_text import LINE_LENGTH
from footlight.client.export.python_source import Code, call, lay_out, literal, width

texts = st.text(max_size=80)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(texts, inner, max_size=6),
    max_leaves=20,
)


@given(values)
def test_a_value_is_read_back(value: Any) -> None:
    source = lay_out(literal(value), indent=0)

    assert ast.literal_eval(source) == value
    assert all(each.isprintable() or each == "\n" for each in source)


@given(st.lists(values, min_size=20, max_size=20))
@settings(max_examples=4, suppress_health_check=list(HealthCheck))
def test_source_is_already_formatted(given: list[Any]) -> None:
    source = "".join(
        f"{lay_out(call('f', [('', literal(each))]), indent=0, before='x = ')}\n" for each in given
    )

    assert format_source(source) == source


def format_source(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", str(LINE_LENGTH), "-"]
    done = subprocess.run(command, input=source.encode(), capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("plain", '"plain"'),
        ('say "hi"', "'say \"hi\"'"),
        ("it's \"1", '"it\'s \\"1"'),
        ('it\'s "1"', "'it\\'s \"1\"'"),
        ('"""', '\'"""\''),
        ("\\n", '"\\\\n"'),
        ("a\nb\tc\rd\x00\x1b\x7f", '"a\\nb\\tc\\rd\\x00\\x1b\\x7f"'),
        ("\u202e\u2028\ufeff", '"\\u202e\\u2028\\ufeff"'),
        ("\ud800 \U000e0001", '"\\ud800 \\U000e0001"'),
        ("ä 日本 🙂", '"ä 日本 🙂"'),
        ("{x} %s ${y}", '"{x} %s ${y}"'),
    ],
)
def test_texts_are_escaped_safely(text: str, source: str) -> None:
    assert lay_out(literal(text), indent=0) == source
    assert ast.literal_eval(source) == text


def test_long_call_has_one_item_per_line() -> None:
    arguments = [("one=", literal("x" * 60)), ("two=", literal({"a": ["y" * 70, 1]})), ("three=", Code("z"))]

    assert lay_out(call("await mcp.root.echo", arguments), indent=1, before="result = ") == (
        "    result = await mcp.root.echo(\n"
        f'        one="{"x" * 60}",\n'
        f'        two={{"a": ["{"y" * 70}", 1]}},\n'
        "        three=z,\n"
        "    )"
    )
    assert width("日本é") == 5
