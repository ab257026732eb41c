"""`run_sequence`: making the calls of a file on a handle."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from footlight.client.handles import CallLog, create_logger
from footlight.client.handles.dynamic import DynamicHandle, connect_dynamic
from footlight.client.replay.runner import ReplayMismatchError, run_sequence
from footlight.client.transports.memory import InMemory
from footlight.protocol.errors import MCPError, MCPTimeoutError, ToolInvocationError, is_timeout
from tests.client.browser_servers import config_of
from tests.client.replay.notes_server import Notes

pytestmark = pytest.mark.anyio

EXAMPLES = Path(__file__).parents[3] / "docs/examples"


@asynccontextmanager
async def handle(notes: Notes, *, log: CallLog | None = None) -> AsyncGenerator[DynamicHandle]:
    quiet = create_logger(console=False)
    async with connect_dynamic("x", server=InMemory(notes.server()), log=log or quiet) as mcp:
        yield mcp


async def record_note(file: Path, *, greeting: str = "hello", sidecar: bool = False) -> None:
    """Record a note that is created, read, removed, and not found any more."""
    log = create_logger(console=False, file=file, sidecar=sidecar, directory=file.parent / "beside")
    async with handle(Notes(greeting=greeting), log=log) as mcp:
        note = (await mcp.root.add(text="buy milk"))["note"]
        await mcp.root.read(id=note)
        await mcp.root.long(lines=100)
        await mcp.root.picture()
        await mcp.root.remove(id=note)
        with pytest.raises(ToolInvocationError):
            await mcp.root.read(id=note)


def write_log(file: Path, *calls: tuple[str, dict[str, Any]], **fields: Any) -> Path:
    file.write_text("".join(json.dumps({"name": n, "arguments": a, **fields}) + "\n" for n, a in calls))
    return file


async def test_sequence_passes_the_session_to_tools_that_take_one(tmp_path: Path) -> None:
    file = write_log(
        tmp_path / "s.jsonl", ("add", {"text": "a"}), ("echo", {"text": "b"}), ("echo", {"text": "[1]"})
    )
    notes = Notes()
    async with handle(notes) as mcp:
        results = await run_sequence(mcp, file)
        session = mcp.bound.session_name

    assert notes.calls[1:4] == [
        ("add", {"sessionId": session, "text": "a"}),
        ("echo", {"text": "b"}),
        ("echo", {"text": "[1]"}),
    ]
    assert [results[0]["count"], *results[1:]] == [1, "b", [1]]


def test_shipped_sequences_contain_no_recorded_session_id() -> None:
    texts = [file.read_text() for file in EXAMPLES.rglob("*.jsonl")]

    assert texts != []
    assert [text for text in texts if '"id"' in text] == []


async def test_log_is_replayed_in_the_session_of_the_handle(tmp_path: Path) -> None:
    """What opened and closed the session is left out. The note has another id by now."""
    await record_note(tmp_path / "log.jsonl")
    notes = Notes()

    async with handle(notes) as mcp:
        results = await run_sequence(mcp, str(tmp_path / "log.jsonl"), verify=True)
        session = mcp.bound.session_name

    note = results[0]["note"]
    assert [name for name, _ in notes.calls] == [
        *("create_session", "add", "read", "long", "picture", "remove", "read", "close_session")
    ]
    assert {given["sessionId"] for _, given in notes.calls[1:]} == {session}
    assert notes.calls[2] == ("read", {"sessionId": session, "id": note})
    assert results[1] == {"text": "buy milk", "greeting": "hello"}
    assert results[5] is None
    assert notes.open == set()


async def test_replay_log_can_be_replayed_again(tmp_path: Path) -> None:
    await record_note(tmp_path / "first.jsonl")
    async with handle(Notes(), log=create_logger(console=False, file=tmp_path / "second.jsonl")) as mcp:
        await run_sequence(mcp, tmp_path / "first.jsonl", verify=True)

    async with handle(Notes()) as mcp:
        assert len(await run_sequence(mcp, tmp_path / "second.jsonl", verify=True)) == 6


async def test_replay_differences_are_reported_with_their_lines(tmp_path: Path) -> None:
    await record_note(tmp_path / "log.jsonl", sidecar=True)

    async with handle(Notes(greeting="ciao")) as mcp:
        with pytest.raises(ReplayMismatchError) as raised:
            await run_sequence(mcp, tmp_path / "log.jsonl", verify=True)

    lines = str(raised.value).splitlines()
    assert lines[0].startswith(f'{tmp_path}/log.jsonl, line 5: read {{"id":"note-')
    assert lines[1:4] == ["$.greeting", '  - "hello"', '  + "ciao"']
    assert lines[4].startswith(f'{tmp_path}/log.jsonl, line 7: long {{"lines":100}}')
    assert lines[5:8] == ["$[0]", '  - "hello 0"', '  + "ciao 0"']
    assert lines[-1] == "… and 90 more"


async def test_ignored_paths_are_not_reported_as_differences(tmp_path: Path) -> None:
    await record_note(tmp_path / "log.jsonl")

    async with handle(Notes(greeting="ciao")) as mcp:
        await run_sequence(mcp, tmp_path / "log.jsonl", verify=True, ignore=["$.greeting"])
        await run_sequence(mcp, tmp_path / "log.jsonl", verify=True, ignore=["greeting"])


async def test_changed_outcome_or_content_kind_is_a_difference(tmp_path: Path) -> None:
    lines = [
        {"_phase": "before", "_seq": 1},
        {"_phase": "after", "_ok": False, "_error": "no note of this name", "_seq": 1},
        {"_phase": "before", "_seq": 2},
        {"_phase": "after", "_ok": False, "_error": "no", "_seq": 2},
        {"_phase": "before", "_seq": 3},
        {"_phase": "after", "_ok": True, "_result": "[image 55 chars]", "_seq": 3},
    ]
    calls = [("read", {"id": "x"})] * 2 + [("echo", {"text": "a"})] * 4
    file = tmp_path / "log.jsonl"
    file.write_text(
        "".join(
            json.dumps({"name": n, "arguments": a, **f}) + "\n"
            for (n, a), f in zip(calls, lines, strict=True)
        )
    )

    async with handle(Notes()) as mcp:
        with pytest.raises(ReplayMismatchError) as raised:
            await run_sequence(mcp, file, verify=True)

    assert str(raised.value).splitlines() == [
        f'{file}, line 1: read {{"id":"x"}}',
        "$._error",
        '  - "no note of this name"',
        '  + "there is no note x"',
        f'{file}, line 3: echo {{"text":"a"}}',
        "$._ok",
        "  - false",
        "  + true",
        f'{file}, line 5: echo {{"text":"a"}}',
        "$",
        '  - "[image]"',
        '  + "[text]"',
    ]


async def test_failed_call_ends_the_sequence(tmp_path: Path) -> None:
    file = write_log(
        tmp_path / "s.jsonl", ("echo", {"text": "a"}), ("read", {"id": "x"}), ("echo", {"text": "b"})
    )
    notes = Notes()
    async with handle(notes) as mcp:
        with pytest.raises(ToolInvocationError) as raised:
            await run_sequence(mcp, file)

    assert str(raised.value) == f'{file}, line 2: read {{"id":"x"}}: there is no note x'
    assert (raised.value.reason, raised.value.tool_name) == ("tool", "read")
    assert str(raised.value.__cause__) == "there is no note x"
    assert [name for name, _ in notes.calls] == ["create_session", "echo", "read", "close_session"]


async def test_logged_failure_raises_without_verification(tmp_path: Path) -> None:
    await record_note(tmp_path / "log.jsonl")

    async with handle(Notes()) as mcp:
        with pytest.raises(ToolInvocationError, match=r"line 13: read .*: there is no note note-"):
            await run_sequence(mcp, tmp_path / "log.jsonl")


async def test_replay_error_keeps_its_class_and_fields(tmp_path: Path) -> None:
    class Slow(DynamicHandle):
        async def call(self, *_: Any, **__: Any) -> Any:
            raise MCPTimeoutError("too slow", timeout_ms=5, tool_name="echo")

    file = write_log(tmp_path / "s.jsonl", ("echo", {"text": "a"}))
    async with handle(Notes()) as mcp:
        with pytest.raises(MCPTimeoutError) as raised:
            await run_sequence(Slow(mcp.bound), file)

    assert is_timeout(raised.value)
    assert (raised.value.timeout_ms, raised.value.tool_name) == (5, "echo")


async def test_earlier_differences_are_added_to_the_failure_notes(tmp_path: Path) -> None:
    await record_note(tmp_path / "log.jsonl")
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"name":"read","arguments":{"id":"x"}}\n')

    async with handle(Notes(greeting="ciao")) as mcp:
        with pytest.raises(ToolInvocationError) as raised:
            await run_sequence(mcp, tmp_path / "log.jsonl", verify=True)

    assert [note.splitlines()[1:] for note in raised.value.__notes__] == [
        ["$.greeting", '  - "hello"', '  + "ciao"']
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"name":"echo","arguments":{"text":"a"}}\n!\n', "line 2: it is not JSON"),
        ('{"name":"echo","arguments":{"text":"${a} ${b}"}}', r"no value was given for \$\{b\} \(line 1\)"),
        (
            '{"name":"echo","arguments":{"text":"a"}}\n'
            '{"name":"echo","arguments":{"text":"***"},"_phase":"before","_redacted":true,"_seq":1}\n',
            "line 2: echo was redacted",
        ),
        (
            '{"name":"add","arguments":{"sessionId":"s1","text":"a"}}\n'
            '{"name":"add","arguments":{"sessionId":"s2","text":"a"}}\n',
            r"its calls belong to 2 sessions \(s1, s2\)",
        ),
    ],
)
async def test_invalid_file_makes_no_calls(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "s.jsonl").write_text(content)
    notes = Notes()
    async with handle(notes) as mcp:
        with pytest.raises(MCPError, match=why):
            await run_sequence(mcp, tmp_path / "s.jsonl", variables={"a": "A"})

    assert [name for name, _ in notes.calls] == ["create_session", "close_session"]


async def test_missing_sequence_file_is_reported(tmp_path: Path) -> None:
    async with handle(Notes()) as mcp:
        with pytest.raises(MCPError, match=r"none\.jsonl: No such file or directory"):
            await run_sequence(mcp, tmp_path / "none.jsonl")


async def test_session_parameter_not_in_the_schema_is_left_unchanged(tmp_path: Path) -> None:
    """The tool's schema says whether it takes the session."""
    file = write_log(tmp_path / "s.jsonl", ("echo", {"text": "a", "sessionId": "mine"}))
    notes = Notes()
    async with handle(notes) as mcp:
        await run_sequence(mcp, file)

    assert notes.calls[1] == ("echo", {"text": "a", "sessionId": "mine"})


async def test_variable_values_are_masked_in_replay_errors(tmp_path: Path) -> None:
    file = write_log(tmp_path / "s.jsonl", ("read", {"id": "${note}"}))
    async with handle(Notes()) as mcp:
        with pytest.raises(ToolInvocationError) as raised:
            await run_sequence(mcp, file, variables={"note": "swordfish"})

    assert str(raised.value) == f'{file}, line 1: read {{"id":"${{note}}"}}: there is no note ${{note}}'


@pytest.mark.parametrize("secret", ['sword"fish', "sword\\fish", "x" * 180 + "swordfish"])
async def test_escaped_or_cut_variable_values_are_masked_in_errors(tmp_path: Path, secret: str) -> None:
    """What was called is told as JSON, which escapes, and is cut where it is long."""
    file = write_log(tmp_path / "s.jsonl", ("fly", {"to": f"{'.' * 15}${{where}}"}))
    async with handle(Notes()) as mcp:
        with pytest.raises(ToolInvocationError) as raised:
            await run_sequence(mcp, file, variables={"where": secret})

    assert str(raised.value) == f'{file}, line 1: fly {{"to":"{"." * 15}${{where}}"}}: no tool fly'


@pytest.mark.parametrize("sidecar", [True, False])
async def test_deeply_nested_result_is_replayed_as_text(tmp_path: Path, *, sidecar: bool) -> None:
    text = "[" * 700 + "]" * 700
    file = tmp_path / "log.jsonl"
    log = create_logger(console=False, file=file, sidecar=sidecar, directory=tmp_path / "beside")
    async with handle(Notes(), log=log) as mcp:
        await mcp.root.echo(text=text)

    async with handle(Notes()) as mcp:
        await run_sequence(mcp, file, verify=True)
        deep = write_log(tmp_path / "deep.jsonl", ("echo", {"text": text}), _phase="before", _seq=1)
        after = {"_phase": "after", "_ok": True, "_result": "short", "_seq": 1}
        deep.write_text(deep.read_text() + json.dumps({"name": "echo", "arguments": {"text": text}, **after}))
        with pytest.raises(ReplayMismatchError, match=r'  - "short"'):
            await run_sequence(mcp, deep, verify=True)


@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3_000, "\0"])
async def test_sidecar_path_that_no_log_could_write_is_ignored(tmp_path: Path, name: str) -> None:
    fields = {"_phase": "after", "_ok": True, "_result": f"[text 500 chars → {name}/1-echo.txt]", "_seq": 1}
    file = write_log(tmp_path / "log.jsonl", ("echo", {"text": "a"}), _phase="before", _seq=1)
    file.write_text(file.read_text() + json.dumps({"name": "echo", "arguments": {"text": "a"}, **fields}))

    async with handle(Notes()) as mcp:
        assert await run_sequence(mcp, file, verify=True) == ["a"]


async def test_empty_file_makes_no_calls(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("\n\n")
    async with handle(Notes()) as mcp:
        assert await run_sequence(mcp, tmp_path / "s.jsonl", verify=True) == []


async def test_replay_sends_unusual_strings_unchanged(tmp_path: Path) -> None:
    """Strings that are hard to write, over the log, the file and the wire."""
    texts = ["\u2028\u2029\x85\x0b\x0c\x1c", "${x} $${y}", '"\\', "\x00\x7f", "日本\U0001f642", " \n\r\t", ""]
    stream = io.StringIO()
    first, second = Notes(), Notes()
    async with handle(first, log=create_logger(console=stream)) as mcp:
        for text in texts:
            await mcp.root.echo(text=text)
    (tmp_path / "log.jsonl").write_bytes(stream.getvalue().encode())

    async with handle(second) as mcp:
        await run_sequence(mcp, tmp_path / "log.jsonl", verify=True)

    assert [given.get("text") for _, given in second.calls[1:-1]] == texts


SHOP = "data:text/html,<title>Shop</title><h1>Here</h1><button>Go</button>"


@pytest.mark.slow
async def test_replay_of_playwright_mcp_log_shows_no_differences(tmp_path: Path) -> None:
    """Its files have the time in their names."""
    server = config_of("@playwright/mcp", "--headless").transport(cwd=str(tmp_path))
    beside = tmp_path / "beside"
    log = create_logger(console=False, file=tmp_path / "log", sidecar=True, directory=beside)
    async with connect_dynamic("x", server=server, log=log) as mcp:
        await mcp.root.browser_navigate(url=SHOP)
        await mcp.root.browser_snapshot()
        await mcp.root.browser_take_screenshot()
        await mcp.root.browser_click(target="button")
        with suppress(ToolInvocationError):
            await mcp.root.browser_click(target="#none")

    async with connect_dynamic("x", server=server, log=create_logger(console=False)) as mcp:
        assert len(await run_sequence(mcp, tmp_path / "log", verify=True)) == 5
    assert ".playwright-mcp/page-" in (beside / "3-browser_take_screenshot.txt").read_text()
