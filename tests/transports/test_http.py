"""Streamable HTTP with and without a handshake: messages, owners of sessions, and the shutdown."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import Client

from tests.http_client import (
    LATEST,
    MODERN,
    Handshaken,
    HttpServer,
    Message,
    Raw,
    data,
    error,
    events,
    handshake,
    initialize,
    modern,
    raw,
    refusal,
    request,
    routing,
    served,
)
from tests.processes import descendants_of
from tests.site import Site

pytestmark = pytest.mark.anyio

VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25")
NEVER = "#never"
"""Nothing on any page here."""


# The two eras


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_sdk_client_works_over_http(http: HttpServer, site: Site, mode: str) -> None:
    heard: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with Client(f"{http.url}/mcp", mode=mode) as sdk:
        made = (await sdk.call_tool("create_session", {})).structured_content
        assert made is not None
        await sdk.call_tool("navigate", {"url": site.page("<p>here</p>"), **made["data"]})
        text = await sdk.call_tool("get_text", {"selector": "p", **made["data"]})
        waited = await sdk.call_tool(
            "wait_for_selector",
            {"selector": NEVER, "timeout": 1500, **made["data"]},
            progress_callback=on_progress,
        )
        await sdk.call_tool("close_session", made["data"])
        assert sdk.protocol_version == (MODERN if mode == "auto" else LATEST)

    assert text.structured_content == {"success": True, "data": {"text": "here"}}
    assert waited.structured_content is not None
    assert waited.structured_content["error"]["code"] == "TIMEOUT"
    assert heard
    assert heard == sorted(set(heard))


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_handshake_opens_a_transport_session(client: Raw, version: str) -> None:
    opened = await client.send(initialize(version))
    session = await handshake(client, version)

    assert opened.status_code == 200
    assert opened.headers["content-type"] == "application/json"
    assert len(opened.headers["mcp-session-id"]) == 32
    assert session.id != opened.headers["mcp-session-id"]
    assert await session.ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}
    ended = await session.end()
    assert (ended.status_code, ended.content) == (200, b"")
    assert (await session.end()).status_code == 404
    again = await session.send(request("ping"))
    assert (again.status_code, again.json()) == (404, refusal(-32600, "Session not found"))


async def test_unknown_protocol_version_is_answered_with_the_latest(client: Raw) -> None:
    opened = await client.send(initialize("1999-01-01"))

    assert opened.json()["result"]["protocolVersion"] == LATEST


async def test_transport_session_is_required_after_the_handshake(client: Raw) -> None:
    without = await client.send(request("ping"), headers={"MCP-Protocol-Version": LATEST})
    unknown = await client.send(request("ping"), headers={"Mcp-Session-Id": "no-such-session"})
    listening = await client.send(method="GET", headers={"Accept": "text/event-stream"})

    assert [each.status_code for each in (without, unknown, listening)] == [400, 404, 400]
    assert without.json() == refusal(-32600, "Bad Request: Missing session ID")
    # A client keeps what it is told, and this one was never opened.
    assert not any("mcp-session-id" in each.headers for each in (without, unknown, listening))


async def test_notifications_and_responses_are_accepted_with_202(client: Raw) -> None:
    session = await handshake(client)
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/unheard-of"},
        {"jsonrpc": "2.0", "id": 77, "result": {}},
    ):
        accepted = await session.send(message)
        assert (accepted.status_code, accepted.content) == (202, b"")
    in_the_current_era = await client.send(
        {"jsonrpc": "2.0", "method": "notifications/unheard-of"}, headers={"MCP-Protocol-Version": MODERN}
    )

    assert (in_the_current_era.status_code, in_the_current_era.content) == (202, b"")


@pytest.mark.parametrize("era", [LATEST, MODERN])
@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (b"{", -32700, "Parse error: the body is not JSON"),
        (b"", -32700, "Parse error: the body is not JSON"),
        (b'{"a": "\xff"}', -32700, "Parse error: the body is not JSON"),
        (b"[" * 100_000, -32600, "Invalid request: the message has more than 50,000 values"),
        (b"[" * 200, -32600, "Invalid request: the message is nested more than 100 levels deep"),
        (b"{}", -32600, "Invalid request: not a JSON-RPC 2.0 message"),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, "Invalid request: not a JSON-RPC 2.0 message"),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, "Invalid request: batches are not supported"),
    ],
    ids=["half", "nothing", "no UTF-8", "many", "deep", "empty", "another version", "batch"],
)
async def test_invalid_message_is_reported_as_on_every_transport(
    client: Raw, era: str, body: bytes, code: int, message: str
) -> None:
    speaker = await handshake(client) if era == LATEST else client
    answer = await speaker.send(content=body, headers={"MCP-Protocol-Version": era})

    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/json")
    assert answer.json() == refusal(code, message, 1 if b'"1.0"' in body else None)


async def test_accept_and_content_type_headers_are_checked(client: Raw) -> None:
    session = await handshake(client)
    ping = request("ping")

    async def status(era: str, **headers: str) -> int:
        return (await session.send(ping, headers={"MCP-Protocol-Version": era, **headers})).status_code

    for era in (LATEST, MODERN):
        assert await status(era, Accept="application/json") == 406
        assert await status(era, Accept="text/html") == 406
        assert await status(era, **{"Content-Type": "text/plain"}) in (400, 415)
    stream = await session.send(method="GET", headers={"Accept": "application/json"})
    assert stream.status_code == 406
    charset = await session.send(ping, headers={"Content-Type": "application/json; charset=utf-8"})
    assert charset.json()["result"] == {}


async def test_other_methods_and_paths_are_refused(client: Raw) -> None:
    session = await handshake(client)
    for method in ("PUT", "PATCH", "OPTIONS", "HEAD"):
        refused = await session.send(method=method)
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST, DELETE")
    for method in ("GET", "DELETE"):
        refused = await client.send(method=method, headers={"MCP-Protocol-Version": MODERN})
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    for path in ("/", "/mcp/", "/sse", "/message", "/mcp/../etc"):
        assert (await session.send(request("ping"), path=path)).status_code == 404


async def test_unknown_path_error_names_the_endpoint(client: Raw) -> None:
    for path in ("/", "/sse"):
        answer = await client.send(request("ping"), path=path, headers={"Host": "localhost:9"})
        message = "Not found: the MCP endpoint is http://localhost:9/mcp"
        assert (answer.status_code, answer.json()) == (404, refusal(-32600, message))


async def test_handshake_protocol_errors_are_json_rpc_responses(client: Raw) -> None:
    session = await handshake(client)

    unknown_method = await session.ask("tools/fly")
    unknown_tool = await session.ask("tools/call", {"name": "fly", "arguments": {}})

    assert unknown_method["error"]["code"] == -32601
    assert unknown_tool["error"] == {"code": -32602, "message": "Unknown tool: fly"}


# The current era's ladder


LIST = modern("tools/call", {"name": "list_sessions", "arguments": {}})


def remove_key(message: Message, key: str) -> Message:
    meta = {name: value for name, value in message["params"]["_meta"].items() if not name.endswith(key)}
    return {**message, "params": {**message["params"], "_meta": meta}}


@pytest.mark.parametrize(
    ("message", "headers", "status", "code"),
    [
        (LIST, {"Mcp-Method": None}, 400, -32020),
        (LIST, {"Mcp-Method": "tools/list"}, 400, -32020),
        (LIST, {"Mcp-Name": None}, 400, -32020),
        (LIST, {"Mcp-Name": "navigate"}, 400, -32020),
        (LIST, {"Mcp-Name": "=?base64?bGlzdF9zZXNzaW9ucw==?="}, 200, None),
        (LIST, {"MCP-Protocol-Version": "2031-01-01"}, 400, -32020),
        (remove_key(LIST, "clientCapabilities"), {}, 400, -32602),
        (remove_key(LIST, "clientInfo"), {}, 200, None),
        (modern("tools/fly"), {}, 404, -32601),
        (modern("ping"), {}, 404, -32601),
        (modern("tools/call", {"name": "fly", "arguments": {}}), {}, 400, -32602),
    ],
    ids=[
        *("no method", "another method", "no name", "another name", "encoded name", "another version"),
        *("no capabilities", "nobody", "unknown method", "old method", "unknown tool"),
    ],
)
async def test_routing_headers_must_match_the_body(
    client: Raw, message: Message, headers: dict[str, str | None], status: int, code: int | None
) -> None:
    answer = await client.send(message, headers={**routing(message), **headers})

    assert answer.headers["content-type"] == "application/json"
    assert (answer.status_code, answer.json().get("error", {}).get("code")) == (status, code)
    assert "mcp-session-id" not in answer.headers


async def test_unknown_version_error_lists_supported_versions(client: Raw) -> None:
    message = modern("server/discover")
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"

    answer = await client.send(message, headers={**routing(message), "MCP-Protocol-Version": "2031-01-01"})

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32022
    assert answer.json()["error"]["data"] == {"supported": [MODERN], "requested": "2031-01-01"}


async def test_duplicate_routing_header_is_refused(client: Raw) -> None:
    built = client.build(LIST, headers=routing(LIST))
    built.headers = httpx2.Headers([*built.headers.multi_items(), ("Mcp-Name", "list_sessions")])

    answer = await client.http.send(built)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


async def test_client_disconnect_cancels_its_call(client: Raw, http: HttpServer, site: Site) -> None:
    """In the current era. The session can be used at once, and its page is the one it was."""
    made = await data(client, "create_session")
    await data(client, "navigate", url=site.page("<p>still here</p>"), **made)
    waiting = modern(
        "tools/call",
        {
            "name": "wait_for_selector",
            "arguments": {"selector": NEVER, **made},
            "_meta": {"progressToken": "t"},
        },
    )
    async with raw(http) as other, other.streaming(waiting, headers=routing(waiting)) as response:
        assert (await anext(events(response))).message["method"] == "notifications/progress"

    assert await data(client, "get_text", selector="p", timeout=3000, **made) == {"text": "still here"}
    await data(client, "close_session", **made)


async def test_cancelled_call_releases_its_session(client: Raw, http: HttpServer, site: Site) -> None:
    """In the handshake era, where its stream ends with an error."""
    session = await handshake(client)
    await data(session, "navigate", url=site.page("<p>still here</p>"))
    params = {"name": "wait_for_selector", "arguments": {"selector": NEVER}, "_meta": {"progressToken": "t"}}
    async with session.streaming(request("tools/call", params, id="slow")) as response:
        stream = events(response)
        while "progress" not in (await anext(stream)).data:
            pass
        await session.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}
        )
        last = [event async for event in stream][-1].message

    assert last == refusal(-32800, "Request cancelled", "slow")
    assert await data(session, "get_text", selector="p", timeout=3000) == {"text": "still here"}


# Sessions and callers


async def test_a_browser_session_outlives_transport_sessions(
    client: Raw, http: HttpServer, site: Site
) -> None:
    """It is ended by hand, or by its own idleness."""
    first = await handshake(client)
    made = await data(first, "create_session")
    await data(first, "navigate", url=site.page("<p>mine</p>"), **made)
    await first.end()

    async with raw(http) as other:
        # Its connection is dropped, and the transport session is not ended.
        second = await handshake(other)
        assert await data(second, "get_text", selector="p", **made) == {"text": "mine"}
        await data(second, "navigate", url=site.page("<p>still mine</p>"), **made)

    third = await handshake(client)
    assert await data(third, "get_text", selector="p", **made) == {"text": "still mine"}
    assert await data(client, "get_text", selector="p", **made) == {"text": "still mine"}
    await data(third, "close_session", **made)
    assert (await error(client, "get_text", selector="p", **made))["code"] == "SESSION_NOT_FOUND"


async def test_each_transport_session_has_its_own_default_session(client: Raw, site: Site) -> None:
    """Callers without a token may use each session whose id they know."""
    ada, bob = await handshake(client), await handshake(client)
    await data(ada, "navigate", url=site.page("<p>of Ada</p>"))
    await data(bob, "navigate", url=site.page("<p>of Bob</p>"), sessionId="default")

    assert await data(ada, "get_text", selector="p", sessionId="default") == {"text": "of Ada"}
    assert await data(bob, "get_text", selector="p") == {"text": "of Bob"}
    listed = [each["sessionId"] for each in (await data(ada, "list_sessions"))["sessions"]]
    assert "default" not in listed
    # No transport session can be read from the id of a browser session.
    assert not {ada.id, bob.id} & set(listed)
    await data(ada, "close_session", sessionId="default")
    assert await data(bob, "get_text", selector="p") == {"text": "of Bob"}
    await data(bob, "close_session", sessionId="default")


@pytest.mark.parametrize("arguments", [{}, {"sessionId": "default"}])
async def test_independent_request_without_session_id_is_refused(
    client: Raw, arguments: dict[str, Any]
) -> None:
    """The error says what to do next."""
    assert await error(client, "get_text", selector="p", **arguments) == {
        "code": "MISSING_PARAMETER",
        "message": "sessionId: the requests of this connection are independent, "
        "so each must name its session",
        "details": {"parameter": "sessionId"},
        "retryable": False,
        "suggestion": "Call create_session, and give its sessionId with every call.",
    }


async def test_independent_request_ignores_the_transport_session_header(client: Raw) -> None:
    """Its header is not looked at in the current era, so nobody gets at a default with it."""
    session = await handshake(client)
    message = modern("tools/call", {"name": "get_cookies", "arguments": {}})

    answer = await session.send(message, headers=routing(message))

    assert answer.json()["result"]["structuredContent"]["error"]["code"] == "MISSING_PARAMETER"


@pytest.mark.slow
async def test_default_session_can_be_shared(site: Site, tmp_path: Path) -> None:
    async with served(tmp_path, "--share-default") as server, raw(server) as client:
        ada, bob = await handshake(client), await handshake(client)
        await data(ada, "navigate", url=site.page("<p>of all</p>"))

        assert await data(bob, "get_text", selector="p") == {"text": "of all"}
        assert await data(client, "get_text", selector="p") == {"text": "of all"}
        assert len((await data(bob, "list_sessions"))["sessions"]) == 1


# The end


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals")
async def test_shutdown_finishes_running_calls(site: Site, tmp_path: Path) -> None:
    """New requests are refused meanwhile, and open streams do not hold it up."""
    async with served(tmp_path) as server, raw(server) as client:
        session = await handshake(client)
        await data(session, "navigate", url=site.page("<p>x</p>"))
        family = [psutil.Process(server.pid), *descendants_of(psutil.Process(server.pid))]
        listen = modern("subscriptions/listen", {"notifications": {"resourcesListChanged": True}})
        params = {
            "name": "wait_for_selector",
            "arguments": {"selector": NEVER, "timeout": 2500},
            "_meta": {"progressToken": "t"},
        }
        async with (
            session.listening(),
            client.streaming(listen, headers=routing(listen)) as news,
            session.streaming(request("tools/call", params, id="slow")) as response,
        ):
            reported, stream = events(news), events(response)
            assert "acknowledged" in (await anext(reported)).data
            while "progress" not in (await anext(stream)).data:
                pass

            server.process.terminate()
            ended = [event.message async for event in reported]
            refused = await session.send(request("ping"))
            answers = [event.message async for event in stream]

            assert ended[-1]["result"]["resultType"] == "complete"
            assert (refused.status_code, refused.headers["connection"]) == (503, "close")
            assert refused.json() == refusal(-32603, "The server is shutting down")
            assert answers[-1]["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"
        assert await server.exit() == 0
        _, alive = await asyncio.to_thread(psutil.wait_procs, family, 5.0)
        assert not alive
        assert not [line for line in server.log.lines if "Traceback" in line or '"error"' in line]


@asynccontextmanager
async def waiting_call(session: Handshaken) -> AsyncGenerator[None]:
    """Make a call that waits for a minute. It has begun to wait when the context is entered."""
    params = {
        "name": "wait_for_selector",
        "arguments": {"selector": NEVER, "timeout": 60_000},
        "_meta": {"progressToken": "t"},
    }
    async with session.streaming(request("tools/call", params)) as response:
        stream = events(response)
        while "progress" not in (await anext(stream)).data:
            pass
        yield


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals")
async def test_second_signal_ends_the_server_immediately(site: Site, tmp_path: Path) -> None:
    async with served(tmp_path) as server, raw(server) as client:
        session = await handshake(client)
        async with waiting_call(session):
            family = [psutil.Process(server.pid), *descendants_of(psutil.Process(server.pid))]
            server.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(10):
                while (await client.send(method="GET", path="/readyz")).status_code == 200:
                    pass

            server.process.send_signal(signal.SIGINT)

            async with asyncio.timeout(20):
                assert await server.exit() == 0
        _, alive = await asyncio.to_thread(psutil.wait_procs, family, 5.0)
        assert not alive


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals")
async def test_shutdown_does_not_wait_forever_for_a_call(site: Site, tmp_path: Path) -> None:
    config = {"listen": {"shutdownTimeout": 300}}
    async with served(tmp_path, config=config) as server, raw(server) as client:
        session = await handshake(client)
        async with waiting_call(session):
            server.process.terminate()

            async with asyncio.timeout(20):
                assert await server.exit() == 0
