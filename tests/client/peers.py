"""Servers for the tests of the client, ours and others: how to start each, and what it offers."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright._impl._driver import compute_driver_executable

from footlight import MCPClient
from footlight.client.transports.stdio import Stdio
from footlight.protocol.handshake import RequestedVersion
from footlight.protocol.results import ToolResult
from footlight.protocol.versions import DEFAULT_VERSION
from footlight.protocol.versions import HANDSHAKE_VERSIONS as LEGACY
from tests.client.browser_servers import config_of
from tests.conftest import server_command

Over = Literal["stdio", "http", "websocket"]
Arguments = Mapping[str, Any]

ROOT = Path(__file__).parents[2]
EVERYTHING = ROOT / ".peers/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
"""The arguments of a server that is started in a folder of its own."""
START_SECONDS = 60.0
STOP_SECONDS = 20.0

STATELESS = "2026-07-28"


@dataclass(frozen=True)
class Call:
    """A tool call, and a part of the text of its answer or error."""

    tool: str
    arguments: Arguments
    says: str


@dataclass(frozen=True)
class Completion:
    """A completion of the argument whose value begins with `start`."""

    reference: Mapping[str, str]
    argument: str
    start: str
    context: Mapping[str, str]
    values: Sequence[str]


@dataclass(frozen=True, eq=False)
class Peer:
    """The features of a server. What is None or empty, the server does not have."""

    name: str
    server_name: str
    over: Sequence[Over]
    stateless: bool
    capabilities: frozenset[str]
    tools: Sequence[str]
    """The names of some tools, or of all tools with `pages`."""
    known: Call
    numbered: Callable[[int], Call]
    """A call that returns the number."""
    wrong: Call
    slow: tuple[str, Arguments]
    """A call that takes long unless it is cancelled."""
    search: tuple[str, Sequence[str]]
    """Search words, and the names of the tools that match."""
    pages: bool = False
    progress: Call | None = None
    resource: tuple[str, str] | None = None
    """The URI of a resource, and a part of its text."""
    listed_resources: Sequence[str] = ()
    templates: Sequence[str] = ()
    prompt: tuple[str, Mapping[str, str], str] | None = None
    """The name and arguments of a prompt, and a part of its first message."""
    completion: Completion | None = None
    news: Call | None = None
    """A call after which the server notifies that `resource` has changed."""
    question: tuple[str, str] | None = None
    """A tool that asks the user for a name, and its answer to Ada."""
    opens: str | None = None
    """A tool that opens a session, whose id every later call and `{sessionId}` contain."""
    navigate: str | None = None
    """A tool that takes the URL of a page."""

    @property
    def versions(self) -> Mapping[RequestedVersion, str]:
        """Return for each requested revision the one that is used, or why there is none."""
        return {
            None: DEFAULT_VERSION,
            **{version: version for version in LEGACY if version != DEFAULT_VERSION},
            STATELESS: STATELESS if self.stateless else "handshake",
            "auto": STATELESS if self.stateless else LEGACY[-1],
        }


PAGE = "<title>Numbers</title>" + "".join(f"<p id=p{number}>{number}</p>" for number in range(20))

FOOTLIGHT = Peer(
    name="footlight",
    server_name="playwright-mcp-server",
    over=("stdio", "http", "websocket"),
    stateless=True,
    capabilities=frozenset(("completions", "prompts", "resources", "tools")),
    tools=("navigate", "click", "get_text"),
    known=Call("get_text", {"selector": "#p7"}, '"text":"7"'),
    numbered=lambda number: Call("get_text", {"selector": f"#p{number}"}, f'"text":"{number}"'),
    wrong=Call("navigate", {}, "navigate needs the parameter url"),
    slow=("wait_for", {"text": "never", "timeout": 120_000}),
    search=("set cookies", ("set_cookies",)),
    progress=Call("reload", {}, '"success":true'),
    resource=("playwright:///page/{sessionId}/page-1", '"title": "Numbers"'),
    templates=("playwright:///session/{sessionId}", "playwright:///page/{sessionId}/{pageId}"),
    prompt=("scrape_website", {"url": "http://a.test/", "selectors": '["h1"]'}, "http://a.test/"),
    completion=Completion(
        {"type": "ref/resource", "uri": "playwright:///page/{sessionId}/{pageId}"},
        argument="pageId",
        start="pa",
        context={"sessionId": "{sessionId}"},
        values=("page-1",),
    ),
    news=Call("reload", {}, '"success":true'),
    opens="create_session",
    navigate="navigate",
)

SDK = Peer(
    name="python-sdk",
    server_name="sdk-server",
    over=("stdio", "http"),
    stateless=True,
    capabilities=frozenset(("completions", "prompts", "resources", "tools")),
    tools=("add", "count", "wait", "touch", "greet"),
    pages=True,
    known=Call("add", {"a": 2, "b": 3}, "5"),
    numbered=lambda number: Call("add", {"a": number, "b": 0}, str(number)),
    wrong=Call("add", {"a": 1}, "b must be a whole number"),
    slow=("wait", {}),
    search=("TOOLS news", ("touch",)),
    progress=Call("count", {"to": 3}, "done"),
    resource=("news://today", "Nothing new."),
    listed_resources=("news://today",),
    templates=("news://{day}",),
    prompt=("explain", {"topic": "stars"}, "Explain stars."),
    completion=Completion({"type": "ref/prompt", "name": "explain"}, "topic", "sto", {}, ("stones",)),
    news=Call("touch", {}, "told"),
    question=("greet", "Hello, Ada!"),
)

SERVER_EVERYTHING = Peer(
    name="server-everything",
    server_name="mcp-servers/everything",
    over=("stdio", "http"),
    stateless=False,
    capabilities=frozenset(("completions", "logging", "prompts", "resources", "tasks", "tools")),
    tools=("echo", "get-sum", "get-structured-content"),
    known=Call("echo", {"message": "Grüß dich 🙂\n"}, "Echo: Grüß dich 🙂\n"),
    numbered=lambda number: Call("get-sum", {"a": number, "b": 0}, f"The sum of {number} and 0 is {number}."),
    wrong=Call("get-sum", {"a": "one"}, "expected number, received string"),
    slow=("trigger-long-running-operation", {"duration": 120, "steps": 2}),
    search=("sum", ("get-sum",)),
    progress=Call("trigger-long-running-operation", {"duration": 0.2, "steps": 4}, "Steps: 4."),
    resource=("demo://resource/dynamic/text/1", "Resource 1: This is a plaintext resource"),
    listed_resources=("demo://resource/static/document/features.md",),
    templates=("demo://resource/dynamic/text/{resourceId}", "demo://resource/dynamic/blob/{resourceId}"),
    prompt=("args-prompt", {"city": "Oslo", "state": "Viken"}, "What's weather in Oslo, Viken?"),
    completion=Completion(
        {"type": "ref/prompt", "name": "completable-prompt"},
        argument="name",
        start="E",
        context={"department": "Sales"},
        values=("Eve",),
    ),
    news=Call("toggle-subscriber-updates", {}, "Started simulated resource updated notifications"),
    question=("trigger-elicitation-request", "User provided the requested information"),
)

PLAYWRIGHT = Peer(
    name="playwright-mcp",
    server_name="Playwright",
    over=("stdio", "http"),
    stateless=False,
    capabilities=frozenset(("tools",)),
    tools=("browser_navigate", "browser_click", "browser_snapshot"),
    known=Call("browser_evaluate", {"function": "() => document.title"}, '### Result\n"Numbers"'),
    numbered=lambda number: Call(
        "browser_evaluate", {"function": f"() => {number}"}, f"### Result\n{number}\n"
    ),
    wrong=Call("browser_navigate", {}, "expected string, received undefined"),
    slow=("browser_wait_for", {"time": 30}),
    search=("HOVER over", ("browser_hover",)),
    navigate="browser_navigate",
)

PEERS: Mapping[str, Peer] = {peer.name: peer for peer in (FOOTLIGHT, SDK, SERVER_EVERYTHING, PLAYWRIGHT)}


def command_of(peer: Peer, over: Over, folder: Path, port: int = 0) -> Sequence[str]:
    """Return the command of a server. Skip the test, with a hint, if it is not installed."""
    listens = () if over == "stdio" else ("--port", str(port))
    if peer is FOOTLIGHT:
        transport = () if over == "stdio" else ("--transport", over)
        return server_command("--state-directory", str(folder), *transport, *listens)
    if peer is SDK:
        return (sys.executable, "-m", "tests.client.sdk_server", *listens)
    if peer is PLAYWRIGHT:
        config = config_of("@playwright/mcp", "--headless")
        return (config.server_command, *config.server_args, *listens)
    if not EVERYTHING.exists():
        pytest.skip(
            "server-everything is not installed: `npm ci` of peers/package-lock.json puts it into .peers"
        )
    node = str(compute_driver_executable()[0])
    return (node, str(EVERYTHING), "stdio" if over == "stdio" else "streamableHttp")


def stdio_of(peer: Peer, folder: Path) -> Stdio:
    command, *arguments = command_of(peer, "stdio", folder)
    return Stdio(command, tuple(arguments), env=ENVIRONMENT, cwd=folder)


@asynccontextmanager
async def listening(peer: Peer, over: Over, folder: Path, *, port: int | None = None) -> AsyncGenerator[str]:
    """Start a server on this port of loopback, and yield its URL. It has ended on return."""
    port = port or free_port()
    process = await asyncio.create_subprocess_exec(
        *command_of(peer, over, folder, port),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
        env={**ENVIRONMENT, "PORT": str(port)},
        start_new_session=True,
    )
    reading: asyncio.Task[None] | None = None
    try:
        reading = await _wait_until_it_listens(process)
        yield f"ws://localhost:{port}" if over == "websocket" else f"http://localhost:{port}/mcp"
    finally:
        if process.returncode is None:
            process.terminate()
        await _end_process(process)
        if reading is not None:
            await reading


async def _wait_until_it_listens(process: asyncio.subprocess.Process) -> asyncio.Task[None]:
    """Wait until a server listens. The returned task goes on reading its output, or it would block."""
    output = process.stdout
    assert output is not None
    heard: list[str] = []
    async with asyncio.timeout(START_SECONDS):
        while not re.search("listening on", heard[-1] if heard else "", re.IGNORECASE):
            line = await output.readline()
            assert line, f"the server ended before it listened: {heard}"
            heard.append(line.decode())

    async def read_on() -> None:
        while await output.read(1 << 16):
            pass

    return asyncio.create_task(read_on())


async def _end_process(process: asyncio.subprocess.Process) -> None:
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise


def free_port() -> int:
    """Return a free port, for a server that cannot be told to choose one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Visitor:
    """A connected client, in a session of its own if the server has sessions, with an open page."""

    def __init__(self, client: MCPClient, peer: Peer) -> None:
        self.client = client
        self.peer = peer
        self._session: Mapping[str, str] = {}

    async def arrive(self, url: str) -> None:
        if self.peer.opens is not None:
            opened = await self.client.call(self.peer.opens)
            self._session = {"sessionId": opened.data["data"]["sessionId"]}
        if self.peer.navigate is not None:
            await self.call(Call(self.peer.navigate, {"url": url}, "Numbers"))

    async def call(self, call: Call, **options: Any) -> ToolResult:
        """Call the tool, check the answer, and return it."""
        result = await self.client.call_tool(call.tool, self.arguments(call.arguments), **options)
        assert call.says in result.text
        return result

    def arguments(self, arguments: Arguments) -> Arguments:
        return {**arguments, **self._session}

    def fill_template(self, template: str) -> str:
        return template.replace("{sessionId}", self._session.get("sessionId", ""))
