"""Every failure, over every transport where it can occur: its error, and the state afterwards."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import ssl
import traceback
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import pytest

import footlight.client
from footlight import (
    MCPClient,
    MCPConnectionError,
    MCPError,
    MCPTimeoutError,
    ServerNotAvailableError,
    ToolInvocationError,
    is_network_error,
    is_session_expired,
    is_timeout,
    is_tool_not_found,
)
from footlight.client.transports.stdio import Stdio
from footlight.protocol.channel import Transport
from footlight.protocol.errors import Reason
from tests.certificates import make_certificate
from tests.client.broken import http, memory, process, websocket
from tests.client.broken.server import (
    LIMIT_SECONDS,
    SECRETS,
    Broken,
    Fault,
    Over,
    an_error,
    an_error_for_nobody,
    failed_tool,
    neither_result_nor_error,
    no_object,
    silence,
    unheard_of_version,
    unknown_tool_as_a_result,
    unknown_tool_of_the_document,
    unknown_tool_of_the_sdks,
    wrong_id,
)
from tests.docs.markdown import ROOT

pytestmark = pytest.mark.anyio

SHORT_MS = 400.0
LONG_MS = 10_000.0

ARGUMENTS = {"path": "/tmp/report", "apiKey": "rosebud"}
TOOL = {"toolName": "broken", "toolArgs": {"path": "/tmp/report", "apiKey": "***"}}

PIPES: tuple[Over, ...] = ("stdio", "websocket", "memory")
HTTP: tuple[Over, ...] = ("http json", "http events")


@dataclass(frozen=True)
class Report:
    """A whole error; `{where}` stands for what the client connects to."""

    kind: type[MCPError]
    fields: Mapping[str, Any]


NAMES = {
    MCPError: ("MCPError", "MCP_ERROR"),
    MCPConnectionError: ("ConnectionError", "CONNECTION_ERROR"),
    ServerNotAvailableError: ("ServerNotAvailableError", "SERVER_NOT_AVAILABLE"),
    MCPTimeoutError: ("TimeoutError", "TIMEOUT_ERROR"),
    ToolInvocationError: ("ToolInvocationError", "TOOL_INVOCATION_ERROR"),
}


def report(kind: type[MCPError], message: str, reason: str, rpc_code: int, **more: Any) -> Report:
    name, code = NAMES[kind]
    return Report(
        kind,
        {"name": name, "code": code, "message": message, "reason": reason, "rpcCode": rpc_code, **more},
    )


def report_loss(message: str, **more: Any) -> Report:
    return report(MCPConnectionError, message, "network", -32001, **more)


def report_no_server(message: str, **more: Any) -> Report:
    return report(ServerNotAvailableError, message, "network", -32001, **more)


def report_handshake(message: str, rpc_code: int = -32600, **more: Any) -> Report:
    return report(MCPConnectionError, f"The handshake failed: {message}", "handshake", rpc_code, **more)


def report_timeout(message: str, **more: Any) -> Report:
    return report(MCPTimeoutError, message, "timeout", -32000, timeout=SHORT_MS, **more)


def wrong(message: str, rpc_code: int = -32600, **more: Any) -> Report:
    return report(MCPError, message, "protocol", rpc_code, **more)


At = Literal["opening", "initialize", "notifications/initialized", "broken"]
After = Literal["goes on", "lost", "begins anew"]


@dataclass(frozen=True)
class Row:
    """`broken` is a tool, `opening` the beginning of a WebSocket."""

    fault: Fault
    over: Over
    at: At
    expected_report: Report
    after: After
    others: Report | None
    """What a call is told that was under way beside it, where it is not the same."""

    def __str__(self) -> str:
        return f"{self.fault.__name__} over {self.over} at {self.at}"


def rows(
    fault: Fault,
    *overs: Over,
    expected_report: Mapping[At, Report],
    after: After = "goes on",
    others: Report | None = None,
) -> list[Row]:
    """Return a row for each transport and each place where the fault is reported."""
    return [
        Row(fault, over, at, name_process(what) if over == "stdio" else what, after, others)
        for over in overs
        for at, what in expected_report.items()
    ]


def name_process(expected_report: Report) -> Report:
    """Return what an error of the connection says: it names the command line."""
    if expected_report.kind not in (MCPConnectionError, ServerNotAvailableError):
        return expected_report
    return Report(expected_report.kind, {**expected_report.fields, "serverCommand": "{where}"})


def anywhere(expected_report: Report) -> dict[At, Report]:
    return {"initialize": expected_report, "broken": expected_report}


def report_none(message: str, rpc_code: int = -32600, **more: Any) -> dict[At, Report]:
    return {
        "initialize": report_handshake(message, rpc_code, **more),
        "broken": wrong(message, rpc_code, **more),
    }


def refuse_by_peer(**more: Any) -> dict[At, Report]:
    return {
        "initialize": report_handshake("The disk is full", -32603, **more),
        **fail_tool("The disk is full", "peer", -32603, **more),
    }


def fail_tool(message: str, reason: str, rpc_code: int, **more: Any) -> dict[At, Report]:
    return {"broken": report(ToolInvocationError, message, reason, rpc_code, **TOOL, **more)}


def lose(message: str) -> dict[At, Report]:
    return anywhere(report_loss(message))


LATE: Mapping[At, Report] = {
    "initialize": report_timeout("{where} did not answer within 400ms; is it an MCP server?"),
    "broken": report_timeout("The tool broken did not respond within 400ms", toolName="broken"),
}


# Over every transport

VERSIONS = "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"
OLD = f"the server speaks the protocol's revision '1999-12-31', and this client {VERSIONS}"
MISSING = "is missing: the answer has neither `result` nor `error`"
NO_ANSWER = "The response ended without the answer"

EVERYWHERE = [
    *rows(silence, *PIPES, *HTTP, expected_report=LATE),
    *rows(wrong_id, *PIPES, expected_report=LATE),
    *rows(wrong_id, "http events", expected_report=report_none(NO_ANSWER)),
    *rows(
        wrong_id,
        "http json",
        expected_report={
            "initialize": report_handshake("The server answered initialize with the id 1001 instead of 1"),
            "broken": wrong("The server answered tools/call with the id 1003 instead of 3"),
        },
    ),
    *rows(
        no_object,
        "stdio",
        "websocket",
        *HTTP,
        expected_report={
            "initialize": report_handshake("The result of initialize is not an object"),
            "broken": wrong("The result of tools/call is not an object"),
        },
    ),
    *rows(
        neither_result_nor_error,
        "stdio",
        "websocket",
        *HTTP,
        expected_report={
            "initialize": report_handshake(f"The result of initialize {MISSING}"),
            "broken": wrong(f"The result of tools/call {MISSING}"),
        },
    ),
    *rows(
        an_error,
        *PIPES,
        *HTTP,
        expected_report=refuse_by_peer(data={"free": 0}),
    ),
    # Beside another call nobody knows whose it is.
    *rows(an_error_for_nobody, *PIPES, expected_report={**refuse_by_peer(), "broken": LATE["broken"]}),
    *rows(an_error_for_nobody, *HTTP, expected_report=refuse_by_peer()),
    *rows(unheard_of_version, *PIPES, *HTTP, expected_report={"initialize": report_handshake(OLD)}),
    *rows(failed_tool, *PIPES, *HTTP, expected_report=fail_tool("No report", "tool", -32603)),
    *rows(
        unknown_tool_of_the_sdks,
        *PIPES,
        *HTTP,
        expected_report=fail_tool("Unknown tool: broken", "unknown_tool", -32602),
    ),
    *rows(
        unknown_tool_of_the_document,
        *PIPES,
        *HTTP,
        expected_report=fail_tool("There is no broken", "unknown_tool", -32601),
    ),
    *rows(
        unknown_tool_as_a_result,
        *PIPES,
        *HTTP,
        expected_report=fail_tool("Unknown tool: broken", "unknown_tool", -32601),
    ),
]


# Over a process's standard streams


OVER_STDIO = [
    *rows(
        process.ends,
        "stdio",
        expected_report=lose(
            "The server ended with exit code 3; the end of its stderr: warming up\nthe disk is full"
        ),
        after="lost",
    ),
    *rows(
        process.ends_with_a_traceback,
        "stdio",
        expected_report=lose(
            "The server ended with exit code 1; the end of its stderr: OSError: the disk is full"
        ),
        after="lost",
    ),
    *rows(
        process.is_killed,
        "stdio",
        expected_report=lose("The server was ended by SIGKILL"),
        after="lost",
    ),
    *rows(
        process.closes_its_output,
        "stdio",
        expected_report=lose("The server closed its output"),
        after="lost",
    ),
    *rows(
        process.ends_in_half_a_line,
        "stdio",
        expected_report=lose("The server ended with exit code 0 in the middle of a message"),
        after="lost",
    ),
    *rows(process.a_line_that_is_not_json, "stdio", expected_report=LATE),
    *rows(process.a_line_that_is_no_message, "stdio", expected_report=LATE),
    *rows(
        process.a_result_nested_too_deeply,
        "stdio",
        expected_report={
            "initialize": report_handshake("The result of initialize is nested too deeply"),
            "broken": wrong("The result of tools/call is nested too deeply"),
        },
    ),
    *rows(
        process.a_number_with_too_many_digits,
        "stdio",
        expected_report={
            "initialize": report_handshake("The result of initialize has a number with too many digits"),
            "broken": wrong("The result of tools/call has a number with too many digits"),
        },
    ),
]


# Over HTTP


def refuse(status: int, phrase: str, data: Any = None) -> dict[At, Report]:
    more = {} if data is None else {"data": data}
    words = f": {data.strip()}" if isinstance(data, str) else ""
    message = f"{{where}} answers {status} {phrase}{words}"
    return anywhere(report(MCPError, message, "http", status, status=status, **more))


def broke(why: str) -> dict[At, Report]:
    return anywhere(report_loss(f"{{where}}: the connection broke: {why}"))


NO_JSON_EVENT = "The server sent a streamed event that is not JSON"

STATUSES = [
    *(
        (http.status(number, phrase), refuse(number, phrase))
        for number, phrase in (
            (400, "Bad Request"),
            (405, "Method Not Allowed"),
            (500, "Internal Server Error"),
            (503, "Service Unavailable"),
        )
    ),
    (
        http.status(401, "Unauthorized"),
        refuse(401, "Unauthorized: it does not accept the credentials"),
    ),
    (http.status(403, "Forbidden", "Not you"), refuse(403, "Forbidden", "Not you")),
    (http.status(413, "Too Much", '{"most": 9}'), refuse(413, "Too Much", {"most": 9})),
    (
        http.status(429, "Too Many Requests", "Later\n"),
        refuse(429, "Too Many Requests", "Later\n"),
    ),
]
UNWELL = http.status(500, "Unwell")
NOT_FOUND = http.status(404, "Not Found", "Nothing is here")
EXPIRED = report(MCPConnectionError, "Session expired", "session_expired", -32000, status=404)

OVER_HTTP = [
    *(
        row
        for status, expected_report in STATUSES
        for row in rows(status, *HTTP, expected_report=expected_report)
    ),
    *rows(
        NOT_FOUND,
        *HTTP,
        expected_report={"initialize": refuse(404, "Not Found", "Nothing is here")["initialize"]},
    ),
    *rows(NOT_FOUND, *HTTP, expected_report={"broken": EXPIRED}, after="begins anew"),
    *rows(
        UNWELL,
        *HTTP,
        expected_report={"notifications/initialized": refuse(500, "Unwell")["initialize"]},
    ),
    *rows(
        http.status_with_an_error,
        *HTTP,
        expected_report=refuse_by_peer(status=500),
    ),
    *rows(
        http.redirect,
        *HTTP,
        expected_report=anywhere(
            report(
                MCPError,
                "{where} redirects (307) to http://127.0.0.1:9/elsewhere: give that URL, if it is right",
                "http",
                307,
                status=307,
            )
        ),
    ),
    *rows(http.reset, *HTTP, expected_report=broke("Connection reset by peer")),
    *rows(http.hung_up, *HTTP, expected_report=broke("Server disconnected without sending a response.")),
    *rows(http.half_a_head, *HTTP, expected_report=broke("Server disconnected without sending a response.")),
    *rows(http.no_http, *HTTP, expected_report=broke("illegal status line")),
    *rows(http.illegal_header, *HTTP, expected_report=broke("illegal header line")),
    *rows(
        http.half_a_body,
        *HTTP,
        expected_report=broke(
            "peer closed connection without sending complete message body (incomplete chunked read)"
        ),
    ),
    *rows(http.reset_in_the_body, *HTTP, expected_report=broke("Connection reset by peer")),
    *rows(http.no_chunk, *HTTP, expected_report=broke("illegal chunk header")),
    *rows(
        http.not_json,
        "http json",
        expected_report=report_none("The server sent a body that is not JSON", -32700),
    ),
    *rows(http.not_json, "http events", expected_report=report_none(NO_JSON_EVENT, -32700)),
    *rows(
        http.no_message,
        "http json",
        expected_report=report_none("The server sent a body that is not a JSON-RPC 2.0 message"),
    ),
    *rows(
        http.no_message,
        "http events",
        expected_report=report_none("The server sent a streamed event that is not a JSON-RPC 2.0 message"),
    ),
    *rows(
        http.nothing,
        *HTTP,
        expected_report=report_none("The server sent an empty answer (200)", status=200),
    ),
    *rows(
        http.accepted,
        *HTTP,
        expected_report=report_none("The server sent an empty answer (202)", status=202),
    ),
    *rows(
        http.a_page,
        *HTTP,
        expected_report=report_none("An answer is JSON or events, not 'text/html'", status=200),
    ),
    *rows(http.silence_after_the_head, *HTTP, expected_report=LATE),
    *rows(http.silence_in_the_body, *HTTP, expected_report=LATE),
    *rows(http.end_of_events, "http events", expected_report=report_none(NO_ANSWER)),
    *rows(http.end_in_an_event, "http events", expected_report=report_none(NO_JSON_EVENT, -32700)),
    *rows(http.reset_of_what_could_go_on, "http events", expected_report=broke("Connection reset by peer")),
    *rows(http.end_of_what_could_go_on, "http events", expected_report=report_none(NO_ANSWER)),
]


# Over WebSocket


def refuse_opening(status: int, said: str, **more: Any) -> dict[At, Report]:
    message = f"{{where}}: the server refused the connection: HTTP {status}: {said}"
    return {"opening": report(ServerNotAvailableError, message, "http", status, status=status, **more)}


def unreachable(why: str) -> dict[At, Report]:
    return {"opening": report(ServerNotAvailableError, f"{{where}}: {why}", "network", -32001)}


BROKEN = lose("{where}: the connection broke")
NO_WEBSOCKET = unreachable("the server does not speak WebSocket")

OVER_WEBSOCKET = [
    *(
        row
        for status in (400, 401, 403, 404, 405, 413, 429, 500, 503)
        for row in rows(
            websocket.status(status),
            "websocket",
            expected_report=refuse_opening(status, f"No: {status}", data=f"No: {status}"),
        )
    ),
    *rows(websocket.no_websocket, "websocket", expected_report=refuse_opening(200, "OK")),
    *rows(websocket.no_http, "websocket", expected_report=NO_WEBSOCKET),
    *rows(websocket.half_a_head, "websocket", expected_report=NO_WEBSOCKET),
    *rows(websocket.hung_up, "websocket", expected_report=NO_WEBSOCKET),
    *rows(websocket.reset, "websocket", expected_report=NO_WEBSOCKET),
    *rows(
        websocket.silence,
        "websocket",
        expected_report={"opening": report_timeout("Connecting to {where} took longer than 400ms")},
    ),
    *rows(
        websocket.closed,
        "websocket",
        expected_report=lose("{where}: the server closed the connection with code 1011: The disk is full"),
        after="lost",
    ),
    *rows(websocket.hung_up, "websocket", expected_report=BROKEN, after="lost"),
    *rows(websocket.half_a_frame, "websocket", expected_report=BROKEN, after="lost"),
    *rows(websocket.reset, "websocket", expected_report=BROKEN, after="lost"),
    *rows(
        websocket.no_frame,
        "websocket",
        expected_report=lose("{where}: the connection was closed with code 1002: invalid opcode"),
        after="lost",
    ),
    *rows(websocket.not_json, "websocket", expected_report=LATE),
    *rows(websocket.no_message, "websocket", expected_report=LATE),
    *rows(websocket.binary, "websocket", expected_report=LATE),
]


# In memory


CLOSED = report(ToolInvocationError, "Connection closed", "peer", -32000, toolName="hold")
"""The last word of the SDK's server."""
IT_FAILED = lose("{where}: The server failed: The disk is full")

OVER_MEMORY = [
    *rows(memory.fails, "memory", expected_report=IT_FAILED, after="lost", others=CLOSED),
    *rows(
        memory.ends,
        "memory",
        expected_report=lose("{where}: The server ended"),
        after="lost",
        others=CLOSED,
    ),
    *rows(memory.raises_in_the_tool, "memory", expected_report=fail_tool("The disk is full", "peer", 0)),
    *rows(
        memory.unknown_to_the_tool,
        "memory",
        expected_report=fail_tool("Unknown tool: broken", "unknown_tool", -32602),
    ),
]

TABLE = [*EVERYWHERE, *OVER_STDIO, *OVER_HTTP, *OVER_WEBSOCKET, *OVER_MEMORY]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("row", TABLE, ids=str)
async def test_every_failure_is_reported_and_leaves_the_documented_state(
    row: Row, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    before = asyncio.all_tasks()

    async with serve_row(row, tmp_path) as server:
        if row.at == "broken":
            async with MCPClient(server.transport, timeout_ms=LONG_MS) as client:
                await breaks_in_a_call(client, server, row)
        else:
            await breaks_at_the_beginning(server, row)
        assert tasks_of_the_client() == []
        await server.deserted()

    assert asyncio.all_tasks() == before
    assert [secret for secret in (*SECRETS, "rosebud") if secret in caplog.text] == []
    ours = [record for record in caplog.records if not is_of_the_server(record)]
    assert [record for record in ours if "Traceback" in record.getMessage()] == []


def is_of_the_server(record: logging.LogRecord) -> bool:
    """Return whether a record comes from the server: all that its process writes to stderr is logged."""
    return (record.name, record.levelno) == ("footlight.client.stdio", logging.INFO)


async def breaks_at_the_beginning(server: Broken, row: Row) -> None:
    is_late = row.expected_report.kind is MCPTimeoutError
    client = MCPClient(server.transport, timeout_ms=SHORT_MS if is_late else LONG_MS)

    error = await catch_error(client.connect())
    while is_late and row.at == "initialize" and not server.messages:
        # On a machine that stalls, the time was over before the server was asked.
        error = await catch_error(client.connect())

    check(error, row.expected_report, server.transport)
    assert (client.state, client.transport) == ("disconnected", None)
    assert tasks_of_the_client() == []
    await server.deserted()
    if is_late:
        client = MCPClient(server.transport, timeout_ms=LONG_MS)
    await client.connect()
    await works(client)
    await client.close()
    assert [each for each in server.messages if each["method"] == "notifications/cancelled"] == []


async def breaks_in_a_call(client: MCPClient, server: Broken, row: Row) -> None:
    is_late = row.expected_report.kind is MCPTimeoutError
    held = asyncio.create_task(client.call_tool("hold"))
    await server.heard("hold")

    error = await catch_error(client.call_tool("broken", ARGUMENTS, timeout_ms=SHORT_MS if is_late else None))

    check(error, row.expected_report, server.transport)
    async with asyncio.timeout(LIMIT_SECONDS):
        await server.failed.wait()
    cancelled = {"requestId": (await server.heard("broken"))["id"], "reason": "the client's time limit"}
    if is_late:
        assert (await server.heard("notifications/cancelled"))["params"] == cancelled
    if row.after == "lost":
        check(await catch_error(held), row.others or row.expected_report, server.transport)
        assert client.state == "error"
        check(await catch_error(client.ping()), row.expected_report, server.transport)
        await client.reconnect()
    else:
        server.released.set()
        assert (await held).text == "hold is done"
    assert client.state == "connected"
    await works(client)
    beginnings = [each for each in server.messages if each["method"] == "initialize"]
    assert len(beginnings) == (1 if row.after == "goes on" else 2)
    words = [each for each in server.messages if each["method"] == "notifications/cancelled"]
    assert len(words) == is_late


async def works(client: MCPClient) -> None:
    assert (await client.call_tool("broken")).text == "broken is done"


async def catch_error(work: Awaitable[object]) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await work
    return caught.value


def check(error: MCPError, expected_report: Report, transport: Transport) -> None:
    """Check the whole error, in each of its forms."""
    expected = fill_fields(expected_report.fields, where=transport.where)
    assert (type(error), error.to_dict()) == (expected_report.kind, expected)
    assert json.loads(error.to_json()) == expected
    assert str(error) == expected["message"]
    asked = "network" if expected["reason"] in ("spawn", "not_connected") else expected["reason"]
    assert {name for name, ask in QUESTIONS.items() if ask(error)} == {asked} & set(QUESTIONS)
    forms = [str(error), repr(error), error.to_json()]
    assert [form for form in forms if "Traceback" in form] == []
    forms.append("".join(traceback.format_exception(error)))
    assert [secret for secret in (*SECRETS, "rosebud") for form in forms if secret in form] == []


QUESTIONS: Mapping[str, Callable[[BaseException], bool]] = {
    "timeout": is_timeout,
    "session_expired": is_session_expired,
    "network": is_network_error,
    "unknown_tool": is_tool_not_found,
}


def fill_fields(fields: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    return {
        name: value.format(where=where) if isinstance(value, str) else value for name, value in fields.items()
    }


def tasks_of_the_client() -> list[asyncio.Task[Any]]:
    folder = str(Path(footlight.client.__file__).parent)
    return [task for task in asyncio.all_tasks() if folder in str(task.get_coro())]


def serve_row(row: Row, folder: Path) -> AbstractAsyncContextManager[Broken]:
    match row.over:
        case "stdio":
            return process.broken_process(row.fault, row.at, folder)
        case "http json" | "http events":
            return http.broken_http(row.fault, row.at, events=row.over == "http events")
        case "websocket":
            return websocket.broken_websocket(row.fault, row.at)
        case "memory":
            return memory.broken_in_memory(row.fault, row.at)


# Where there is no server


async def test_missing_command_is_reported_and_starts_once_installed(tmp_path: Path) -> None:
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    async with process.broken_process(None, "", tmp_path, PATH=path) as server:
        await starts_later(
            Stdio("broken-server", ("--token", "swordfish"), env=server.environment),
            "The command 'broken-server' was not found: install it, give its full path, or give the server a "
            "PATH that has it (`env` is its whole environment)",
            lambda: process.install(tmp_path / "bin" / "broken-server", mode=0o755),
        )
        await server.deserted()


async def test_non_executable_command_is_reported_and_starts_once_executable(tmp_path: Path) -> None:
    command = process.install(tmp_path / "broken-server", mode=0o644)
    async with process.broken_process(None, "", tmp_path) as server:
        await starts_later(
            Stdio(str(command), env=server.environment),
            f"The command '{command}' is not executable: make it so, or start it with its interpreter",
            lambda: command.chmod(0o755),
        )
        await server.deserted()


async def test_missing_folder_is_reported_and_server_starts_once_created(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "folder"
    command = process.install(tmp_path / "broken-server", mode=0o755)
    async with process.broken_process(None, "", tmp_path) as server:
        await starts_later(
            Stdio(str(command), env=server.environment, cwd=folder),
            f"The server's folder {folder} does not exist, or is not a folder that can be entered",
            folder.mkdir,
        )
        await server.deserted()


async def starts_later(transport: Stdio, message: str, repair: Callable[[], object]) -> None:
    client = MCPClient(transport)
    reported = report(ServerNotAvailableError, message, "spawn", -32001, serverCommand="{where}")

    check(await catch_error(client.connect()), reported, transport)
    assert (client.state, client.transport, tasks_of_the_client()) == ("disconnected", None, [])

    repair()
    async with client:
        await works(client)


REFUSED = {
    "http": report_no_server("{where} cannot be reached: Connection refused"),
    "ws": report_no_server("{where}: no connection: Connection refused"),
}


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_closed_port_is_reported_and_reached_once_open(
    scheme: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with reserve_port() as port:
        transport = http.over_http(port) if scheme == "http" else websocket.over_websocket(port)
        client = MCPClient(transport)

        check(await catch_error(client.connect()), REFUSED[scheme], transport)
        assert (client.state, client.transport, tasks_of_the_client()) == ("disconnected", None, [])

    opened = http.broken_http if scheme == "http" else websocket.broken_websocket
    async with opened(None, "", port=port) as server:
        async with client:
            await works(client)
        await server.deserted()
    assert [secret for secret in SECRETS if secret in caplog.text] == []


async def test_restarted_http_server_is_reported_and_used_again() -> None:
    """HTTP has no connection that could be lost."""
    async with http.broken_http(None, "") as server:
        port = server.port
        client = MCPClient(server.transport)
        await client.connect()
        await works(client)

    check(await catch_error(client.call_tool("broken")), REFUSED["http"], server.transport)
    assert client.state == "connected"

    async with http.broken_http(None, "", port=port) as server:
        await works(client)
        await client.close()
        await server.deserted()


SELF_SIGNED = "certificate verify failed: self-signed certificate"
NO_TLS = "the server does not speak TLS"


@pytest.mark.parametrize(
    ("opened", "over", "expected_report"),
    [
        (
            http.broken_http,
            http.over_http,
            report_no_server(f"{{where}} cannot be reached: {SELF_SIGNED}"),
        ),
        (
            websocket.broken_websocket,
            websocket.over_websocket,
            report_no_server(f"{{where}}: no connection: {SELF_SIGNED}"),
        ),
    ],
    ids=["https", "wss"],
)
async def test_an_untrusted_certificate_is_reported(
    opened: Any, over: Any, expected_report: Report, tmp_path: Path
) -> None:
    certificate = make_certificate(tmp_path)
    async with opened(None, "", tls=certificate.server_context()) as server:
        transport = over(server.port, tls=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        client = MCPClient(transport)

        check(await catch_error(client.connect()), expected_report, transport)
        assert (client.state, client.transport, tasks_of_the_client()) == ("disconnected", None, [])

        async with MCPClient(over(server.port, tls=certificate.trusting())) as trusting:
            await works(trusting)
        await server.deserted()


@pytest.mark.parametrize(
    ("over", "expected_report"),
    [
        (http.over_http, report_no_server(f"{{where}} cannot be reached: {NO_TLS}")),
        (websocket.over_websocket, report_no_server(f"{{where}}: no connection: {NO_TLS}")),
    ],
    ids=["https", "wss"],
)
async def test_a_server_without_tls_is_reported(over: Any, expected_report: Report) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listener:
        transport = over(listener.sockets[0].getsockname()[1], tls=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        client = MCPClient(transport)

        check(await catch_error(client.connect()), expected_report, transport)
        assert (client.state, client.transport, tasks_of_the_client()) == ("disconnected", None, [])


async def test_status_404_without_a_session_is_an_ordinary_error() -> None:
    async with http.broken_http(NOT_FOUND, "broken", session_id=None) as server:
        async with MCPClient(server.transport) as client:
            reported = refuse(404, "Not Found", "Nothing is here")["broken"]

            check(await catch_error(client.call_tool("broken")), reported, server.transport)
            await works(client)
        await server.deserted()
    assert len([each for each in server.messages if each["method"] == "initialize"]) == 1


@contextmanager
def reserve_port() -> Generator[int]:
    """Reserve a port on which nobody listens."""
    with socket.socket() as reserving:
        reserving.bind(("127.0.0.1", 0))
        yield reserving.getsockname()[1]


# The page about them

ELSEWHERE = [
    report(ServerNotAvailableError, "", "spawn", -32001),
    report(MCPConnectionError, "", "not_connected", -32001),
    report(ToolInvocationError, "", "invalid", -32602),
    report(MCPError, "", "peer", -32603),
    report(MCPError, "", "invalid", -32602),
]
"""What other tests are about."""


def test_errors_page_names_each_kind_of_failure_once() -> None:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")][2:]
    kinds = [tuple(cell.strip("`") for cell in line[1:4]) for line in lines]
    numbers = dict(zip(kinds, (line[4] for line in lines), strict=True))
    happened = [row.expected_report for row in TABLE] + ELSEWHERE

    assert len(set(kinds)) == len(kinds)
    assert set(kinds) == {kind_of(reported) for reported in happened}
    assert {reason for _, _, reason in kinds} == set(get_args(Reason))
    assert [reported for reported in happened if not is_named(reported, numbers[kind_of(reported)])] == []


def kind_of(expected_report: Report) -> tuple[str, str, str]:
    return (expected_report.kind.__name__, expected_report.fields["code"], expected_report.fields["reason"])


def is_named(expected_report: Report, numbers: str) -> bool:
    number = expected_report.fields["rpcCode"]
    others = (
        expected_report.fields.get("status") == number and "the status" in numbers
    ) or "the server's" in numbers
    return others or str(number) in numbers
