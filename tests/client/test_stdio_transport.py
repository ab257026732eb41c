"""The stdio transport with real processes: small servers written in the test, and ours."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from footlight.client.transports import process
from footlight.client.transports.stdio import MAX_LINE, Stdio
from footlight.protocol.channel import Channel
from footlight.protocol.errors import MCPConnectionError, MCPError, ServerNotAvailableError
from tests.client.recorder import LIMIT_SECONDS, Recorder, open_channel
from tests.conftest import server_command
from tests.processes import children_of

pytestmark = pytest.mark.anyio

LOGGER = "footlight.client.stdio"

PRELUDE = """
import json, os, signal, subprocess, sys, time

def say(method, **params):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()

def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else None
"""

ECHO = """
while message := hear():
    say("echo", **message["params"])
"""

STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
say("up", pid=os.getpid())
while True:
    time.sleep(60)
"""


def script(folder: Path, body: str, name: str = "server.py") -> str:
    path = folder / name
    path.write_text(PRELUDE + textwrap.dedent(body))
    return str(path)


def server(folder: Path, body: str, *args: str, **options: Any) -> Stdio:
    return Stdio(sys.executable, [script(folder, body), *args], **options)


def note(method: str, **params: Any) -> Mapping[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


async def send(channel: Channel, **params: Any) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        await channel.send(note("note", **params), headers={})


async def are_gone(*pids: int) -> bool:
    """Wait until the processes have ended and were reaped. Return False after the time limit."""
    family: list[psutil.Process] = []
    for pid in pids:
        try:
            family.append(psutil.Process(pid))
        except psutil.NoSuchProcess:
            continue
    _, alive = await asyncio.to_thread(psutil.wait_procs, family, 10.0)
    return not alive


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that never end by themselves are not waited for as long as others."""
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)


# Messages


async def test_message_is_sent_as_one_line(tmp_path: Path) -> None:
    text = "ä 漢 😀 \u2028 \ud83d and \n and \r"

    async with open_channel(server(tmp_path, ECHO)) as (channel, recorder):
        await send(channel, text=text)

        assert await recorder.message() == note("echo", text=text)


@pytest.mark.slow
async def test_footlight_server_works_over_stdio() -> None:
    initialize = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    command, *args = server_command()

    async with open_channel(Stdio(command, args)) as (channel, recorder):
        await channel.send(
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}, headers={}
        )
        hello = await recorder.message()
        await channel.send({"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {}}, headers={})
        pong = await recorder.message()

    assert hello["result"]["serverInfo"]["name"] == "playwright-mcp-server"
    assert pong == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert recorder.silent


async def test_invalid_messages_are_logged_and_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Banners of servers that do not know better, and line ends of other systems."""
    noisy = r"""
    sys.stdout.write("Listening on stdio\n\n \r\n" + "x" * 999 + "\n")
    sys.stdout.write('{"jsonrpc": "2.0", "me\n[1, 2]\n{"id": 1}\n')
    sys.stdout.buffer.write(b"\xff\xfe\n")
    sys.stdout.write('{"jsonrpc": "2.0", "method": "hello"}\r\n')
    sys.stdout.flush()
    hear()
    """
    async with open_channel(server(tmp_path, noisy)) as (_, recorder):
        assert await recorder.message() == {"jsonrpc": "2.0", "method": "hello"}

    skipped = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    assert len(skipped) == 6
    assert skipped[0].endswith("skipped a line that is not a message: 'Listening on stdio'")
    assert all(len(line) < 250 for line in skipped)
    assert recorder.silent


async def test_warnings_about_endless_output_are_limited(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    talks = r"""
    sys.stdout.write("y\n" * 1_000 + '{"jsonrpc": "2.0", "method": "hello"}\n')
    sys.stdout.flush()
    hear()
    """
    async with open_channel(server(tmp_path, talks)) as (_, recorder):
        assert await recorder.message() == {"jsonrpc": "2.0", "method": "hello"}

    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 20


@pytest.mark.parametrize("size", [1 << 20, 20 << 20])
async def test_long_lines_are_sent_and_received(tmp_path: Path, size: int) -> None:
    async with open_channel(server(tmp_path, ECHO)) as (channel, recorder):
        await send(channel, text="x" * size)

        assert await recorder.message() == note("echo", text="x" * size)


@pytest.mark.slow
async def test_a_line_beyond_the_limit_ends_the_connection(tmp_path: Path) -> None:
    endless = """
    while True:
        sys.stdout.write("x" * (1 << 20))
    """
    async with open_channel(server(tmp_path, endless)) as (_, recorder):
        loss = await recorder.loss()

    assert loss["message"] == f"The server sent a line of more than {MAX_LINE} bytes"
    assert loss["reason"] == "network"


async def test_concurrent_senders_do_not_interleave_messages(tmp_path: Path) -> None:
    async with open_channel(server(tmp_path, ECHO)) as (channel, recorder):
        await asyncio.gather(*(send(channel, number=number, text="x" * 200_000) for number in range(20)))
        echoes = [await recorder.message() for _ in range(20)]

    assert echoes == [note("echo", number=number, text="x" * 200_000) for number in range(20)]


async def test_unread_input_blocks_only_its_senders(tmp_path: Path) -> None:
    """What it says arrives, and who gives up sends nothing or all."""
    sleepy = """
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    say("up", pid=os.getpid())
    signal.sigwait([signal.SIGUSR1])
    while message := hear():
        say("heard", number=message["params"]["number"])
    """
    async with open_channel(server(tmp_path, sleepy)) as (channel, recorder):
        pid = (await recorder.message())["params"]["pid"]
        senders = [
            asyncio.create_task(send(channel, number=number, text="x" * 500_000)) for number in range(4)
        ]
        await asyncio.wait(senders, timeout=0)
        assert not any(sender.done() for sender in senders)

        for given_up in senders[::2]:
            given_up.cancel()
        await asyncio.wait(senders[::2])
        os.kill(pid, signal.SIGUSR1)
        await asyncio.gather(*senders[1::2])
        await send(channel, number=9)

        heard = [(await recorder.message())["params"]["number"] for _ in range(4)]
    assert heard == [0, 1, 3, 9]


# What goes wrong


async def test_standard_error_is_read_continuously(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An unread pipe is a deadlock; a line without an end is no reason to keep it all."""
    caplog.set_level(logging.INFO, LOGGER)
    flood = r"""
    for number in range(2_000):
        sys.stderr.write(f"line {number} \x1b[31mof\x1b[0m " + "many " * 20 + "\n")
    sys.stderr.write("y" * (2 << 20) + "\n")
    sys.stderr.flush()
    say("done")
    hear()
    """
    async with open_channel(server(tmp_path, flood)) as (_, recorder):
        assert await recorder.message() == note("done")

    said = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    assert len(said) == 2_001
    assert f"line 7 of {'many ' * 20}".rstrip() in said[7]
    assert len(said[-1]) < 5_000


async def test_exit_during_a_call_reports_the_last_standard_error_lines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The stack trace is in the log only."""
    caplog.set_level(logging.INFO, LOGGER)
    failing = """
    print("reading the configuration", file=sys.stderr)
    hear()
    say("last")
    raise ValueError("no such display")
    """
    transport = server(tmp_path, failing)
    async with open_channel(transport) as (channel, recorder):
        await send(channel)

        assert await recorder.message() == note("last")
        assert await recorder.loss() == {
            "name": "ConnectionError",
            "code": "CONNECTION_ERROR",
            "message": (
                "The server ended with exit code 1; the end of its stderr: reading the configuration\n"
                "ValueError: no such display"
            ),
            "reason": "network",
            "rpcCode": -32001,
            "serverCommand": transport.where,
        }
        with pytest.raises(MCPConnectionError, match="exit code 1"):
            await send(channel)
    assert "Traceback" in caplog.text


async def test_exception_group_that_ended_the_server_is_reported(tmp_path: Path) -> None:
    failing = """
    import asyncio
    async def start():
        raise OSError("port 80 is taken")
    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(start())
    asyncio.run(main())
    """
    async with open_channel(server(tmp_path, failing)) as (_, recorder):
        assert (await recorder.loss())["message"] == (
            "The server ended with exit code 1; the end of its stderr: "
            "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\nOSError: port 80 is taken"
        )


async def test_secrets_of_the_environment_and_arguments_are_masked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """They are masked in errors, and in the log of what the server writes."""
    body = """
        said = f"not valid: {os.environ['SHOP_TOKEN']} {sys.argv[2]} true"
        print(said)
        print(json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": said}}), flush=True)
        sys.exit(said)
    """
    environment = {**os.environ, "SHOP_TOKEN": "s3cret-of-the-shop", "PASSWORD_SAVING": "true"}
    caplog.set_level(logging.INFO, logger=LOGGER)
    transport = server(tmp_path, body, "--password", "l0velace", env=environment)
    async with open_channel(transport) as (_, recorder):
        message = await recorder.message()
        loss = await recorder.loss()

    assert message["error"]["message"] == "not valid: *** *** true"
    assert loss["message"] == (
        "The server ended with exit code 1; the end of its stderr: not valid: *** *** true"
    )
    assert "not valid: *** *** true" in caplog.text
    assert "s3cret" not in caplog.text
    assert "l0velace" not in caplog.text


async def test_reported_standard_error_output_is_limited(tmp_path: Path) -> None:
    failing = """
    for number in range(500):
        print(f"{number}: " + "w" * 300, file=sys.stderr)
    sys.exit(3)
    """
    async with open_channel(server(tmp_path, failing)) as (_, recorder):
        message = (await recorder.loss())["message"]

    assert message.startswith("The server ended with exit code 3; the end of its stderr: …w")
    assert message.endswith("\n499: " + "w" * 300)
    assert len(message) < 1_100


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("hear()", "The server ended with exit code 0"),
        ("hear(); sys.stdout.write('{\"jsonrpc\": ')", "exit code 0 in the middle of a message"),
        ("hear(); os.kill(os.getpid(), signal.SIGKILL)", "The server was ended by SIGKILL"),
        ("hear(); os.close(1); hear()", "The server closed its output"),
    ],
)
async def test_end_of_the_server_is_reported(tmp_path: Path, body: str, message: str) -> None:
    async with open_channel(server(tmp_path, body)) as (channel, recorder):
        await send(channel)

        assert (await recorder.loss())["message"].endswith(message)


async def test_last_message_without_newline_is_received(tmp_path: Path) -> None:
    last = """
    sys.stdout.write('{"jsonrpc": "2.0", "method": "bye"}')
    """
    async with open_channel(server(tmp_path, last)) as (_, recorder):
        assert await recorder.message() == {"jsonrpc": "2.0", "method": "bye"}
        assert (await recorder.loss())["message"] == "The server ended with exit code 0"


async def test_server_that_closes_its_input_can_still_send(tmp_path: Path, short: None) -> None:
    deaf = """
    os.close(0)
    say("deaf")
    signal.pause()
    """
    async with open_channel(server(tmp_path, deaf)) as (channel, recorder):
        assert await recorder.message() == note("deaf")

        # The first may still find room.
        with pytest.raises(MCPConnectionError, match="closed its input") as caught:
            await asyncio.gather(*(send(channel, text="x" * 100_000) for _ in range(3)))

        assert caught.value.reason == "network"
        assert recorder.silent


# Starting


@pytest.mark.parametrize(
    ("command", "args", "message"),
    [
        (
            ["footlight", "serve"],
            (),
            "command: must be the name or path of one program; pass its arguments as args: ",
        ),
        ("footlight", "serve", "args: must be a list of texts: "),
        ("footlight", ["serve", 1], "args: must be a list of texts: "),
    ],
)
def test_invalid_command_type_is_refused_with_a_correct_example(
    command: Any, args: Any, message: str
) -> None:
    with pytest.raises(MCPError) as raised:
        Stdio(command, args)

    assert raised.value.message == message + 'Stdio("footlight", ["serve"])'
    assert raised.value.reason == "invalid"


@pytest.mark.parametrize(
    ("transport", "message"),
    [
        (Stdio("no-such-server"), "The command 'no-such-server' was not found: install it"),
        (Stdio("/no/such/server"), "The command '/no/such/server' was not found"),
        (Stdio("ls", cwd="/no/such/folder"), "The server's folder /no/such/folder does not exist"),
        (Stdio("ls", cwd="/etc/hosts"), "The server's folder /etc/hosts does not exist"),
        (Stdio("ls", env={"PATH": "/no/such/folder"}), "give the server a PATH that has it"),
        (Stdio("ls", ["a\0b"]), "The server could not be started: embedded null byte"),
        (Stdio("ls", ["x" * 200_000]), "could not be started: Argument list too long"),
    ],
)
async def test_failure_to_start_is_reported_with_the_reason(transport: Stdio, message: str) -> None:
    recorder = Recorder()
    children = children_of(psutil.Process())

    with pytest.raises(ServerNotAvailableError) as caught:
        await transport.open(recorder)

    assert message in caught.value.message
    assert (caught.value.reason, caught.value.server_command) == ("spawn", transport.where)
    assert children_of(psutil.Process()) == children
    assert recorder.silent


@pytest.mark.parametrize(
    ("mode", "message"),
    [(0o644, "is not executable: make it so"), (0o755, "is not a program for this system")],
)
async def test_file_that_cannot_be_executed_is_explained(tmp_path: Path, mode: int, message: str) -> None:
    file = tmp_path / "server"
    file.write_text("print('no first line that says by what it is run')")
    file.chmod(mode)

    with pytest.raises(ServerNotAvailableError, match=message):
        await Stdio(str(file)).open(Recorder())


TELL = """
say("environment", **dict(os.environ))
say("start", folder=os.getcwd(), args=sys.argv[1:])
hear()
"""


async def test_server_inherits_the_environment_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A headed browser needs DISPLAY."""
    monkeypatch.setenv("DISPLAY", ":77")

    async with open_channel(server(tmp_path, TELL)) as (_, recorder):
        assert (await recorder.message())["params"] == dict(os.environ)


@pytest.mark.parametrize("given", [{}, {"PATH": "/usr/bin", "DISPLAY": ":77", "EMPTY": "", "Ä": "ö=ö"}])
async def test_given_environment_replaces_the_whole_environment(
    tmp_path: Path, given: dict[str, str]
) -> None:
    # So that the server's own Python adds nothing.
    environment = {**given, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "1"}

    async with open_channel(server(tmp_path, TELL, env=environment)) as (_, recorder):
        assert (await recorder.message())["params"] == environment


async def test_command_is_looked_up_in_the_given_path(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "my-server"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{PRELUDE}say('mine')\nhear()\n")
    program.chmod(0o755)

    async with open_channel(Stdio("my-server", env={"PATH": str(program.parent)})) as (_, recorder):
        assert await recorder.message() == note("mine")


async def test_arguments_are_not_interpreted_by_a_shell(tmp_path: Path) -> None:
    args = ("$HOME", "*", "; touch /tmp/x", "a b", "", "`id`", "--flag=ä")
    folder = tmp_path / "folder"
    folder.mkdir()

    async with open_channel(server(tmp_path, TELL, *args, cwd=folder)) as (_, recorder):
        await recorder.message()
        assert (await recorder.message())["params"] == {"folder": str(folder), "args": list(args)}


def test_transport_name_shows_no_secrets() -> None:
    transport = Stdio(
        "npx",
        [
            "-y",
            "server",
            "--api-key=abc",
            "--token",
            "def",
            "--header",
            "Authorization: Bearer ghi",
            "a b",
            "db://u:pw@h",
        ],
        env={"KEY": "jkl"},
    )

    assert (
        transport.where
        == "npx -y server '--api-key=***' --token '***' --header 'Authorization: ***' 'a b' 'db://***@h'"
    )
    assert repr(transport) == f"Stdio({transport.where!r})"
    assert len(Stdio("python", ["-c", "x" * 10_000]).where) < 300


# Ending


async def test_server_that_exits_on_closed_input_is_not_signalled(tmp_path: Path) -> None:
    """What it writes then is not in its way."""
    tidy = """
    say("up", pid=os.getpid())
    hear()
    sys.stdout.write("x" * 1_000_000)
    sys.stderr.write("x" * 1_000_000)
    open(sys.argv[1], "w").write("tidied")
    """
    done = tmp_path / "done"
    async with open_channel(server(tmp_path, tidy, str(done))) as (_, recorder):
        pid = (await recorder.message())["params"]["pid"]

    assert done.read_text() == "tidied"
    assert not psutil.pid_exists(pid)
    assert recorder.silent


async def test_server_that_exits_on_sigterm_is_not_killed(tmp_path: Path, short: None) -> None:
    tidy = """
    def end(*_):
        open(sys.argv[1], "w").write("tidied")
        sys.exit(0)
    signal.signal(signal.SIGTERM, end)
    say("up", pid=os.getpid())
    while True:
        signal.pause()
    """
    done = tmp_path / "done"
    async with open_channel(server(tmp_path, tidy, str(done))) as (_, recorder):
        pid = (await recorder.message())["params"]["pid"]

    assert done.read_text() == "tidied"
    assert not psutil.pid_exists(pid)


async def test_server_that_ignores_sigterm_is_killed_with_its_children(tmp_path: Path, short: None) -> None:
    family = f"""
    child = subprocess.Popen([sys.executable, {script(tmp_path, STUBBORN, "child.py")!r}])
    {STUBBORN.strip().replace(chr(10), chr(10) + "    ")}
    """
    async with open_channel(server(tmp_path, family)) as (_, recorder):
        pids = [(await recorder.message())["params"]["pid"] for _ in range(2)]

    assert await are_gone(*pids)


@pytest.mark.slow
async def test_child_that_outlives_its_server_is_killed(tmp_path: Path, short: None) -> None:
    """This holds when the process keeps its output open."""
    family = f"""
    subprocess.Popen([sys.executable, {script(tmp_path, STUBBORN, "child.py")!r}])
    hear()
    """
    async with open_channel(server(tmp_path, family)) as (channel, recorder):
        pid = (await recorder.message())["params"]["pid"]
        await send(channel)
        assert (await recorder.loss())["message"] == "The server ended with exit code 0"

        assert await are_gone(pid)


async def test_exited_server_is_reaped_at_once(tmp_path: Path) -> None:
    async with open_channel(server(tmp_path, "say('up', pid=os.getpid())")) as (_, recorder):
        pid = (await recorder.message())["params"]["pid"]
        await recorder.loss()

        assert await are_gone(pid)


async def test_closing_takes_bounded_time(tmp_path: Path, short: None) -> None:
    """The process is dead after two periods of grace."""
    async with open_channel(server(tmp_path, STUBBORN)) as (channel, recorder):
        pid = (await recorder.message())["params"]["pid"]
        started = time.monotonic()
        await channel.close()

    assert 2 * process.GRACE_SECONDS <= time.monotonic() - started < 2 * process.GRACE_SECONDS + 20
    assert not psutil.pid_exists(pid)


async def test_channel_can_be_closed_from_another_task_while_senders_block(
    tmp_path: Path, short: None
) -> None:
    """Twice at the same time, and once more."""
    recorder = Recorder()
    channel = await asyncio.create_task(server(tmp_path, STUBBORN).open(recorder))
    pid = (await recorder.message())["params"]["pid"]
    senders = [asyncio.create_task(send(channel, text="x" * 500_000)) for _ in range(3)]
    await asyncio.wait(senders, timeout=0)

    await asyncio.gather(asyncio.create_task(channel.close()), asyncio.create_task(channel.close()))
    await channel.close()

    errors = await asyncio.gather(*senders, return_exceptions=True)
    assert [(type(error), error.reason) for error in errors if isinstance(error, MCPConnectionError)] == [
        (MCPConnectionError, "not_connected")
    ] * 3
    assert not psutil.pid_exists(pid)
    assert recorder.silent
    with pytest.raises(MCPConnectionError, match="was closed"):
        await send(channel)


async def test_cancelled_close_leaves_no_process(tmp_path: Path, short: None) -> None:
    recorder = Recorder()
    channel = await server(tmp_path, STUBBORN).open(recorder)
    pid = (await recorder.message())["params"]["pid"]

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await channel.close()

    assert not psutil.pid_exists(pid)


async def test_cancelled_open_leaves_no_process(tmp_path: Path) -> None:
    others = set(children_of(psutil.Process()))
    opening = asyncio.create_task(server(tmp_path, STUBBORN).open(Recorder()))
    await asyncio.wait([opening], timeout=0)
    while not (started := set(children_of(psutil.Process())) - others):
        await asyncio.wait([opening], timeout=0)
    opening.cancel()
    await asyncio.wait([opening])

    assert opening.cancelled()
    assert await are_gone(*(child.pid for child in started))


async def test_closed_channels_leave_no_file_descriptor_open(tmp_path: Path) -> None:
    def descriptors() -> int:
        return psutil.Process().num_fds()

    async with open_channel(server(tmp_path, ECHO)):
        pass
    before = descriptors()
    for _ in range(5):
        async with open_channel(server(tmp_path, ECHO)) as (channel, recorder):
            await send(channel, text="x")
            await recorder.message()

    assert descriptors() == before


# When the client goes first

CLIENT = """
import asyncio, sys
from footlight.client.transports import process
from footlight.client.transports.stdio import Stdio

process.GRACE_SECONDS = 0.2

class Receiver:
    def receive(self, message):
        print(message["params"]["pid"], flush=True)
        came.set()
    def on_connection_lost(self, error):
        print(error, flush=True)

came = asyncio.Event()

async def main():
    global kept
    kept = await Stdio(sys.executable, sys.argv[1:]).open(Receiver())
    await came.wait()
"""

LAST_LINES = {
    "forgets": "asyncio.run(main())",
    "leaves the loop": "loop = asyncio.new_event_loop(); loop.run_until_complete(main()); loop.close()",
    "just exits": "loop = asyncio.new_event_loop(); loop.run_until_complete(main()); sys.exit(0)",
    "fails": "async def fail(): await main(); raise SystemExit(3)\nasyncio.run(fail())",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("last", LAST_LINES.values(), ids=LAST_LINES.keys())
async def test_client_that_never_closes_leaves_no_server_process(tmp_path: Path, last: str) -> None:
    """The process ends neither with its input nor on SIGTERM."""
    client = tmp_path / "client.py"
    client.write_text(f"{CLIENT}\n{last}\n")
    stubborn = script(tmp_path, STUBBORN)

    ended = await asyncio.to_thread(
        subprocess.run, [sys.executable, client, stubborn], capture_output=True, text=True, timeout=30
    )

    assert await are_gone(int(ended.stdout))


@pytest.mark.slow
async def test_server_of_a_killed_client_exits_on_closed_input(tmp_path: Path) -> None:
    """Another server beside it could have inherited the other end."""
    up = "say('up', pid=os.getpid())\nhear()"
    path = script(tmp_path, up)
    client = tmp_path / "client.py"
    client.write_text(
        f"{CLIENT}\n"
        "async def two():\n"
        "    await main(); came.clear(); first = kept; await main(); await asyncio.Event().wait()\n"
        "asyncio.run(two())\n"
    )
    running_client = await asyncio.create_subprocess_exec(
        sys.executable, client, path, stdout=asyncio.subprocess.PIPE
    )
    assert running_client.stdout is not None
    async with asyncio.timeout(LIMIT_SECONDS):
        pids = [int(await running_client.stdout.readline()) for _ in range(2)]

    running_client.kill()
    await running_client.wait()

    assert await are_gone(*pids)


async def test_exit_of_a_forked_child_does_not_end_the_server(tmp_path: Path) -> None:
    client = tmp_path / "client.py"
    client.write_text(
        f"{CLIENT}\n"
        "import os\n"
        "loop = asyncio.new_event_loop()\n"
        "loop.run_until_complete(main())\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    sys.exit(0)\n"
        "os.waitpid(child, 0)\n"
        "came.clear()\n"
        "async def again():\n"
        "    await kept.send({'jsonrpc': '2.0', 'method': 'm', 'params': {'pid': 7}}, headers={})\n"
        "    await came.wait(); await kept.close()\n"
        "loop.run_until_complete(again()); loop.close()\n"
    )
    path = script(tmp_path, "say('up', pid=os.getpid())" + ECHO)

    ended = await asyncio.to_thread(
        subprocess.run, [sys.executable, client, path], capture_output=True, text=True, timeout=30
    )

    assert (ended.stdout.split()[1:], ended.stderr, ended.returncode) == (["7"], "", 0)
