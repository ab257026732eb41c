"""The last lines on the standard error of a dead server, without stack traces."""

from __future__ import annotations

import subprocess
import sys

import pytest

from footlight.client.transports.process import ErrorOutputTail
from tests.processor_time import limit_processor_time

GROUP = """
def fail():
    inner = ExceptionGroup("inner", [KeyError("DISPLAY"), RuntimeError("two\\n  lines")])
    raise ExceptionGroup("in a TaskGroup", [ValueError("no such display"), inner])

try:
    fail()
except Exception as error:
    raise RuntimeError("start failed") from error
"""


def words_of(written: str) -> list[str]:
    words = ErrorOutputTail()
    for line in written.splitlines():
        words.add(line.rstrip())
    return words.text().splitlines()


def test_each_exception_of_a_group_is_kept() -> None:
    died = subprocess.run([sys.executable, "-c", GROUP], capture_output=True, text=True, check=False)

    assert words_of(died.stderr) == [
        "ExceptionGroup: in a TaskGroup (2 sub-exceptions)",
        "ValueError: no such display",
        "ExceptionGroup: inner (2 sub-exceptions)",
        "KeyError: 'DISPLAY'",
        "RuntimeError: two",
        "  lines",
        "The above exception was the direct cause of the following exception:",
        "RuntimeError: start failed",
    ]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        pytest.param(
            "Error: 3 problems\n  port: must be a number\n  names: give 1 more\n  ... and a host",
            ["Error: 3 problems", "  port: must be a number", "  names: give 1 more", "  ... and a host"],
            id="indented reasons",
        ),
        pytest.param(
            "Error: listen EADDRINUSE\n    at Server.listen (node:net:1:2)\n  code: 'EADDRINUSE'\n}",
            ["Error: listen EADDRINUSE", "  code: 'EADDRINUSE'", "}"],
            id="JavaScript",
        ),
        pytest.param(
            "/x/y.js:3\n    throw new Error('a');\n    ^\n\nError: a\n    at f (/x/y.js:3:1)",
            ["/x/y.js:3", "Error: a"],
            id="JavaScript's source",
        ),
        pytest.param(
            "Exception in main: no display\n\tat a.B.c(B.java:7)\n\t... 12 more\nCaused by: d",
            ["Exception in main: no display", "Caused by: d"],
            id="Java",
        ),
        pytest.param(
            "panic: no display\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:5 +0x1d",
            ["panic: no display", "goroutine 1 [running]:", "main.main()"],
            id="Go",
        ),
        pytest.param(
            "thread 'main' panicked at x.rs:1:2:\nno display\n   0: std::panicking\n       at /x/y.rs:3",
            ["thread 'main' panicked at x.rs:1:2:", "no display"],
            id="Rust",
        ),
        pytest.param(
            '  File "/x.py", line 1\n    x = (\n        ^\nSyntaxError: never closed',
            ["SyntaxError: never closed"],
            id="a trace without its head",
        ),
        pytest.param("| a | b |\n+---+---+", ["| a | b |", "+---+---+"], id="a table"),
    ],
)
def test_error_reason_is_kept_without_its_stack_trace(written: str, words: list[str]) -> None:
    assert words_of(written) == words


def test_long_stack_trace_does_not_push_out_an_earlier_reason() -> None:
    frames = "".join(f'  File "x.py", line {n}, in f\n    f()\n' for n in range(500))

    assert words_of(f"bad configuration\nTraceback (most recent call last):\n{frames}Exit: 2") == [
        "bad configuration",
        "Exit: 2",
    ]


@pytest.mark.parametrize("character", " |+-^~.9\tat")
def test_long_lines_are_processed_in_linear_time(character: str) -> None:
    words = ErrorOutputTail()

    with limit_processor_time(1):
        for line in (character * 100_000, f"  {character * 100_000}!", f"  | {character * 100_000}x"):
            words.add(line)
