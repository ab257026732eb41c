"""Streamable HTTP, message by message, over real sockets and with scripted servers."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
import tracemalloc
import zlib
from collections.abc import Mapping
from typing import Any

import pytest

from footlight.client.transports.http import StreamableHTTP
from footlight.protocol.channel import Channel, HttpFeatures, Transport
from footlight.protocol.errors import MCPConnectionError, MCPError
from footlight.protocol.messages import answer_to, notification, request
from tests.client.http_servers import (
    LIMIT_SECONDS,
    Received,
    Reply,
    Script,
    answer,
    answer_by_method,
    answer_bytes,
    answer_chunks,
    answer_in_turn,
    answer_status,
    data_of,
    handshake,
    list_header,
    serve_script,
)
from tests.client.over_http import connect_caller
from tests.wire import MODERN_META

pytestmark = pytest.mark.anyio

JSON = "application/json"
PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
POST = {
    "content-type": JSON,
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
}
OF_HTTP = ("host", "accept-encoding", "connection", "user-agent", "content-length")


def own(request: Received) -> dict[str, str]:
    """Return the headers that are the protocol's or the caller's."""
    return {name: value for name, value in request.headers.items() if name not in OF_HTTP}


def error_message(identifier: int | None, code: int = -32602, message: str = "no") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}


def answer_json(value: object, **how: Any) -> Script:
    async def script(request: Received, reply: Reply) -> None:
        await reply.json(value, **how)

    return script


# What is sent


async def test_each_request_has_the_protocols_headers() -> None:
    """The headers of the caller are sent too."""
    async with (
        serve_script(answer_by_method({"initialize": handshake("s-1"), "GET": answer_status(405)})) as server,
        connect_caller(server, headers={"X-Tenant": "a"}) as caller,
    ):
        await caller.initialize()
        await caller.tell()
        await caller.ask("tools/list")
        await caller.send(answer_to(7, result={}))
        await caller.listen()
        await caller.channel.terminate()

    assert [request.target for request in server.requests] == ["/mcp"] * 6
    session = {"mcp-session-id": "s-1", "x-tenant": "a"}
    assert [(request.method, own(request)) for request in server.requests] == [
        ("POST", {**POST, "x-tenant": "a"}),
        *[("POST", {**POST, **session})] * 3,
        ("GET", {"accept": "text/event-stream", "mcp-protocol-version": "2025-06-18", **session}),
        ("DELETE", {"accept": POST["accept"], "mcp-protocol-version": "2025-06-18", **session}),
    ]


async def test_caller_headers_do_not_replace_protocol_headers() -> None:
    theirs = {name: "theirs" for name in ("ACCEPT", "Content-type", "mcp-protocol-version", "Mcp-Method")}
    theirs |= {"Mcp-Session-Id": "theirs", "Last-Event-ID": "theirs", "Content-Length": "1"}
    async with (
        serve_script(answer_by_method({})) as server,
        connect_caller(server, headers={**theirs, "X-A": "b"}) as caller,
    ):
        await caller.initialize()
        await caller.ask()

    assert [own(request) for request in server.requests] == [{**POST, "x-a": "b"}] * 2


async def test_messages_are_sent_unchanged_as_ascii_json() -> None:
    message = notification("notifications/x", {"text": "é\ud800"})
    async with serve_script(answer_by_method({})) as server, connect_caller(server) as caller:
        await caller.send(message)

    assert server.requests[0].body.isascii()
    assert server.requests[0].message == message


async def test_negotiated_version_is_in_the_header() -> None:
    """A handshake names the version that it proposes."""
    async with serve_script(answer_by_method({})) as server, connect_caller(server) as caller:
        caller.channel.use_version("2025-11-25")
        await caller.ask()
        await caller.ask("initialize", 2, protocolVersion="2025-03-26")
        await caller.ask("initialize", 3)

    assert list_header(server.requests, "MCP-Protocol-Version") == ["2025-11-25", "2025-03-26", "2025-06-18"]


async def test_stateless_request_names_its_version_method_and_tool_in_headers() -> None:
    """2026-07-28: its own revision, its method and name; and no session."""
    async with (
        serve_script(answer_by_method({"initialize": handshake("s-1")})) as server,
        connect_caller(server, headers={"mcp-param-region": "theirs"}) as caller,
    ):
        await caller.initialize()
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        params = {"name": "navigate", "arguments": {}, "_meta": MODERN_META}
        await caller.send({**message, "params": params}, {"Mcp-Param-Region": "eu"})

    assert own(server.requests[1]) == {
        **POST,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "navigate",
        "mcp-param-region": "eu",
    }


@pytest.mark.parametrize(
    ("method", "params", "header"),
    [
        ("tools/call", {"name": "navigate"}, "navigate"),
        ("tools/call", {"name": "größe"}, "=?base64?Z3LDtsOfZQ==?="),
        ("tools/call", {"name": " a"}, "=?base64?IGE=?="),
        ("tools/call", {"name": "a\nb"}, "=?base64?YQpi?="),
        ("tools/call", {"name": "=?base64?YQ==?="}, "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ("prompts/get", {"name": "hello"}, "hello"),
        ("resources/read", {"uri": "page:///s1", "name": "x"}, "page:///s1"),
        ("tools/list", {"name": "x"}, None),
        ("tools/call", {"name": 1}, None),
    ],
)
async def test_stateless_request_names_its_object_in_a_header(
    method: str, params: Mapping[str, Any], header: str | None
) -> None:
    """2026-07-28."""
    async with serve_script(answer_by_method({})) as server, connect_caller(server) as caller:
        await caller.ask(method, **params, _meta=MODERN_META)

    assert list_header(server.requests, "Mcp-Method") == [method]
    assert list_header(server.requests, "Mcp-Name") == [header]


async def test_stateless_404_does_not_end_a_session() -> None:
    """2026-07-28: 404 is an unknown method there."""
    async with (
        serve_script(answer_by_method({"initialize": handshake("s-1"), "x": answer_status(404)})) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        error = await caller.fail_request("x", 1, _meta=MODERN_META)
        assert (error.reason, caller.channel.session_id) == ("http", "s-1")


async def test_message_without_meta_uses_the_negotiated_protocol() -> None:
    """2026-07-28: notifications and answers. To close is to cancel then."""
    async with serve_script(answer_by_method({})) as server, connect_caller(server) as caller:
        assert caller.channel.cancels_by_closing is False
        caller.channel.use_version("2026-07-28")
        assert caller.channel.cancels_by_closing is True
        await caller.tell("notifications/x")

    assert own(server.requests[0]) == {
        **POST,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "notifications/x",
    }


async def test_opening_the_channel_sends_nothing() -> None:
    async with serve_script(answer_by_method({})) as server, connect_caller(server) as caller:
        channel: Channel = caller.channel
        session: HttpFeatures = caller.channel
        transport: Transport = StreamableHTTP(server.url)
        await channel.close()
        assert (transport.where, session.session_id) == (server.url, None)

    assert (server.requests, server.connections) == ([], 0)


# The session's id


@pytest.mark.parametrize("name", ["Mcp-Session-Id", "mcp-session-id", "MCP-SESSION-ID"])
async def test_session_uses_the_id_from_initialize(name: str) -> None:
    async with (
        serve_script(
            answer_in_turn(answer_json(answer(0), headers={name: "!~1"}), answer_json(answer(1)))
        ) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        assert caller.channel.session_id == "!~1"
        await caller.ask()

    assert list_header(server.requests, "Mcp-Session-Id") == [None, "!~1"]


async def test_server_without_sessions_gets_no_session_id() -> None:
    async with serve_script(answer_by_method({})) as server, connect_caller(server) as caller:
        await caller.initialize()
        await caller.ask()
        assert caller.channel.session_id is None

    assert list_header(server.requests, "Mcp-Session-Id") == [None, None]


async def test_only_initialize_sets_the_session_id() -> None:
    """A second one begins another session, or none."""
    other = {"Mcp-Session-Id": "other"}
    async with (
        serve_script(
            answer_in_turn(
                handshake("s-1"), answer_json(answer(1), headers=other), answer_json(answer(2)), handshake()
            )
        ) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        await caller.ask("ping", 1)
        await caller.ask("ping", 2)
        await caller.initialize()
        assert caller.channel.session_id is None

    assert list_header(server.requests, "Mcp-Session-Id") == [None, "s-1", "s-1", None]


@pytest.mark.parametrize(("ids", "chosen"), [(["a", "a"], "a"), (["a", "b"], None)])
async def test_session_id_may_be_repeated_but_not_ambiguous(ids: list[str], chosen: str | None) -> None:
    fields = "".join(f"Mcp-Session-Id: {each}\r\n" for each in ids)
    body = json.dumps(answer(0))
    head = f"{fields}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    reply = f"HTTP/1.1 200 OK\r\n{head}\r\n{body}"
    async with serve_script(answer_bytes(reply.encode())) as server, connect_caller(server) as caller:
        if chosen is None:
            assert (await caller.fail_request("initialize")).message == "The server sent several session ids"
        else:
            await caller.initialize()
        assert caller.channel.session_id == chosen


@pytest.mark.parametrize("identifier", ["a b", "é", "a, b"])
async def test_session_id_that_is_not_visible_ascii_is_refused(identifier: str) -> None:
    head = f"HTTP/1.1 200 OK\r\nMcp-Session-Id: {identifier}\r\nContent-Length: 0\r\n\r\n"
    async with serve_script(answer_bytes(head.encode())) as server, connect_caller(server) as caller:
        error = await caller.fail_request("initialize")
        assert caller.channel.session_id is None

    assert error.to_dict() == {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": "The server's session id is not visible ASCII",
        "reason": "protocol",
        "rpcCode": -32600,
    }


async def test_an_expired_session_is_reported_once() -> None:
    """The next request has no session."""
    gone = answer_json(error_message(1, -32600, "Session not found"), status=404)
    async with (
        serve_script(answer_in_turn(handshake("s-1"), gone, answer_json(answer(2)))) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        error = await caller.fail_request()
        assert caller.channel.session_id is None
        await caller.ask("ping", 2)

    assert error.to_dict() == {
        "name": "ConnectionError",
        "code": "CONNECTION_ERROR",
        "message": "Session expired",
        "reason": "session_expired",
        "rpcCode": -32000,
        "status": 404,
    }
    assert list_header(server.requests, "Mcp-Session-Id") == [None, "s-1", None]


@pytest.mark.parametrize(
    "says",
    [
        "Bad Request: No valid session ID provided",
        "Bad Request: Server not initialized",
        "Session not found",
        "Invalid session ID",
    ],
)
async def test_status_400_about_the_session_is_an_expiry(says: str) -> None:
    """Servers after the SDKs' examples say so, and a client would never recover."""
    gone = answer_json(error_message(None, -32000, says), status=400)
    async with (
        serve_script(answer_in_turn(handshake("s-1"), gone)) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        error = await caller.fail_request()
        assert caller.channel.session_id is None

    assert (error.message, error.reason, error.status) == ("Session expired", "session_expired", 400)


async def test_other_status_400_is_not_an_expiry() -> None:
    bad = answer_json(error_message(1, -32602, "sessionId must be a string"), status=400)
    unknown = answer_json(error_message(1, -32000, "No valid session ID provided"), status=400)
    async with (
        serve_script(answer_in_turn(unknown, handshake("s-1"), bad)) as server,
        connect_caller(server) as caller,
    ):
        without = await caller.fail_request()
        await caller.initialize()
        error = await caller.fail_request()
        assert caller.channel.session_id == "s-1"

    assert (without.reason, without.status) == ("peer", 400)
    assert (error.reason, error.rpc_code, error.status) == ("peer", -32602, 400)


async def test_late_expiry_of_an_old_session_keeps_the_new_one() -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def answer_late(request: Received, reply: Reply) -> None:
        asked.set()
        await answered.wait()
        await reply.send(status=404)

    sessions = iter(("old", "new"))

    async def begin(request: Received, reply: Reply) -> None:
        await handshake(next(sessions))(request, reply)

    async with (
        serve_script(answer_by_method({"initialize": begin, "late": answer_late})) as server,
        connect_caller(server) as caller,
    ):
        await caller.initialize()
        late_one = asyncio.create_task(caller.fail_request("late"))
        await asyncio.wait_for(asked.wait(), LIMIT_SECONDS)
        await caller.initialize()
        answered.set()
        assert (await late_one).reason == "session_expired"
        assert caller.channel.session_id == "new"


# What comes back


@pytest.mark.parametrize(
    "media", [JSON, "application/json; charset=utf-8", "Application/JSON;charset=UTF-8", " application/json "]
)
async def test_json_response_is_read(media: str) -> None:
    message = answer(1, {"text": "Füße"})
    body = json.dumps(message, ensure_ascii=False).encode()
    async with (
        serve_script(answer_status(200, body, content_type=media)) as server,
        connect_caller(server) as caller,
    ):
        assert await caller.ask() == [message]


@pytest.mark.parametrize("media", ["text/event-stream", "Text/Event-Stream; charset=utf-8"])
async def test_event_stream_response_is_read(media: str) -> None:
    """What comes before the answer is handed on, in order, and does not end the wait."""
    before = [PROGRESS, answer(2, {"not": "mine"}), {"jsonrpc": "2.0", "id": 1, "method": "ping"}]

    async def script(request: Received, reply: Reply) -> None:
        await reply.start(content_type=media)
        for message in before:
            await reply.event(message)
        await reply.finish({"mine": True})

    async with serve_script(script) as server, connect_caller(server) as caller:
        assert await caller.ask() == [*before, answer(1, {"mine": True})]


async def test_event_stream_is_read_from_chunks_of_any_size() -> None:
    message = answer(1, {"text": "Füße €"})
    stream = f"id: 1\r\ndata: {json.dumps(message, ensure_ascii=False)}\r\n\r\n".encode()
    pieces = [stream[i : i + 1] for i in range(len(stream))]
    async with serve_script(answer_chunks(*pieces)) as server, connect_caller(server) as caller:
        assert await caller.ask() == [message]


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(b": hello\n\nretry: 5\n\n" + data_of(answer(1)), id="comments"),
        pytest.param(b"id: 0\ndata:\n\n" + data_of(answer(1)), id="an id alone"),
        pytest.param(b"event: ping\ndata: now\n\n" + data_of(answer(1)), id="foreign events"),
        pytest.param(b"event: response\n" + data_of(answer(1)), id="a name of its own"),
        pytest.param(data_of(answer(1)).rstrip(), id="no end"),
        pytest.param(b'data: {"jsonrpc": "2.0",\ndata: "id": 1, "result": {}}\n\n', id="two lines"),
    ],
)
async def test_response_is_found_among_other_stream_content(stream: bytes) -> None:
    async with serve_script(answer_chunks(stream)) as server, connect_caller(server) as caller:
        assert await caller.ask() == [answer(1)]


async def test_exchange_ends_with_the_response() -> None:
    """The stream is closed, whether or not the server ends it."""
    gone = asyncio.Event()

    async def script(request: Received, reply: Reply) -> None:
        await reply.start()
        await reply.event(answer(1))
        await reply.wait_until_gone()
        gone.set()

    async with serve_script(script) as server, connect_caller(server) as caller:
        assert await caller.ask() == [answer(1)]
        await asyncio.wait_for(gone.wait(), LIMIT_SECONDS)


async def test_http_connection_is_reused() -> None:
    """After answers of each kind that were read to their end."""

    async def stream(request: Received, reply: Reply) -> None:
        await reply.start()
        await reply.finish()

    async with serve_script(answer_by_method({"stream": stream})) as server, connect_caller(server) as caller:
        for method in ("initialize", "stream", "ping", "stream", "tools/list"):
            await caller.ask(method)
            await caller.tell()

    assert (len(server.requests), server.connections) == (10, 1)


async def test_json_rpc_error_is_returned_as_response() -> None:
    error = error_message(1)
    async with (
        serve_script(answer_in_turn(answer_json(error), answer_chunks(data_of(PROGRESS, error)))) as server,
        connect_caller(server) as caller,
    ):
        assert await caller.ask() == [error]
        assert await caller.ask() == [PROGRESS, error]


@pytest.mark.parametrize("how", ["JSON", "stream", "status"])
async def test_error_without_id_answers_the_request(how: str) -> None:
    """The server could not even read which request it was."""
    error = error_message(None, -32700, "Parse error")
    scripts = {"JSON": answer_json(error), "stream": answer_chunks(data_of(error))}
    async with (
        serve_script(scripts.get(how, answer_json(error, status=400))) as server,
        connect_caller(server) as caller,
    ):
        refused = await caller.fail_request()

    assert refused.to_dict() == {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": "Parse error",
        "reason": "peer",
        "rpcCode": -32700,
        **({"status": 400} if how == "status" else {}),
    }


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_empty_success_status_accepts_a_notification(status: int) -> None:
    async with serve_script(answer_status(status)) as server, connect_caller(server) as caller:
        assert await caller.tell() == []
        assert await caller.send(answer_to("s", result={})) == []

    assert server.connections == 1


@pytest.mark.parametrize(
    "head", ["HTTP/1.1 202 Accepted\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"]
)
async def test_body_of_an_accepted_message_is_not_waited_for(head: str) -> None:
    """Only the end of the connection would end such a body."""

    async def script(request: Received, reply: Reply) -> None:
        await reply.write(head.encode())
        await reply.wait_until_gone()

    async with serve_script(script) as server, connect_caller(server) as caller:
        assert await caller.tell() == []


@pytest.mark.parametrize(
    ("script", "message", "rpc_code", "status"),
    [
        pytest.param(answer_status(200), "The server sent an empty answer (200)", -32600, 200, id="empty"),
        pytest.param(answer_status(202), "The server sent an empty answer (202)", -32600, 202, id="accepted"),
        pytest.param(
            answer_status(204), "The server sent an empty answer (204)", -32600, 204, id="no content"
        ),
        pytest.param(
            answer_status(200, b" \n", content_type=JSON),
            "The server sent an empty answer (200)",
            -32600,
            200,
            id="blank",
        ),
        pytest.param(
            answer_status(200, b"<p>hi", content_type="text/html; charset=utf-8"),
            "An answer is JSON or events, not 'text/html'",
            -32600,
            200,
            id="a page",
        ),
        pytest.param(
            answer_status(200, b"{}"),
            "An answer is JSON or events, not no content type",
            -32600,
            200,
            id="what?",
        ),
        pytest.param(
            answer_status(200, b"{", content_type=JSON),
            "The server sent a body that is not JSON",
            -32700,
            None,
            id="not JSON",
        ),
        pytest.param(
            answer_status(200, b"[1]", content_type=JSON),
            "The server sent a body that is not a JSON-RPC 2.0 message",
            -32600,
            None,
            id="no message",
        ),
        pytest.param(
            answer_chunks(b"data: {\n\n"),
            "The server sent a streamed event that is not JSON",
            -32700,
            None,
            id="event",
        ),
        pytest.param(
            answer_json(answer(2)),
            "The server answered ping with the id 2 instead of 1",
            -32600,
            None,
            id="another's answer",
        ),
        pytest.param(
            answer_chunks(data_of(PROGRESS, answer(2))),
            "The response ended without the answer",
            -32600,
            None,
            id="no answer",
        ),
        pytest.param(
            answer_bytes(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n{}"
            ),
            "{where}: the answer is compressed wrongly",
            -32600,
            None,
            id="not compressed",
        ),
    ],
)
async def test_invalid_response_is_reported_as_protocol_error(
    script: Script, message: str, rpc_code: int, status: int | None
) -> None:
    async with serve_script(script) as server, connect_caller(server) as caller:
        error = await caller.fail_request()

    assert (type(error), error.reason, error.message, error.rpc_code, error.status) == (
        MCPError,
        "protocol",
        message.format(where=server.url),
        rpc_code,
        status,
    )


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(answer_chunks(data_of(PROGRESS), clean=False), id="a stream is reset"),
        pytest.param(
            answer_bytes(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\n"),
            id="a stream ends early",
        ),
        pytest.param(
            answer_bytes(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"),
            id="a body ends early",
        ),
        pytest.param(answer_bytes(b""), id="no answer at all"),
        pytest.param(answer_bytes(b"SSH-2.0-OpenSSH_9.9\r\n"), id="not HTTP"),
    ],
)
async def test_broken_connection_is_a_network_error(script: Script) -> None:
    async with serve_script(script) as server, connect_caller(server) as caller:
        error = await caller.fail_request()

    assert (type(error), error.reason, error.rpc_code) == (MCPConnectionError, "network", -32001)
    assert error.message.startswith(f"{server.url}: the connection broke: ")


@pytest.mark.parametrize(
    ("status", "body", "data"),
    [
        (400, b'{"detail": ["x"]}', {"detail": ["x"]}),
        (403, b"Forbidden, you", "Forbidden, you"),
        (404, b"", None),
        (405, b"[]", []),
        (429, b"\xff", "�"),
        (500, b"<h1>oops", "<h1>oops"),
        (503, b"x" * 100_000, "x" * 65_536),
    ],
)
async def test_http_error_status_is_reported(status: int, body: bytes, data: object) -> None:
    """This holds for requests and for notifications."""
    async with serve_script(answer_status(status, body)) as server, connect_caller(server) as caller:
        error = await caller.fail_request()
        with pytest.raises(MCPError) as reported:
            await caller.tell()

    phrase = {404: "Not Found", 503: "Service Unavailable"}.get(status, "Whatever")
    expected = {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": f"{server.url} answers {status} {phrase}",
        "reason": "http",
        "rpcCode": status,
        "status": status,
        "data": data,
    }
    assert error.to_dict() == {name: value for name, value in expected.items() if value is not None}
    assert reported.value.to_dict() == error.to_dict()


@pytest.mark.parametrize(
    ("headers", "retry_after_ms"),
    [
        ({"Retry-After": "30"}, 30_000.0),
        ({"Retry-After": " 0 "}, 0.0),
        (
            {
                "Date": "Wed, 21 Oct 2026 07:28:00 GMT",
                "Retry-After": "Wed, 21 Oct 2026 07:28:45 GMT",
            },
            45_000.0,
        ),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "1.5"}, None),
        ({"Retry-After": "9" * 400}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("body", ["text", "error"])
async def test_retry_after_is_reported(
    headers: dict[str, str], retry_after_ms: float | None, body: str
) -> None:
    script = (
        answer_status(429, b"Slow down", content_type="text/plain", headers=headers)
        if body == "text"
        else answer_json(error_message(1, -32005, "Slow down"), status=429, headers=headers)
    )
    async with serve_script(script) as server, connect_caller(server) as caller:
        error = await caller.fail_request()

    assert (error.status, error.reason, error.retry_after_ms) == (429, "http", retry_after_ms)
    assert error.to_dict().get("retryAfterMs") == retry_after_ms
    assert error.message.endswith("Slow down")


@pytest.mark.parametrize(
    ("media", "body", "words"),
    [
        ("text/plain", b"Quota of 5 calls\n used up", ": Quota of 5 calls used up"),
        ("text/plain; charset=utf-8", b"\xc3\xa4", ": ä"),
        ("application/json", b'{"message": "used up"}', ": used up"),
        ("application/json", b'{"error": {"message": "used up", "code": 1}}', ": used up"),
        ("application/json", b'{"error": "slow", "error_description": "used up"}', ": used up"),
        ("application/problem+json", b'{"title": "Busy", "detail": "used up"}', ": used up"),
        ("application/json", b'{"message": 7}', ""),
        ("application/json", b'["used up"]', ""),
        ("text/html", b"<h1>used up</h1>", ""),
        ("text/plain", b"\x1b[2J", ""),
        ("text/plain", b"x" * 300, ": " + "x" * 200 + "…"),
    ],
)
async def test_readable_body_of_an_http_error_is_in_the_message(media: str, body: bytes, words: str) -> None:
    async with (
        serve_script(answer_status(503, body, content_type=media)) as server,
        connect_caller(server) as caller,
    ):
        error = await caller.fail_request()

    assert error.message == f"{server.url} answers 503 Service Unavailable{words}"


async def test_http_error_does_not_reveal_sent_credentials() -> None:
    headers = {
        "Authorization": "Bearer s3cret-token",
        "X-Api-Key": "k3y-of-mine",
        "Cookie": "a=first; b=second",
        "X-Team": "props",
    }

    async def script(request: Received, reply: Reply) -> None:
        if request.asks == "initialize":
            await reply.result({}, headers={"Mcp-Session-Id": "sess-1234"})
        else:
            said = f"s3cret-token k3y-of-mine first props {request.headers.get('mcp-session-id')}"
            await reply.json({"message": said, "data": [said]}, status=403)

    async with serve_script(script) as server, connect_caller(server, headers=headers) as caller:
        await caller.ask("initialize", 0)
        error = await caller.fail_request()

    assert error.message == f"{server.url} answers 403 Whatever: *** *** *** props ***"
    assert error.data == {"message": "*** *** *** props ***", "data": ["*** *** *** props ***"]}


def _say(says: str, how: str) -> Script:
    async def script(request: Received, reply: Reply) -> None:
        sent = f"{request.target} {request.headers['authorization']} l0velace"
        said = error_message(1, message=says.format(sent))
        if how == "reason phrase":
            await reply.write(f"HTTP/1.1 403 {says.format(sent)}\r\nContent-Length: 0\r\n\r\n".encode())
        elif how == "event":
            await reply.start()
            await reply.event(said)
            await reply.end()
        else:
            await reply.json(said, status=int(how))

    return script


@pytest.mark.parametrize("how", ["200", "401", "event", "reason phrase"])
async def test_error_does_not_reveal_secrets_of_the_url(how: str) -> None:
    async with serve_script(_say("no: {}", how)) as server:
        url = server.url.replace("//", "//ada:l0velace@") + "?token=s3cret-token"
        async with connect_caller(url) as caller:
            if how in ("200", "event"):
                [answer] = await caller.ask()
                message = answer["error"]["message"]
            else:
                message = (await caller.fail_request()).message

    assert message.endswith("no: /mcp?token=*** Basic *** ***")


async def test_redirect_does_not_reveal_a_token() -> None:
    script = answer_status(302, headers={"Location": "http://other.example/login/s3cret-token"})
    async with (
        serve_script(script) as server,
        connect_caller(server, headers={"Authorization": "Bearer s3cret-token"}) as caller,
    ):
        error = await caller.fail_request()

    assert error.message == (
        f"{server.url} redirects (302) to http://other.example/login/***: give that URL, if it is right"
    )


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, br"])
@pytest.mark.parametrize("how", ["JSON", "stream", "status"])
async def test_unrequested_compression_is_named_in_the_error(how: str, coding: str) -> None:
    """The error is not about JSON. A caller cannot ask for an encoding that the client cannot decode."""
    sent = {"Content-Encoding": coding}
    scripts = {
        "JSON": answer_status(200, b"\x0b\x02\x80{}\x03", content_type="application/json", headers=sent),
        "stream": answer_status(200, b"\x0b\x02\x80", content_type="text/event-stream", headers=sent),
        "status": answer_status(503, b"\x0b\x02\x80", content_type="text/plain", headers=sent),
    }
    async with (
        serve_script(scripts[how]) as server,
        connect_caller(server, headers={"Accept-Encoding": "br, zstd"}) as caller,
    ):
        error = await caller.fail_request()

    accepted = list_header(server.requests, "Accept-Encoding")[0] or ""
    unknown = next(name for name in coding.split(", ") if name not in accepted)
    if how == "status":
        assert (error.message, error.data) == (f"{server.url} answers 503 Service Unavailable", None)
    else:
        assert error.reason == "protocol"
        assert error.message == (
            f"The server's answer is compressed with {unknown!r}, which the client did not ask for"
        )


@pytest.mark.parametrize("how", ["JSON", "stream"])
async def test_response_id_may_be_returned_as_a_string(how: str) -> None:
    said = answer("1")
    script = answer_json(said) if how == "JSON" else answer_chunks(data_of(said, PROGRESS))
    async with serve_script(script) as server, connect_caller(server) as caller:
        assert await caller.ask() == [said]


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_json_rpc_error_takes_precedence_over_its_status(status: int) -> None:
    """In the stateless protocol, 404 means an unknown method."""
    error = {"code": -32601, "message": "no such method", "data": {"method": "x"}}
    script = answer_json({"jsonrpc": "2.0", "id": 1, "error": error}, status=status)
    async with serve_script(script) as server, connect_caller(server) as caller:
        refused = await caller.fail_request()

    assert refused.to_dict() == {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": "no such method",
        "reason": "peer",
        "rpcCode": -32601,
        "status": status,
        "data": {"method": "x"},
    }


@pytest.mark.parametrize(
    ("headers", "advice"),
    [
        ({}, "credentials are required; give `auth`, or a header `Authorization`"),
        ({"authorization": "Bearer x"}, "it does not accept the credentials"),
    ],
)
async def test_status_401_explains_how_to_give_credentials(headers: Mapping[str, str], advice: str) -> None:
    async with serve_script(answer_status(401)) as server, connect_caller(server, headers=headers) as caller:
        error = await caller.fail_request()

    assert (error.message, error.status) == (f"{server.url} answers 401 Unauthorized: {advice}", 401)


# Size


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (answer_json(answer(1, {"text": "x" * 2000})), "The server's answer has more than 1000 bytes"),
        (
            answer_chunks(data_of(answer(1, {"text": "x" * 2000}))),
            "The server sent an event of more than 1000 bytes",
        ),
        (
            answer_status(
                200,
                gzip.compress(json.dumps(answer(1, {"text": "x" * 2000})).encode()),
                content_type=JSON,
                headers={"Content-Encoding": "gzip"},
            ),
            "The server's answer has more than 1000 bytes",
        ),
    ],
    ids=["body", "event", "compressed"],
)
async def test_too_large_response_is_refused(script: Script, message: str) -> None:
    async with (
        serve_script(script) as server,
        connect_caller(server, max_body_size=1000, max_event_size=1000) as caller,
    ):
        error = await caller.fail_request()

    assert (error.reason, error.message) == ("protocol", message)


async def test_deadline_passes_while_a_small_response_expands_without_end() -> None:
    """The response has less than 20 KB, and 400 MB of comments after it is decompressed twice."""
    compressor = zlib.compressobj(wbits=31)
    begin = compressor.compress(b"") + compressor.flush(zlib.Z_FULL_FLUSH)
    repeated = compressor.compress(b":\n" * (1 << 19)) + compressor.flush(zlib.Z_FULL_FLUSH)
    script = answer_status(
        200,
        gzip.compress(begin + repeated * 400),
        content_type="text/event-stream",
        headers={"Content-Encoding": "gzip, gzip"},
    )
    async with serve_script(script) as server, connect_caller(server) as caller:
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await caller.channel.send(request(1, "ping", {}), headers={})
        assert time.monotonic() - start < 5


@pytest.mark.parametrize("form", ["JSON", "stream", "compressed"])
async def test_large_response_is_received_whole(form: str) -> None:
    """Larger than the SDK's limit of a megabyte for an event."""
    message = answer(1, {"text": "ü" * (5 << 20)})
    body = json.dumps(message, ensure_ascii=False).encode()
    scripts = {
        "JSON": answer_status(200, body, content_type=JSON),
        "stream": answer_chunks(b"data: ", body, b"\n\n"),
        "compressed": answer_status(
            200, gzip.compress(body, 1), content_type=JSON, headers={"Content-Encoding": "gzip"}
        ),
    }
    async with serve_script(scripts[form]) as server, connect_caller(server) as caller:
        assert await caller.ask() == [message]


async def test_large_response_is_not_copied_many_times() -> None:
    size = 20 << 20
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    begin, end = b'{"jsonrpc":"2.0","id":1,"result":"', b'"}'

    async def script(request: Received, reply: Reply) -> None:
        await reply.write(head % (len(begin) + size + len(end)) + begin)
        for _ in range(size >> 16):
            await reply.write(b"x" * (1 << 16))
        await reply.write(end)

    async with serve_script(script) as server, connect_caller(server) as caller:
        tracemalloc.start()
        try:
            (message,) = await caller.ask()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert len(message["result"]) == size
    assert peak < 3.5 * size


# At the same time, and the end


@pytest.mark.slow
async def test_concurrent_exchanges_do_not_block_each_other() -> None:
    """More than a pool usually has connections for."""
    everyone = asyncio.Barrier(120)

    async def script(request: Received, reply: Reply) -> None:
        await asyncio.wait_for(everyone.wait(), LIMIT_SECONDS)
        await reply.result({"n": request.message["id"]})

    async with serve_script(script) as server, connect_caller(server) as caller:
        await asyncio.gather(*(caller.ask("ping", n) for n in range(119)), caller.ask("ping", 119))


@pytest.mark.parametrize("begun", [False, True], ids=["before the answer", "in a stream"])
async def test_cancelled_exchange_closes_its_connection(begun: bool) -> None:
    """The server sees it at once."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def script(request: Received, reply: Reply) -> None:
        if begun:
            await reply.start()
            await reply.event(PROGRESS)
        asked.set()
        await reply.wait_until_gone()
        gone.set()

    async with serve_script(script) as server, connect_caller(server) as caller:
        asking = asyncio.create_task(caller.ask())
        await asyncio.wait_for(asked.wait(), LIMIT_SECONDS)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(gone.wait(), LIMIT_SECONDS)


async def test_closing_fails_running_exchanges() -> None:
    """It may be called twice, and from another task."""
    asked = asyncio.Event()

    async def script(request: Received, reply: Reply) -> None:
        if request.asks == "stuck":
            asked.set()
            await reply.wait_until_gone()
        else:
            await reply.start()
            await reply.wait_until_gone()

    async with serve_script(script) as server, connect_caller(server) as caller:
        assert await caller.listen()
        asking = asyncio.create_task(caller.fail_request("stuck"))
        await asyncio.wait_for(asked.wait(), LIMIT_SECONDS)
        await asyncio.gather(caller.channel.close(), caller.channel.close())
        errors = [await asking, await caller.fail_request()]
        with pytest.raises(MCPConnectionError):
            await caller.listen()
        assert await caller.channel.terminate() is False

    assert [error.to_dict() for error in errors] == [
        {
            "name": "ConnectionError",
            "code": "CONNECTION_ERROR",
            "message": "The connection was closed",
            "reason": "not_connected",
            "rpcCode": -32001,
        }
    ] * 2
    assert server.asked == ["GET", "stuck"]


@pytest.mark.parametrize("status", [401, 403, 413, 429])
async def test_refusal_with_null_id_is_reported_as_an_http_error(status: int) -> None:
    """In whatever words the refusal comes, it is no answer of the server that was asked."""
    refused = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Not you"}}

    async with serve_script(answer_json(refused, status=status)) as server, connect_caller(server) as caller:
        error = await caller.fail_request("tools/call")

    assert (type(error), error.reason, error.message) == (MCPError, "http", "Not you")
    assert (error.status, error.rpc_code) == (status, -32001)
