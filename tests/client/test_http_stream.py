"""HTTP streams that are resumed, and the stream for messages outside of calls."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import pairwise

import pytest

from footlight.client.transports import http_stream
from footlight.protocol.errors import MCPConnectionError, MCPError
from tests.client.http_servers import (
    LIMIT_SECONDS,
    Received,
    Reply,
    Script,
    answer,
    answer_by_method,
    answer_chunks,
    answer_in_turn,
    answer_status,
    data_of,
    handshake,
    list_header,
    serve_script,
)
from tests.client.over_http import Caller, connect_caller
from tests.wire import MODERN_META

pytestmark = pytest.mark.anyio


def progress(number: int) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": number}}


def event(message: object, id: str) -> bytes:
    return f"id: {id}\ndata: {json.dumps(message)}\n\n".encode()


SOON = b"retry: 1\n\n"
CUT = SOON + event(progress(1), "a1")


def break_stream(*chunks: bytes) -> Script:
    """Return a stream that is reset after these."""
    return answer_chunks(*chunks, clean=False)


async def open_until_closed(request: Received, reply: Reply) -> None:
    await reply.start()
    await reply.wait_until_gone()


# The answer to a request


@pytest.mark.parametrize("clean", [True, False], ids=["ended", "broken"])
async def test_cut_response_stream_is_resumed(clean: bool) -> None:
    """The client sends GET with the id of the last event; no event is passed on twice."""
    rest = event(progress(1), "a1") + event(progress(2), "a2") + event(answer(1), "a3")
    async with (
        serve_script(
            answer_in_turn(handshake("s-1"), answer_chunks(CUT, clean=clean), answer_chunks(rest))
        ) as server,
        connect_caller(server, headers={"X-Tenant": "a"}) as caller,
    ):
        await caller.initialize()
        assert await caller.ask("slow") == [progress(1), progress(2), answer(1)]

    names = ("accept", "mcp-session-id", "mcp-protocol-version", "last-event-id", "x-tenant", "content-type")
    assert server.asked == ["initialize", "slow", "GET"]
    assert [server.requests[2].headers.get(name) for name in names] == [
        "text/event-stream",
        "s-1",
        "2025-06-18",
        "a1",
        "a",
        None,
    ]


async def test_response_stream_is_resumed_after_each_cut() -> None:
    """This holds for a connection without messages."""
    async with (
        serve_script(
            answer_in_turn(
                answer_chunks(SOON, b"id: a0\ndata:\n\n"),
                answer_chunks(),
                break_stream(event(progress(1), "a1")),
                answer_status(503),
                answer_chunks(b'id: a2\ndata: {"jsonrpc": "2.0", "met'),
                answer_chunks(event(answer(1), "a2")),
            )
        ) as server,
        connect_caller(server) as caller,
    ):
        assert await caller.ask() == [progress(1), answer(1)]

    assert list_header(server.requests, "Last-Event-ID") == [None, "a0", "a0", "a1", "a1", "a1"]


async def test_retry_field_sets_the_reconnect_delay() -> None:
    times: list[float] = []

    async def cut(request: Received, reply: Reply) -> None:
        await answer_chunks(b"retry: 300\nid: a1\ndata:\n\n")(request, reply)
        times.append(time.monotonic())

    async def rest(request: Received, reply: Reply) -> None:
        times.append(time.monotonic())
        await answer_chunks(data_of(answer(1)))(request, reply)

    async with serve_script(answer_in_turn(cut, rest)) as server, connect_caller(server) as caller:
        await caller.ask()

    assert times[1] - times[0] > 0.29


@pytest.mark.parametrize("status", [429, 503])
async def test_refusal_sets_the_reconnect_delay(status: int) -> None:
    """A server with too many requests loses no answer."""
    times: list[float] = []
    scripts = [
        answer_chunks(CUT),
        answer_status(status, headers={"Retry-After": "1"}),
        answer_chunks(data_of(answer(1))),
    ]

    async def script(request: Received, reply: Reply) -> None:
        times.append(time.monotonic())
        await scripts[len(times) - 1](request, reply)

    async with serve_script(script) as server, connect_caller(server) as caller:
        assert await caller.ask() == [progress(1), answer(1)]

    assert times[2] - times[1] > 0.99


@pytest.mark.parametrize("rest", [b"id: a2\n", b'id: a2\ndata: {"jsonrpc"', b"id: a2"])
async def test_incomplete_event_is_not_skipped_on_resume(rest: bytes) -> None:
    async with (
        serve_script(
            answer_in_turn(answer_chunks(CUT + rest), answer_chunks(event(answer(1), "a2")))
        ) as server,
        connect_caller(server) as caller,
    ):
        assert await caller.ask() == [progress(1), answer(1)]

    assert list_header(server.requests, "Last-Event-ID") == [None, "a1"]


@pytest.mark.parametrize("place", [b"a\x01", b"a\x7f", b"a\tb", b" a "], ids=["SOH", "DEL", "tab", "space"])
async def test_event_id_invalid_in_a_header_is_not_resumed_from(place: bytes) -> None:
    """The answer is lost, and nobody's header is blamed."""
    cut = answer_chunks(b"retry: 1\nid: %b\ndata:\n\n" % place)
    async with serve_script(answer_in_turn(cut)) as server, connect_caller(server) as caller:
        error = await caller.fail_request()

    assert (error.reason, error.message) == ("protocol", "The response ended without the answer")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("chunks", "clean"),
    [
        pytest.param([b"retry: 1\n\n"], True, id="nothing"),
        pytest.param([b"retry: 0\n\n", b": keep-alive\n\n"], True, id="a comment"),
        pytest.param([b"retry: 1\nid: 1\ndata:\n\n"], True, id="a place"),
        pytest.param([b"retry: 1\n\n"], False, id="broken"),
    ],
)
async def test_reconnect_delay_doubles_for_streams_that_end_at_once(chunks: list[bytes], clean: bool) -> None:
    """The pauses double, whatever the server says."""
    times: list[float] = []
    ending = answer_chunks(*chunks, clean=clean)

    async def answer_at_once(request: Received, reply: Reply) -> None:
        times.append(time.monotonic())
        await ending(request, reply)

    async with serve_script(answer_at_once) as server, connect_caller(server) as caller:
        assert await caller.listen()
        await server.wait_for_requests(4)
        await caller.channel.stop_listening()
        await caller.read_messages()

    pauses = [after - before for before, after in pairwise(times[:4])]
    assert [pause > least for pause, least in zip(pauses, (0.09, 0.19, 0.39), strict=True)] == [True] * 3


async def test_received_message_resets_the_reconnect_delay() -> None:
    times: list[float] = []
    nothing = answer_chunks(b"retry: 1\n\n")
    scripts = iter([nothing] * 3 + [answer_chunks(CUT)] + [nothing] * 3)

    async def script(request: Received, reply: Reply) -> None:
        times.append(time.monotonic())
        await next(scripts)(request, reply)

    async with serve_script(script) as server, connect_caller(server) as caller:
        assert await caller.listen()
        await server.wait_for_requests(5)
        await caller.channel.stop_listening()
        await caller.read_messages()

    assert times[4] - times[3] < times[3] - times[2]


async def test_each_stream_keeps_its_own_last_event_id() -> None:
    """One's ids are not another's."""

    async def rest(request: Received, reply: Reply) -> None:
        identifier = int(request.headers["last-event-id"])
        await answer_chunks(event(answer(identifier), "1"))(request, reply)

    async def cut(request: Received, reply: Reply) -> None:
        await answer_chunks(SOON, f"id: {request.message['id']}\n\n".encode())(request, reply)

    async with (
        serve_script(answer_by_method({"cut": cut, "GET": rest})) as server,
        connect_caller(server) as caller,
    ):
        await asyncio.gather(caller.ask("cut", 10), caller.ask("cut", 20))

    assert sorted(map(str, list_header(server.requests, "Last-Event-ID"))) == ["10", "20", "None", "None"]


async def test_repeated_event_id_on_one_connection_is_not_a_replay() -> None:
    same = event(progress(1), "1") + event(progress(2), "1") + event(answer(1), "1")
    async with serve_script(answer_chunks(same)) as server, connect_caller(server) as caller:
        assert await caller.ask() == [progress(1), progress(2), answer(1)]


async def test_cut_initialize_response_is_resumed_in_its_session() -> None:
    """The id came with what was cut."""

    async def cut(request: Received, reply: Reply) -> None:
        await reply.start(headers={"Mcp-Session-Id": "s-1"})
        await reply.chunk(SOON + b"id: a1\n\n")
        reply.break_off()

    async with (
        serve_script(answer_in_turn(cut, answer_chunks(data_of(answer(0))))) as server,
        connect_caller(server) as caller,
    ):
        assert await caller.initialize() == [answer(0)]

    assert list_header(server.requests, "Mcp-Session-Id") == [None, "s-1"]


@pytest.mark.parametrize("status", [400, 404, 405])
@pytest.mark.parametrize(("clean", "reason"), [(True, "protocol"), (False, "network")])
async def test_stream_that_the_server_does_not_resume_is_lost(status: int, clean: bool, reason: str) -> None:
    """A broken connection is the network's fault, an end is the server's."""
    async with (
        serve_script(answer_in_turn(answer_chunks(CUT, clean=clean), answer_status(status))) as server,
        connect_caller(server) as caller,
    ):
        error = await caller.fail_request()

    assert (error.reason, isinstance(error, MCPConnectionError), error.status) == (reason, not clean, None)
    assert server.asked == ["ping", "GET"]


async def test_html_response_is_not_accepted_as_resumed_stream() -> None:
    async with (
        serve_script(
            answer_in_turn(answer_chunks(CUT), answer_status(200, b"<p>", content_type="text/html"))
        ) as server,
        connect_caller(server) as caller,
    ):
        error = await caller.fail_request()

    assert (error.reason, error.message) == ("protocol", "The response ended without the answer")


async def test_session_may_have_expired_when_its_stream_is_resumed() -> None:
    """A server that began anew does not know it."""
    async with (
        serve_script(answer_in_turn(handshake("s-1"), break_stream(CUT), answer_status(404))) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        error = await caller.fail_request()
        assert (error.reason, caller.channel.session_id) == ("session_expired", None)


async def test_resuming_on_a_stopped_server_is_a_network_error() -> None:
    """The server took the request, so it is not reported as unavailable."""
    cut = asyncio.Event()

    async def answer_last(request: Received, reply: Reply) -> None:
        await cut.wait()
        await answer_chunks(CUT, clean=False)(request, reply)

    async with serve_script(answer_last) as server, connect_caller(server) as caller:
        asking = asyncio.create_task(caller.fail_request())
        await server.wait_for_requests(1)
        await server.stop_listening()
        cut.set()
        error = await asking

    assert error.to_dict() == {
        "name": "ConnectionError",
        "code": "CONNECTION_ERROR",
        "message": f"{server.url} cannot be reached: Connection refused",
        "reason": "network",
        "rpcCode": -32001,
    }


@pytest.mark.parametrize(
    "stream", [data_of(progress(1)), event(progress(1), "a1")], ids=["no id", "stateless"]
)
async def test_stream_without_event_id_or_stateless_is_not_resumed(stream: bytes) -> None:
    """A stream of the stateless protocol cannot be resumed."""
    meta = {"_meta": MODERN_META} if b"id: a1" in stream else {}
    async with serve_script(answer_chunks(stream)) as server, connect_caller(server) as caller:
        error = await caller.fail_request("tools/list", 1, **meta)

    assert (error.reason, error.message) == ("protocol", "The response ended without the answer")
    assert server.asked == ["tools/list"]


@pytest.mark.parametrize("when", ["before", "during"])
async def test_cancelling_a_cut_request_ends_its_resumption(when: str) -> None:
    """The pause before it goes on, and the stream on which it does."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def cut(request: Received, reply: Reply) -> None:
        retry = 1 if when == "during" else 30_000
        await answer_chunks(f"retry: {retry}\nid: a1\n\n".encode())(request, reply)
        if when == "before":
            asked.set()

    async def rest(request: Received, reply: Reply) -> None:
        asked.set()
        await open_until_closed(request, reply)
        gone.set()

    async with (
        serve_script(answer_by_method({"cut": cut, "GET": rest})) as server,
        connect_caller(server) as caller,
    ):
        asking = asyncio.create_task(caller.ask("cut"))
        await asyncio.wait_for(asked.wait(), LIMIT_SECONDS)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        if when == "during":
            await asyncio.wait_for(gone.wait(), LIMIT_SECONDS)

    assert server.asked == ["cut", "GET"][: 1 + (when == "during")]


# The server's own stream


async def messages(caller: Caller, count: int) -> list[object]:
    return [await caller.recorder.message() for _ in range(count)]


async def test_get_stream_resumes_until_it_is_stopped() -> None:
    """That goes on by itself, until it is stopped; which is no error."""
    gone = asyncio.Event()

    async def second(request: Received, reply: Reply) -> None:
        await reply.start()
        await reply.chunk(event(progress(1), "a1") + event(progress(2), "a2"))
        await reply.wait_until_gone()
        gone.set()

    async with (
        serve_script(answer_in_turn(handshake("s-1"), answer_chunks(CUT), second)) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        assert await caller.listen() is True
        assert await messages(caller, 2) == [progress(1), progress(2)]
        await caller.channel.stop_listening()
        await asyncio.wait_for(gone.wait(), LIMIT_SECONDS)
        await caller.channel.stop_listening()
        assert caller.heard == [progress(1), progress(2)]

    assert list_header(server.requests[1:], "Last-Event-ID") == [None, "a1"]
    assert list_header(server.requests[1:], "Mcp-Session-Id") == ["s-1", "s-1"]
    assert list_header(server.requests[1:], "Accept") == ["text/event-stream"] * 2


async def test_server_without_get_stream_still_works() -> None:
    """Everything else works."""
    async with serve_script(answer_by_method({})) as server, connect_caller(server) as caller:
        assert await caller.listen() is False
        assert await caller.ask() == [answer(1)]

    assert server.asked == ["GET", "ping"]


@pytest.mark.parametrize(
    ("script", "reason", "status"),
    [
        (answer_status(500), "http", 500),
        (answer_status(400), "http", 400),
        (answer_status(404), "http", 404),
        (answer_status(200, b"{}", content_type="application/json"), "protocol", 200),
    ],
)
async def test_get_stream_refusal_is_reported_with_the_reason(
    script: Script, reason: str, status: int
) -> None:
    async with serve_script(script) as server, connect_caller(server) as caller:
        with pytest.raises(MCPError) as refused:
            await caller.listen()

    assert (refused.value.reason, refused.value.status, len(server.requests)) == (reason, status, 1)


async def test_get_stream_opens_when_headers_arrive_with_the_first_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that sends no head before that has a stream all the same."""
    monkeypatch.setattr(http_stream, "HEAD_SECONDS", 0.05)
    awaited = asyncio.Event()

    async def answer_late(request: Received, reply: Reply) -> None:
        await awaited.wait()
        await answer_chunks(data_of(progress(1)))(request, reply)

    async with (
        serve_script(answer_in_turn(answer_late, open_until_closed)) as server,
        connect_caller(server) as caller,
    ):
        assert await caller.listen() is True
        awaited.set()
        assert await messages(caller, 1) == [progress(1)]


async def test_late_refusal_of_the_get_stream_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_stream, "HEAD_SECONDS", 0.05)
    awaited = asyncio.Event()

    async def answer_late(request: Received, reply: Reply) -> None:
        await awaited.wait()
        await reply.send(status=405)

    async with serve_script(answer_late) as server, connect_caller(server) as caller:
        assert await caller.listen() is True
        awaited.set()
        assert (await caller.end_of_stream()).status == 405


@pytest.mark.slow
async def test_stream_is_abandoned_after_repeated_failures() -> None:
    """Told once; a message in between begins the count anew."""
    failing = [answer_status(503)] * 4
    async with (
        serve_script(
            answer_in_turn(
                answer_chunks(CUT),
                *failing,
                break_stream(event(progress(2), "a2")),
                *failing,
                answer_status(502),
            )
        ) as server,
        connect_caller(server) as caller,
    ):
        assert await caller.listen()
        error = await caller.end_of_stream()
        assert await caller.read_messages() == [progress(1), progress(2)]

    assert (error.reason, error.status) == ("http", 503)
    assert len(server.requests) == 10


@pytest.mark.parametrize("status", [400, 401, 405])
async def test_refused_stream_is_not_requested_again(status: int) -> None:
    async with (
        serve_script(answer_in_turn(answer_chunks(CUT), answer_status(status))) as server,
        connect_caller(server) as caller,
    ):
        assert await caller.listen()
        assert (await caller.end_of_stream()).status == status

    assert len(server.requests) == 2


async def test_get_stream_reports_an_expired_session() -> None:
    async with (
        serve_script(answer_in_turn(handshake("s-1"), answer_chunks(CUT), answer_status(404))) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        assert await caller.listen()
        error = await caller.end_of_stream()
        assert (error.reason, caller.channel.session_id) == ("session_expired", None)


async def test_get_stream_does_not_continue_in_another_session() -> None:
    """It does not go on in another."""
    cut = asyncio.Event()
    sessions = iter(("s-1", "s-2"))

    async def begin(request: Received, reply: Reply) -> None:
        await handshake(next(sessions))(request, reply)

    async def stream(request: Received, reply: Reply) -> None:
        await reply.start()
        await reply.chunk(SOON)
        await cut.wait()
        await reply.end()

    async with (
        serve_script(answer_by_method({"initialize": begin, "GET": stream})) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        assert await caller.listen()
        await caller.initialize()
        cut.set()
        assert (await caller.end_of_stream()).reason == "session_expired"
        assert caller.channel.session_id == "s-2"

    assert server.asked == ["initialize", "GET", "initialize"]


async def test_invalid_messages_on_the_get_stream_are_skipped(caplog: pytest.LogCaptureFixture) -> None:
    """It does not end the stream."""

    async def stream(request: Received, reply: Reply) -> None:
        await reply.start()
        await reply.chunk(b"data: {\n\ndata: [1]\n\n" + data_of(progress(1)))
        await reply.wait_until_gone()

    async with serve_script(stream) as server, connect_caller(server) as caller:
        assert await caller.listen()
        assert await messages(caller, 1) == [progress(1)]

    reported = [record.message for record in caplog.records if record.name.startswith("footlight")]
    assert reported == [
        "left out of the stream: The server sent a streamed event that is not JSON",
        "left out of the stream: The server sent a streamed event that is not a JSON-RPC 2.0 message",
    ]


async def test_new_get_stream_replaces_the_first() -> None:
    gone = asyncio.Event()

    async def answer_first(request: Received, reply: Reply) -> None:
        await open_until_closed(request, reply)
        gone.set()

    async with (
        serve_script(answer_in_turn(answer_first, open_until_closed)) as server,
        connect_caller(server) as caller,
    ):
        assert await caller.listen()
        assert await caller.listen()
        await asyncio.wait_for(gone.wait(), LIMIT_SECONDS)

    assert len(server.requests) == 2


async def test_closing_the_channel_closes_the_get_stream() -> None:
    gone = asyncio.Event()

    async def stream(request: Received, reply: Reply) -> None:
        await open_until_closed(request, reply)
        gone.set()

    async with serve_script(stream) as server:
        async with connect_caller(server) as caller:
            assert await caller.listen()
        await asyncio.wait_for(gone.wait(), LIMIT_SECONDS)


# The end of a session


@pytest.mark.parametrize(
    ("status", "ended"), [(200, True), (202, True), (204, True), (404, True), (405, False), (500, False)]
)
async def test_terminated_session_id_is_forgotten_for_any_status(status: int, ended: bool) -> None:
    """The id is forgotten in any case, and the stream is closed."""
    async with (
        serve_script(
            answer_by_method(
                {
                    "initialize": handshake("s-1"),
                    "GET": open_until_closed,
                    "DELETE": answer_status(status),
                }
            )
        ) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        assert await caller.listen()
        assert await caller.channel.terminate() is ended
        assert caller.channel.session_id is None
        assert await caller.channel.terminate() is False

    assert server.asked == ["initialize", "GET", "DELETE"]
    assert list_header(server.requests, "Mcp-Session-Id") == [None, "s-1", "s-1"]


async def test_session_on_an_unreachable_server_is_forgotten() -> None:
    async def reset(request: Received, reply: Reply) -> None:
        reply.break_off()

    async with (
        serve_script(answer_by_method({"initialize": handshake("s-1"), "DELETE": reset})) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        assert await caller.channel.terminate() is False
        assert caller.channel.session_id is None
