"""Parsing sequences, call logs and invalid files."""

from __future__ import annotations

import contextlib
import io
import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.client.handles.call_log import Call, create_logger
from footlight.client.replay.calls import LoggedCall, LoggedOutcome, read_calls
from footlight.protocol.errors import MCPError
from footlight.protocol.results import Content, ToolResult
from tests.processor_time import limit_processor_time


def read(text: str | bytes) -> tuple[LoggedCall, ...]:
    return read_calls(text.encode() if isinstance(text, str) else text, name="calls.jsonl")


def refusal(text: str | bytes) -> str:
    with pytest.raises(MCPError) as raised:
        read(text)
    assert raised.value.reason == "invalid"
    return str(raised.value)


def line(name: str = "tool", arguments: object = None, **fields: object) -> str:
    return json.dumps({"name": name, "arguments": {} if arguments is None else arguments, **fields}) + "\n"


def test_sequence_is_read_as_calls() -> None:
    text = (
        '{"name":"nav.goto","arguments":{"url":"https://park4night.com/en"}}\n'
        "\n  \r\n"
        '{"name":"browser.snapshot","arguments":{}}\r\n'
        '{"name":"health"}'
    )

    assert read(text) == (
        LoggedCall(1, "nav.goto", {"url": "https://park4night.com/en"}),
        LoggedCall(4, "browser.snapshot", {}),
        LoggedCall(5, "health", {}),
    )


def test_log_is_read_as_calls_with_outcomes() -> None:
    """The lines with `before` are the calls, without what begins with `_`."""
    text = (
        '{"name":"a","arguments":{"x":1},"_phase":"before","_seq":1}\n'
        '{"name":"b","arguments":{},"_phase":"before","_seq":2,"_note":"mine"}\n'
        '{"name":"b","arguments":{},"_phase":"after","_ok":false,"_ms":18,"_error":"no","_seq":2}\n'
        '{"name":"a","arguments":{"x":1},"_phase":"after","_result":{"y":2},"_locator":"#a","_ok":true,"_ms":2,"_seq":1}\n'
        '{"name":"c","arguments":{},"_phase":"before","_seq":3}\n'
        '{"name":"d","arguments":{}}\n'
    )

    assert read(text) == (
        LoggedCall(1, "a", {"x": 1}, LoggedOutcome(True, {"y": 2}, "", "#a"), raw=True),
        LoggedCall(2, "b", {}, LoggedOutcome(False, None, "no"), raw=True),
        LoggedCall(5, "c", {}, raw=True),
        LoggedCall(6, "d", {}),
    )


def test_log_with_several_runs_is_read() -> None:
    """Each is counted from 1, and the first was cut off in its second call."""
    text = (
        line("a", _phase="before", _seq=1)
        + line("a", _phase="after", _ok=True, _result="first", _seq=1)
        + line("a", {"n": 2}, _phase="before", _seq=2)
        + line("a", _phase="before", _seq=1)
        + line("a", _phase="after", _ok=True, _result="second", _seq=1)
        + line("a", {"n": 3}, _phase="before", _seq=2)
        + line("a", {"n": 3}, _phase="after", _ok=True, _result="third", _seq=2)
    )

    reported = [call.outcome and call.outcome.result for call in read(text)]

    assert reported == ["first", None, "second", "third"]


def test_byte_order_mark_and_crlf_line_ends_are_accepted() -> None:
    """U+2028, U+0085 and their like end no line of JSONL."""
    said = "a\u2028b\u2029c\u0085d\x0be\x1cf"
    text = json.dumps({"name": "say", "arguments": {"text": said}}, ensure_ascii=False).replace(
        "\\u000b", "\x0b"
    )

    calls = read(b"\xef\xbb\xbf" + text.replace("\x0b", "\\u000b").encode() + b"\r\n" + line().encode())

    assert calls == (LoggedCall(1, "say", {"text": said}), LoggedCall(2, "tool", {}))


def test_truncated_last_log_line_is_skipped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Wherever: within a character, too. Only the last line can be."""
    whole = line("a", _phase="before", _seq=1).encode()
    last = '{"name":"b","arguments":{"text":"ä'.encode()

    for end in range(1, len(last)):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert read(whole + last[:end]) == (LoggedCall(1, "a", {}, raw=True),)
        assert "calls.jsonl, line 2: left out, as it was cut off" in caplog.text
    assert "calls.jsonl, line 2: it is not JSON" in refusal(whole + last + "ä\n".encode())
    assert "calls.jsonl, line 2: it is not JSON" in refusal(whole + last + "ä\n".encode() + whole)


def test_foreign_lines_in_a_log_are_skipped(caplog: pytest.LogCaptureFixture) -> None:
    """As they are where the log goes to standard output, and others print there."""
    before, after = (
        line("a", {"n": 1}, _phase="before", _seq=1),
        line("a", {"n": 1}, _phase="after", _ok=True, _seq=1),
    )
    others = [
        "\n=== 1 passed in 0.3 s ===\n",
        '{"level":"info","name":"app","msg":"hello"}\n',
        '[1]\n"text"\n7\n',
        "\x1b[32m2026-11-22T12:00:00Z\x1b[0m done { not json\n",
        '{"name":"Ada","age":NaN}\n',
        '{"level":"info","_phase":"start"}\n',
        'INFO {"name":"Ada"}\n',
        "progress: 10 %\rprogress: 20 % ",
    ]

    calls = read("".join(others) + before + "".join(others) + after + "".join(others) + "\n")

    assert [(call.name, call.arguments, call.outcome) for call in calls] == [
        ("a", {"n": 1}, LoggedOutcome(True))
    ]
    assert [record.message for record in caplog.records] == [
        "calls.jsonl, lines 2, 3, 4, 5, 6 and 23 more: left out, as the log did not write it: "
        "=== 1 passed in 0.3 s ==="
    ]


def test_log_with_empty_tool_names_and_nan_results_is_read() -> None:
    """Our log writes the former. Those of other programs may have `NaN` in a result, where ours has text."""
    text = (
        line("", _phase="before", _seq=1)
        + line("", _phase="after", _ok=False, _error="Unknown tool", _seq=1)
        + line("a", _phase="before", _seq=2)
        + '{"name":"a","arguments":{},"_phase":"after","_result":[NaN,-Infinity],"_ok":true,"_seq":2}\n'
    )

    assert read(text) == (
        LoggedCall(1, "", {}, LoggedOutcome(False, None, "Unknown tool"), raw=True),
        LoggedCall(3, "a", {}, LoggedOutcome(True, ["NaN", "-Infinity"]), raw=True),
    )


@pytest.mark.parametrize(
    "broken",
    [
        '{"name":"b","arguments":{"x":\n',
        'printed before {"name":"b","argu\n',
        '{"name":"b","_phase":"then"}\n',
        '{"name":"b","_phase":"before","more":1}\n',
        '{"name":"b","arguments":{"x":NaN},"_phase":"before"}\n',
    ],
)
def test_malformed_call_line_in_a_log_is_refused(broken: str) -> None:
    """Without it a call would be missing, and the others would be made all the same."""
    whole = line("a", _phase="before", _seq=1)

    assert refusal(whole + broken + whole).startswith("calls.jsonl, line 2: ")


def test_foreign_line_in_a_sequence_is_refused() -> None:
    assert refusal(line() + "hello\n").startswith("calls.jsonl, line 2: it is not JSON")


@pytest.mark.slow
@limit_processor_time(20)
def test_many_foreign_lines_are_refused_or_skipped() -> None:
    text = '{"name":' * 200_000 + "\n" + "x\n" * 20_000

    assert refusal(text + line("a", _phase="before")).startswith(
        "calls.jsonl, line 1: it is nested more than"
    )
    assert len(read("x {\n" * 20_000 + line("a", _phase="before"))) == 1


def test_truncated_sequence_is_refused() -> None:
    assert refusal(line() + '{"name":"b"').startswith("calls.jsonl, line 2: it is not JSON")


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("nothing", "it is not JSON: Expecting value, at character 1: nothing"),
        (
            "{'name': 'a'}",
            "it is not JSON: Expecting property name enclosed in double quotes, at character 2: "
            "{'name': 'a'}",
        ),
        (
            '{"name":"a","arguments":{"x":NaN}}',
            'it is not JSON: NaN is not a JSON number: {"name":"a","arguments":{"x":NaN}}',
        ),
        ("[]", 'it is an array, not an object with "name" and "arguments": []'),
        ("7", 'it is a number, not an object with "name" and "arguments": 7'),
        ("null", 'it is missing or null, not an object with "name" and "arguments": null'),
        ("{}", '"name" is missing: {}'),
        ('{"name":""}', '"name" is an empty text, not the name of a tool: {"name":""}'),
        ('{"name":7}', '"name" is a number, not the name of a tool: {"name":7}'),
        (
            '{"name":"a","arguments":[]}',
            '"arguments" is an array, not an object: {"name":"a","arguments":[]}',
        ),
        (
            '{"name":"a","arguments":null}',
            '"arguments" is missing or null, not an object: {"name":"a","arguments":null}',
        ),
        (
            '{"name":"a","args":{}}',
            'it has "args"; a call has "name" and "arguments": {"name":"a","args":{}}',
        ),
        (
            '{"name":"a","_phase":"then"}',
            '_phase is "before" or "after", not "then": {"name":"a","_phase":"then"}',
        ),
        ('{"name":"a","_phase":null}', '_phase is "before" or "after", not null: {"name":"a","_phase":null}'),
        (
            '{"name":"a","_phase":"after"}',
            '"_ok" is missing or null, not true or false: {"name":"a","_phase":"after"}',
        ),
        (
            '{"name":"a","_phase":"after","_ok":1}',
            '"_ok" is a number, not true or false: {"name":"a","_phase":"after","_ok":1}',
        ),
    ],
)
def test_invalid_line_is_reported_with_the_reason(bad: str, why: str) -> None:
    assert refusal(f"{line()}\n{bad}\n") == f"calls.jsonl, line 3: {why}"


def test_file_that_is_not_utf8_is_refused() -> None:
    assert refusal(line().encode() + b'{"name":"\xff"}\n').startswith(
        "calls.jsonl, line 2: it is not UTF-8, at byte 10: "
    )


def test_error_message_is_short_and_escapes_control_characters() -> None:
    assert refusal('{"name":"\x1b[31m' + "x" * 5_000_000 + "\n") == (
        "calls.jsonl, line 1: it is not JSON: Invalid control character at, at character 10: "
        '{"name":"\\u001b[31m' + "x" * 66 + "…"
    )


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("levels", [250, 100_000])
def test_too_deeply_nested_json_is_refused(opening: str, levels: int) -> None:
    closing = "]" if opening == "[" else "}"
    deep = f'{{"name":"a","arguments":{{"x":{opening * levels}1{closing * levels}}}}}'

    assert "line 1: it is nested more than 200 levels deep" in refusal(deep)


def test_number_with_too_many_digits_is_refused() -> None:
    assert "line 1: it is not JSON" in refusal(f'{{"name":"a","arguments":{{"x":{"9" * 5_000}}}}}')


@pytest.mark.slow
@limit_processor_time(20)
def test_log_of_30000_calls_without_sequence_numbers_is_read() -> None:
    """As a log has them whose fields somebody took out."""
    calls = "".join(line("a", _phase="before") for _ in range(30_000))
    ends = "".join(line("a", _phase="after", _ok=True, _result=n) for n in range(30_000))

    assert [call.outcome and call.outcome.result for call in read(calls + ends)] == [*range(30_000)][::-1]


def test_sequence_of_10000_lines_is_read() -> None:
    text = "".join(line("a", {"n": n}) for n in range(10_000))

    assert [call.arguments["n"] for call in read(text)] == list(range(10_000))
    assert refusal(text + "!\n").startswith("calls.jsonl, line 10001: it is not JSON")


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_input_gives_calls_or_an_error_with_the_line(data: bytes) -> None:
    with contextlib.suppress(MCPError):
        read(data)
        return
    assert refusal(data).startswith("calls.jsonl, line ")


# What the log writes is read as it was

texts = st.text(max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)
calls_made = st.lists(
    st.tuples(
        texts.filter(bool), st.dictionaries(texts, values, max_size=4), values | st.none(), st.booleans()
    ),
    max_size=8,
)


@given(calls_made, st.booleans())
def test_logged_calls_are_read_back_unchanged(
    made: list[tuple[str, dict[str, Any], Any, bool]], at_once: bool
) -> None:
    """One after another, or all before the first has ended."""
    stream = io.StringIO()
    log = create_logger(console=stream)
    seqs = [log.next_seq() for _ in made]
    befores = [
        (log.before, (Call(name, arguments), seq))
        for (name, arguments, _, _), seq in zip(made, seqs, strict=True)
    ]
    afters = [
        (_end, (log, Call(name, arguments), value, ok, seq))
        for (name, arguments, value, ok), seq in zip(made, seqs, strict=True)
    ]
    pairs = (
        [*befores, *afters]
        if at_once
        else [each for pair in zip(befores, afters, strict=True) for each in pair]
    )
    for write, what in pairs:
        write(*what)  # pyright: ignore[reportCallIssue]

    calls = read(stream.getvalue().encode("utf-8", "backslashreplace"))

    assert [(call.name, call.arguments) for call in calls] == [
        (name, arguments) for name, arguments, _, _ in made
    ]
    assert [call.outcome and call.outcome.ok for call in calls] == [ok for _, _, _, ok in made]


def _end(log: Any, call: Call, value: Any, ok: bool, seq: int) -> None:
    if ok:
        result = ToolResult((Content("text", text=json.dumps(value)),), structured_content=value)
        log.after_success(call, result, 1, seq)
    else:
        log.after_failure(call, MCPError("it failed"), 1, seq)
