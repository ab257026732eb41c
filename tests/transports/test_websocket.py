"""The WebSocket server on a real port, with the SDK's client and with clients that send raw frames."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import socket
import ssl
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.server import Server, ServerRequestContext
from mcp.shared.message import SessionMessage
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol
from websockets.utils import accept_key

from footlight.caller import Caller, get_caller
from footlight.config import ListenSettings
from footlight.errors import ConfigurationError
from footlight.transports.network.access import AccessControl, SharedToken
from footlight.transports.network.websocket_server import serve_websocket
from footlight.transports.websocket_client import HandshakeRefusedError, connect_websocket
from tests.certificates import make_certificate_folder
from tests.loop_watch import watch_loops
from tests.wire import MODERN_META

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0
RESOURCE_EXHAUSTED = {"code": "RESOURCE_EXHAUSTED", "retryable": True}
NOT_JSON = "Parse error: the message is not JSON"
TOO_MANY = "Invalid request: the message has more than 50,000 values"
NOT_A_MESSAGE = "Invalid request: not a JSON-RPC 2.0 message"
NO_BATCH = "Invalid request: batches are not supported"


@dataclass
class House:
    """What runs behind the transport, and what it saw."""

    url: str = ""
    reason: str | None = None
    """Why the server is not ready."""
    waiting: int = 0
    """Calls of `wait` that have not ended."""
    cancelled: int = 0
    callers: list[Caller] = field(default_factory=list[Caller])
    go: asyncio.Event = field(default_factory=asyncio.Event)
    """Lets the calls of `wait` end."""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_SECONDS), self.changed:
            await self.changed.wait_for(condition)

    async def ready(self) -> str | None:
        return self.reason

    async def call(self, context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> Any:
        self.callers.append(get_caller(context.request))
        text = str((params.arguments or {}).get("text", ""))
        if params.name == "wait":
            await self._wait()
        if params.name == "count":
            for step in (1, 2, 3):
                await context.session.report_progress(step, 3, f"step {step}")
        if params.name == "repeat":
            text *= int((params.arguments or {})["times"])
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content={"text": text}
        )

    async def _wait(self) -> None:
        await self._count(1)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await self._count(-1)

    async def _count(self, change: int) -> None:
        async with self.changed:
            self.waiting += change
            self.changed.notify_all()


async def list_tools(_: ServerRequestContext[Any], __: Any) -> types.ListToolsResult:
    names = ("echo", "wait", "count", "repeat")
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=name, input_schema={"type": "object"}) for name in names]
    )


@asynccontextmanager
async def serving(
    *,
    access_control: AccessControl | None = None,
    stall_seconds: float = 10.0,
    host: str = "127.0.0.1",
    **listen: Any,
) -> AsyncGenerator[House]:
    """`listen` are settings, by their names in the configuration."""
    house = House()
    server = Server("tiny", on_list_tools=list_tools, on_call_tool=house.call)

    async def serve_connection(read: Any, write: Any) -> None:
        await server.run(read, write, server.create_initialization_options())

    async with serve_websocket(
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET),
        settings=ListenSettings.model_validate({"shutdownTimeout": 0, **listen}),
        access_control=access_control or AccessControl(bound=host),
        serve_connection=serve_connection,
        ready=house.ready,
        stall_seconds=stall_seconds,
    ) as house.url:
        yield house


class Raw:
    """A client of frames."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def send(self, message: Mapping[str, Any] | str | bytes) -> None:
        text = message if isinstance(message, str | bytes) else json.dumps(message)
        async with asyncio.timeout(LIMIT_SECONDS):
            await self.connection.send(text)

    async def request(self, number: int | str, method: str, **params: Any) -> None:
        await self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    async def call(self, number: int, tool: str, /, **arguments: Any) -> None:
        """Send a call of a revision without a handshake. The answer is not awaited."""
        await self.request(number, "tools/call", name=tool, arguments=arguments, _meta=MODERN_META)

    async def message(self) -> dict[str, Any]:
        async with asyncio.timeout(LIMIT_SECONDS):
            frame = await self.connection.recv()
        assert isinstance(frame, str)
        return json.loads(frame)

    async def text(self, number: int) -> str:
        """Return the next message, which is the answer to this call."""
        answer = await self.message()
        assert answer["id"] == number
        return answer["result"]["structuredContent"]["text"]

    async def close_code(self) -> tuple[int | None, str | None]:
        """Return the close code, once the connection is closed. Earlier messages are discarded."""
        async with asyncio.timeout(LIMIT_SECONDS):
            try:
                while True:
                    await self.connection.recv()
            except ConnectionClosed:
                return self.connection.close_code, self.connection.close_reason


@asynccontextmanager
async def open_raw(house: House, path: str = "", **options: Any) -> AsyncGenerator[Raw]:
    async with connect(house.url + path, proxy=None, compression=None, **options) as connection:
        yield Raw(connection)


async def refusal(house: House, path: str = "", **options: Any) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as caught:
        async with open_raw(house, path, **options):
            pass
    response = caught.value.response
    return response.status_code, (response.body or b"").decode()


# With the SDK's client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_sdk_client_works_over_websocket(mode: Any) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async with serving() as house, Client(connect_websocket(house.url), mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        echoed = await client.call_tool("echo", {"text": "ä💡"})
        await client.call_tool("count", progress_callback=note)

    assert tools == ["echo", "wait", "count", "repeat"]
    assert echoed.structured_content == {"text": "ä💡"}
    assert steps == [(1.0, 3.0, "step 1"), (2.0, 3.0, "step 2"), (3.0, 3.0, "step 3")]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_abandoned_call_is_cancelled(mode: Any) -> None:
    async with serving() as house, Client(connect_websocket(house.url), mode=mode) as client:
        with pytest.raises(MCPError):
            await client.call_tool("wait", read_timeout_seconds=0.2)
        await house.until(lambda: not house.waiting)

        assert (await client.call_tool("echo", {"text": "on"})).structured_content == {"text": "on"}

    assert house.cancelled == 1


@pytest.mark.slow
async def test_multi_megabyte_messages_pass_in_both_directions() -> None:
    text = "ä" * 1_500_000
    async with (
        serving() as house,
        Client(connect_websocket(house.url)) as client,
    ):
        there = await client.call_tool("echo", {"text": text})
        back = await client.call_tool("repeat", {"text": "ä", "times": 10_000_000})

    assert there.structured_content == {"text": text}
    assert back.structured_content == {"text": "ä" * 10_000_000}


async def test_many_calls_run_concurrently() -> None:
    async with (
        serving() as house,
        Client(connect_websocket(house.url)) as client,
        asyncio.TaskGroup() as group,
    ):
        calls = [group.create_task(client.call_tool("wait", {"text": str(n)})) for n in range(50)]
        await house.until(lambda: house.waiting == 50)
        house.go.set()

    assert [call.result().structured_content for call in calls] == [{"text": str(n)} for n in range(50)]


# The address


async def test_url_names_localhost_and_the_bound_port() -> None:
    async with serving() as house:
        assert house.url == f"ws://localhost:{house.port}"
        assert house.port != 0


@pytest.mark.parametrize(("host", "name"), [("::1", "localhost"), ("0.0.0.0", "0.0.0.0"), ("::", "[::]")])
async def test_url_names_the_listening_address(host: str, name: str) -> None:
    async with serving(host=host) as house:
        assert house.url.rpartition(":")[0] == f"ws://{name}"


@pytest.mark.parametrize("path", ["", "/", "/mcp", "/mcp?a=b"])
async def test_mcp_is_served_on_root_and_mcp_path(path: str) -> None:
    async with serving() as house, open_raw(house, path) as client:
        await client.call(1, "echo", text="here")

        assert await client.text(1) == "here"


@pytest.mark.parametrize("path", ["/ws", "/mcp/", "/healthz/x", "//"])
async def test_other_paths_are_not_found(path: str) -> None:
    async with serving() as house:
        assert await refusal(house, path) == (404, "Not found: MCP is served on / and /mcp")


# One message, one frame


async def test_client_of_the_specification_works() -> None:
    """The server offers no subprotocol, and a notification gets no response."""
    async with serving() as house, open_raw(house) as client:
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        }
        await client.request(1, "initialize", **hello)
        answer = await client.message()
        await client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await client.send({"jsonrpc": "2.0", "method": "notifications/unheard-of"})
        await client.request("two", "ping")
        pong = await client.message()

    assert client.connection.subprotocol is None
    assert (answer["id"], answer["result"]["protocolVersion"]) == (1, "2025-06-18")
    assert pong == {"jsonrpc": "2.0", "id": "two", "result": {}}


async def test_mcp_is_the_only_supported_subprotocol() -> None:
    async with serving() as house:
        async with open_raw(house, subprotocols=[Subprotocol("other"), Subprotocol("mcp")]) as client:
            assert client.connection.subprotocol == "mcp"

        assert await refusal(house, subprotocols=[Subprotocol("other")]) == (
            400,
            "Failed to open a WebSocket connection: the subprotocol here is mcp.\n",
        )


@pytest.mark.parametrize(
    ("frame", "code", "message", "number"),
    [
        ("", -32700, NOT_JSON, None),
        ("hello", -32700, NOT_JSON, None),
        ('{"jsonrpc":"2.0","id":1,"method":"ping"', -32700, NOT_JSON, None),
        ("[" * 100_000, -32600, TOO_MANY, None),
        ('{"jsonrpc":"2.0","id":"\u00e9","method":[' + "[]," * 30_000 + "0]}", -32600, TOO_MANY, "é"),
        ("[]", -32600, NO_BATCH, None),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, NO_BATCH, None),
        ("null", -32600, NOT_A_MESSAGE, None),
        ("{}", -32600, NOT_A_MESSAGE, None),
        ('{"jsonrpc":"1.0","id":5,"method":"ping"}', -32600, NOT_A_MESSAGE, 5),
        ('{"jsonrpc":"2.0","id":"x","method":7}', -32600, NOT_A_MESSAGE, "x"),
        ('{"jsonrpc":"2.0","id":"\\ud800","method":7}', -32600, NOT_A_MESSAGE, "\ud800"),
        ('{"jsonrpc":"2.0","id":true,"method":7}', -32600, NOT_A_MESSAGE, None),
    ],
    ids=lambda value: repr(value)[:30],
)
async def test_invalid_frame_is_answered_and_connection_continues(
    shared: House, frame: str, code: int, message: str, number: int | str | None
) -> None:
    async with open_raw(shared) as client:
        await client.send(frame)
        answer = await client.message()
        await client.call(2, "echo", text="well")

        assert answer == {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
        assert await client.text(2) == "well"


@pytest.fixture(scope="module")
async def shared(anyio_backend: str) -> AsyncGenerator[House]:
    async with serving(maxMessageSize=200_000) as house:
        yield house


async def test_unpaired_surrogate_is_transmitted() -> None:
    """Python and JavaScript can hold one, and UTF-8 cannot."""

    async def answer_half(_: Any, __: Any) -> dict[str, Any]:
        return {"text": "\ud83d"}

    server = Server("tiny")
    server.add_request_handler("half", types.RequestParams, answer_half)  # type: ignore[arg-type]

    async def serve_connection(read: Any, write: Any) -> None:
        await server.run(read, write, server.create_initialization_options())

    house = House()
    async with (
        serve_websocket(
            socket.create_server(("127.0.0.1", 0)),
            settings=ListenSettings(),
            access_control=AccessControl(bound="127.0.0.1"),
            serve_connection=serve_connection,
            ready=house.ready,
        ) as house.url,
        open_raw(house) as client,
    ):
        await client.request(1, "half", _meta=MODERN_META)

        assert (await client.message())["result"]["text"] == "\ud83d"


async def test_binary_frames_are_refused(shared: House) -> None:
    async with open_raw(shared) as client:
        await client.send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')

        assert await client.close_code() == (1003, "Only text frames are messages")


async def test_text_frame_with_invalid_utf_8_is_refused(shared: House) -> None:
    async with open_raw(shared) as client:
        await client.connection.send(b'{"a":"\xff"}', text=True)

        assert (await client.close_code())[0] == 1007


async def test_too_large_message_is_refused(shared: House) -> None:
    async with open_raw(shared) as client:
        await client.send(" " * 200_000)
        at_the_limit = await client.message()
        await client.send(" " * 200_001)

        assert at_the_limit["error"]["message"] == NOT_JSON
        assert (await client.close_code())[0] == 1009


async def test_message_may_arrive_in_fragments(shared: House) -> None:
    async with open_raw(shared) as client:
        await client.connection.send(['{"jsonrpc":"2.0",', '"id":1,"method"', ':"x"}'])

        assert (await client.message())["id"] == 1


# Who may come in


@pytest.mark.parametrize(
    ("headers", "status", "words"),
    [
        ({"Origin": "https://evil.example"}, 403, "Forbidden: pages of this origin may not call this server"),
        ({"Origin": "null"}, 403, "Forbidden: pages of this origin may not call this server"),
        ({"Authorization": "Bearer wrong"}, 401, "Unauthorized: the token is not valid"),
        ({"Authorization": "Basic cmlnaHQ="}, 401, "Unauthorized: a bearer token is required"),
        ({}, 401, "Unauthorized: a bearer token is required"),
    ],
)
async def test_access_is_checked_in_the_opening_handshake(
    headers: dict[str, str], status: int, words: str
) -> None:
    async with serving(
        access_control=AccessControl(bound="127.0.0.1", verifier=SharedToken("right"))
    ) as house:
        assert await refusal(house, additional_headers=headers) == (status, words)

        with pytest.raises(HandshakeRefusedError) as caught:
            async with connect_websocket(house.url, headers=headers):
                pass

        with pytest.raises(HandshakeRefusedError):
            async with Client(connect_websocket(house.url, headers=headers)):
                pass

        async with Client(connect_websocket(house.url, token="right")) as client:
            assert (await client.call_tool("echo", {"text": "in"})).structured_content == {"text": "in"}

    assert (caught.value.status, caught.value.body) == (status, words)
    assert str(caught.value) == f"the server refused the connection: HTTP {status}: {words}"


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        ("Host: evil.example", b"HTTP/1.1 421 "),
        ("X: y", b"HTTP/1.1 421 "),
        ("Host: localhost\r\nHost: evil.example", b"HTTP/1.1 400 "),
        ("Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example", b"HTTP/1.1 400 "),
    ],
)
async def test_host_header_must_be_allowed(host: str, answer: bytes) -> None:
    async with serving() as house:
        assert (await exchange(house, f"GET / HTTP/1.1\r\n{host}\r\n{UPGRADE}\r\n")).startswith(answer)


async def test_response_to_a_missing_token_has_a_challenge() -> None:
    async with serving(
        access_control=AccessControl(bound="127.0.0.1", verifier=SharedToken("right"))
    ) as house:
        answer = await exchange(house, f"GET / HTTP/1.1\r\nHost: localhost\r\n{UPGRADE}\r\n")

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"\r\nWWW-Authenticate: Bearer\r\n" in answer
    assert answer.endswith(b"\r\n\r\nUnauthorized: a bearer token is required")


UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


async def exchange(house: House, request: str) -> bytes:
    """Return what is sent on a connection until its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(request.encode())
    async with asyncio.timeout(LIMIT_SECONDS):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_request_without_upgrade_is_refused_with_426() -> None:
    async with serving() as house:
        answer = await exchange(house, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 426 ")


async def test_each_connection_is_a_separate_caller() -> None:
    access_control = AccessControl(bound="127.0.0.1", verifier=SharedToken("right"))
    async with serving(access_control=access_control) as house:
        for number in range(2):
            async with Client(connect_websocket(house.url, token="right")) as client:
                for _ in range(number + 1):
                    await client.call_tool("echo")

    first, second, again = house.callers
    assert second == again
    assert first.principal == second.principal == "shared-token\0\0"
    assert first.connection is not None
    assert second.connection is not None
    assert len({first.connection, second.connection}) == 2
    assert (first.named, first.shares_default) == (False, False)


# Health


async def test_health_is_answered_on_the_same_port_without_a_token() -> None:
    async with (
        serving(access_control=AccessControl(bound="127.0.0.1", verifier=SharedToken("right"))) as house,
        httpx2.AsyncClient(base_url=house.url.replace("ws:", "http:"), trust_env=False) as web,
    ):
        healthy = await web.get("/healthz")
        ready = await web.get("/readyz")
        house.reason = "no browser can be started"
        not_ready = await web.get("/readyz?why")

    assert (healthy.status_code, healthy.json()) == (200, {"status": "ok"})
    assert healthy.headers["content-type"] == "application/json"
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
    assert (not_ready.status_code, not_ready.json()) == (
        503,
        {"status": "not ready", "reason": "no browser can be started"},
    )


# How much one may take


async def test_request_above_the_limit_is_refused() -> None:
    async with serving(maxRequests=3) as house, open_raw(house) as client:
        for number in (1, 2, 3, 4):
            await client.call(number, "wait", text="done")
        refused = await client.message()
        house.go.set()
        answered = {(await client.message())["id"] for _ in range(3)}
        await client.call(5, "echo", text="again")

        assert refused == {
            "jsonrpc": "2.0",
            "id": 4,
            "error": {
                "code": -32603,
                "message": "Too many requests without an answer (3)",
                "data": RESOURCE_EXHAUSTED,
            },
        }
        assert answered == {1, 2, 3}
        assert await client.text(5) == "again"


async def test_large_requests_are_limited_by_their_total_size() -> None:
    """Eight of the largest."""
    async with serving(maxMessageSize=10_000) as house, open_raw(house) as client:
        for number in range(9):
            await client.call(number, "wait", text="x" * 9_500)
        refused = await client.message()
        await client.call(9, "echo", text="small")

        assert refused["error"]["message"] == ("Requests without an answer are too large together (80000)")
        assert (refused["id"], refused["error"]["data"]) == (8, RESOURCE_EXHAUSTED)
        assert await client.text(9) == "small"


async def test_cancelled_request_no_longer_counts() -> None:
    async with serving(maxRequests=1) as house, open_raw(house) as client:
        for number in range(3):
            await client.call(number, "wait")
            await house.until(lambda: house.waiting == 1)
            cancel = {"requestId": number, "reason": "enough"}
            await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
            await house.until(lambda: house.waiting == 0)
        await client.call(7, "echo", text="free")

        assert await client.text(7) == "free"
        assert house.cancelled == 3


@pytest.mark.slow
async def test_request_flood_is_refused_and_not_stored() -> None:
    async with serving(maxRequests=10) as house, open_raw(house, max_queue=None) as client:
        for number in range(5_000):
            await client.call(number, "wait")
        refused = [(await client.message())["error"]["code"] for _ in range(4_990)]

        assert set(refused) == {-32603}
        assert house.waiting == 10


@pytest.mark.parametrize("kind", ["junk", "call"])
async def test_a_client_that_does_not_read_is_disconnected(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it sends meanwhile, it is not read either."""
    long = "x" * 100_000
    arguments = {"name": "echo", "arguments": {"text": long}, "_meta": MODERN_META}
    frames = {
        "junk": {"jsonrpc": "2.0", "method": 7, "id": long},
        "call": {"jsonrpc": "2.0", "method": "tools/call", "id": 1, "params": arguments},
    }
    async with serving(stall_seconds=0.2) as house, open_raw(house, max_queue=1) as client:
        with pytest.raises(ConnectionClosed):
            await flood(client, json.dumps(frames[kind]))

    assert "disconnected a peer that does not read" in caplog.messages


async def flood(client: Raw, frame: str) -> None:
    while True:
        await client.send(frame)


@pytest.mark.slow
async def test_slowly_reading_client_stays_connected() -> None:
    async with (
        serving(stall_seconds=5.0) as house,
        open_raw(house, max_size=None, create_connection=Sipping) as client,
    ):
        assert isinstance(client.connection, Sipping)
        await client.call(1, "repeat", text="x", times=40_000_000)
        for _ in range(5):
            await client.connection.sip(3_000_000)
            await let_time_pass(1.2)
        await client.connection.sip(100_000_000, wait=False)

        assert len(await client.text(1)) == 40_000_000


class Sipping(ClientConnection):
    """Reads so much, and no more until it is told."""

    left: float = float("inf")
    enough = asyncio.Event()

    async def sip(self, size: int, *, wait: bool = True) -> None:
        self.left = size
        self.enough = asyncio.Event()
        self.transport.resume_reading()
        if wait:
            async with asyncio.timeout(LIMIT_SECONDS):
                await self.enough.wait()

    def data_received(self, data: bytes) -> None:
        self.left -= len(data)
        if self.left <= 0:
            self.transport.pause_reading()
            self.enough.set()
        super().data_received(data)


async def let_time_pass(seconds: float) -> None:
    """Let time pass, where time itself is tested."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()


async def test_connection_above_the_limit_is_refused() -> None:
    async with serving(maxConnections=2) as house, open_raw(house):
        before = asyncio.all_tasks()
        async with open_raw(house):
            assert await refusal(house) == (503, "Too many connections (2)")
            assert (await exchange(house, "GET /healthz HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        await wait_for_only(before)
        async with open_raw(house) as client:
            await client.call(1, "echo", text="room")

            assert await client.text(1) == "room"


@pytest.mark.parametrize("said", ["", "GET / HTTP/1.1\r\nHost: localhost\r\n"])
async def test_connection_without_a_complete_request_is_closed(said: str) -> None:
    async with serving(readTimeout=200) as house:
        assert await exchange(house, said) == b""


async def test_silent_connections_count_towards_a_limit() -> None:
    async with serving(maxConnections=2) as house:
        silent = [await asyncio.open_connection("127.0.0.1", house.port) for _ in range(4)]
        one_more, its_writer = await asyncio.open_connection("127.0.0.1", house.port)
        async with asyncio.timeout(LIMIT_SECONDS):
            assert (await one_more.read()).startswith(b"HTTP/1.1 503 ")

        for _, writer in silent:
            writer.close()
        its_writer.close()


# The end of a connection


@pytest.mark.parametrize("how", ["close", "abort"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_dropped_connection_cancels_its_calls_and_leaves_no_task(
    how: str, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has both lines."""
    caplog.set_level(logging.INFO, logger="footlight")
    async with serving() as house:
        before = asyncio.all_tasks()
        async with open_raw(house) as other:
            async with open_raw(house) as client:
                if mode == "legacy":
                    hello: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}}
                    await client.request(0, "initialize", **hello, clientInfo={"name": "c", "version": "1"})
                    await client.message()
                    for number in (1, 2):
                        await client.request(number, "tools/call", name="wait", arguments={})
                else:
                    for number in (1, 2):
                        await client.call(number, "wait")
                await house.until(lambda: house.waiting == 2)
                if how == "abort":
                    client.connection.transport.abort()
            await house.until(lambda: not house.waiting)
            await other.call(1, "echo", text="unharmed")
            assert await other.text(1) == "unharmed"
        await wait_for_only(before)

    assert house.cancelled == 2
    lines = [each.message for each in caplog.records if each.name.startswith("footlight")]
    assert sorted(lines) == [*["Client connected"] * 2, *["Client disconnected"] * 2]


async def wait_for_only(before: set[asyncio.Task[Any]]) -> None:
    """Wait until these are the only tasks again."""
    if more := asyncio.all_tasks() - before:
        await asyncio.wait(more, timeout=LIMIT_SECONDS)
    assert asyncio.all_tasks() == before


@pytest.mark.slow
async def test_closed_connections_leak_no_memory() -> None:
    async def count_left(house: House, connections: int) -> int:
        before = asyncio.all_tasks()
        for _ in range(connections):
            async with open_raw(house) as client:
                await client.call(1, "echo", text="x")
                await client.text(1)
        await wait_for_only(before)
        house.callers.clear()
        gc.collect()
        return sum(type(each).__name__ in KEPT for each in gc.get_objects())

    async with serving() as house:
        assert await count_left(house, 1) == await count_left(house, 20)


KEPT = {"_Client", "_Socket", "Wire", "WebSocketContext", "JSONRPCDispatcher", "Task"}


async def test_shutdown_lets_running_calls_finish() -> None:
    async with open_house(shutdownTimeout=10_000) as (house, end), open_raw(house) as client:
        await client.call(1, "wait", text="finished")
        await house.until(lambda: house.waiting == 1)
        ending = asyncio.create_task(end())
        await refuses(house)
        await client.call(2, "echo")
        refused = await client.message()
        house.go.set()

        assert refused["error"] == {
            "code": -32603,
            "message": "The server is shutting down",
            "data": RESOURCE_EXHAUSTED,
        }
        assert await client.text(1) == "finished"
        assert await client.close_code() == (1001, "The server is shutting down")
        async with asyncio.timeout(LIMIT_SECONDS):
            await ending


async def test_shutdown_does_not_wait_forever() -> None:
    async with open_house(shutdownTimeout=200) as (house, end), open_raw(house) as client:
        silent, writer = await asyncio.open_connection("127.0.0.1", house.port)
        await client.call(1, "wait")
        await house.until(lambda: house.waiting == 1)
        async with asyncio.timeout(LIMIT_SECONDS):
            closed, _ = await asyncio.gather(client.close_code(), end())

        assert closed == (1001, "The server is shutting down")
        assert house.cancelled == 1
        assert await silent.read() == b""
        writer.close()


async def test_shutdown_does_not_wait_for_idle_clients() -> None:
    async with open_house(shutdownTimeout=3_600_000) as (house, end), open_raw(house) as client:
        await client.call(1, "echo", text="x")
        await client.text(1)
        async with asyncio.timeout(LIMIT_SECONDS):
            closed, _ = await asyncio.gather(client.close_code(), end())

        assert closed == (1001, "The server is shutting down")


@asynccontextmanager
async def open_house(**listen: Any) -> AsyncGenerator[tuple[House, Callable[[], Coroutine[Any, Any, None]]]]:
    """Yield a server, and a function that ends it."""
    stop, started = asyncio.Event(), asyncio.Event()
    houses: list[House] = []

    async def run() -> None:
        async with serving(**listen) as house:
            houses.append(house)
            started.set()
            await stop.wait()

    running = asyncio.create_task(run())
    await started.wait()

    async def end() -> None:
        stop.set()
        await asyncio.shield(running)

    try:
        yield houses[0], end
    finally:
        await end()


async def refuses(house: House) -> None:
    """Wait until nobody listens any more."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", house.port)
            except ConnectionRefusedError:
                return
            writer.close()


# The client's end


async def test_closed_connection_ends_reading_and_writing() -> None:
    async with open_house() as (house, end), connect_websocket(house.url) as (read, write):
        await end()

        async with asyncio.timeout(LIMIT_SECONDS):
            with pytest.raises(anyio.EndOfStream):
                await read.receive()
            with pytest.raises(anyio.BrokenResourceError):
                await write.send(ping())


async def test_dropped_connection_fails_pending_client_calls() -> None:
    async with (
        open_house() as (house, end),
        Client(connect_websocket(house.url)) as client,
        asyncio.TaskGroup() as group,
    ):
        call = group.create_task(call_refused(client))
        await house.until(lambda: house.waiting == 1)
        await end()

    assert call.result() == "Connection closed"


async def call_refused(client: Client) -> str:
    with pytest.raises(MCPError) as caught:
        await client.call_tool("wait")
    return caught.value.error.message


async def test_invalid_message_is_read_as_an_exception() -> None:
    async def talk(connection: Any) -> None:
        for frame in ("hello", "[]", b"{}", '{"jsonrpc":"2.0","method":"ok"}'):
            await connection.send(frame)
        await connection.wait_closed()

    async with serve_other(talk) as url, connect_websocket(url) as (read, _):
        kinds: list[str] = []
        async with asyncio.timeout(LIMIT_SECONDS):
            for _ in range(4):
                item = await read.receive()
                kinds.append("exception" if isinstance(item, ValueError) else item.message.method)  # type: ignore[union-attr]

    assert kinds == ["exception", "exception", "exception", "ok"]


async def test_redirect_is_treated_as_a_refusal() -> None:
    """The token is for one address."""

    def redirect(connection: Any, _: Any) -> Any:
        response = connection.respond(307, "over there")
        response.headers["Location"] = "ws://127.0.0.1:9/"
        return response

    async with serve_other(process_request=redirect) as url:
        with pytest.raises(HandshakeRefusedError, match="HTTP 307: over there"):
            async with connect_websocket(url, token="t"):
                pass


async def test_non_websocket_server_is_distinguished_from_an_absent_one() -> None:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionError, match="does not speak MCP over WebSocket"):
            async with connect_websocket(f"ws://127.0.0.1:{port}"):
                pass
    with pytest.raises(ConnectionRefusedError):
        async with connect_websocket(f"ws://127.0.0.1:{port}"):
            pass


@pytest.mark.parametrize("url", ["http://localhost/", "localhost:1", "ws://", ""])
async def test_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="isn't a valid URI"):
        async with connect_websocket(url):
            pass


async def test_closing_does_not_wait_for_a_server_that_hangs() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        key = (await reader.readuntil(b"\r\n\r\n")).decode().partition("Sec-WebSocket-Key: ")[2].split()[0]
        writer.write(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept_key(key)}\r\n\r\n".encode()
        )
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        ended.set()

    ended = asyncio.Event()
    async with asyncio.timeout(LIMIT_SECONDS), await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with connect_websocket(url):
            began = time.monotonic()
        took = time.monotonic() - began
        await ended.wait()

    assert took < 9


async def test_error_in_the_block_propagates_unchanged() -> None:
    async with serving() as house:
        with pytest.raises(KeyError, match="mine"):
            async with connect_websocket(house.url):
                raise KeyError("mine")


def ping() -> SessionMessage:
    return SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=1, method="ping"))


async def nothing(connection: Any) -> None:
    await connection.wait_closed()


@asynccontextmanager
async def serve_other(handler: Any = nothing, **options: Any) -> AsyncGenerator[str]:
    """Yield the URL of a server that is not ours."""
    async with serve(handler, "127.0.0.1", 0, **options) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


# TLS


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `cert.pem`, signed by itself, its `key.pem`, and the key of another, `other.pem`."""
    return make_certificate_folder(tmp_path_factory.mktemp("tls"))


async def test_websocket_works_over_tls(certificate: Path) -> None:
    files: dict[str, Any] = {"tlsCertificate": certificate / "cert.pem", "tlsKey": certificate / "key.pem"}
    trusting = ssl.create_default_context(cafile=certificate / "cert.pem")
    async with serving(**files) as house:
        assert house.url == f"wss://localhost:{house.port}"
        async with Client(connect_websocket(house.url, ssl=trusting)) as client:
            assert (await client.call_tool("echo", {"text": "x"})).structured_content == {"text": "x"}
        with pytest.raises(ssl.SSLCertVerificationError):
            async with connect_websocket(house.url):
                pass


@pytest.mark.parametrize(
    ("cert", "key", "named"),
    [
        ("none.pem", "key.pem", "tlsCertificate"),
        ("cert.pem", "none.pem", "tlsKey"),
        ("cert.pem", "other.pem", "tlsKey"),
        ("cert.pem", "locked.pem", "tlsKey"),
        ("key.pem", "key.pem", "tlsCertificate"),
    ],
)
async def test_error_for_invalid_tls_files_names_the_setting(
    certificate: Path, cert: str, key: str, named: str
) -> None:
    with pytest.raises(ConfigurationError, match=named):
        async with serving(tlsCertificate=certificate / cert, tlsKey=certificate / key):
            pass


PINGS = 100_000
OPENING = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


def _flood(port: int) -> None:
    """Send pings, and return when all of them are answered."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_SECONDS) as flooding:
        flooding.sendall(OPENING)
        assert flooding.recv(4096).startswith(b"HTTP/1.1 101")
        sending = threading.Thread(target=flooding.sendall, args=(b"\x89\x80\0\0\0\0" * PINGS,))
        sending.start()
        left = 2 * PINGS
        while left > 0:
            left -= len(flooding.recv(65_536))
        sending.join()


@pytest.mark.slow
async def test_ping_flood_does_not_block_other_connections() -> None:
    """They are answered where they are read, and 40,000 of them come at once."""
    async with serving() as house, open_raw(house) as other:
        with watch_loops() as gaps:
            flooding = asyncio.create_task(asyncio.to_thread(_flood, house.port))
            calls = 0
            while not flooding.done():
                calls += 1
                await other.call(calls, "echo", text="still here")
                assert await other.text(calls) == "still here"
            await flooding

    assert calls > 3
    assert gaps.too_long == []


def _ping_without_reading(port: int) -> None:
    """Send pings until the server disconnects."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_SECONDS) as flooding:
        flooding.sendall(OPENING)
        assert flooding.recv(4096).startswith(b"HTTP/1.1 101")
        with pytest.raises(ConnectionError):
            flooding.sendall((b"\x89\xfd\0\0\0\0" + b"x" * 125) * 200_000)


async def test_client_that_sends_pings_and_reads_nothing_is_disconnected() -> None:
    """Otherwise, the answers to its pings would fill the memory."""
    async with serving() as house:
        await asyncio.to_thread(_ping_without_reading, house.port)
