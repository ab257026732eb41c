"""The command `footlight replay`."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from footlight.client.handles import create_logger
from footlight.client.handles.dynamic import connect_dynamic
from footlight.client.transports.memory import InMemory
from footlight.demo.shop.site import serve_shop
from footlight.protocol.errors import ToolInvocationError
from tests.cli.commands import run
from tests.cli.conftest import Order
from tests.cli.shop_log import SERVER
from tests.client.replay.notes_server import COMMAND, Notes

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_recorded_shop_order_is_replayed_in_a_new_shop(order: Order) -> None:
    log = order.log.with_name("order-anywhere.jsonl")
    log.write_text(order.log.read_text().replace(order.url, "${shop}"))

    async with serve_shop() as site:
        flags = ("--server", shlex.join(SERVER), "--verify", "--var", f"shop={site.url}")
        done = await anyio.to_thread.run_sync(lambda: run("replay", str(log), *flags))
        orders = [order.received for order in site.shop.orders]

    assert done.status == 0, done.out + done.err
    assert done.err == ""
    assert done.out.splitlines()[-1].endswith(", all as logged.")
    assert [(order["Production"], order["Quantity"]) for order in orders] == [("Macbeth", "3")]


NOTES = shlex.join(COMMAND)
ROOT = Path(__file__).parents[2]


def replay(
    file: Path | str, *flags: str, server: str = NOTES, **environment: str
) -> tuple[int, list[str], str]:
    """Return the exit status, the lines without times, and the standard error."""
    done = run("replay", str(file), "--server", server, *flags, cwd=ROOT, **environment)
    lines = re.sub(r"\d+ ms|in [\d.]+ s", "…", done.out).splitlines()
    return done.status, lines, done.err


def lines(*entries: dict[str, Any]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


async def record(file: Path, *, sidecar: bool = False) -> None:
    log = create_logger(console=False, file=file, sidecar=sidecar, directory=file.parent / ".mcp-log")
    async with connect_dynamic("x", server=InMemory(Notes().server()), log=log) as mcp:
        note = (await mcp.root.add(text="buy milk"))["note"]
        await mcp.root.read(id=note)
        await mcp.root.long(lines=100)
        await mcp.root.remove(id=note)
        with suppress(ToolInvocationError):
            await mcp.root.read(id=note)


@pytest.mark.slow
async def test_log_with_its_own_session_is_replayed_unchanged(tmp_path: Path) -> None:
    await record(tmp_path / "log.jsonl")

    assert replay(tmp_path / "log.jsonl", "--verify") == (
        0,
        [
            "   1  create_session  ok  …",
            "   2  add  ok  …",
            "   3  read  ok  …",
            "   4  long  ok  …",
            "   5  remove  ok  …",
            "   6  read  failed as logged  …",
            "   7  close_session  ok  …",
            "7 calls …, as logged; 1 compared only by the kind of the result.",
        ],
        "",
    )


@pytest.mark.slow
async def test_log_can_be_replayed_in_a_named_session(tmp_path: Path) -> None:
    await record(tmp_path / "log.jsonl")

    status, data, _ = replay(
        tmp_path / "log.jsonl", "--verify", "--session", "mine", "--log", str(tmp_path / "new")
    )
    logged = [json.loads(line)["name"] for line in (tmp_path / "new").read_text().splitlines()]

    assert (status, data[0], data[-1]) == (
        0,
        "   1  add  ok  …",
        "5 calls …, as logged; 1 compared only by the kind of the result.",
    )
    assert logged[::2] == ["create_session", "add", "read", "long", "remove", "read", "close_session"]


@pytest.mark.slow
async def test_differences_from_the_log_are_shown(tmp_path: Path) -> None:
    await record(tmp_path / "log.jsonl", sidecar=True)

    status, data, said = replay(tmp_path / "log.jsonl", "--verify", server=f"{NOTES} ciao")
    ignored = replay(
        tmp_path / "log.jsonl",
        "--verify",
        "--ignore",
        "$[*]",
        "--ignore-field",
        "greeting",
        server=f"{NOTES} ciao",
    )

    assert (status, said) == (1, "")
    assert data[2] == "   3  read  differs  …"
    assert re.fullmatch(r'      line 5: read \{"sessionId":"\w{32}","id":"note-\w{8}"\}', data[3])
    assert data[4:7] == ["      $.greeting", '        - "hello"', '        + "ciao"']
    assert data[-1] == "7 calls …, 2 of them not as logged."
    assert ignored[0] == 0


@pytest.mark.slow
async def test_replay_stops_at_the_first_failed_call(tmp_path: Path) -> None:
    """The session is closed all the same."""
    file = tmp_path / "s.jsonl"
    file.write_text(
        lines({"name": "echo", "arguments": {"text": "a"}}, {"name": "read", "arguments": {"id": "x"}})
    )

    done = replay(file, "--log", str(tmp_path / "log"))

    assert done == (
        1,
        [
            "   1  echo  ok  …",
            "   2  read  failed  …",
            "Stopped at the first call that failed, after 1 call.",
        ],
        f'footlight: {file}, line 2: read {{"id":"x"}}: there is no note x\n',
    )
    assert json.loads((tmp_path / "log").read_text().splitlines()[-1])["name"] == "close_session"


@pytest.mark.slow
async def test_variable_values_are_not_disclosed(tmp_path: Path) -> None:
    """The new log has their names, and can be replayed with them."""
    file, log = tmp_path / "s.jsonl", tmp_path / "log.jsonl"
    file.write_text(lines({"name": "add", "arguments": {"text": "${one} and ${two}"}}))

    first = replay(file, "--var", "one=open sesame", "--var", "two", "--log", str(log), two="please")
    again = replay(log, "--verify", "--ignore-field", "note", "--var", "one=other", "--var", "two=x")
    missing = replay(log)

    assert (first[0], again[0], missing[0]) == (0, 0, 2)
    assert "sesame" not in log.read_text()
    assert "${one} and ${two}" in log.read_text()
    assert missing[2] == (
        f"footlight: {log}: no value was given for ${{one}} (line 3); ${{two}} (line 3); "
        "give --var NAME=VALUE\n"
    )


def test_a_dry_run_needs_no_server(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(lines({"name": "echo", "arguments": {"text": "${a}"}}, {"name": "health"}))

    done = run("replay", str(file), "--dry-run", "--var", "a=secret")

    assert (done.status, done.out) == (
        0,
        '   1  line 1: echo {"text":"${a}"}\n   2  line 2: health {}\n2 calls\n',
    )


@pytest.mark.slow
def test_log_is_read_from_standard_input(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.touch()
    asked = lines({"name": "echo", "arguments": {"text": "a"}}, {"name": "fly"})
    done = run("replay", "-", "--server", NOTES, "--log", str(log), stdin=asked, cwd=ROOT)

    assert done.status == 1
    assert done.err == "footlight: standard input, line 2: fly {}: no tool fly\n"
    assert '"name":"echo"' in log.read_text()


async def test_server_text_is_escaped_on_a_terminal(tmp_path: Path) -> None:
    """Neither by what it answers nor by how it refuses."""
    (tmp_path / "s.jsonl").write_text(lines({"name": "read", "arguments": {"id": "\x1b[31m\x9b2J"}}))
    terminal, line = os.openpty()

    process = await anyio.open_process(
        [sys.executable, "-m", "footlight", "replay", str(tmp_path / "s.jsonl"), "--server", NOTES],
        stdin=None,
        stdout=line,
        stderr=line,
        cwd=ROOT,
    )
    os.close(line)
    with anyio.fail_after(60):
        await process.wait()
    seen = os.read(terminal, 1 << 16)
    os.close(terminal)

    assert b"there is no note \\x1b[31m\\x9b2J\r\n" in seen
    assert b"\x1b" not in seen


@pytest.mark.parametrize(
    ("content", "flags", "status", "said"),
    [
        ("!", [], 2, "FILE, line 1: it is not JSON: Expecting value, at character 1: !"),
        (
            lines({"name": "a"}),
            ["--var", "=x"],
            2,
            "--var =x: write NAME=VALUE, or NAME for a variable of the environment",
        ),
        (
            lines({"name": "a"}),
            ["--var", "NO_SUCH"],
            2,
            "--var NO_SUCH: the environment has no such variable; write NO_SUCH=VALUE",
        ),
        (lines({"name": "a"}), ["--log", "FILE"], 2, "--log FILE: this is the file that is replayed"),
        (
            lines({"name": "a"}),
            ["--ignore", "$["],
            2,
            '$[: no path; one is written $.data.rows[0].price, $.data.rows[*].price or $["a key"]',
        ),
        (lines({"name": "a"}), ["--server", ""], 2, "--server is required: a command or a URL"),
        (None, [], 2, "FILE: No such file or directory"),
    ],
)
def test_invalid_arguments_are_refused(
    tmp_path: Path, content: str | None, flags: list[str], status: int, said: str
) -> None:
    file = tmp_path / "s.jsonl"
    if content is not None:
        file.write_text(content)

    done = replay(file, *[flag.replace("FILE", str(file)) for flag in flags])

    assert done == (status, [], f"footlight: {said.replace('FILE', str(file))}\n")


@pytest.mark.slow
def test_only_calls_with_a_logged_result_are_compared(tmp_path: Path) -> None:
    call = {"name": "echo", "arguments": {"text": "a"}}
    sequence, cut = tmp_path / "s.jsonl", tmp_path / "cut.jsonl"
    sequence.write_text(lines(call))
    ended = {**call, "_phase": "after", "_ok": True, "_ms": 1, "_seq": 1}
    cut.write_text(
        lines({**call, "_phase": "before", "_seq": 1}, ended, {**call, "_phase": "before", "_seq": 2})
    )

    assert replay(sequence, "--verify") == (
        2,
        [],
        f"footlight: --verify: {sequence} has no result for any call\n",
    )
    cut_before = tmp_path / "cut-before.jsonl"
    cut_before.write_text(lines(ended))
    assert replay(cut_before, "--verify")[:2] == (0, ["0 calls …."])
    assert replay(cut, "--verify")[:2] == (
        0,
        [
            "   1  echo  ok  …",
            "   2  echo  ok  …",
            "2 calls …, as logged; 1 without a result in the log.",
        ],
    )


@pytest.mark.slow
def test_unnamed_session_is_new_each_time_and_removed(tmp_path: Path) -> None:
    """On a server that keeps them: the second replay must not find what the first one left."""
    file, log = tmp_path / "s.jsonl", tmp_path / "log.jsonl"
    server = shlex.join(
        [
            *(sys.executable, "-m", "footlight", "serve", "--toolset", "szkrabok"),
            "--sessions-dir",
            str(tmp_path / "s"),
        ]
    )
    file.write_text(lines({"name": "nav.goto", "arguments": {"url": "data:text/html,<p>Hello"}}))

    statuses = [replay(file, "--log", str(log), server=server)[0] for _ in range(2)]

    calls = [json.loads(line) for line in log.read_text().splitlines()]
    opened = [call["arguments"]["sessionName"] for call in calls if call["name"] == "session.open"]
    assert statuses == [0, 0]
    assert [call["name"] for call in calls if call["_phase"] == "before"] == [
        *("session.open", "nav.goto", "session.close", "session.delete"),
        *("session.open", "nav.goto", "session.close", "session.delete"),
    ]
    assert len(set(opened)) == 2
    assert [path.name for path in (tmp_path / "s").iterdir() if path.name.startswith("replay")] == []


def test_unavailable_server_is_reported(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(lines({"name": "a"}))

    status, data, said = replay(tmp_path / "s.jsonl", server="no-such-command")

    assert (status, data) == (3, [])
    assert "no-such-command" in said
