"""The demo's transcript: plain lines when piped, colours on a terminal, no secrets anywhere."""

import io
from collections.abc import Callable, Collection

import pytest
from rich.console import Console

from footlight.demo.remote_browser import BrowserAnswer, ToolError
from footlight.demo.transcript import DemoTranscript, describe_arguments, describe_data
from footlight.demo.verdict import Check, fail_step, find_difference

OPENED = BrowserAnswer(
    tool="navigate", data={"status": 200, "url": "http://x/"}, error=None, image=None, elapsed_ms=12.4
)
COVERED = ToolError(code="ELEMENT_NOT_INTERACTIVE", message="#buy is covered", suggestion="Close it.")
REFUSED = BrowserAnswer(tool="click", data={}, error=COVERED, image=None, elapsed_ms=1003)
AGREED = Check(["a", "b"], ["a", "b"], ", ".join).judge("Read")
DIFFERED = Check(["a", "b"], ["a", "c"], ", ".join).judge("Read again")


def test_call_and_result_are_one_line_each() -> None:
    lines = write(lambda page: page.call("navigate", {"url": "http://x/"}), lambda page: page.answer(OPENED))

    assert lines == ["  navigate url=http://x/", "    status 200  12 ms"]


def test_error_shows_its_code_message_and_suggestion() -> None:
    lines = write(lambda page: page.answer(REFUSED))

    assert lines == [
        "    ELEMENT_NOT_INTERACTIVE #buy is covered  1003 ms",
        "    suggestion: Close it.",
    ]


def test_secrets_are_masked_in_arguments_and_results() -> None:
    echo = BrowserAnswer(
        tool="get_text", data={"text": "you typed hush-hush"}, error=None, image=None, elapsed_ms=1
    )

    lines = write(
        lambda page: page.call("fill", {"value": "hush-hush"}),
        lambda page: page.answer(echo),
        secrets=["hush-hush"],
    )

    assert lines == ["  fill value=••••••", '    "you typed ••••••"  1 ms']


def test_piped_lines_are_never_wrapped() -> None:
    lines = write(lambda page: page.call("navigate", {"url": "http://x/" + "a/" * 30}))

    assert len(lines) == 1


def test_verdicts_are_aligned_and_differences_are_named() -> None:
    lines = write(lambda page: page.verdicts([AGREED, DIFFERED, fail_step("Write", "fill: TIMEOUT")]))

    assert lines == [
        "",
        "Step        The site holds  What came back  Verdict",
        "Read        a, b            a, b            same",
        "Read again  a, b            a, c            NOT THE SAME",
        "Write                       nothing         NOT THE SAME",
        "Read again: at [1] the site holds 'b', what came back is 'c'",
        "Write: fill: TIMEOUT",
    ]


def test_terminal_output_has_colours() -> None:
    screen = io.StringIO()
    DemoTranscript(Console(file=screen, force_terminal=True, color_system="standard")).call(
        "click", {"selector": "#buy"}
    )

    assert screen.getvalue() == "  \x1b[1;36mclick\x1b[0m selector=#buy\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"selector": "#a", "value": "two words"}, 'selector=#a value="two words"'),
        ({"value": ""}, 'value=""'),
        ({"value": "one\ntwo"}, 'value="one\\ntwo"'),
        ({"timeout": 1000, "files": ["a", "b"]}, 'timeout=1000 files=["a", "b"]'),
        ({"value": "x" * 101}, f"value={'x' * 99}…"),
    ],
)
def test_arguments_are_shown_short_and_unambiguous(arguments: dict[str, object], line: str) -> None:
    assert describe_arguments(arguments) == line


@pytest.mark.parametrize(
    ("tool", "data", "fact"),
    [
        ("fill", {}, "done"),
        ("element_exists", {"exists": False}, "no"),
        ("extract_table", {"rows": [{"A": "1", "B": "x"}, {}]}, "2 rows, the first: 1, x"),
        ("extract_table", {"rows": []}, "no rows"),
        ("screenshot", {"width": 128, "height": 72, "format": "png", "bytes": 9}, "128 × 72 png, 9 bytes"),
        ("select", {"selected": ["AT"], "url": ""}, "selected AT"),
        ("click", {"url": "http://x/next"}, "now at http://x/next"),
        ("click", {"downloads": [{"suggestedFilename": "a.csv"}]}, "downloaded a.csv"),
    ],
)
def test_result_is_summarized_by_its_most_important_field(
    tool: str, data: dict[str, object], fact: str
) -> None:
    assert describe_data(tool, data) == fact


@pytest.mark.parametrize(
    ("holds", "got", "difference"),
    [
        ({"a": [1, 2]}, {"a": [1, 2]}, ""),
        ({"a": [1, 2]}, {"a": [1, 3]}, "at ['a'][1] the site holds 2, what came back is 3"),
        ([1, 2], [1], "the site holds 2, what came back are 1"),
        ({"a": 1}, {}, "at ['a'] the site holds 1, what came back is nothing"),
        ({}, {"b": 1}, "at ['b'] the site holds nothing, what came back is 1"),
        (b"x", b"y", "the site holds b'x', what came back is b'y'"),
    ],
)
def test_difference_is_named_by_its_path(holds: object, got: object, difference: str) -> None:
    assert find_difference(holds, got) == difference


def write(*acts: Callable[[DemoTranscript], None], secrets: Collection[str] = ()) -> list[str]:
    """Return the lines that the calls write to a pipe."""
    pipe = io.StringIO()
    transcript = DemoTranscript(Console(file=pipe, width=40), secrets=secrets)
    for act in acts:
        act(transcript)
    return pipe.getvalue().splitlines()
