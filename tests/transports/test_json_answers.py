"""HTTP answers are JSON, and become an event stream only when there is more to send."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from footlight.transports.network.json_answers import JsonAnswers
from tests.http_client import (
    LATEST,
    MODERN,
    Event,
    Handshaken,
    Raw,
    data,
    events,
    handshake,
    modern,
    request,
    routing,
)
from tests.site import Site

pytestmark = pytest.mark.anyio

JSON = "application/json"
STREAM = "text/event-stream"


def make_waiting_call(timeout_ms: int, *, token: str | None = None, **arguments: Any) -> dict[str, Any]:
    """Return a request for a call that exceeds its timeout."""
    meta = {"_meta": {"progressToken": token}} if token else {}
    arguments = {"selector": "#never", "timeout": timeout_ms, **arguments}
    return {"name": "wait_for_selector", "arguments": arguments, **meta}


async def ask(session: Handshaken, params: dict[str, Any]) -> tuple[str, list[Event]]:
    """Return the content type of the answer, and the events of a stream."""
    async with session.streaming(request("tools/call", params, id="asked")) as response:
        kind = response.headers["content-type"]
        return kind, [event async for event in events(response)] if kind == STREAM else []


async def test_a_quick_answer_is_json(client: Raw) -> None:
    """On a busy machine not each is quick."""
    session = await handshake(client)

    kinds = {(await ask(session, {"name": "list_sessions", "arguments": {}}))[0] for _ in range(10)}

    assert JSON in kinds


async def test_progress_comes_before_the_answer(client: Raw) -> None:
    session = await handshake(client)
    await data(session, "get_cookies")

    kind, stream = await ask(session, make_waiting_call(1200, token="mine"))

    assert kind == STREAM
    primed, *progress, answer = stream
    assert (bool(primed.id), primed.data, primed.retry) == (True, "", "1000")
    assert progress
    assert {each.message["params"]["progressToken"] for each in progress} == {"mine"}
    assert answer.message["id"] == "asked"
    assert answer.message["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"
    ids = [int(each.id) for each in stream]
    assert ids == sorted(set(ids))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("version", "primes"), [(LATEST, True), ("2025-06-18", False)])
async def test_slow_answer_is_an_event_stream(client: Raw, version: str, primes: bool) -> None:
    session = await handshake(client, version)
    await data(session, "get_cookies")

    kind, stream = await ask(session, make_waiting_call(1500))

    assert kind == STREAM
    assert [bool(each.data) for each in stream] == ([False] if primes else []) + [True]
    assert stream[-1].message["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"


@pytest.mark.slow
async def test_a_large_answer_is_json(client: Raw, site: Site) -> None:
    """Clients of the SDK lose an event of more than one MiB."""
    session = await handshake(client)
    await data(session, "navigate", url=site.page(f"<p>{'ä' * 1_500_000}</p>"))
    # The page may take its time to give the text; what is kept of it is there at once.
    uri = (await session.call("get_text", selector="p"))["resource"]["uri"]

    response = await session.send(request("resources/read", {"uri": uri}))

    assert response.headers["content-type"] == JSON
    assert int(response.headers["content-length"]) == len(response.content) > 3_000_000
    assert "ä" * 1_500_000 in response.json()["result"]["contents"][0]["text"]


@pytest.mark.slow
async def test_stateless_protocol_streams_only_when_needed(client: Raw) -> None:
    made = await data(client, "create_session")
    quick, slow = (
        modern("tools/call", make_waiting_call(1200, token=token, **made)) for token in (None, "mine")
    )
    answered = await client.send(quick, headers=routing(quick))
    async with client.streaming(slow, headers=routing(slow)) as response:
        kind = response.headers["content-type"]
        *progress, answer = [event async for event in events(response)]

    assert (answered.headers["content-type"], kind) == (JSON, STREAM)
    assert {each.message["method"] for each in progress} == {"notifications/progress"}
    assert answer.message["result"]["resultType"] == "complete"
    assert MODERN in str(quick)
    await data(client, "close_session", **made)


async def test_refused_request_is_answered_as_json(client: Raw) -> None:
    session = await handshake(client)
    refused = await session.send(request("ping"), headers={"Accept": "application/json"})

    assert (refused.status_code, refused.headers["content-type"]) == (406, JSON)


# The middleware alone, for what no tool does


START: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-kept", b"yes")],
}
PRIME = b"id: 1\r\ndata: \r\n\r\n"
NEWS = b'event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\r\n\r\n'
QUESTION = b'data: {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}\r\n\r\n'
ANSWER = b'id: 2\r\nevent: message\r\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\n'


async def collect_answer(*chunks: bytes, patience: float = 60.0) -> list[tuple[str, bytes]]:
    """Return what is sent for these events and the end after them."""
    sent: list[Message] = []

    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send({**START, "headers": list(START["headers"])})
        for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        sent.append(message)

    await JsonAnswers(app, patience=patience)({"type": "http", "method": "POST"}, receive, send)
    start, *bodies = sent
    assert [each.get("more_body", False) for each in bodies] == [True] * (len(bodies) - 1) + [False]
    headers = dict(start["headers"])
    assert headers[b"x-kept"] == b"yes"
    return [(headers[b"content-type"].decode().partition(";")[0], each["body"]) for each in bodies]


async def test_single_answer_is_json() -> None:
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}'

    assert await collect_answer(ANSWER) == [(JSON, answer)]
    assert await collect_answer(PRIME, ANSWER) == [(JSON, answer)]


@pytest.mark.parametrize("first", [NEWS, QUESTION])
async def test_any_other_message_before_the_answer_makes_a_stream(first: bytes) -> None:
    assert await collect_answer(PRIME, first, ANSWER) == [
        (STREAM, each) for each in (PRIME, first, ANSWER, b"")
    ]


async def test_response_without_an_answer_is_a_stream() -> None:
    """As of a call whose stream the server closed (SEP-1699)."""
    assert await collect_answer() == [(STREAM, b"")]
    assert await collect_answer(PRIME) == [(STREAM, PRIME), (STREAM, b"")]


async def test_head_and_priming_event_are_sent_after_a_delay() -> None:
    """The head and the priming event go out though nothing came after them."""
    sent: list[Message] = []
    committed, go = asyncio.Event(), asyncio.Event()

    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send({**START, "headers": list(START["headers"])})
        await send({"type": "http.response.body", "body": PRIME, "more_body": True})
        await go.wait()
        await send({"type": "http.response.body", "body": ANSWER, "more_body": False})

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        sent.append(message)
        if len(sent) == 2:
            committed.set()

    serving = asyncio.create_task(
        JsonAnswers(app, patience=0.01)({"type": "http", "method": "POST"}, receive, send)
    )
    async with asyncio.timeout(10):
        await committed.wait()
        go.set()
        await serving

    assert [each.get("body") for each in sent] == [None, PRIME, ANSWER]
