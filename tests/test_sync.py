"""The synchronous client, with real server processes."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from footlight import MCPConnectionError, MCPError, ServerNotAvailableError, is_timeout, sync
from footlight.client import mcp_client

LIMIT_SECONDS = 60.0

SERVER = r"""
import json, os, sys

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    method, identifier = asked["method"], asked.get("id")
    if method == "initialize":
        info = {"name": "small", "version": "1"}
        version = asked["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {}, "serverInfo": info}
        say({"id": identifier, "result": result})
    elif method == "tools/call":
        name, arguments = asked["params"]["name"], asked["params"]["arguments"]
        token = asked["params"].get("_meta", {}).get("progressToken")
        if token is not None:
            say({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})
        if name == "never":
            continue
        text = str(os.getpid()) if name == "pid" else json.dumps(arguments)
        say({"id": identifier, "result": {"content": [{"type": "text", "text": text}]}})
"""


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    """The command of a server that echoes."""
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    return [sys.executable, str(script)]


def test_a_script_connects_calls_and_closes(server: list[str]) -> None:
    with sync.MCPClient(server) as client:
        assert client.state == "connected"
        assert client.get_server_info() == {"name": "small", "version": "1"}
        assert client.call("echo", {"a": 1}).to_dict() == {
            "raw": {"content": [{"type": "text", "text": '{"a": 1}'}]},
            "text": '{"a": 1}',
            "data": {"a": 1},
            "isError": False,
        }
        process = psutil.Process(int(client.call("pid").text))

    assert client.state == "disconnected"
    assert not process.is_running()
    assert "footlight-client" not in [thread.name for thread in threading.enumerate()]


def test_sync_client_has_the_methods_of_the_async_client() -> None:
    def public(kind: type[Any]) -> dict[str, list[inspect.Parameter]]:
        members = inspect.getmembers(kind, inspect.isfunction)
        return {
            name: [*inspect.signature(member).parameters.values()]
            for name, member in members
            if not name.startswith("_") or name == "__init__"
        }

    assert public(sync.MCPClient) == public(mcp_client.MCPClient)


def test_sync_client_works_inside_a_running_event_loop(server: list[str]) -> None:
    async def notebook() -> str:
        with sync.MCPClient(server) as client:
            return client.call("echo", {"in": "a cell"}).text

    assert asyncio.run(notebook()) == '{"in": "a cell"}'


def test_threads_share_a_client(server: list[str]) -> None:
    with sync.MCPClient(server) as client, ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda number: client.call("echo", {"n": number}).data, range(50))

        assert list(answers) == [{"n": number} for number in range(50)]


def test_call_without_answer_times_out(server: list[str]) -> None:
    with sync.MCPClient(server) as client:
        with pytest.raises(MCPError) as caught:
            client.call("never", timeout_ms=50)

        assert is_timeout(caught.value)
        assert client.call("echo").text == "{}"


def test_a_callback_must_not_call_the_client(server: list[str]) -> None:
    heard: list[MCPError] = []

    def on_progress(progress: float, total: float | None, message: str | None) -> None:
        try:
            client.call("echo")
        except MCPError as error:
            heard.append(error)

    with sync.MCPClient(server) as client:
        client.call("echo", on_progress=on_progress)

    assert [error.message for error in heard] == ["A callback must not call the client that calls it"]


def test_a_failure_to_connect_leaves_no_thread() -> None:
    with pytest.raises(ServerNotAvailableError), sync.MCPClient("no-such-command-anywhere"):
        pytest.fail("it connected")

    assert "footlight-client" not in [thread.name for thread in threading.enumerate()]


def test_closed_client_can_connect_again(server: list[str]) -> None:
    client = sync.MCPClient(server)
    for _ in range(2):
        client.connect()
        assert client.call("echo").text == "{}"
        client.close()


def test_concurrent_calls_work_after_close_and_reconnect(server: list[str]) -> None:
    client = sync.MCPClient(server)
    with ThreadPoolExecutor(4) as threads:
        for _ in range(2):
            client.connect()
            pings = threads.map(lambda _: client.call("echo").text, range(8))
            assert list(pings) == ["{}"] * 8
            asked = [threads.submit(client.list_tools, refresh=True) for _ in range(4)]
            client.close()
            assert {type(each.exception(LIMIT_SECONDS)) for each in asked} == {MCPConnectionError}


def test_close_ends_the_calls_of_other_threads(server: list[str]) -> None:
    def call() -> None:
        while True:
            client.call("echo")
            called.set()

    for _ in range(3):
        client, called = sync.MCPClient(server), threading.Event()
        client.connect()
        with ThreadPoolExecutor(8) as threads:
            calling = [threads.submit(call) for _ in range(8)]
            assert called.wait(LIMIT_SECONDS)
            client.close()
            assert {type(each.exception(LIMIT_SECONDS)) for each in calling} == {MCPConnectionError}
        client.close()


def test_call_cut_short_by_thread_end_is_reported(
    server: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    client = sync.MCPClient(server)
    client.connect()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(client.call, "never")
        client.call("echo")
        client._thread.end()
        error = waiting.exception(LIMIT_SECONDS)

    assert (type(error), str(error)) == (MCPConnectionError, "The client was closed")
    client.close()
    del client, threads, waiting, error
    gc.collect()
    assert caplog.messages == []  # asyncio logs a task that never ends.


def test_second_connect_fails_and_client_stays_connected(server: list[str]) -> None:
    client = sync.MCPClient(server)
    assert client.call("echo").text == "{}"

    with pytest.raises(MCPError, match="connected already"), client:
        pytest.fail("it connected")

    assert client.call("echo").text == "{}"
    client.close()


def test_an_interrupt_ends_the_call_and_the_process(server: list[str], tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"""
from footlight.sync import MCPClient

with MCPClient({server!r}) as client:
    process = client.call("pid").text
    client.call("never", on_progress=lambda *news: print(process, flush=True))
"""
    )
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        child = psutil.Process(int(run.stdout.readline()))
        os.kill(run.pid, signal.SIGINT)
        _, errors = run.communicate(timeout=20)

    assert errors.decode().rstrip().endswith("KeyboardInterrupt")
    assert not child.is_running()


@pytest.mark.parametrize("call", ["client.ping()", "client.close()"])
def test_client_is_refused_in_a_forked_process(server: list[str], tmp_path: Path, call: str) -> None:
    """A fork has no copy of the client's thread, so a call would wait without end."""
    script = tmp_path / "script.py"
    script.write_text(
        f"""
import os
from footlight import MCPError
from footlight.sync import MCPClient

with MCPClient({server!r}) as client:
    if (child := os.fork()) == 0:
        try:
            {call}
        except MCPError as error:
            print(error.reason, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print(client.call("echo").text)
"""
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, timeout=LIMIT_SECONDS, check=True
    )

    assert run.stdout.decode().split() == ["invalid", "{}"]


def test_script_without_close_leaves_no_process(server: list[str], tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"from footlight.sync import MCPClient\nprint(MCPClient({server!r}).call('pid').text, flush=True)\n"
    )
    run = subprocess.run([sys.executable, str(script)], capture_output=True, timeout=30, check=True)

    assert run.stderr == b""
    gone, alive = psutil.wait_procs(_processes(int(run.stdout)), timeout=10)
    assert alive == []
    assert len(gone) <= 1


def _processes(identifier: int) -> list[psutil.Process]:
    try:
        return [psutil.Process(identifier)]
    except psutil.NoSuchProcess:
        return []
