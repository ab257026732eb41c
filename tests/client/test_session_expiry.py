"""An HTTP session expires: whatever request notices it, the next call begins another session."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable

import pytest

from footlight import MCPClient, MCPError, is_session_expired
from footlight.protocol.messages import notification
from tests.client.http_servers import LIMIT_SECONDS, HttpServer, Received, Reply, handshake, serve_script

pytestmark = pytest.mark.anyio

NEWS = notification("notifications/message", {"level": "info", "data": "x"})


class Forgetful:
    """A server that knows its sessions: 404 for one that it has forgotten, 400 for a request without one."""

    def __init__(self) -> None:
        self.alive: set[str] = set()
        self.begun = 0
        self.has_stream = True
        self.streams: list[Reply] = []
        self.came = asyncio.Event()
        """A request that is not answered, or a stream."""
        self.cut = asyncio.Event()
        """What each stream waits for, and then ends."""
        self._ids = itertools.count(1)

    def forget(self) -> None:
        self.alive.clear()

    async def __call__(self, request: Received, reply: Reply) -> None:
        if request.asks == "initialize":
            session_id = f"session-{next(self._ids)}"
            self.alive.add(session_id)
            await handshake(session_id)(request, reply)
        elif request.method == "GET" and not self.has_stream:
            await reply.send(b"Cannot GET /mcp", status=404, content_type="text/plain")
        elif (session_id := request.headers.get("mcp-session-id")) is None:
            await reply.send(b"no session", status=400, content_type="text/plain")
        elif session_id not in self.alive:
            await reply.send(status=404)
        elif request.method == "GET":
            await reply.start()
            self.streams.append(reply)
            self.came.set()
            await self.cut.wait()
            await reply.chunk(b"retry: 1\n\n")
            await reply.end()
        elif request.method == "DELETE":
            self.alive.discard(session_id)
            await reply.send(status=200)
        elif request.asks == "never":
            self.came.set()
            await reply.wait_until_gone()
        elif request.asks == "cut":
            await reply.start()
            await reply.chunk(b"retry: 1\nid: 1\ndata:\n\n")
            self.forget()
            await reply.end()
        elif "id" in request.message:
            await reply.result({})
        else:
            await reply.send(status=202)

    async def stream(self) -> Reply:
        async with asyncio.timeout(LIMIT_SECONDS):
            await self.came.wait()
        return self.streams[-1]


Notice = Callable[[MCPClient, Forgetful], Awaitable[None]]


async def expire_by_call(client: MCPClient, server: Forgetful) -> None:
    server.forget()
    with pytest.raises(MCPError) as expired:
        await client.ping()
    assert is_session_expired(expired.value)


async def expire_by_cut_answer(client: MCPClient, server: Forgetful) -> None:
    with pytest.raises(MCPError) as expired:
        await client.request("cut")
    assert is_session_expired(expired.value)


async def expire_by_cancellation(client: MCPClient, server: Forgetful) -> None:
    call = asyncio.create_task(client.request("never"))
    await asyncio.wait_for(server.came.wait(), LIMIT_SECONDS)
    server.forget()
    call.cancel()
    await wait_until_forgotten(client)


async def expire_by_opening_stream(client: MCPClient, server: Forgetful) -> None:
    server.forget()
    with pytest.raises(MCPError) as expired:
        await client.open_stream(print)
    assert is_session_expired(expired.value)


async def expire_by_open_stream(client: MCPClient, server: Forgetful) -> None:
    ended: asyncio.Queue[MCPError] = asyncio.Queue()
    assert await client.open_stream(print, ended.put_nowait)
    await server.stream()
    server.forget()
    server.cut.set()
    assert is_session_expired(await asyncio.wait_for(ended.get(), LIMIT_SECONDS))


async def expire_by_call_beside_stream(client: MCPClient, server: Forgetful) -> None:
    """Let a call notice the expiry while a stream is open, which the server may never close."""
    ended: asyncio.Queue[MCPError] = asyncio.Queue()
    assert await client.open_stream(print, ended.put_nowait)
    await expire_by_call(client, server)
    assert is_session_expired(await asyncio.wait_for(ended.get(), LIMIT_SECONDS))
    assert ended.empty()


async def wait_until_forgotten(client: MCPClient) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        while client.get_session_id() is not None:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    "notice",
    [
        expire_by_call,
        expire_by_cut_answer,
        expire_by_cancellation,
        expire_by_opening_stream,
        expire_by_open_stream,
        expire_by_call_beside_stream,
    ],
)
async def test_call_after_any_session_expiry_begins_a_new_session(notice: Notice) -> None:
    server = Forgetful()
    async with serve_script(server) as at, MCPClient(at.url) as client:
        await client.ping()
        await notice(client, server)

        assert (client.get_session_id(), client.get_server_info(), client.state) == (None, {}, "connected")
        await client.ping()
        assert client.get_session_id() == "session-2"
        assert requests_without_a_session(at) == ["initialize", "initialize"]


async def test_get_stream_404_does_not_expire_the_session() -> None:
    """Many say so instead of 405. A client with listeners asks for the stream by itself."""
    server = Forgetful()
    server.has_stream = False
    async with serve_script(server) as at, MCPClient(at.url, roots=[]) as client:
        await client.ping()
        assert await client.open_stream(print) is False
        await client.ping()
        assert client.get_session_id() == "session-1"

    assert at.asked.count("initialize") == 1


async def test_listeners_receive_notifications_of_the_next_session() -> None:
    server = Forgetful()
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with (
        serve_script(server) as at,
        MCPClient(at.url, on_notification=lambda method, _: heard.put_nowait(method)) as client,
    ):
        await server.stream()
        server.came.clear()
        await expire_by_call(client, server)
        await client.ping()
        stream = await server.stream()
        await stream.chunk(b"data: %b\n\n" % json.dumps(NEWS).encode())

        assert await asyncio.wait_for(heard.get(), LIMIT_SECONDS) == "notifications/message"


async def test_terminated_session_is_over_before_the_server_replies() -> None:
    """This holds when the server answers late."""
    deleting = asyncio.Event()
    server = Forgetful()

    async def slow(request: Received, reply: Reply) -> None:
        if request.method == "DELETE":
            deleting.set()
            await reply.wait_until_gone()
        else:
            await server(request, reply)

    async with serve_script(slow) as at, MCPClient(at.url, timeout_ms=LIMIT_SECONDS * 1000) as client:
        await client.ping()
        ending = asyncio.create_task(client.terminate_session())
        await asyncio.wait_for(deleting.wait(), LIMIT_SECONDS)
        await client.ping()
        assert client.get_session_id() == "session-2"
        ending.cancel()
        await asyncio.wait([ending])
        assert client.get_session_id() == "session-2"


def requests_without_a_session(server: HttpServer) -> list[str]:
    return [
        request.asks or request.method
        for request in server.requests
        if "mcp-session-id" not in request.headers
    ]
