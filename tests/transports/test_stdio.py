"""The stdio transport, byte by byte."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.processes import descendants_of
from tests.site import Site
from tests.wire import MODERN_META, Wire, wired

pytestmark = pytest.mark.anyio

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "first",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "w", "version": "1"},
    },
}


def refusal(code: int, message: str, request_id: str | int | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


TOO_MANY = "the message has more than 50,000 values"
TOO_DEEP = "the message is nested more than 100 levels deep"
NOT_JSON = refusal(-32700, "Parse error: the line is not JSON")


# Starting and ending


@pytest.mark.slow
async def test_banner_is_written_to_standard_error() -> None:
    async with wired() as wire:
        await wire.log.wait_for_line("Playwright MCP Server running on stdio")

        assert await wire.end() == 0
        assert await wire.line() == b""


@pytest.mark.slow
async def test_end_of_input_ends_the_server(tmp_path: Path) -> None:
    """The input may end in the middle of a message."""
    async with wired() as wire:
        await wire.initialize()
        await wire.send(json.dumps(INITIALIZE).encode()[:40])

        assert await wire.end() == 0
        assert await wire.line() == b""


@pytest.mark.slow
async def test_immediate_end_of_input_ends_the_server() -> None:
    async with wired() as wire:
        assert await wire.end() == 0
        assert await wire.line() == b""


@pytest.mark.slow
async def test_request_is_answered_before_the_end_of_input() -> None:
    """A client may close its end once it has asked everything."""
    async with wired() as wire:
        await wire.initialize()
        await wire.send(b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n')

        assert await wire.message() == {"jsonrpc": "2.0", "id": 7, "result": {}}
        assert await wire.end() == 0


# The two eras


@pytest.mark.sampled(3)
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_protocol_with_handshake_is_served(version: str) -> None:
    async with wired() as wire:
        hello = (await wire.initialize(version))["result"]
        tools = (await wire.ask("tools/list"))["result"]["tools"]
        pong = await wire.ask("ping")

    assert hello["protocolVersion"] == version
    assert hello["serverInfo"] == {"name": "playwright-mcp-server", "title": "Footlight", "version": "1.0.0"}
    assert "tools" in hello["capabilities"]
    assert hello["instructions"].startswith("Work in a real browser")
    assert len(tools) == 56
    assert pong["result"] == {}


@pytest.mark.slow
async def test_protocol_without_handshake_is_served() -> None:
    async with wired() as wire:
        found = (await wire.ask("server/discover", {"_meta": MODERN_META}))["result"]
        listed = (await wire.ask("tools/list", {"_meta": MODERN_META}))["result"]
        called = await wire.call_modern("list_sessions")

    assert "2026-07-28" in found["supportedVersions"]
    assert found["resultType"] == listed["resultType"] == called["resultType"] == "complete"
    assert found["instructions"].startswith("Work in a real browser")
    assert len(listed["tools"]) == 56
    assert listed["ttlMs"] == 60_000
    assert called["structuredContent"]["success"] is True


@pytest.mark.slow
async def test_both_protocols_list_equal_tools_and_give_equal_answers(site: Site, tmp_path: Path) -> None:
    url = site.page("<title>t</title><p>ä💡</p><table><tr><th>a<th>b<tr><td>1<td>2</table>")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_text", {"selector": "p"}),
        ("extract_table", {"selector": "table"}),
        ("get_page_metadata", {}),
        ("find_elements", {"selector": "td"}),
        ("click", {"selector": "#none", "timeout": 300}),
        ("click", {}),
        ("screenshot", {}),
    ]
    answers: list[list[Any]] = []
    for modern in (False, True):
        async with wired("--state-directory", str(tmp_path)) as wire:
            if modern:
                ask, meta = wire.call_modern, {"_meta": MODERN_META}
            else:
                await wire.initialize()
                ask, meta = wire.call, {}
            await ask("navigate", url=url)
            results = [await ask(name, **arguments) for name, arguments in calls]
            listed = (await wire.ask("tools/list", meta))["result"]
            answers.append(
                [
                    listed["tools"],
                    *((each["structuredContent"], each["content"], each["isError"]) for each in results),
                ]
            )

    # A screenshot is kept under the time at which it was taken.
    said = [re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "NOW", json.dumps(each[1:])) for each in answers]
    assert answers[0][0] == answers[1][0]
    assert said[0] == said[1]


@pytest.mark.slow
async def test_unknown_version_error_lists_supported_versions() -> None:
    async with wired() as wire:
        meta = {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
        answer = await wire.ask("server/discover", {"_meta": meta})

    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


# What is no message


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b"hello", NOT_JSON),
        (b"{", NOT_JSON),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', NOT_JSON),
        (b"\xff\xfe\x00", NOT_JSON),
        (b"\x00", NOT_JSON),
        (b'{"a": "\xc3"}', NOT_JSON),
        (b"[" * 100_000, refusal(-32600, f"Invalid request: {TOO_MANY}")),
        (b'{"id":7,"a":[' + b"[1.5]," * 30_000 + b"0]}", refusal(-32600, f"Invalid request: {TOO_MANY}", 7)),
        (
            b'{"params":{"id":1,"a":' + b"[" * 500 + b"]" * 500 + b'},"jsonrpc":"2.0","id":"x"}',
            refusal(-32600, f"Invalid request: {TOO_DEEP}", "x"),
        ),
        (b"[]", refusal(-32600, "Invalid request: batches are not supported")),
        (
            b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
            refusal(-32600, "Invalid request: batches are not supported"),
        ),
        (b"{}", refusal(-32600, "Invalid request: not a JSON-RPC 2.0 message")),
        (b"null", refusal(-32600, "Invalid request: not a JSON-RPC 2.0 message")),
        (b'"text"', refusal(-32600, "Invalid request: not a JSON-RPC 2.0 message")),
        (
            b'{"jsonrpc":"1.0","id":5,"method":"ping"}',
            refusal(-32600, "Invalid request: not a JSON-RPC 2.0 message", 5),
        ),
        (
            b'{"jsonrpc":"2.0","id":"x","method":7}',
            refusal(-32600, "Invalid request: not a JSON-RPC 2.0 message", "x"),
        ),
        (
            b'{"jsonrpc":"2.0","id":true,"method":7}',
            refusal(-32600, "Invalid request: not a JSON-RPC 2.0 message"),
        ),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, bytes) else "",
)
async def test_invalid_line_is_answered_and_server_continues(
    shared_wire: Wire, line: bytes, answer: dict[str, Any]
) -> None:
    await shared_wire.send(line + b"\n")

    assert await shared_wire.message() == answer
    assert (await shared_wire.ask("ping"))["result"] == {}


@pytest.fixture(scope="module")
async def shared_wire(anyio_backend: str) -> Any:
    """One server for what does no harm."""
    async with wired("--enable-script-evaluation") as wire:
        await wire.initialize()
        yield wire


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b"  \t\n", b"\n\n\n\r\n"])
async def test_blank_lines_are_ignored(shared_wire: Wire, blank: bytes) -> None:
    await shared_wire.send(blank)

    assert (await shared_wire.ask("ping"))["result"] == {}


async def test_lines_may_end_with_crlf(shared_wire: Wire) -> None:
    await shared_wire.send(b'{"jsonrpc":"2.0","id":"crlf","method":"ping"}\r\n')

    assert await shared_wire.message() == {"jsonrpc": "2.0", "id": "crlf", "result": {}}


async def test_messages_may_arrive_split_or_combined(shared_wire: Wire) -> None:
    one, two = (b'{"jsonrpc":"2.0","id":"%s","method":"ping"}\n' % name for name in (b"one", b"two"))
    for piece in (one[:9], one[9:30], one[30:] + two):
        await shared_wire.send(piece)

    assert {(await shared_wire.message())["id"] for _ in range(2)} == {"one", "two"}


@pytest.mark.slow
async def test_message_of_five_megabytes_is_accepted(shared_wire: Wire) -> None:
    text = "ä" * 2_500_000
    there = await shared_wire.call("evaluate", script="text => text.length", args=[text])
    back = await shared_wire.call("evaluate", script="'ä'.repeat(2500000)", observe="none")

    assert there["structuredContent"]["data"] == {"result": 2_500_000}
    whole = await shared_wire.ask("resources/read", {"uri": back["structuredContent"]["resource"]["uri"]})
    [contents] = whole["result"]["contents"]
    assert json.loads(contents["text"]) == {"success": True, "data": {"result": text}, "effect": "none"}


async def test_too_long_line_is_refused(shared_wire: Wire) -> None:
    for _ in range(65):
        await shared_wire.send(b" " * (1 << 20))
    await shared_wire.send(b"\n")

    assert await shared_wire.message() == refusal(-32600, "Message longer than 67108864 bytes")
    assert (await shared_wire.ask("ping"))["result"] == {}


async def test_unknown_methods_and_tools_are_protocol_errors(shared_wire: Wire) -> None:
    unknown_method = await shared_wire.ask("tools/fly")
    unknown_tool = await shared_wire.ask("tools/call", {"name": "fly", "arguments": {}})
    no_name = await shared_wire.ask("tools/call", {"arguments": {}})

    assert unknown_method["error"]["code"] == -32601
    assert unknown_tool["error"] == {"code": -32602, "message": "Unknown tool: fly"}
    assert no_name["error"]["code"] == -32602


async def test_notifications_are_not_answered(shared_wire: Wire) -> None:
    await shared_wire.send(b'{"jsonrpc":"2.0","method":"notifications/unheard-of"}\n')
    await shared_wire.send(
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n'
    )

    assert (await shared_wire.ask("ping"))["result"] == {}


async def test_cancelled_call_releases_its_session(shared_wire: Wire, site: Site) -> None:
    page = site.page("<p>x</p>")
    made = await shared_wire.call("create_session")
    session = made["structuredContent"]["data"]["sessionId"]
    await shared_wire.call("navigate", url=page, sessionId=session)
    arguments = {"script": "new Promise(() => {})", "sessionId": session}
    request = {"jsonrpc": "2.0", "id": "slow", "method": "tools/call"}
    await shared_wire.send(
        json.dumps({**request, "params": {"name": "evaluate", "arguments": arguments}}).encode() + b"\n"
    )
    await shared_wire.ask("ping")
    await shared_wire.send(
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}\n'
    )

    text = await shared_wire.call("get_text", selector="p", sessionId=session)

    assert text["structuredContent"]["data"] == {"text": "x"}


# Standard output


NOISY = """#!/bin/sh
echo noise of the browser
echo noise of the browser >&2
exec {browser} "$@"
"""


@pytest.mark.slow
async def test_standard_output_contains_only_messages(site: Site, tmp_path: Path) -> None:
    from footlight.browser.launch.installation import find_browser
    from footlight.config import BrowserSettings

    found = find_browser(BrowserSettings(), Path("/nowhere")).path
    browser = tmp_path / "browser"
    browser.write_text(NOISY.format(browser=found))
    browser.chmod(0o700)
    url = site.page("<script>console.log('noise'); console.error('noise'); alert('noise')</script><p>x</p>")
    async with wired("--executable-path", str(browser), "--log-level", "debug") as wire:
        await wire.initialize()
        await wire.call("navigate", url=url)
        assert (await wire.call("get_text", selector="p"))["structuredContent"]["success"]
        await wire.end()
        assert await wire.line() == b""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
async def test_child_processes_do_not_inherit_the_stdio_pipes(shared_wire: Wire, site: Site) -> None:
    await shared_wire.call("navigate", url=site.page("<p>x</p>"))
    server = psutil.Process(shared_wire.process.pid)
    wire = {read_descriptor(os.getpid(), pipe) for pipe in pipes(shared_wire)}
    children = descendants_of(server)
    assert len(children) > 3

    for child in children:
        assert not {read_descriptor(child.pid, number) for number in range(child.num_fds() + 50)} & wire, (
            child.name()
        )


def read_descriptor(pid: int, number: int) -> str | None:
    """Return what this process has open under this number."""
    try:
        return str(Path(f"/proc/{pid}/fd/{number}").readlink())
    except OSError:
        return None


def pipes(wire: Wire) -> list[int]:
    """Yield our ends of the server's standard input and output."""
    transport = wire.process._transport  # type: ignore[attr-defined]
    return [transport.get_pipe_transport(number).get_extra_info("pipe").fileno() for number in (0, 1)]
