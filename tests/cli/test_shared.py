"""The option `serve --shared`: MCP clients share one background server, each with its own sessions."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextResourceContents

from footlight.daemon.running import ask_status
from tests.cli.background import LIMIT_SECONDS, Background, background
from tests.cli.test_daemon import wait_until_gone
from tests.conftest import Browser
from tests.evidence import server_log
from tests.processes import descendants_of
from tests.site import Site
from tests.wire import MODERN_META, Wire

pytestmark = pytest.mark.anyio

SHARED = (sys.executable, "-m", "footlight", "serve", "--shared")
MAX_RSS_BYTES = 30_000_000


@pytest.fixture(scope="module")
async def running(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Background]:
    """One background server for all of these tests."""
    async with background(tmp_path_factory.mktemp("running")) as one:
        assert (await one.run("daemon", "start")).status == 0
        yield one


@asynccontextmanager
async def connect_client(own: Background, site: Site, *, mode: str = "auto") -> AsyncGenerator[Browser]:
    """Yield the SDK's client, which knows nothing of what is shared."""
    command, *arguments = SHARED
    parameters = StdioServerParameters(command=command, args=arguments, env=own.environment(), cwd=own.root)
    with server_log() as log:
        async with Client(stdio_client(parameters, errlog=log.file), mode=mode) as client:
            yield Browser(client, site, log)


@asynccontextmanager
async def start_process(own: Background, *flags: str, cwd: Path | None = None) -> AsyncGenerator[Wire]:
    """Yield the process itself, and the lines that go through it."""
    process = await asyncio.create_subprocess_exec(
        *SHARED,
        *flags,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=128 << 20,
        cwd=cwd or own.root,
        env=own.environment(),
    )
    wire = Wire(process)
    try:
        yield wire
    finally:
        await wire.close()


async def sessions(own: Background) -> int:
    status = await asyncio.to_thread(ask_status, own.state)
    assert status is not None
    return status.sessions


async def wait_for_sessions(own: Background, number: int) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        while await sessions(own) != number:
            pass


async def ids(browser: Browser) -> list[str]:
    return [each["sessionId"] for each in (await browser.call("list_sessions"))["sessions"]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_two_clients_have_isolated_sessions(running: Background, site: Site, mode: str) -> None:
    async with connect_client(running, site, mode=mode) as one, connect_client(running, site) as two:
        await one.show("<title>One</title><h1>One</h1>")
        await two.show("<title>Two</title><h1>Two</h1>")
        made = (await one.call("create_session"))["sessionId"]
        refused = await two.refused("get_text", selector="h1", sessionId=made)
        texts = [(await each.call("get_text", selector="h1"))["text"] for each in (one, two)]
        theirs = await ids(one), await ids(two)
        resources = [
            {str(each.uri) for each in (await c.client.list_resources()).resources} for c in (one, two)
        ]

    assert refused["code"] == "SESSION_NOT_FOUND"
    assert texts == ["One", "Two"]
    assert (len(theirs[0]), len(theirs[1])) == (2, 1)
    assert made in theirs[0]
    assert {*theirs[0]}.isdisjoint(theirs[1])
    assert resources[0].isdisjoint(resources[1])
    await wait_for_sessions(running, 0)


@pytest.mark.slow
async def test_commands_and_clients_have_isolated_sessions(running: Background, site: Site) -> None:
    async with connect_client(running, site) as client:
        await client.show("<h1>Theirs</h1>")
        await running.call("navigate", "--url", site.page("<h1>Ours</h1>"))
        mine = [each["sessionId"] for each in (await running.call("list_sessions"))["sessions"]]
        theirs = await ids(client)

    assert len(mine) == len(theirs) == 1
    assert mine != theirs
    await wait_for_sessions(running, 1)
    await running.call("close_session", "--session-id", mine[0])


@pytest.mark.slow
async def test_killed_client_loses_only_its_own_sessions(running: Background, site: Site) -> None:
    async with connect_client(running, site) as other:
        await other.show("<h1>Still here</h1>")
        async with start_process(running) as dying:
            await dying.initialize()
            for _ in range(2):
                made = (await dying.call("create_session"))["structuredContent"]["data"]["sessionId"]
                await dying.call("navigate", url=site.page("<h1>x</h1>"), sessionId=made)
            await dying.call("navigate", url=site.page("<h1>y</h1>"))
            before = await sessions(running)
            dying.process.kill()
            await wait_for_sessions(running, 1)

        still = await other.call("get_text", selector="h1")

    assert before == 4
    assert still["text"] == "Still here"


async def test_session_opening_when_its_client_dies_is_closed(running: Background) -> None:
    async with start_process(running) as dying:
        await dying.initialize()
        for number in range(3):
            call = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"create_session"}}\n'
            await dying.send(call % (100 + number))
        async with asyncio.timeout(LIMIT_SECONDS):
            while not await sessions(running):
                pass
        dying.process.kill()
        await dying.exit()

    await wait_for_sessions(running, 0)
    async with start_process(running) as after:  # Whatever was still opening had the time to.
        await after.initialize()
        await after.call("create_session")
        assert await sessions(running) == 1
    await wait_for_sessions(running, 0)


async def test_shared_client_uses_little_memory(running: Background) -> None:
    async with start_process(running) as wire:
        await wire.initialize()
        process = psutil.Process(wire.process.pid)

        assert process.memory_info().rss < MAX_RSS_BYTES
        assert process.children() == []


async def test_end_of_input_ends_the_shared_client(running: Background) -> None:
    async with start_process(running) as wire:
        await wire.initialize()

        assert await wire.end() == 0
        assert wire.log.lines == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signal_ends_the_shared_client(running: Background, number: signal.Signals) -> None:
    async with start_process(running) as wire:
        await wire.initialize()
        wire.process.send_signal(number)

        assert await wire.exit() == 0


async def test_request_longer_than_any_buffer_is_forwarded(running: Background) -> None:
    text = "é" * 3_000_000
    async with start_process(running) as wire:
        await wire.initialize()
        answer = await wire.ask("tools/call", {"name": text, "arguments": {}})

    assert answer["error"]["message"].startswith(f"Unknown tool: {text[:900]}")


@pytest.mark.slow
async def test_answer_longer_than_any_buffer_is_forwarded(running: Background, site: Site) -> None:
    text = "é" * 1_000_000
    async with connect_client(running, site) as browser:
        await browser.show(f"<p>{text}")
        content = (await browser.answer("get_text", selector="p")).structured_content
        assert content is not None
        read = await browser.client.read_resource(content["resource"]["uri"])

    (whole,) = read.contents
    assert isinstance(whole, TextResourceContents)
    assert json.loads(whole.text)["data"] == {"text": text}


async def test_invalid_message_is_answered_as_on_stdio(running: Background) -> None:
    async with start_process(running) as wire:
        await wire.send(b"nonsense\n\n[1]\n")
        answers = [await wire.message(), await wire.message()]

    assert [answer["error"]["code"] for answer in answers] == [-32700, -32600]


async def test_stateless_protocol_is_supported(running: Background) -> None:
    async with start_process(running) as modern:
        result = await modern.call_modern("list_sessions")

    assert result["structuredContent"]["success"]


async def test_background_server_is_started_and_outlives_its_client(tmp_path: Path) -> None:
    async with background(tmp_path, browser=False) as own:
        async with start_process(own, "--tools", "minimal") as first:
            await first.initialize()
            listed = len((await first.ask("tools/list"))["result"]["tools"])
            server = own.process
            tree = descendants_of(psutil.Process(first.process.pid))
            said = list(first.log.lines)
            first.process.kill()
            await first.exit()
        async with start_process(own) as second:
            await second.initialize()
            same = own.process == server

    assert listed <= 15
    assert said == ["footlight: starting a background server"]
    assert tree == []  # Who ends his client with all its children does not end the server.
    assert same


async def test_ignored_options_are_reported(running: Background, tmp_path: Path) -> None:
    async with start_process(running, "--headed", cwd=tmp_path) as wire:
        await wire.initialize()
        first = await wire.log.wait_for_line("these options are ignored")
        last = await wire.log.wait_for_line("paths are relative to it")

    assert first == (
        "footlight: the background server was started with no options; these options are ignored: --headed"
    )
    assert last == (
        f"footlight: the working directory of the background server is {running.root}; "
        "paths are relative to it"
    )


async def test_unknown_option_is_reported_by_the_failed_server(tmp_path: Path) -> None:
    async with background(tmp_path) as own, start_process(own, "--fly") as wire:
        status = await wire.exit()
        said = await wire.log.wait_for_line("No such option")

    assert status == 3
    assert "--fly" in said


@pytest.mark.slow
async def test_killed_server_ends_the_shared_client(tmp_path: Path) -> None:
    async with background(tmp_path, browser=False) as own, start_process(own) as wire:
        await wire.initialize()
        own.process.kill()

        assert await wire.exit() == 3
        assert await wire.log.wait_for_line("ended") == "footlight: the background server has ended"


@pytest.mark.slow
async def test_stopped_server_ends_the_shared_client(tmp_path: Path) -> None:
    async with background(tmp_path, browser=False) as own, start_process(own) as wire:
        await wire.initialize()
        process = own.process
        await own.run("daemon", "stop")

        assert await wire.exit() == 3
        await wait_until_gone(process)


@pytest.mark.slow
async def test_server_stop_completes_the_subscription_stream(tmp_path: Path) -> None:
    """It is a request that would last; the end of the server does not wait for it."""
    params = {"notifications": {"resourcesListChanged": True}, "_meta": MODERN_META}
    request = {"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen", "params": params}
    async with background(tmp_path, browser=False) as own, start_process(own) as wire:
        await wire.send(json.dumps(request).encode() + b"\n")
        acknowledged = await wire.message()
        stopping = asyncio.create_task(own.run("daemon", "stop"))
        ended = await wire.message()
        await stopping

    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert (ended["id"], "result" in ended) == ("news", True)


@pytest.mark.slow
async def test_unanswered_requests_are_limited_per_client(tmp_path: Path) -> None:
    """The limit is one client's: another is answered."""
    params = {"notifications": {"resourcesListChanged": True}, "_meta": MODERN_META}
    news = {"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen", "params": params}
    more = {"jsonrpc": "2.0", "id": "more", "method": "tools/list", "params": {"_meta": MODERN_META}}
    async with background(tmp_path, browser=False) as own:
        await own.run("daemon", "start", FOOTLIGHT_LISTEN_MAX_REQUESTS="1")
        async with start_process(own) as wire, start_process(own) as other:
            await wire.send(json.dumps(news).encode() + b"\n")
            await wire.message()
            await wire.send(json.dumps(more).encode() + b"\n")
            refused = await wire.message()
            await other.send(json.dumps(more).encode() + b"\n")
            answered = await other.message()

    assert refused["error"] == {
        "code": -32603,
        "message": "Too many requests without an answer (1)",
        "data": {"code": "RESOURCE_EXHAUSTED", "retryable": True},
    }
    assert (answered["id"], "result" in answered) == ("more", True)


@pytest.mark.slow
async def test_shared_client_ends_with_its_parent_process(running: Background) -> None:
    """Though another holds its input open."""
    read, write = os.pipe()
    code = f"import subprocess; print(subprocess.Popen({[*SHARED]!r}, stdin={read}).pid, flush=True); input()"
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        pass_fds=[read],
        cwd=running.root,
        env=running.environment(),
    )
    assert parent.stdout
    pump = psutil.Process(int(await parent.stdout.readline()))
    async with asyncio.timeout(LIMIT_SECONDS):
        while not (await running.status())["clients"]:
            pass

    parent.kill()
    await parent.wait()

    await wait_until_gone(pump)
    os.close(read)
    os.close(write)
