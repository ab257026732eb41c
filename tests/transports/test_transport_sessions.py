"""Transport sessions: their number, their end, and which streams each may resume."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCResponse

from footlight.transports.network.http_sessions import RecentEventStore
from tests.http_client import (
    LIMIT_SECONDS,
    Event,
    Handshaken,
    Raw,
    data,
    events,
    handshake,
    initialize,
    raw,
    refusal,
    request,
    served,
)
from tests.site import Site

pytestmark = pytest.mark.anyio

NEVER = "#never"
"""Nothing on any page here."""


def make_waiting_call(timeout_ms: int) -> dict[str, Any]:
    """Return a request for a call that reports progress and exceeds its timeout."""
    return {
        "name": "wait_for_selector",
        "arguments": {"selector": NEVER, "timeout": timeout_ms},
        "_meta": {"progressToken": "t"},
    }


async def status(session: Handshaken) -> int:
    return (await session.send(request("ping"))).status_code


async def let_time_pass(seconds: float) -> None:
    """Let time pass, where time itself is tested."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()


async def wait_until_ended(session: Handshaken, *, patience: float) -> None:
    """Ask less and less often, because each question is a use."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while await status(session) != 404:
            patience *= 2
            await let_time_pass(patience)


# The limit


@pytest.fixture(scope="module")
async def small(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[str]:
    """Has room for three."""
    config = {"listen": {"maxTransportSessions": 3}, "pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    async with served(tmp_path_factory.mktemp("small"), config=config) as server:
        yield server.url


@asynccontextmanager
async def open_sessions(url: str, count: int = 3) -> AsyncGenerator[tuple[Raw, list[Handshaken]]]:
    """Yield a client, and transport sessions of its, which are ended at last."""
    async with raw(url) as client:
        sessions = [await handshake(client) for _ in range(count)]
        yield client, sessions
        for session in sessions:
            await session.end()


async def test_extra_transport_session_ends_the_longest_idle_one(small: str) -> None:
    async with open_sessions(small) as (client, sessions):
        first, second, third = sessions
        assert await status(first) == 200
        sessions.append(fourth := await handshake(client))

        gone = await second.send(request("ping"))
        assert (gone.status_code, gone.json()) == (404, refusal(-32600, "Session not found"))
        assert [await status(each) for each in (first, third, fourth)] == [200, 200, 200]

        sessions.append(fifth := await handshake(client))
        assert [await status(each) for each in (first, third, fourth, fifth)] == [404, 200, 200, 200]


@pytest.mark.slow
async def test_listening_or_working_transport_session_is_not_idle(small: str) -> None:
    async with open_sessions(small) as (client, sessions):
        listener, worker, idle = sessions
        await data(worker, "get_cookies")
        await status(idle)
        async with (
            listener.listening() as stream,
            worker.streaming(request("tools/call", make_waiting_call(2500), id="slow")) as response,
        ):
            reported = events(response)
            while "progress" not in (await anext(reported)).data:
                pass

            sessions.extend([await handshake(client) for _ in range(5)])

            assert stream.status_code == 200
            assert await status(idle) == 404
            assert [await status(each) for each in (listener, worker)] == [200, 200]
            last = [event.message async for event in reported][-1]
            assert last["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"
        await data(worker, "close_session", sessionId="default")


async def test_limit_doubles_when_no_transport_session_is_idle(small: str) -> None:
    """And then new ones are refused. Those that are there go on."""
    async with open_sessions(small, 0) as (client, sessions), AsyncExitStack() as listening:
        for _ in range(6):
            sessions.append(session := await handshake(client))
            stream = await listening.enter_async_context(session.listening())
            assert stream.status_code == 200

        refused = await client.send(initialize())
        assert (refused.status_code, refused.json()) == (503, refusal(-32603, "Too many open sessions"))
        assert "mcp-session-id" not in refused.headers
        assert [await status(each) for each in sessions] == [200] * 6

        await sessions[0].end()
        sessions.append(last := await handshake(client))
        assert [await status(each) for each in sessions[1:]] == [200] * 6
        # Nobody's request but the opening of another ends it.
        assert await status(last) == 200


async def test_refused_handshake_uses_no_session_slot(small: str) -> None:
    async with open_sessions(small) as (client, sessions):
        for _ in range(10):
            half = await client.send(request("ping"))
            assert (half.status_code, "mcp-session-id" in half.headers) == (400, False)
            unknown = await client.send(request("ping"), headers={"Mcp-Session-Id": "made-up"})
            assert unknown.status_code == 404

        assert [await status(each) for each in sessions] == [200, 200, 200]


async def test_browser_session_survives_an_evicted_transport_session(small: str, site: Site) -> None:
    async with open_sessions(small) as (client, sessions):
        made = await data(sessions[0], "create_session")
        await data(sessions[0], "navigate", url=site.page("<p>still here</p>"), **made)
        for session in sessions[1:]:
            await status(session)
        sessions.append(another := await handshake(client))

        assert await status(sessions[0]) == 404
        assert await data(another, "get_text", selector="p", **made) == {"text": "still here"}
        assert await data(client, "get_text", selector="p", **made) == {"text": "still here"}
        await data(client, "close_session", **made)


# Expiry


@pytest.mark.slow
async def test_browser_session_survives_an_expired_transport_session(site: Site, tmp_path: Path) -> None:
    config = {"listen": {"transportSessionTimeout": 400}, "pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    async with served(tmp_path, config=config) as server, raw(server) as client:
        made = await data(client, "create_session")
        await data(client, "navigate", url=site.page("<p>still here</p>"), **made)
        idle, listener, worker = [await handshake(client) for _ in range(3)]
        params = make_waiting_call(2500)
        params["arguments"] |= made
        async with (
            listener.listening(),
            worker.streaming(request("tools/call", params, id="slow")) as response,
        ):
            reported = events(response)
            while "progress" not in (await anext(reported)).data:
                pass

            await wait_until_ended(idle, patience=0.4)

            assert [event.message async for event in reported][-1]["id"] == "slow"
            assert await status(listener) == 200
        await asyncio.gather(wait_until_ended(listener, patience=0.4), wait_until_ended(worker, patience=0.4))
        another = await handshake(client)

        assert await data(another, "get_text", selector="p", **made) == {"text": "still here"}
        assert await data(client, "get_text", selector="p", **made) == {"text": "still here"}


# Resumption


async def lose_stream(session: Handshaken, timeout_ms: int = 1500) -> tuple[Event, Event]:
    """Return the first event of a call's stream, and the first of its progress, when the connection was
    dropped.
    """
    await data(session, "get_cookies")
    async with session.streaming(request("tools/call", make_waiting_call(timeout_ms), id="lost")) as response:
        stream = events(response)
        first = await anext(stream)
        progress = await anext(stream)
    assert progress.message["method"] == "notifications/progress"
    return first, progress


@pytest.mark.slow
async def test_lost_stream_is_resumed_after_its_last_event(client: Raw) -> None:
    """It ends with the answer."""
    session = await handshake(client)
    first, progress = await lose_stream(session)
    async with session.listening(after=progress.id) as response:
        rest = [event async for event in events(response) if event.data]
    async with session.listening(after=first.id) as response:
        whole = [event async for event in events(response) if event.data]

    assert rest[-1].message["id"] == "lost"
    assert rest[-1].message["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"
    assert [each.id for each in whole] == [progress.id, *(each.id for each in rest)]
    assert [each.data for each in whole] == [progress.data, *(each.data for each in rest)]
    await data(session, "close_session", sessionId="default")


async def test_events_of_another_session_cannot_be_resumed(client: Raw) -> None:
    """Though the numbers of events can be guessed, and both call their requests the same."""
    ada, bob = await handshake(client), await handshake(client)
    (first, _), (_, theirs) = await lose_stream(ada), await lose_stream(bob)
    async with ada.listening(after=theirs.id) as stolen, ada.listening(after=first.id) as own:
        reported = [event async for event in events(own) if event.data]
        assert reported[-1].message["id"] == "lost"
        foreign = asyncio.create_task(anext(events(stolen), None))
        await asyncio.wait([foreign], timeout=0.5)
        assert not foreign.done() or foreign.result() is None
        foreign.cancel()
        await asyncio.wait([foreign])
    for session in (ada, bob):
        await data(session, "close_session", sessionId="default")


@pytest.mark.parametrize("id", ["0", "999999999", "-1", "nonsense", "1'; --"])
async def test_event_id_that_was_never_sent_is_not_resumed(client: Raw, id: str) -> None:
    session = await handshake(client)
    async with session.listening(after=id) as response:
        reported = asyncio.create_task(anext(events(response), None))
        await asyncio.wait([reported], timeout=0.2)
        assert not reported.done() or reported.result() is None
        reported.cancel()
        await asyncio.wait([reported])

    assert await status(session) == 200


# What is kept of events


def note(text: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="note", params={"text": text})


async def replay(
    events: RecentEventStore, id: str
) -> tuple[str | None, list[tuple[str | None, JSONRPCMessage]]]:
    reported: list[tuple[str | None, JSONRPCMessage]] = []

    async def hear(event: EventMessage) -> None:
        reported.append((event.event_id, event.message))

    return await events.replay_events_after(id, hear), reported


async def test_later_events_of_the_same_stream_are_replayed() -> None:
    events = RecentEventStore(max_bytes=1 << 20)
    primed = await events.store_event("1", None)
    other = await events.store_event("2", note("another"))
    ids = [await events.store_event("1", note(text)) for text in ("a", "b")]
    answer = JSONRPCResponse(jsonrpc="2.0", id=1, result={})
    last = await events.store_event("1", answer)

    assert await replay(events, primed) == (
        "1",
        [(ids[0], note("a")), (ids[1], note("b")), (last, answer)],
    )
    assert await replay(events, ids[1]) == ("1", [(last, answer)])
    assert await replay(events, other) == ("2", [])
    assert await replay(events, last) == (None, [])
    assert await replay(events, "unknown") == (None, [])


async def test_the_oldest_events_are_forgotten() -> None:
    events = RecentEventStore(max_bytes=10_000)
    ids = [await events.store_event("1", note("x" * 1_000)) for _ in range(20)]

    _, reported = await replay(events, ids[-3])

    assert [id for id, _ in reported] == ids[-2:]
    assert await replay(events, ids[0]) == (None, [])


async def test_oversized_event_is_not_kept() -> None:
    events = RecentEventStore(max_bytes=10_000)
    first = await events.store_event("1", None)
    large = await events.store_event("1", note("x" * 20_000))
    small = await events.store_event("1", note("x"))
    next = await events.store_event("1", note("y"))

    assert [await replay(events, each) for each in (first, large)] == [(None, [])] * 2
    assert await replay(events, small) == ("1", [(next, note("y"))])


# Requests without an answer


async def test_request_id_in_use_is_refused(client: Raw) -> None:
    """Two answers to one id could not be told apart; whatever its type, for streams it is text."""
    session = await handshake(client)
    slow = request("tools/call", make_waiting_call(2_000), id=77)
    async with session.streaming(slow) as response:
        stream = events(response)
        while "progress" not in (await anext(stream)).data:
            pass
        again = await session.send(request("ping", id="77"))
        other = await session.send(request("ping", id=78))
        answer = [event.message async for event in stream][-1]

    assert (again.status_code, again.json()) == (
        400,
        refusal(-32600, "Invalid request: this id is in use", "77"),
    )
    assert other.json()["result"] == {}
    assert answer["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"
    assert (await session.send(request("ping", id=77))).json()["result"] == {}


@pytest.mark.slow
async def test_requests_with_a_lost_connection_still_count(tmp_path: Path) -> None:
    """They go on, so that they can be resumed; and one client could fill the memory with them."""
    config = {"listen": {"maxRequests": 2, "maxMessageSize": 1_000}}
    async with served(tmp_path, config=config) as server, raw(server) as client:
        session = await handshake(client)
        for id in (1, 2):
            async with session.streaming(request("tools/call", make_waiting_call(30_000), id=id)) as response:
                assert response.status_code == 200

        third = await session.send(request("ping", id=3))
        other = await handshake(client)
        at_others = await other.send(request("ping", id=3))
        for id in (1, 2):
            await session.send(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
            )
        async with asyncio.timeout(10):
            while (await session.send(request("ping", id=4))).status_code != 200:
                pass

    assert (third.status_code, third.json()["error"]) == (
        429,
        {
            "code": -32603,
            "message": "Too many requests without an answer (2)",
            "data": {"code": "RESOURCE_EXHAUSTED", "retryable": True},
        },
    )
    assert at_others.json()["result"] == {}
