"""Connecting a handle over every transport, and the state after a failure."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from footlight.client.handles import Handle, connect
from footlight.client.handles.adapters import Adapter, SzkrabokSession, browser_session, szkrabok_session
from footlight.client.handles.connect import PendingConnection
from footlight.client.mcp_client import MCPClient
from footlight.client.transports.stdio import Stdio
from footlight.protocol.errors import MCPError, MCPTimeoutError, ServerNotAvailableError, ToolInvocationError
from footlight.protocol.tools import Tool
from tests.client.handles.handles import (
    Log,
    McpHandle,
    Started,
    children,
    mcp_connect,
    serve_in_memory,
    soon,
)
from tests.client.handles.session_server import list_registered_tools
from tests.network import Transport, listening

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]


# What it gives


async def test_connecting_can_be_awaited_or_entered() -> None:
    target, _, journal = serve_in_memory()
    connecting = mcp_connect("p4n-test", server=target, log=Log().log)
    assert isinstance(connecting, PendingConnection)
    assert journal.entries == []

    mcp = await connecting
    await mcp.close()
    async with connecting as again:
        assert isinstance(again, McpHandle)
        assert again is not mcp

    assert [name for name, _ in journal.calls] == ["session.open", "session.close"] * 2


@pytest.mark.slow
async def test_the_handle_is_closed_where_the_body_fails(tmp_path: Path) -> None:
    started = Started(tmp_path)
    with pytest.raises(LookupError, match="the test fails"):
        async with mcp_connect("p4n-test", server=started.command, log=Log().log):
            raise LookupError("the test fails")

    assert [name for name, _ in started.journal.calls] == ["session.open", "session.close"]
    assert await started.find_left_processes() == []


@pytest.mark.slow
async def test_body_failure_is_raised_even_if_the_server_died(tmp_path: Path) -> None:
    started = Started(tmp_path)

    async def work() -> None:
        async with mcp_connect("p4n-test", server=started.command, log=Log().log):
            os.kill(started.pids[0], signal.SIGKILL)
            raise LookupError("the test fails")

    with pytest.raises(LookupError, match="the test fails"):
        await work()

    assert await started.find_left_processes() == []


async def test_server_may_be_a_command_transport_or_client(tmp_path: Path) -> None:
    started = Started(tmp_path)
    program, *words = started.words
    client = MCPClient(started.words)
    for server in (started.words, Stdio(program, words), client):
        async with mcp_connect("p4n-test", server=server, log=Log().log) as mcp:
            assert await mcp.root.health() == "well"

    assert client.state == "disconnected"
    assert len(started.pids) == 3
    assert await started.find_left_processes() == []


@pytest.mark.slow
async def test_server_inherits_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lessons 2.0, 12: a headed browser needs DISPLAY, and a server what its user has set."""
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setenv("A_VARIABLE_OF_MY_OWN", "kept")
    started = Started(tmp_path)
    async with mcp_connect("p4n-test", server=started.command, log=Log().log):
        (pid,) = started.pids
        environment = psutil.Process(pid).environ()

    assert {name: environment.get(name) for name in ("DISPLAY", "A_VARIABLE_OF_MY_OWN")} == {
        "DISPLAY": ":99",
        "A_VARIABLE_OF_MY_OWN": "kept",
    }


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["http", "websocket"])
async def test_server_url_is_supported(transport: Transport) -> None:
    log = Log()
    async with listening(transport) as url:
        server = f"{url}/mcp" if transport == "http" else url
        async with connect(
            Handle, "unused", adapter=browser_session, server=server, log=log.log, timeout_ms=60_000
        ) as mcp:
            session = mcp.bound.session_name
            known = await mcp.call("list_sessions")
            assert session in known.text
        async with MCPClient(server) as client:
            assert session not in (await client.call_tool("list_sessions")).text

    assert session != "unused"
    assert [(line["name"], line["arguments"], line["_seq"]) for line in log.lines[::2]] == [
        ("create_session", {}, 1),
        ("list_sessions", {}, 2),
        ("close_session", {"sessionId": session}, 3),
    ]


async def test_adapter_options_are_sent_to_the_server() -> None:
    target, _, journal = serve_in_memory()
    adapter = SzkrabokSession(url="https://a.test/", launch_options={"headless": True})
    async with mcp_connect("p4n-test", adapter, server=target, log=Log().log):
        pass

    assert journal.calls[0] == (
        "session.open",
        {"sessionName": "p4n-test", "url": "https://a.test/", "launchOptions": {"headless": True}},
    )


async def test_adapter_may_be_chosen_by_a_function_of_the_tools() -> None:
    target, _, journal = serve_in_memory()
    seen: list[str] = []

    def choose(tools: Sequence[Tool]) -> Adapter:
        seen.extend(tool.name for tool in tools)
        return SzkrabokSession(url="https://a.test/")

    async with connect(McpHandle, "p4n-test", adapter=choose, server=target, log=Log().log) as mcp:
        assert await mcp.root.health() == "well"

    assert seen == [tool.name for tool in list_registered_tools()]
    assert journal.calls == [
        ("session.open", {"sessionName": "p4n-test", "url": "https://a.test/"}),
        ("health", {}),
        ("session.close", {"sessionName": "p4n-test"}),
    ]


async def test_timeout_applies_to_each_call() -> None:
    target, _, _ = serve_in_memory()
    async with mcp_connect("p4n-test", server=target, log=Log().log, timeout_ms=500) as mcp:
        with pytest.raises(MCPTimeoutError, match="The tool hold did not respond within 500ms"):
            await soon(mcp.call("hold", {"id": "1"}))


# What is left where it fails


class Fails:
    """An adapter whose `open` opens the session, and then does what a test says."""

    def __init__(self, then: Callable[[], Awaitable[str]]) -> None:
        self._then = then
        self.close = szkrabok_session.close
        self.inject_session = szkrabok_session.inject_session
        self.has_session = szkrabok_session.has_session

    async def open(self, client: Any, session_name: str) -> str:
        await szkrabok_session.open(client, session_name)
        return await self._then()


async def fail_without_browser() -> str:
    raise ToolInvocationError("there is no browser", tool_name="session.open")


async def interrupt() -> str:
    raise KeyboardInterrupt


@pytest.mark.slow
async def test_failed_session_open_leaves_no_process(tmp_path: Path) -> None:
    started = Started(tmp_path)
    with pytest.raises(ToolInvocationError, match="there is no browser"):
        await soon(
            mcp_connect("p4n-test", Fails(fail_without_browser), server=started.command, log=Log().log)
        )

    assert len(started.pids) == 1
    assert await started.find_left_processes() == []


OPENED_AND_CLOSED = [
    ("session.open", {"sessionName": "p4n-test"}),
    ("session.close", {"sessionName": "p4n-test"}),
]


async def test_half_opened_session_is_closed() -> None:
    """Before the connection: a server that others use as well keeps its browsers."""
    target, _, journal = serve_in_memory()
    log = Log()
    with pytest.raises(ToolInvocationError, match="there is no browser"):
        await soon(mcp_connect("p4n-test", Fails(fail_without_browser), server=target, log=log.log))

    assert journal.calls == OPENED_AND_CLOSED
    assert [line["name"] for line in log.lines[::2]] == ["session.open", "session.close"]


async def test_open_failure_is_raised_even_if_closing_fails() -> None:
    target, server, journal = serve_in_memory()
    server.refuse_to_close()
    with pytest.raises(ToolInvocationError, match="there is no browser"):
        await soon(mcp_connect("p4n-test", Fails(fail_without_browser), server=target, log=Log().log))

    assert journal.calls == OPENED_AND_CLOSED


async def cancel_while_opening(server: Any) -> None:
    """Connect to the server, and cancel while the adapter opens a session."""
    opening = asyncio.Event()

    async def forever() -> str:
        opening.set()
        await asyncio.Event().wait()
        raise AssertionError

    connecting = asyncio.create_task(
        soon(mcp_connect("p4n-test", Fails(forever), server=server, log=Log().log))
    )
    await soon(opening.wait())
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await soon(connecting)


async def test_cancelled_session_open_is_closed() -> None:
    target, _, journal = serve_in_memory()
    await cancel_while_opening(target)

    assert journal.calls == OPENED_AND_CLOSED


async def test_session_is_closed_when_creating_the_handle_fails() -> None:
    class Wrong(Handle):
        def __init__(self, _: object) -> None:
            raise LookupError("a wrong module")

    target, _, journal = serve_in_memory()
    with pytest.raises(LookupError, match="a wrong module"):
        await soon(connect(Wrong, "p4n-test", adapter=szkrabok_session, server=target, log=Log().log))

    assert journal.calls == OPENED_AND_CLOSED


async def test_unopened_session_is_not_closed() -> None:
    target, _, journal = serve_in_memory()

    async def unknown() -> str:
        raise ToolInvocationError("no such tool", tool_name="session.open", reason="unknown_tool")

    with pytest.raises(ToolInvocationError, match="no such tool"):
        await soon(connect(Handle, "p4n-test", adapter=Fails(unknown), server=target, log=Log().log))

    assert journal.calls == OPENED_AND_CLOSED[:1]


@pytest.mark.slow
async def test_unreachable_start_page_closes_the_session(tmp_path: Path) -> None:
    """Of a server that stays: the session is open when its page cannot be reached."""
    adapter = SzkrabokSession(url="http://127.0.0.1:9/")
    flags = ("--toolset", "szkrabok", "--sessions-dir", str(tmp_path))
    async with listening("http", *flags) as url:
        with pytest.raises(ToolInvocationError):
            await connect(
                Handle, "half-way", adapter=adapter, server=f"{url}/mcp", log=Log().log, timeout_ms=60_000
            )
        async with MCPClient(f"{url}/mcp") as client:
            left = (await client.call("session.list")).data

    assert [(each["name"], each["open"]) for each in left["sessions"]] == [("half-way", False)]


@pytest.mark.slow
async def test_failed_adapter_choice_leaves_no_process(tmp_path: Path) -> None:
    def choose(_: Sequence[Tool]) -> Adapter:
        raise LookupError("none fits")

    started = Started(tmp_path)
    with pytest.raises(LookupError, match="none fits"):
        await soon(connect(McpHandle, "p4n-test", adapter=choose, server=started.command, log=Log().log))

    assert len(started.pids) == 1
    assert await started.find_left_processes() == []


async def test_failed_handle_creation_leaves_no_process(tmp_path: Path) -> None:
    class Wrong(Handle):
        def __init__(self, _: object) -> None:
            raise LookupError("a wrong module")

    started = Started(tmp_path)
    with pytest.raises(LookupError, match="a wrong module"):
        await soon(
            connect(Wrong, "p4n-test", adapter=szkrabok_session, server=started.command, log=Log().log)
        )

    assert await started.find_left_processes() == []


@pytest.mark.slow
async def test_cancelled_session_open_leaves_no_process(tmp_path: Path) -> None:
    started = Started(tmp_path)
    await cancel_while_opening(started.command)

    assert len(started.pids) == 1
    assert await started.find_left_processes() == []


SILENT = """
import socket, sys
here = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
sys.stdin.read()
"""


async def test_cancelled_connect_to_a_silent_server_leaves_no_process() -> None:
    here = asyncio.Event()

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        here.set()
        writer.close()

    before = children()
    async with await asyncio.start_server(greet, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        silent = [sys.executable, "-c", SILENT, str(port)]
        connecting = asyncio.create_task(soon(mcp_connect("p4n-test", server=silent)))
        await soon(here.wait())
        assert len(children() - before) == 1
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await soon(connecting)

    assert children() - before == set()


INTERRUPTED = """
import asyncio, signal, sys
from footlight.client.handles.adapters import SzkrabokSession
from footlight.client.handles import create_logger
from tests.client.handles.handles import mcp_connect

class Waits(SzkrabokSession):
    async def open(self, client, session_name):
        await super().open(client, session_name)
        print("opened", flush=True)
        await asyncio.Event().wait()

async def main():
    log = create_logger(console=False)
    async with mcp_connect("p4n-test", Waits(), server=sys.argv[1], log=log):
        pass

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="this system has no SIGINT for one process")
async def test_control_c_while_connecting_leaves_no_process(tmp_path: Path) -> None:
    started = Started(tmp_path)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", textwrap.dedent(INTERRUPTED), started.command),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await soon(process.stdout.readline()) == b"opened\n"
    process.send_signal(signal.SIGINT)
    _, complaints = await soon(process.communicate())

    assert complaints.decode().splitlines()[-1] == "KeyboardInterrupt"
    assert len(started.pids) == 1
    assert await started.find_left_processes() == []


async def test_missing_server_command_is_reported() -> None:
    before = children()
    with pytest.raises(ServerNotAvailableError) as caught:
        await soon(mcp_connect("p4n-test", server="no-such-server-anywhere", log=Log().log))

    assert caught.value.reason == "spawn"
    assert children() == before


@pytest.mark.parametrize("server", [None, "", 5, "ftp://a.test/"], ids=repr)
async def test_invalid_server_is_refused(server: object) -> None:
    with pytest.raises(MCPError) as caught:
        await soon(mcp_connect("p4n-test", server=server, log=Log().log))

    assert caught.value.reason == "invalid"


async def test_shared_log_stays_open_for_other_handles(tmp_path: Path) -> None:
    log = Log(file=tmp_path / "log.jsonl")
    target, _, _ = serve_in_memory()
    async with mcp_connect("one", server=target, log=log.log) as one:
        async with mcp_connect("two", server=target, log=log.log) as two:
            await two.root.health()
        await one.root.health()

    assert (tmp_path / "log.jsonl").read_text() == log.text
    assert [(line["name"], line["_seq"]) for line in log.lines[::2]] == [
        *(("session.open", 1), ("session.open", 2), ("health", 3), ("session.close", 4)),
        *(("health", 5), ("session.close", 6)),
    ]
