"""The client with every available server: ours, those of the SDKs, and others."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from footlight import (
    MCPClient,
    MCPConnectionError,
    MCPError,
    MCPTimeoutError,
    ToolInvocationError,
    is_network_error,
    is_timeout,
    is_tool_not_found,
)
from footlight.protocol.handshake import RequestedVersion
from tests.client.peers import (
    FOOTLIGHT,
    PAGE,
    PEERS,
    SDK,
    STATELESS,
    Over,
    Peer,
    Visitor,
    free_port,
    listening,
    stdio_of,
)
from tests.processes import children_of, list_started_since
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0
SHORT_MS = 300.0
LONG_MS = 60_000.0
AT_ONCE = 20


@dataclass(frozen=True)
class Subject:
    """A peer, the way to it, and the revision of the protocol that is spoken with it."""

    peer: Peer
    over: Over
    version: str

    @property
    def has_sessions(self) -> bool:
        return self.over == "http" and self.version != STATELESS

    def __str__(self) -> str:
        return f"{self.peer.name}-{self.over}-{self.version}"


OURS_AND_THE_SDK = (FOOTLIGHT, SDK)
SUBJECTS = [
    Subject(peer, over, version)
    for peer in PEERS.values()
    for over in peer.over
    for version in ("2025-06-18", *([STATELESS] if peer.stateless else []))
]
FAST = [subject for subject in SUBJECTS if subject.peer in OURS_AND_THE_SDK]
WAYS = [(peer, over) for peer in PEERS.values() for over in peer.over]
FAST_WAYS = [(peer, over) for peer, over in WAYS if peer in OURS_AND_THE_SDK]

every_way = pytest.mark.parametrize(
    ("peer", "over"), sample_parameters(WAYS, *FAST_WAYS), ids=[f"{peer.name}-{over}" for peer, over in WAYS]
)


def select_subjects(fact: Callable[[Subject], object]) -> pytest.MarkDecorator:
    subjects = sample_parameters((subject for subject in SUBJECTS if fact(subject)), *FAST)
    return pytest.mark.parametrize("subject", subjects, ids=str, indirect=True)


def only_servers_with(fact: Callable[[Peer], object]) -> pytest.MarkDecorator:
    """Return a mark that selects the servers with this feature."""
    return select_subjects(lambda subject: fact(subject.peer))


over_http = select_subjects(lambda subject: subject.over == "http")


def fill_in(question: Mapping[str, Any]) -> Mapping[str, Any]:
    assert "name" in question["requestedSchema"]["properties"]
    return {"action": "accept", "content": {"name": "Ada"}}


class Servers:
    """One process of each that listens, for all tests here; on stdio each client starts its own."""

    def __init__(self, stack: AsyncExitStack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self._urls: dict[tuple[str, Over], str] = {}
        self._starting = asyncio.Lock()

    async def target(self, peer: Peer, over: Over) -> object:
        if over == "stdio":
            return stdio_of(peer, self._folder)
        async with self._starting:
            if (peer.name, over) not in self._urls:
                started = listening(peer, over, self._folder)
                self._urls[peer.name, over] = await self._stack.enter_async_context(started)
        return self._urls[peer.name, over]

    async def client(self, peer: Peer, over: Over, version: RequestedVersion = None) -> MCPClient:
        """Return a client of the server that is not connected yet."""
        target = await self.target(peer, over)
        return MCPClient(target, protocol_version=version, elicitation=fill_in, timeout_ms=LONG_MS)


@pytest.fixture(scope="module")
async def servers(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Servers]:
    async with AsyncExitStack() as stack:
        yield Servers(stack, tmp_path_factory.mktemp("servers"))


@pytest.fixture(scope="module", params=sample_parameters(SUBJECTS, *FAST), ids=str)
def subject(request: pytest.FixtureRequest) -> Subject:
    return request.param


@pytest.fixture(scope="module")
async def visitor(servers: Servers, subject: Subject, site: Site) -> AsyncGenerator[Visitor]:
    """One for all tests of a subject: none of them leaves anything behind."""
    async with await servers.client(subject.peer, subject.over, subject.version) as client:
        visitor = Visitor(client, subject.peer)
        await visitor.arrive(site.page(PAGE))
        yield visitor


@pytest.fixture
def client(visitor: Visitor) -> MCPClient:
    return visitor.client


async def check_refused(client: MCPClient, tool: str, arguments: Mapping[str, Any]) -> ToolInvocationError:
    with pytest.raises(ToolInvocationError) as error:
        await client.call_tool(tool, arguments)
    return error.value


# Meeting


@pytest.mark.slow
@every_way
async def test_protocol_version_is_negotiated_with_every_server(
    servers: Servers, peer: Peer, over: Over
) -> None:
    """Each other revision of the server works too; `auto` is the newest."""

    async def negotiate(requested: RequestedVersion) -> str:
        try:
            async with await servers.client(peer, over, requested) as client:
                await client.list_tools()
                return client.get_protocol_version()
        except MCPConnectionError as error:
            return error.reason

    agreed = await asyncio.gather(*(negotiate(requested) for requested in peer.versions))

    assert dict(zip(peer.versions, agreed, strict=True)) == peer.versions


@pytest.mark.sampled(6)
async def test_server_info_version_and_capabilities_are_known(client: MCPClient, subject: Subject) -> None:
    assert client.get_protocol_version() == subject.version
    assert client.get_server_info()["name"] == subject.peer.server_name
    assert set(client.get_server_capabilities()) == subject.peer.capabilities
    assert (client.state, client.is_connected()) == ("connected", True)


async def test_server_answers_ping(client: MCPClient) -> None:
    await client.ping()


# Tools


@pytest.mark.sampled(5)
async def test_tools_are_listed_and_found_by_name(client: MCPClient, subject: Subject) -> None:
    tools = await client.list_tools()
    names = [tool.name for tool in tools]

    assert names == list(subject.peer.tools) if subject.peer.pages else {*subject.peer.tools} < {*names}
    assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools)
    assert await client.get_tool(names[-1]) == tools[-1]
    assert await client.get_tool("no-such-tool") is None
    assert await client.list_tools() is tools
    assert await client.list_tools(refresh=True) == tools


@pytest.mark.sampled(3)
async def test_tools_are_searched_by_text(client: MCPClient, subject: Subject) -> None:
    query, names = subject.peer.search

    assert [tool.name for tool in await client.search_tools(query)] == list(names)


async def test_call_returns_the_result(visitor: Visitor, subject: Subject) -> None:
    known = subject.peer.known
    result = await visitor.call(known)
    called = await visitor.client.call(known.tool, visitor.arguments(known.arguments))

    assert (called.is_error, result.is_error) == (False, False)
    assert (result.text, result.structured_content) == (called.text, called.raw.get("structuredContent"))


async def test_unknown_tool_is_reported_as_not_found(client: MCPClient) -> None:
    """Each server says it in its own way."""
    error = await check_refused(client, "no-such-tool", {})

    assert is_tool_not_found(error)
    assert error.tool_name == "no-such-tool"


async def test_invalid_arguments_are_reported_clearly(client: MCPClient, subject: Subject) -> None:
    wrong = subject.peer.wrong
    error = await check_refused(client, wrong.tool, wrong.arguments)

    assert not is_tool_not_found(error)
    assert wrong.says in error.message
    assert (error.tool_name, error.tool_args) == (wrong.tool, wrong.arguments)


@pytest.mark.sampled(5)
async def test_concurrent_calls_each_get_their_own_result(visitor: Visitor, subject: Subject) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        await asyncio.gather(*(visitor.call(subject.peer.numbered(number)) for number in range(AT_ONCE)))


@only_servers_with(lambda peer: peer.progress)
async def test_progress_arrives_before_the_result(visitor: Visitor, subject: Subject) -> None:
    assert subject.peer.progress is not None
    heard: list[tuple[float, float | None]] = []

    def hear(progress: float, total: float | None, _: str | None) -> None:
        heard.append((progress, total))

    await visitor.call(subject.peer.progress, on_progress=hear)

    assert heard
    assert all(before[0] < after[0] for before, after in itertools.pairwise(heard))
    assert len({total for _, total in heard}) == 1


@pytest.mark.sampled(5)
async def test_timed_out_call_is_abandoned_and_the_next_call_works(
    visitor: Visitor, subject: Subject
) -> None:
    tool, arguments = subject.peer.slow
    with pytest.raises(MCPTimeoutError) as error:
        await visitor.client.call_tool(tool, visitor.arguments(arguments), timeout_ms=SHORT_MS)
    await visitor.call(subject.peer.known)

    assert is_timeout(error.value)
    assert (error.value.tool_name, error.value.timeout_ms) == (tool, SHORT_MS)
    assert visitor.client.connected


@only_servers_with(lambda peer: peer.question)
async def test_server_request_for_input_is_answered(client: MCPClient, subject: Subject) -> None:
    """By a request of its own, or by a result that asks back."""
    assert subject.peer.question is not None
    tool, says = subject.peer.question

    assert says in (await client.call_tool(tool)).text


# Resources and prompts


@only_servers_with(lambda peer: peer.resource)
async def test_resources_are_listed_and_read(visitor: Visitor, subject: Subject) -> None:
    assert subject.peer.resource is not None
    client, (template, says) = visitor.client, subject.peer.resource
    uri = visitor.fill_template(template)
    listed = [resource.uri for resource in await client.list_resources()]
    templates = [each.uri_template for each in await client.list_resource_templates()]
    (contents,) = await client.read_resource(uri)

    assert {*subject.peer.listed_resources} <= {*listed}
    assert {*subject.peer.templates} <= {*templates}
    assert contents.uri == uri
    assert says in (contents.text or "")


@only_servers_with(lambda peer: peer.resource)
async def test_unknown_resource_is_reported_as_a_server_error(client: MCPClient) -> None:
    with pytest.raises(MCPError) as error:
        await client.read_resource("no-such://resource")

    assert error.value.reason == "peer"
    assert client.connected


@only_servers_with(lambda peer: peer.prompt)
async def test_prompts_are_listed_and_rendered(client: MCPClient, subject: Subject) -> None:
    assert subject.peer.prompt is not None
    name, arguments, says = subject.peer.prompt
    listed = {prompt.name: prompt for prompt in await client.list_prompts()}
    result = await client.get_prompt(name, arguments)

    assert arguments.keys() == listed[name].arguments.keys()
    assert result.messages[0]["role"] == "user"
    assert says in result.messages[0]["content"]["text"]


@only_servers_with(lambda peer: peer.completion)
async def test_an_argument_is_completed(visitor: Visitor, subject: Subject) -> None:
    expected = subject.peer.completion
    assert expected is not None
    context = {name: visitor.fill_template(value) for name, value in expected.context.items()}

    found = await visitor.client.complete(
        expected.reference, expected.argument, expected.start, context=context
    )

    assert list(found.values) == list(expected.values)


# What the server says by itself


@pytest.mark.sampled(5)
@only_servers_with(lambda peer: peer.news)
async def test_resource_update_notification_arrives(visitor: Visitor, subject: Subject) -> None:
    assert subject.peer.news is not None
    assert subject.peer.resource is not None
    client, uri = visitor.client, visitor.fill_template(subject.peer.resource[0])
    reported = asyncio.Event()

    def listen(message: Mapping[str, Any]) -> None:
        if message["method"] == "notifications/resources/updated" and message["params"]["uri"] == uri:
            reported.set()

    assert await client.open_stream(listen, resources=[uri])
    if subject.version != STATELESS:
        await client.subscribe_resource(uri)
    await visitor.call(subject.peer.news)
    async with asyncio.timeout(LIMIT_SECONDS):
        await reported.wait()
    await client.close_stream()
    if subject.version != STATELESS:
        await client.unsubscribe_resource(uri)


@only_servers_with(lambda peer: peer is SDK)
async def test_changed_tool_list_is_requested_again(client: MCPClient) -> None:
    before = await client.list_tools()
    reported = asyncio.Event()

    def listen(message: Mapping[str, Any]) -> None:
        if message["method"] == "notifications/tools/list_changed":
            reported.set()

    assert await client.open_stream(listen)
    await client.call_tool("touch")
    async with asyncio.timeout(LIMIT_SECONDS):
        await reported.wait()
    after = await client.list_tools()
    await client.close_stream()

    assert after is not before
    assert after == before


async def test_open_stream_does_not_delay_calls(visitor: Visitor, subject: Subject) -> None:
    """Over stdio and WebSocket what the server says comes anyway."""
    assert await visitor.client.open_stream(lambda _: None) is True
    await visitor.call(subject.peer.known)
    await visitor.client.close_stream()


# The end


@over_http
async def test_terminated_session_is_replaced_by_a_new_one(servers: Servers, subject: Subject) -> None:
    async with await servers.client(subject.peer, subject.over, subject.version) as client:
        first = client.get_session_id()
        ended = await client.terminate_session()
        none = client.get_session_id()
        names = [tool.name for tool in await client.list_tools()]
        second = client.get_session_id()

    assert ended == subject.has_sessions
    assert (first is not None, none, second is not None) == (ended, None, ended)
    assert first != second or not ended
    assert {*subject.peer.tools} <= {*names}


@pytest.mark.slow
@select_subjects(lambda subject: subject.has_sessions or (subject.over == "http" and subject.peer is SDK))
async def test_client_continues_after_a_server_restart(subject: Subject, tmp_path: Path) -> None:
    """Its session is gone with it; in the stateless protocol nothing is."""
    port = free_port()
    async with AsyncExitStack() as stack:
        async with listening(subject.peer, "http", tmp_path, port=port) as url:
            client = MCPClient(url, protocol_version=subject.version, timeout_ms=LONG_MS)
            await stack.enter_async_context(client)
            before = await client.list_tools()
        async with listening(subject.peer, "http", tmp_path, port=port):
            lost = await failures(client)
            after = await client.list_tools(refresh=True)

    assert lost == (["session_expired"] if subject.has_sessions else [])
    assert after == before


async def failures(client: MCPClient) -> list[str]:
    """Why calls fail until one does not."""
    seen: list[str] = []
    for _ in range(3):
        try:
            await client.ping()
        except MCPError as error:
            seen.append(error.reason)
        else:
            return seen
    raise AssertionError(f"it does not recover: {seen}")


@asynccontextmanager
async def begin_call(visitor: Visitor) -> AsyncGenerator[asyncio.Task[object]]:
    """Yield a call that is under way."""
    tool, arguments = visitor.peer.slow
    call = visitor.client.call_tool(tool, visitor.arguments(arguments))
    task: asyncio.Task[object] = asyncio.create_task(call)
    await visitor.client.ping()
    try:
        yield task
    finally:
        task.cancel()


@pytest.mark.sampled(27)
@every_way
async def test_closing_from_another_task_leaves_nothing_behind(
    servers: Servers, peer: Peer, over: Over, site: Site
) -> None:
    """What waits fails at once, and a process that we started is gone."""
    client = await servers.client(peer, over)
    before = set(children_of(psutil.Process()))
    await asyncio.create_task(client.connect())
    visitor = Visitor(client, peer)
    await visitor.arrive(site.page(PAGE))
    started = list_started_since(before)
    async with begin_call(visitor) as call, asyncio.timeout(LIMIT_SECONDS):
        await asyncio.create_task(client.close())
        with pytest.raises(MCPConnectionError) as error:
            await call

    assert error.value.reason == "not_connected"
    assert (client.state, client.transport) == ("disconnected", None)
    if over == "stdio":
        assert started
        assert psutil.wait_procs(started, timeout=LIMIT_SECONDS)[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("peer", sample_parameters(PEERS.values(), *OURS_AND_THE_SDK), ids=PEERS)
async def test_killed_server_is_an_error_until_reconnected(servers: Servers, peer: Peer) -> None:
    me = psutil.Process()
    client = await servers.client(peer, "stdio")
    before = set(children_of(me))
    async with client:
        (process,) = set(children_of(me)) - before
        async with begin_call(Visitor(client, peer)) as call, asyncio.timeout(LIMIT_SECONDS):
            process.kill()
            with pytest.raises(MCPConnectionError) as error:
                await call
        state = client.state
        with pytest.raises(MCPConnectionError):
            await client.list_tools()
        await client.reconnect()
        names = [tool.name for tool in await client.list_tools()]

    assert is_network_error(error.value)
    assert state == "error"
    assert {*peer.tools} <= {*names}
