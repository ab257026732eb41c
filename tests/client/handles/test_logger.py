"""The call log: its bytes, its files, and calls that cannot be logged."""

from __future__ import annotations

import asyncio
import io
import json
import re
import sys
import textwrap
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from footlight.client.handles import CallLog, create_logger
from footlight.client.handles.adapters import no_session
from footlight.client.handles.call_log import Call
from footlight.protocol.errors import MCPError, ToolInvocationError
from footlight.protocol.results import ToolResult, read_result
from tests.client.handles.handles import (
    LIMIT_SECONDS,
    Log,
    mcp_connect,
    open_connected,
    serve_in_memory,
    soon,
)
from tests.client.handles.session_server import PICTURE, SNAPSHOT

pytestmark = pytest.mark.anyio

SESSION = {"sessionName": "p4n-test"}
GOTO = Call("nav.goto", {**SESSION, "url": "https://park4night.com/en"})
OPEN = Call("session.open", SESSION)
LOOK = Call("browser.snapshot", SESSION)

LOGGER = "footlight.client.handles.call_log"

Entry = dict[str, Any]


def make_result(*texts: str, **more: Any) -> ToolResult:
    """Return what a tool answered in words."""
    return read_result({"content": [{"type": "text", "text": text} for text in texts], **more})


def make_picture_result(text: str = "taken") -> ToolResult:
    picture = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    return read_result({"content": [{"type": "text", "text": text}, picture]})


def bare(**options: Any) -> tuple[CallLog, io.StringIO]:
    stream = io.StringIO()
    return create_logger(console=stream, **options), stream


def result_of(result: ToolResult, **options: Any) -> object:
    """Return the result as the line shows it, or None if it does not."""
    log, stream = bare(**options)
    log.after_success(GOTO, result, 1, 1)
    return json.loads(stream.getvalue()).get("_result")


def lines(text: str) -> list[Entry]:
    return [json.loads(line) for line in text.splitlines()]


# The document's own lines


@pytest.mark.parametrize(
    ("write", "line"),
    [
        (
            lambda log: log.before(GOTO, 3),
            '{"name":"nav.goto","arguments":{"sessionName":"p4n-test","url":"https://park4night.com/en"},'
            '"_phase":"before","_seq":3}',
        ),
        (
            lambda log: log.after_success(GOTO, make_result(), ms=312, seq=3),
            '{"name":"nav.goto","arguments":{"sessionName":"p4n-test","url":"https://park4night.com/en"},'
            '"_phase":"after","_ok":true,"_ms":312,"_seq":3}',
        ),
        (
            lambda log: log.after_failure(GOTO, Exception("net::ERR_NAME_NOT_RESOLVED"), ms=18, seq=3),
            '{"name":"nav.goto","arguments":{"sessionName":"p4n-test","url":"https://park4night.com/en"},'
            '"_phase":"after","_ok":false,"_ms":18,"_error":"net::ERR_NAME_NOT_RESOLVED","_seq":3}',
        ),
        (
            lambda log: log.after_success(OPEN, make_result('{"opened":true}'), ms=84, seq=1),
            '{"name":"session.open","arguments":{"sessionName":"p4n-test"},'
            '"_phase":"after","_result":{"opened":true},"_ok":true,"_ms":84,"_seq":1}',
        ),
        (
            lambda log: log.after_success(LOOK, make_result(SNAPSHOT), ms=201, seq=4),
            '{"name":"browser.snapshot","arguments":{"sessionName":"p4n-test"},"_phase":"after",'
            '"_result":"[text 3847 chars → .mcp-log/4-browser.snapshot.txt]","_ok":true,"_ms":201,"_seq":4}',
        ),
    ],
    ids=["intent", "success", "failure", "small", "large"],
)
def test_log_line_has_the_documented_format(
    write: Callable[[CallLog], None], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log, stream = bare(sidecar=True)

    write(log)

    assert stream.getvalue() == f"{line}\n"


async def test_documented_calls_produce_the_documented_log_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    target, _, _ = serve_in_memory()
    log = Log(sidecar=True)
    async with mcp_connect("p4n-test", server=target, log=log.log) as mcp:
        await mcp.nav.goto({"url": "https://park4night.com/en"})
        with pytest.raises(ToolInvocationError, match="net::ERR_NAME_NOT_RESOLVED"):
            await mcp.nav.goto({"url": "https://nowhere.test"})
        await mcp.browser["snapshot"]({})

    goto = '{"name":"nav.goto","arguments":{"sessionName":"p4n-test","url":"https://park4night.com/en"}'
    lost = '{"name":"nav.goto","arguments":{"sessionName":"p4n-test","url":"https://nowhere.test"}'
    opened, closed, looked = (
        f'{{"name":"{name}","arguments":{{"sessionName":"p4n-test"}}'
        for name in ("session.open", "session.close", "browser.snapshot")
    )
    assert re.sub(r'"_ms":\d+', '"_ms":0', log.text).splitlines() == [
        f'{opened},"_phase":"before","_seq":1}}',
        f'{opened},"_phase":"after","_result":{{"opened":true}},"_ok":true,"_ms":0,"_seq":1}}',
        f'{goto},"_phase":"before","_seq":2}}',
        f'{goto},"_phase":"after","_ok":true,"_ms":0,"_seq":2}}',
        f'{lost},"_phase":"before","_seq":3}}',
        f'{lost},"_phase":"after","_ok":false,"_ms":0,"_error":"net::ERR_NAME_NOT_RESOLVED","_seq":3}}',
        f'{looked},"_phase":"before","_seq":4}}',
        f'{looked},"_phase":"after","_result":"[text 3847 chars → .mcp-log/4-browser.snapshot.txt]",'
        '"_ok":true,"_ms":0,"_seq":4}',
        f'{closed},"_phase":"before","_seq":5}}',
        f'{closed},"_phase":"after","_result":{{"closed":true}},"_ok":true,"_ms":0,"_seq":5}}',
    ]
    assert [path.name for path in tmp_path.joinpath(".mcp-log").iterdir()] == ["4-browser.snapshot.txt"]
    assert tmp_path.joinpath(".mcp-log/4-browser.snapshot.txt").read_text() == SNAPSHOT


async def test_every_logged_call_can_be_replayed() -> None:
    async with open_connected() as it:
        await it.mcp.nav.goto(url="https://a.test/")
        await it.mcp.call("health", parallel=True)
        with pytest.raises(ToolInvocationError):
            await it.mcp.call("fail", {"text": "no"})
        made = list(it.journal.calls)

    target, _, journal = serve_in_memory()
    async with mcp_connect("unused", no_session, server=target, log=Log().log) as again:
        for line in it.log.lines:
            if line["_phase"] != "before":
                continue
            call = {key: value for key, value in line.items() if not key.startswith("_")}
            assert list(call) == ["name", "arguments"]
            with suppress(ToolInvocationError):
                await again.bound.client.call_tool(**call)

    assert journal.calls == [*made, ("session.close", SESSION)]


# Texts and numbers


def test_text_is_logged_without_ascii_escapes(tmp_path: Path) -> None:
    call = Call("say", {"text": 'Grüß dich 漢 😀 \u2028\u2029 \x7f \x00 \n"\\ </script>'})
    log, stream = bare(file=tmp_path / "log.jsonl")
    log.before(call, 1)
    log.close()

    line = '"text":"Grüß dich 漢 😀 \u2028\u2029 \x7f \\u0000 \\n\\"\\\\ </script>"}'
    assert stream.getvalue() == f'{{"name":"say","arguments":{{{line},"_phase":"before","_seq":1}}\n'
    assert (tmp_path / "log.jsonl").read_bytes() == stream.getvalue().encode()
    assert json.loads(stream.getvalue())["arguments"] == call.arguments


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_unencodable_characters_are_escaped_in_log_lines(encoding: str, tmp_path: Path) -> None:
    """Half a surrogate pair, or what is not in the console's encoding."""
    call = Call("say", {"text": "漢 \ud83d!"})
    written = io.BytesIO()
    console = io.TextIOWrapper(written, encoding=encoding)
    log = create_logger(console=console, file=tmp_path / "log.jsonl")
    log.before(call, 1)
    log.after_failure(call, Exception("漢 \ud83d!"), 1, 1)
    log.close()

    for text in (written.getvalue(), (tmp_path / "log.jsonl").read_bytes()):
        before, after = lines(text.decode("ascii" if text is written.getvalue() else "utf-8"))
        assert (before["arguments"], after["_error"]) == (call.arguments, "漢 \ud83d!")


@pytest.mark.parametrize(
    ("ms", "written"), [(0, 0), (-3.0, 0), (0.4, 0), (1.6, 2), (12.0, 12), (86_400_000.4, 86_400_000)]
)
def test_durations_are_logged_as_whole_milliseconds(ms: float, written: int) -> None:
    log, stream = bare()
    log.after_success(GOTO, make_result(), ms, 1)
    log.after_failure(GOTO, Exception("no"), ms, 1)

    assert [(line["_ms"], type(line["_ms"])) for line in lines(stream.getvalue())] == [(written, int)] * 2


def test_terminal_control_characters_are_escaped_in_log_lines() -> None:
    """Which may obey what JSON need not escape."""
    log, stream = bare()

    log.before(Call("x", {"text": "\x1b[31m\x9b2J"}), 1)

    assert "\\u001b[31m\\u009b2J" in stream.getvalue()
    assert json.loads(stream.getvalue())["arguments"] == {"text": "\x1b[31m\x9b2J"}


def test_sequence_numbers_start_at_one() -> None:
    log, _ = bare()

    assert [log.next_seq() for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ToolInvocationError("no", tool_name="x"), "no"),
        (KeyError(), "KeyError"),
        (asyncio.CancelledError(), "CancelledError"),
        (Exception("x" * 1000), "x" * 1000),
        (Exception("x" * 1001), "x" * 1000 + "… [1001 chars]"),
    ],
    ids=["text", "none", "cancelled", "long", "longer"],
)
def test_error_message_is_logged(error: BaseException, expected: str) -> None:
    log, stream = bare()
    log.after_failure(GOTO, error, 1, 1)

    assert json.loads(stream.getvalue())["_error"] == expected


def test_locator_of_the_element_is_logged() -> None:
    log, stream = bare()
    log.after_success(GOTO, make_result("ok", _meta={"footlight/locator": {"testId": "save"}}), 1, 1)

    assert list(json.loads(stream.getvalue()).items())[3:5] == [
        ("_result", "ok"),
        ("_locator", {"testId": "save"}),
    ]


# Results, small and large


@pytest.mark.parametrize(
    ("result", "logged"),
    [
        (make_result(), None),
        (make_result(""), None),
        (make_result("Saved."), "Saved."),
        (make_result('{"a": [1, null]}'), {"a": [1, None]}),
        (make_result(" [1, 2] "), [1, 2]),
        (make_result("{broken"), "{broken"),
        (make_result("true"), True),
        (make_result("12"), 12),
        (make_result("null"), None),
        (make_result("NaN"), "NaN"),
        (make_result('{"a": -Infinity}'), '{"a": -Infinity}'),
        (make_result("1e999"), "1e999"),
        (make_result("one", "two"), "one\ntwo"),
        (make_result("text", structuredContent={"a": "漢"}), {"a": "漢"}),
        (make_result(structuredContent={"a": float("inf")}), "{'a': inf}"),
    ],
    ids=repr,
)
def test_small_result_is_logged_inline(result: ToolResult, logged: object) -> None:
    assert result_of(result) == logged


def test_null_result_is_logged_as_null() -> None:
    log, stream = bare()
    log.after_success(GOTO, make_result("null"), 1, 1)

    assert '"_phase":"after","_result":null,"_ok":true' in stream.getvalue()


@pytest.mark.parametrize(
    ("result", "logged"),
    [
        (make_result("x" * 197), "x" * 197),
        (make_result("x" * 198), "[text 198 chars]"),
        (make_result("\n" * 99), "[text 99 chars]"),
        (make_result(json.dumps(["x" * 195])), ["x" * 195]),
        (make_result(json.dumps(["x" * 196])), "[text 200 chars]"),
        (make_result(structuredContent={"a": "x" * 300}), "[text 308 chars]"),
        (make_result(SNAPSHOT), "[text 3847 chars]"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else "",
)
def test_result_at_the_threshold_is_logged_as_a_summary(result: ToolResult, logged: object) -> None:
    assert result_of(result) == logged


@pytest.mark.parametrize(("threshold", "logged"), [(0, "[text 1 chars]"), (1, "[text 1 chars]"), (4, "x")])
def test_caller_can_set_the_result_size_threshold(threshold: int, logged: str) -> None:
    assert result_of(make_result("x"), threshold=threshold) == logged


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([{"type": "image", "data": "AAAA", "mimeType": "image/png"}], "image"),
        ([{"type": "text", "text": "taken"}, {"type": "audio", "data": "AAAA", "mimeType": "a/b"}], "audio"),
        ([{"type": "resource", "resource": {"uri": "a://b", "blob": "AAAA"}}], "resource"),
        ([{"type": "image", "data": "AA"}, {"type": "audio", "data": "AA"}], "content"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_non_text_result_is_summarized_and_saved_whole_in_sidecar(
    parts: list[Entry], kind: str, tmp_path: Path
) -> None:
    result = read_result({"content": parts})
    size = len(json.dumps(parts, separators=(",", ":")))

    assert result_of(result) == f"[{kind} {size} chars]"
    path = tmp_path / "1-nav.goto.txt"
    assert result_of(result, sidecar=True, directory=tmp_path) == f"[{kind} {size} chars → {path}]"
    assert json.loads(path.read_text()) == parts


# Beside the log


def test_sidecar_files_are_written_only_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert result_of(make_result(SNAPSHOT)) == "[text 3847 chars]"
    assert list(tmp_path.iterdir()) == []
    assert result_of(make_result(SNAPSHOT), sidecar=True) == "[text 3847 chars → .mcp-log/1-nav.goto.txt]"
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == [
        *(".mcp-log", ".mcp-log/1-nav.goto.txt")
    ]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("browser.run.file", "7-browser.run.file.txt"),
        ("../../etc/passwd", "7-.._.._etc_passwd.txt"),
        ("a b\\c:d\0\n", "7-a_b_c_d__.txt"),
        ("größe", "7-größe.txt"),
    ],
)
def test_sidecar_file_is_named_after_its_call_in_its_folder(name: str, file: str, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "folder"
    log, _ = bare(sidecar=True, directory=folder)
    log.after_success(Call(name, {}), make_result("ä\r\n" + "x" * 300), 1, 7)

    assert [path.name for path in folder.iterdir()] == [file]
    assert (folder / file).read_bytes() == ("ä\r\n" + "x" * 300).encode()


def test_logs_sharing_a_folder_keep_their_sidecar_files_separate(tmp_path: Path) -> None:
    """Both at once, and one after the other: what a line refers to is what was answered."""
    logs = [bare(sidecar=True, directory=tmp_path) for _ in range(3)]
    for seq in (1, 2):
        for number, (log, _) in enumerate(logs):
            log.after_success(GOTO, make_result(f"{number} {seq} {'x' * 300}"), 1, seq)

    data = [json.loads(line)["_result"] for _, stream in logs for line in stream.getvalue().splitlines()]
    files = [Path(each.partition(" → ")[2].removesuffix("]")) for each in data]
    assert [file.name for file in files] == [
        *("1-nav.goto.txt", "2-nav.goto.txt"),
        *("1-nav.goto-2.txt", "2-nav.goto-2.txt"),
        *("1-nav.goto-3.txt", "2-nav.goto-3.txt"),
    ]
    assert [file.read_text()[:3] for file in files] == ["0 1", "0 2", "1 1", "1 2", "2 1", "2 2"]


def test_concurrent_logs_overwrite_no_sidecar_file(tmp_path: Path) -> None:
    logs = [bare(sidecar=True, directory=tmp_path) for _ in range(6)]

    def write(number: int) -> None:
        for seq in range(20):
            logs[number][0].after_success(GOTO, make_result(f"{number} {seq} {'x' * 300}"), 1, seq)

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, range(6)))

    for number, (_, stream) in enumerate(logs):
        for seq, line in enumerate(stream.getvalue().splitlines()):
            file = Path(json.loads(line)["_result"].partition(" → ")[2].removesuffix("]"))
            assert file.read_text().startswith(f"{number} {seq} x")


@pytest.mark.parametrize("why", ["no folder", "too long"])
def test_unwritable_sidecar_result_still_gets_a_log_line(
    why: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" if why == "no folder" else tmp_path
    name = "x" * 300 if why == "too long" else "say"
    log, stream = bare(sidecar=True, directory=folder)
    log.after_success(Call(name, {}), make_result(SNAPSHOT), 1, 1)

    assert json.loads(stream.getvalue())["_result"] == "[text 3847 chars]"
    assert [record.levelname for record in caplog.records if record.name == LOGGER] == ["WARNING"]


# What may be written


def remove_word(word: str) -> Callable[[Entry], Entry]:
    """Return a callback that removes a word wherever it is."""
    return lambda entry: json.loads(json.dumps(entry, ensure_ascii=False).replace(word, "***"))


def test_secrets_are_redacted_from_lines_and_sidecar_files(tmp_path: Path) -> None:
    log, stream = bare(
        file=tmp_path / "log.jsonl",
        sidecar=True,
        directory=tmp_path / "beside",
        redact=remove_word("hunter2"),
    )
    secret = Call("type", {**SESSION, "text": "hunter2"})
    plain = Call("look", SESSION)
    log.before(secret, 1)
    log.after_success(secret, make_result("typed hunter2"), 1, 1)
    log.after_failure(secret, Exception("hunter2 is wrong"), 1, 2)
    log.after_success(plain, make_result("hunter2" * 100), 1, 3)
    log.after_success(plain, make_result("hunter2", structuredContent={"a": "x" * 300}), 1, 4)
    log.after_success(plain, make_picture_result("hunter2"), 1, 5)
    log.close()

    arguments = {**SESSION, "text": "***"}
    assert lines(stream.getvalue()) == [
        {"name": "type", "arguments": arguments, "_phase": "before", "_redacted": True, "_seq": 1},
        {
            **{"name": "type", "arguments": arguments, "_phase": "after", "_result": "typed ***"},
            **{"_ok": True, "_ms": 1, "_redacted": True, "_seq": 1},
        },
        {
            **{"name": "type", "arguments": arguments, "_phase": "after", "_ok": False, "_ms": 1},
            **{"_error": "*** is wrong", "_redacted": True, "_seq": 2},
        },
        *(
            {
                **{"name": "look", "arguments": SESSION, "_phase": "after"},
                **{"_result": f"[{size} → {tmp_path / 'beside' / f'{seq}-look.txt'}]"},
                **{"_ok": True, "_ms": 1, "_seq": seq},
            }
            for seq, size in ((3, "text 300 chars"), (4, "text 308 chars"), (5, "image 630 chars"))
        ),
    ]
    assert [path.read_text()[:20] for path in sorted((tmp_path / "beside").iterdir())] == [
        *("***" * 6 + "**", '{"a":"xxxxxxxxxxxxxx', '[{"type":"text","tex')
    ]
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 4
    assert not [text for text in (*written, stream.getvalue().encode()) if b"hunter2" in text]


def test_redact_callback_changes_the_line_but_not_the_call() -> None:
    def strike(entry: Entry) -> Entry:
        entry["arguments"]["deep"]["word"] = "***"
        return entry

    call = Call("say", {"deep": {"word": "secret"}})
    log, stream = bare(redact=strike)
    log.before(call, 1)

    assert call.arguments == {"deep": {"word": "secret"}}
    assert '"arguments":{"deep":{"word":"***"}},"_phase":"before","_redacted":true,"_seq":1}' in (
        stream.getvalue()
    )


def test_redact_callback_cannot_remove_required_log_fields() -> None:
    """Without its phase, the end of a call would be replayed as another."""
    log, stream = bare(redact=lambda entry: {"arguments": {}, "name": entry["name"], "by": "me"})
    log.before(GOTO, 3)
    log.after_success(GOTO, make_result("secret"), 1, 3)
    log.after_failure(GOTO, Exception("secret"), 1, 4)

    assert stream.getvalue().splitlines() == [
        f'{{"name":"nav.goto","arguments":{{}},"_phase":"{phase}","_redacted":true,"_seq":{seq},"by":"me"}}'
        for phase, seq in (("before", 3), ("after", 3), ("after", 4))
    ]


def test_redact_callback_without_changes_adds_no_redacted_mark() -> None:
    log, stream = bare(redact=lambda entry: dict(reversed(entry.items())))
    log.before(GOTO, 3)
    log.after_success(GOTO, make_result("ok"), 1, 3)
    plain, expected = bare()
    plain.before(GOTO, 3)
    plain.after_success(GOTO, make_result("ok"), 1, 3)

    assert stream.getvalue() == expected.getvalue()


async def test_failing_redact_callback_prevents_the_call() -> None:
    def fails(entry: Entry) -> Entry:
        if entry["name"] == "health":
            raise LookupError("the callback is wrong")
        return entry

    log = Log(redact=fails)
    target, _, journal = serve_in_memory()
    async with mcp_connect("p4n-test", server=target, log=log.log) as mcp:
        with pytest.raises(LookupError, match="the callback is wrong"):
            await mcp.root.health()
        await mcp.nav.goto(url="https://a.test/")

    assert [name for name, _ in journal.calls] == ["session.open", "nav.goto", "session.close"]


async def test_redact_callback_that_returns_nothing_is_reported() -> None:
    target, _, journal = serve_in_memory()
    gives_nothing: Any = lambda entry: entry.update(arguments={})  # noqa: E731
    with pytest.raises(MCPError, match="redact: must return the line"):
        await mcp_connect("p4n-test", server=target, log=Log(redact=gives_nothing).log)

    assert journal.calls == []


async def test_redact_callback_failure_after_the_call_keeps_the_result(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(entry: Entry) -> Entry:
        if entry["_phase"] == "after":
            raise LookupError("the callback is wrong")
        return entry

    target, _, _ = serve_in_memory()
    async with mcp_connect("p4n-test", server=target, log=Log(redact=fails).log) as mcp:
        assert await mcp.root.health() == "well"
        with pytest.raises(ToolInvocationError, match="no"):
            await mcp.call("fail", {"text": "no"})

    assert [record.getMessage() for record in caplog.records if record.name == LOGGER] == [
        f"the end of the call of {name} could not be logged"
        for name in ("session.open", "health", "fail", "session.close")
    ]


# Where it goes


def test_log_lines_go_to_console_file_both_or_neither(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = io.StringIO()
    line = '{"name":"look","arguments":{},"_phase":"before","_seq":1}\n'
    for options in (
        {},
        {"console": False},
        {"console": stream, "file": tmp_path / "new" / "both.jsonl"},
        {"console": False, "file": str(tmp_path / "file.jsonl")},
    ):
        log = create_logger(**options)
        log.before(Call("look", {}), 1)
        log.close()
        log.close()

    assert capsys.readouterr().out == line
    assert stream.getvalue() == line
    assert {path.name: path.read_text() for path in tmp_path.rglob("*.jsonl")} == {
        "both.jsonl": line,
        "file.jsonl": line,
    }


async def test_calls_are_logged_to_the_console_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    target, _, _ = serve_in_memory()
    async with mcp_connect("p4n-test", server=target):
        pass

    assert [(line["name"], line["_phase"]) for line in lines(capsys.readouterr().out)] == [
        *(("session.open", "before"), ("session.open", "after")),
        *(("session.close", "before"), ("session.close", "after")),
    ]


def test_existing_log_file_is_appended_to(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text('{"kept":1}\n')
    log = create_logger(console=False, file=file)
    log.before(Call("one", {}), 1)
    log.close()
    log.before(Call("two", {}), 2)
    log.close()

    assert file.read_text().splitlines() == [
        '{"kept":1}',
        '{"name":"one","arguments":{},"_phase":"before","_seq":1}',
        '{"name":"two","arguments":{},"_phase":"before","_seq":2}',
    ]


def test_torn_last_line_is_not_appended_to(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text('{"kept":1}\n{"name":"torn","argu')
    log = create_logger(console=False, file=file)
    log.before(Call("one", {}), 1)
    log.close()

    assert file.read_text().splitlines() == [
        '{"kept":1}',
        '{"name":"torn","argu',
        '{"name":"one","arguments":{},"_phase":"before","_seq":1}',
    ]


# Many who write


async def test_concurrent_tasks_write_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    log = Log(file=file)
    target, _, _ = serve_in_memory()
    async with mcp_connect("p4n-test", server=target, log=log.log) as mcp:
        await soon(asyncio.gather(*(mcp.call("say", {"text": "ä" * 100}, parallel=True) for _ in range(50))))

    assert lines(file.read_text()) == log.lines
    assert sorted(line["_seq"] for line in log.lines) == sorted([*range(1, 53)] * 2)


def test_concurrent_threads_write_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    log, stream = bare(file=file, sidecar=True, directory=tmp_path / "beside")
    start = threading.Barrier(8)

    def write() -> None:
        start.wait(LIMIT_SECONDS)
        for _ in range(50):
            seq = log.next_seq()
            call = Call("say", {"text": f"{seq} " + "漢" * 500})
            log.before(call, seq)
            log.after_success(call, make_result(f"{seq} " + "x" * 300), 1, seq)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_SECONDS)
    log.close()

    assert file.read_text() == stream.getvalue()
    assert sorted(line["_seq"] for line in lines(stream.getvalue())) == sorted([*range(1, 401)] * 2)
    assert sorted(int(path.name.split("-")[0]) for path in (tmp_path / "beside").iterdir()) == [
        *range(1, 401)
    ]


WRITER = """
import sys
from footlight.protocol.results import ToolResult
from footlight.client.handles.call_log import Call, create_logger

log = create_logger(console=False, file=sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
count = int(sys.argv[3])
number = 0
while count == 0 or number < count:
    number += 1
    seq = log.next_seq()
    call = Call(sys.argv[2], {"text": "漢" * 3000})
    log.before(call, seq)
    log.after_success(call, ToolResult(), 1, seq)
    if number == 20:
        print("many", flush=True)
"""


async def start_writer(file: Path, name: str, count: int) -> asyncio.subprocess.Process:
    """Start a process that writes so many calls, or calls without end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", textwrap.dedent(WRITER), str(file), name, str(count)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await soon(process.stdout.readline()) == b"ready\n"
    return process


def let_go(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")


async def test_two_processes_write_whole_lines_to_one_file(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    processes = [await start_writer(file, name, 200) for name in ("one", "two")]
    for process in processes:
        let_go(process)
    for process in processes:
        await soon(process.communicate())

    # An empty one may stand where one opened the file while the other was within a line: it has no meaning.
    written = lines(file.read_text().replace("\n\n", "\n"))
    for name in ("one", "two"):
        assert [line["_seq"] for line in written if line["name"] == name] == [
            seq for number in range(1, 201) for seq in (number, number)
        ]
    assert len(written) == 800


async def test_killed_writer_leaves_whole_lines_or_a_torn_last_one(tmp_path: Path) -> None:
    """Or a torn last one, which the next who opens the file does not continue."""
    file = tmp_path / "log.jsonl"
    process = await start_writer(file, "killed", 0)
    let_go(process)
    assert process.stdout is not None
    assert await soon(process.stdout.readline()) == b"many\n"
    process.kill()
    await soon(process.communicate())

    log = create_logger(console=False, file=file)
    log.before(Call("next", {}), 1)
    log.close()
    *before, last = [line for line in file.read_text().splitlines() if is_json(line)]
    assert json.loads(last)["name"] == "next"
    assert len(before) >= 40
    assert len(file.read_text().splitlines()) - len(before) in (1, 2)


def is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


# Where it cannot go


full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


@full
async def test_call_is_not_made_when_it_cannot_be_logged() -> None:
    target, _, journal = serve_in_memory()
    with pytest.raises(MCPError) as caught:
        await mcp_connect("p4n-test", server=target, log=create_logger(console=False, file="/dev/full"))

    assert str(caught.value) == "The call log /dev/full cannot be written: No space left on device"
    assert caught.value.reason == "invalid"
    assert journal.calls == []


@full
async def test_result_is_returned_when_it_cannot_be_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    target, _, journal = serve_in_memory()
    log = Log(file=tmp_path / "log.jsonl")
    async with mcp_connect("p4n-test", server=target, log=log.log) as mcp:
        holding = asyncio.create_task(mcp.call("hold", {"id": "1"}))
        await journal.began("hold")
        log.log.close()
        log.log.file = Path("/dev/full")
        waiting = asyncio.create_task(mcp.root.health())
        await mcp.bound.client.call_tool("release")

        assert (await soon(holding)).is_error is False
        with pytest.raises(MCPError, match="No space left on device"):
            await soon(waiting)
        log.log.file = tmp_path / "log.jsonl"
        assert await mcp.root.health() == "well"

    assert [record.getMessage() for record in caplog.records if record.name == LOGGER] == [
        "the end of the call of hold could not be logged"
    ]
    assert [name for name, _ in journal.calls].count("health") == 1


FILLING = """
import os, resource, sys
from footlight.protocol.errors import MCPError
from footlight.client.handles.call_log import Call, create_logger

log = create_logger(console=False, file=sys.argv[1])
log.before(Call("one", {}), 1)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, most))
for _ in range(3):
    try:
        log.before(Call("two", {"text": "x" * 100}), 2)
    except MCPError as error:
        print(str(error).rpartition(": ")[2])
free = os.open(os.devnull, os.O_RDONLY)
os.close(free)
print(free)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
log.before(Call("three", {}), 3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no limit for the size of files")
async def test_half_written_line_on_full_disk_is_not_appended_to(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FILLING, str(file), stdout=asyncio.subprocess.PIPE
    )
    reported, _ = await soon(process.communicate())

    # The lowest descriptor that is free: none was left open.
    assert reported.decode().splitlines() == [
        "No space left on device",
        "File too large",
        "File too large",
        "3",
    ]
    assert file.read_text().splitlines() == [
        '{"name":"one","arguments":{},"_phase":"before","_seq":1}',
        '{"name":"two","arguments":{"text":"xxxxxxxx',
        '{"name":"three","arguments":{},"_phase":"before","_seq":3}',
    ]


@pytest.mark.parametrize(
    ("file", "why"),
    [(".", "Is a directory"), ("file/log.jsonl", "File exists")],
    ids=["folder", "under a file"],
)
def test_log_file_that_cannot_be_opened_is_reported(
    file: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    log = create_logger(console=False, file=file)

    with pytest.raises(MCPError, match=why):
        log.before(GOTO, 1)


def test_log_leaves_no_file_descriptor_open(tmp_path: Path) -> None:
    folder = Path("/dev/fd")
    if not folder.exists():
        pytest.skip("this system does not list descriptors")
    before = len(list(folder.iterdir()))
    for file in (tmp_path / "log.jsonl", Path("/dev/full")):
        log = create_logger(console=False, file=file)
        with suppress(MCPError):
            log.before(GOTO, 1)
            log.close()

    assert len(list(folder.iterdir())) == before


def test_closed_console_stream_is_reported() -> None:
    stream = io.StringIO()
    stream.close()
    log = create_logger(console=stream)

    with pytest.raises(ValueError, match="closed file"):
        log.before(GOTO, 1)


def test_missing_standard_output_disables_the_console_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    create_logger().before(GOTO, 1)


@pytest.mark.parametrize("arguments", [{"x": float("nan")}, {"x": {1}}, {"x": b"1"}, {(1, 2): 3}], ids=repr)
def test_arguments_without_json_form_are_refused(arguments: Mapping[Any, Any], tmp_path: Path) -> None:
    log, stream = bare(file=tmp_path / "log.jsonl")

    with pytest.raises(MCPError, match="arguments: cannot be written as JSON"):
        log.before(Call("say", arguments), 1)
    assert stream.getvalue() == ""
    assert list(tmp_path.iterdir()) == []
