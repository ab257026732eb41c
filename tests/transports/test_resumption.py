"""Resuming interrupted streams, by their owner only."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.http_client import Event, Handshaken, HttpServer, Raw, data, events, handshake, raw, request
from tests.site import Site

pytestmark = pytest.mark.anyio

NEVER = "#never"


def make_waiting_call(timeout_ms: int) -> dict[str, Any]:
    arguments = {"selector": NEVER, "timeout": timeout_ms}
    return {"name": "wait_for_selector", "arguments": arguments, "_meta": {"progressToken": "t"}}


async def break_stream(session: Handshaken, *, timeout_ms: int = 2_500) -> list[Event]:
    """Begin a call, and lose its stream after the first progress; what had come."""
    heard: list[Event] = []
    async with session.streaming(request("tools/call", make_waiting_call(timeout_ms), id="lost")) as response:
        async for event in events(response):
            heard.append(event)
            if "progress" in event.data:
                break
    return heard


@pytest.mark.slow
async def test_call_of_a_broken_stream_is_answered_on_another(client: Raw, site: Site) -> None:
    session = await handshake(client)
    await data(session, "navigate", url=site.page("<p>x</p>"))
    primed, *_, last = await break_stream(session)

    async with session.listening(after=last.id) as response:
        resumed = [event async for event in events(response)]

    assert (primed.data, primed.retry, bool(primed.id)) == ("", "1000", True)
    *progress, answer = [event.message for event in resumed if event.data]
    assert {each["method"] for each in progress} <= {"notifications/progress"}
    assert answer["id"] == "lost"
    assert answer["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"
    numbers = [int(event.id) for event in (primed, last, *resumed)]
    assert numbers == sorted(set(numbers))


async def test_messages_missed_during_a_call_are_replayed(client: Raw, site: Site) -> None:
    """Also when the call has ended by then."""
    session = await handshake(client)
    await data(session, "navigate", url=site.page("<p>x</p>"))
    heard = await break_stream(session, timeout_ms=1_200)
    # The session is free again when the call has ended.
    await data(session, "get_text", selector="p")

    answers: list[list[Any]] = []
    for _ in range(2):
        async with session.listening(after=heard[0].id) as response:
            answers.append([event.message async for event in events(response) if event.data])

    assert answers[0] == answers[1]
    assert answers[0][0] == heard[-1].message
    assert answers[0][-1]["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"


async def test_stream_of_another_session_cannot_be_resumed(client: Raw, http: HttpServer, site: Site) -> None:
    """Ids of requests are the clients' own, and two may have the same."""
    ada, bob = await handshake(client), await handshake(client)
    for each in (ada, bob):
        await data(each, "navigate", url=site.page("<p>x</p>"))
    of_ada, of_bob = await break_stream(ada, timeout_ms=1_200), await break_stream(bob, timeout_ms=1_200)
    for each in (ada, bob):
        await data(each, "get_text", selector="p")

    async with raw(http):
        async with bob.listening(after=of_ada[0].id) as response:
            stolen = [event async for event in events(response)]
        async with bob.listening(after=of_bob[0].id) as response:
            own = [event.message for event in [each async for each in events(response)] if event.data]

    assert stolen == []
    assert own[0] == of_bob[-1].message


@pytest.mark.parametrize("id", ["0", "999999999", "no-number", "-1"])
async def test_unknown_event_id_ends_the_stream(client: Raw, id: str) -> None:
    session = await handshake(client)

    async with session.listening(after=id) as response:
        assert response.status_code == 200
        assert [event async for event in events(response)] == []


async def test_missed_notifications_are_replayed(client: Raw, site: Site) -> None:
    """On the stream for what answers no request."""
    session = await handshake(client)
    made = await data(session, "create_session")
    page = f"playwright:///page/{made['sessionId']}/page-1"
    await data(session, "navigate", url=site.page("<p>one</p>"), **made)
    await session.ask("resources/subscribe", {"uri": page})
    async with session.listening() as response:
        await data(session, "navigate", url=site.page("<p>two</p>"), **made)
        async with asyncio.timeout(10):
            first = await anext(events(response))

    await data(session, "navigate", url=site.page("<p>three</p>"), **made)
    async with session.listening(after=first.id) as response:
        async with asyncio.timeout(10):
            missed = await anext(event async for event in events(response) if event.data)

    content = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": page}}
    assert first.message == missed.message == content
    assert int(missed.id) > int(first.id)
