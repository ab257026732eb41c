"""The WebSocket transport over real sockets, with our server and with servers that misbehave."""

from __future__ import annotations

import asyncio
import datetime
import json
import logging
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from footlight.client.transports import websocket_channel
from footlight.client.transports.websocket import WebSocket
from footlight.protocol import messages
from footlight.protocol.channel import Channel
from footlight.protocol.errors import MCPConnectionError, MCPError, ServerNotAvailableError
from tests.client.recorder import LIMIT_SECONDS, Recorder, open_channel
from tests.loop_watch import watch_loops
from tests.network import listening

pytestmark = pytest.mark.anyio

LOGGER = "footlight.client.websocket"
TOKEN = "a-token-of-32-characters-or-more"

Behave = Callable[[ServerConnection], Awaitable[None]]

HELLO = '{"jsonrpc": "2.0", "method": "hello"}'


@asynccontextmanager
async def serve_behaviour(behave: Behave, **options: Any) -> AsyncGenerator[str]:
    """Yield the URL of a server that sends these frames. Open connections are aborted at the end."""
    sockets: list[ServerConnection] = []

    async def handle(connection: ServerConnection) -> None:
        sockets.append(connection)
        await behave(connection)

    async with serve(
        handle, "127.0.0.1", 0, **{"subprotocols": ["mcp"], "compression": None, "max_size": None, **options}
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}"
        for each in sockets:
            each.transport.abort()


@asynccontextmanager
async def serve_answer(answer: bytes, *, asked: asyncio.Event | None = None) -> AsyncGenerator[str]:
    """Yield the URL of a server that answers with these bytes and closes. Without bytes the client closes.

    Either has happened on return.
    """

    hung_up = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        writer.write(answer)
        with suppress(ConnectionError):
            if not answer:
                await reader.read()
        writer.close()
        hung_up.set()

    asked = asked or asyncio.Event()
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server, asyncio.timeout(LIMIT_SECONDS):
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await hung_up.wait()


async def not_available(transport: WebSocket) -> ServerNotAvailableError:
    with pytest.raises(ServerNotAvailableError) as caught:
        await transport.open(Recorder())
    assert TOKEN not in str(caught.value.to_dict())
    return caught.value


async def echo(connection: ServerConnection) -> None:
    async for frame in connection:
        await connection.send(frame)


def note(method: str, **params: Any) -> messages.Message:
    return messages.notification(method, params)


async def send(channel: Channel, message: messages.Message) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        await channel.send(message, headers={})


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


# Messages


@pytest.mark.slow
async def test_footlight_server_works_over_websocket_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback never goes by a proxy."""
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{free_port()}")
    initialize = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    async with listening("websocket", FOOTLIGHT_TOKEN=TOKEN) as url:
        async with open_channel(WebSocket(url, token=TOKEN)) as (channel, recorder):
            await send(channel, messages.request(1, "initialize", initialize))
            hello = await recorder.message()
            await send(channel, messages.request(2, "ping", {}))
            pong = await recorder.message()
        refused = await not_available(WebSocket(url, token="x" + TOKEN))

    assert hello["result"]["serverInfo"]["name"] == "playwright-mcp-server"
    assert pong == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert recorder.silent
    assert refused.to_dict() == {
        "name": "ServerNotAvailableError",
        "code": "SERVER_NOT_AVAILABLE",
        "message": (
            f"{url}: the server refused the connection: HTTP 401: Unauthorized: the token is not valid"
        ),
        "reason": "http",
        "rpcCode": 401,
        "status": 401,
        "data": "Unauthorized: the token is not valid",
    }


@pytest.mark.parametrize("size", [10, 1 << 20, 20 << 20])
async def test_message_is_sent_as_one_frame(size: int) -> None:
    message = note("echo", text="ä\u2028\ud83d" + "x" * size)

    async with serve_behaviour(echo) as url, open_channel(WebSocket(url)) as (channel, recorder):
        await send(channel, message)

        assert await recorder.message() == message


async def test_concurrent_senders_do_not_interleave_messages() -> None:
    notes = [note("echo", number=number, text="x" * 200_000) for number in range(20)]

    async with serve_behaviour(echo) as url, open_channel(WebSocket(url)) as (channel, recorder):
        await asyncio.gather(*(send(channel, each) for each in notes))

        assert [await recorder.message() for _ in notes] == notes


async def test_invalid_messages_are_logged_and_skipped(caplog: pytest.LogCaptureFixture) -> None:
    async def noisy(connection: ServerConnection) -> None:
        for frame in ("hello", "", "[]", '{"id": 1}', b"\0\1", "x" * 999, HELLO):
            await connection.send(frame)
        await connection.wait_closed()

    async with serve_behaviour(noisy) as url, open_channel(WebSocket(url)) as (_, recorder):
        assert await recorder.message() == {"jsonrpc": "2.0", "method": "hello"}

    skipped = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    assert len(skipped) == 6
    assert skipped[0] == f"{url}: skipped a frame that is not a message: 'hello'"
    assert skipped[4] == f"{url}: skipped a binary frame of 2 bytes"
    assert all(len(line) < 250 for line in skipped)
    assert recorder.silent


async def test_unread_input_blocks_only_its_senders() -> None:
    """What it says arrives, and who gives up sends nothing or all."""
    go = asyncio.Event()
    heard: list[int] = []

    async def sleepy(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        await connection.send(HELLO)
        await go.wait()
        connection.transport.resume_reading()
        async for frame in connection:
            heard.append(messages.parse(frame, unit="frame")["params"]["number"])
            await connection.send(HELLO)

    async with serve_behaviour(sleepy) as url, open_channel(WebSocket(url)) as (channel, recorder):
        await recorder.message()
        senders = [
            asyncio.create_task(send(channel, note("note", number=number, text="x" * (16 << 20))))
            for number in range(4)
        ]
        await asyncio.wait(senders, timeout=0)
        for given_up in senders[::2]:
            given_up.cancel()
        await asyncio.wait(senders[::2])
        assert not any(sender.done() for sender in senders[1::2])

        go.set()
        await asyncio.gather(*senders[1::2])
        for _ in range(3):
            await recorder.message()

    assert heard == [0, 1, 3]


@pytest.mark.slow
@pytest.mark.parametrize("frame", [b"\x8a\0", b"\x82\0", b"\x81\0"], ids=["pong", "binary", "empty text"])
async def test_flood_of_frames_does_not_block_the_event_loop(frame: bytes) -> None:
    async def flood(connection: ServerConnection) -> None:
        connection.transport.write(frame * 200_000)
        await connection.send(HELLO)
        await connection.wait_closed()

    with watch_loops() as gaps:
        async with serve_behaviour(flood) as url, open_channel(WebSocket(url)) as (_, recorder):
            await recorder.message()

    assert gaps.too_long == []


# The end


async def test_server_that_sends_pings_and_reads_nothing_is_disconnected() -> None:
    async def flood(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        connection.transport.write((b"\x89\x7d" + b"x" * 125) * 200_000)
        await connection.wait_closed()

    async with serve_behaviour(flood) as url, open_channel(WebSocket(url)) as (_, recorder):
        loss = await recorder.loss()
        assert loss["message"] == (
            f"{url}: the connection was closed with code 1008: the answers to pings were not read"
        )


async def test_a_close_is_reported_with_its_code_and_reason() -> None:
    async def leave(connection: ServerConnection) -> None:
        await connection.send(HELLO)
        await connection.recv()
        await connection.close(1001, "The server is shutting down")

    async with serve_behaviour(leave) as url, open_channel(WebSocket(url)) as (channel, recorder):
        await recorder.message()
        await send(channel, note("go"))

        message = f"{url}: the server closed the connection with code 1001: The server is shutting down"
        assert await recorder.loss() == {
            "name": "ConnectionError",
            "code": "CONNECTION_ERROR",
            "message": message,
            "reason": "network",
            "rpcCode": -32001,
        }
        with pytest.raises(MCPConnectionError, match="shutting down"):
            await send(channel, note("late"))


async def test_close_and_error_do_not_reveal_the_token() -> None:
    async def refuse(connection: ServerConnection) -> None:
        error = {"code": -32000, "message": f"bad token {TOKEN}", "data": {"token": [TOKEN]}}
        await connection.send(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}))
        await connection.close(4401, f"bad token {TOKEN}")

    async with (
        serve_behaviour(refuse) as url,
        open_channel(WebSocket(url, token=TOKEN)) as (_, recorder),
    ):
        message = await recorder.message()
        loss = await recorder.loss()

    assert message["error"] == {"code": -32000, "message": "bad token ***", "data": {"token": ["***"]}}
    assert loss["message"] == f"{url}: the server closed the connection with code 4401: bad token ***"


async def break_off(connection: ServerConnection) -> None:
    connection.transport.abort()


async def end_at_once(connection: ServerConnection) -> None:
    connection.transport.close()


async def speak_nonsense(connection: ServerConnection) -> None:
    connection.transport.write(b"\xff\xff\xff\xff")
    await connection.wait_closed()


async def break_utf8(connection: ServerConnection) -> None:
    await connection.send(b"\xff\xfe", text=True)
    await connection.wait_closed()


async def say_too_much(connection: ServerConnection) -> None:
    await connection.send("x" * 2_000)
    await connection.wait_closed()


async def say_too_much_in_pieces(connection: ServerConnection) -> None:
    await connection.send(["x" * 600] * 3)
    await connection.wait_closed()


@pytest.mark.parametrize(
    ("behave", "message"),
    [
        (break_off, "the connection broke"),
        (end_at_once, "the connection broke"),
        (speak_nonsense, "the connection was closed with code 1002: "),
        (break_utf8, "the connection was closed with code 1007: "),
        (say_too_much, "the server sent a message of more than 1000 bytes"),
        (say_too_much_in_pieces, "the server sent a message of more than 1000 bytes"),
    ],
)
async def test_broken_connection_is_reported_with_the_cause(behave: Behave, message: str) -> None:
    async with serve_behaviour(behave) as url, open_channel(WebSocket(url, max_size=1_000)) as (_, recorder):
        loss = await recorder.loss()

    assert loss["reason"] == "network"
    assert loss["message"].startswith(f"{url}: {message}")


async def test_channel_can_be_closed_from_another_task_while_senders_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twice at the same time, and once more; the server never answers the close."""
    monkeypatch.setattr(websocket_channel, "CLOSE_SECONDS", 0.2)

    async def deaf(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        await connection.wait_closed()

    async with serve_behaviour(deaf) as url:
        recorder = Recorder()
        channel = await asyncio.create_task(WebSocket(url).open(recorder))
        senders = [asyncio.create_task(send(channel, note("note", text="x" * (16 << 20)))) for _ in range(3)]
        await asyncio.wait(senders, timeout=0)

        async with asyncio.timeout(LIMIT_SECONDS):
            await asyncio.gather(asyncio.create_task(channel.close()), asyncio.create_task(channel.close()))
            await channel.close()
            errors = await asyncio.gather(*senders, return_exceptions=True)

    assert [error.reason for error in errors if isinstance(error, MCPConnectionError)] == [
        "not_connected"
    ] * 3
    assert recorder.silent
    with pytest.raises(MCPConnectionError, match="was closed"):
        await send(channel, note("late"))


async def test_cancelled_close_leaves_no_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket_channel, "CLOSE_SECONDS", 0.2)
    ended = asyncio.Event()

    async def deaf(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        await ended.wait()
        connection.transport.resume_reading()
        await connection.wait_closed()

    async with serve_behaviour(deaf) as url:
        channel = await WebSocket(url).open(Recorder())
        before = asyncio.all_tasks()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await channel.close()

        assert {
            task for task in before if task.get_name().startswith("footlight") and not task.done()
        } == set()
        ended.set()


async def test_connection_lost_during_close_is_not_reported() -> None:
    async def leave(connection: ServerConnection) -> None:
        await connection.recv()
        connection.transport.abort()

    async with serve_behaviour(leave) as url:
        async with open_channel(WebSocket(url)) as (channel, recorder):
            await send(channel, note("go"))
        assert recorder.silent


# The opening


@pytest.mark.parametrize("status", [200, 401, 403, 404, 426, 500, 503])
async def test_refused_connection_is_reported_with_status_and_body(status: int) -> None:
    def refuse(connection: ServerConnection, _: Request) -> Response:
        return connection.respond(HTTPStatus(status), f"No, {status}.\n")

    async with serve_behaviour(echo, process_request=refuse) as url:
        error = await not_available(WebSocket(url, token=TOKEN))

    assert (error.reason, error.status, error.data) == ("http", status, f"No, {status}.")
    assert error.message == f"{url}: the server refused the connection: HTTP {status}: No, {status}."


async def test_redirect_is_reported_as_refusal() -> None:
    """The token is meant for this address alone."""
    visitors: list[str] = []

    async def note_visitor(connection: ServerConnection) -> None:
        visitors.append(str(connection.request))

    async with serve_behaviour(note_visitor) as elsewhere:

        def redirect(connection: ServerConnection, _: Request) -> Response:
            response = connection.respond(HTTPStatus.FOUND, "")
            response.headers["Location"] = elsewhere
            return response

        async with serve_behaviour(echo, process_request=redirect) as url:
            error = await not_available(WebSocket(url, token=TOKEN))

    assert error.message == f"{url}: the server refused the connection: HTTP 302: Found"
    assert visitors == []


async def test_credentials_in_a_refusal_are_redacted() -> None:
    def refuse(connection: ServerConnection, request: Request) -> Response:
        sent = (request.headers.get(name) for name in ("Authorization", "X-Api-Key", "Cookie"))
        return connection.respond(HTTPStatus.FORBIDDEN, f"{' '.join(filter(None, sent))}\n" + "x" * 90_000)

    async with serve_behaviour(echo, process_request=refuse) as url:
        cases = [
            (WebSocket(url, token=TOKEN), "Bearer ***"),
            (WebSocket(url, headers={"AUTHORIZATION": f"Bearer {TOKEN}"}), "Bearer ***"),
            (WebSocket(url.replace("//", "//ada:l0velace@")), "Basic ***"),
            (WebSocket(url, headers={"X-Api-Key": TOKEN, "Cookie": "a=first; b=second"}), "*** a=***; b=***"),
        ]
        for transport, shown in cases:
            error = await not_available(transport)

            assert error.data.startswith(f"{shown}\n")
            assert len(error.data) < 70_000
            assert error.message.endswith("HTTP 403: Forbidden")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "the server does not speak WebSocket"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "the server does not speak WebSocket"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "the server does not speak WebSocket"),
    ],
)
async def test_server_that_does_not_speak_websocket_is_reported(answer: bytes, message: str) -> None:
    async with serve_answer(answer) as url:
        error = await not_available(WebSocket(url, token=TOKEN))

    assert (error.reason, error.message) == ("network", f"{url}: {message}")


async def test_unsupported_subprotocol_is_refused() -> None:
    async with serve_behaviour(echo, subprotocols=None, select_subprotocol=lambda *_: "chat") as url:
        error = await not_available(WebSocket(url))

    assert (error.reason, error.message) == ("network", f"{url}: the server does not speak WebSocket")


async def test_missing_subprotocol_is_accepted() -> None:
    async with (
        serve_behaviour(echo, subprotocols=None) as url,
        open_channel(WebSocket(url)) as (channel, recorder),
    ):
        await send(channel, note("echo"))

        assert await recorder.message() == note("echo")


async def test_silent_server_is_reported_after_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_channel, "OPEN_SECONDS", 0.2)

    async with serve_answer(b"") as url:
        error = await not_available(WebSocket(url))

    assert error.reason == "network"
    assert "the server did not answer within" in error.message


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 70 + ".invalid"])
async def test_unknown_host_is_reported_as_not_available(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)

    error = await not_available(WebSocket(f"ws://{host}/mcp", token=TOKEN))

    assert error.reason == "network"


async def test_closed_port_is_reported_as_not_available() -> None:
    url = f"ws://127.0.0.1:{free_port()}/mcp"

    error = await not_available(WebSocket(f"{url}?token={TOKEN}"))

    assert error.reason == "network"
    assert error.message.startswith(f"{url}: no connection: ")


async def test_open_can_be_cancelled_during_the_handshake() -> None:
    asked = asyncio.Event()

    async with serve_answer(b"", asked=asked) as url:
        opening = asyncio.ensure_future(WebSocket(url).open(Recorder()))
        await asked.wait()
        opening.cancel()
        await asyncio.wait([opening])

    assert opening.cancelled()


# What it shows


async def test_custom_headers_do_not_replace_websocket_headers(caplog: pytest.LogCaptureFixture) -> None:
    """No log has them."""
    caplog.set_level(logging.DEBUG)
    asked: list[dict[str, list[str]]] = []

    async def look(connection: ServerConnection) -> None:
        assert connection.request is not None
        headers = connection.request.headers
        names = ("X-Team", "Authorization", "Host", "Sec-WebSocket-Protocol", "Upgrade")
        asked.append({name: headers.get_all(name) for name in names})
        await connection.close()

    quiet = logging.getLogger("quiet")
    quiet.setLevel(logging.INFO)
    async with serve_behaviour(look, logger=quiet) as url:
        given = {
            "X-Team": "blue",
            "authorization": "Basic eA==",
            "host": "evil",
            "Sec-WebSocket-Protocol": "chat",
            "upgrade": "no",
        }
        async with open_channel(WebSocket(url, headers=given, token=TOKEN)) as (_, recorder):
            await recorder.loss()

    assert asked == [
        {
            "X-Team": ["blue"],
            "Authorization": [f"Bearer {TOKEN}"],
            "Host": [url.removeprefix("ws://")],
            "Sec-WebSocket-Protocol": ["mcp"],
            "Upgrade": ["websocket"],
        }
    ]
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("http://localhost/mcp", {}),
        ("localhost:8080", {}),
        ("ws://", {}),
        ("ws://localhost:port/", {}),
        ("ws://[::1/", {}),
        ("ws://localhost/#part", {}),
        ("ws://localhost/", {"ssl": ssl.create_default_context()}),
        ("ws://localhost/", {"headers": {"X-A": f"{TOKEN}\r\nX-B: b"}}),
        ("ws://localhost/", {"headers": {"X A": TOKEN}}),
        ("ws://localhost/", {"token": f"{TOKEN}\n"}),
        ("ws://localhost/", {"token": f"{TOKEN}漢"}),
    ],
)
def test_invalid_url_or_options_are_refused(url: str, options: dict[str, Any]) -> None:
    with pytest.raises(MCPError) as caught:
        WebSocket(url, **options)

    assert caught.value.reason == "invalid"
    assert TOKEN not in caught.value.message


def test_transport_name_shows_no_secrets() -> None:
    transport = WebSocket(f"wss://me:{TOKEN}@[::1]:8443/mcp?key={TOKEN}", token=TOKEN)

    assert transport.where == "wss://[::1]:8443/mcp"
    assert repr(transport) == "WebSocket('wss://[::1]:8443/mcp')"


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of localhost, signed by itself, with its key."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return file


async def test_certificates_are_verified(certificate: Path) -> None:
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(certificate)
    trusting = ssl.create_default_context(cafile=certificate)
    async with serve_behaviour(echo, ssl=ours) as plain:
        port = plain.rpartition(":")[2]
        async with open_channel(WebSocket(f"wss://localhost:{port}", ssl=trusting)) as (channel, recorder):
            await send(channel, note("echo"))
            echoed = await recorder.message()
        unknown = await not_available(WebSocket(f"wss://localhost:{port}"))
        other_name = await not_available(WebSocket(f"wss://127.0.0.1:{port}", ssl=trusting))
        no_tls = await not_available(WebSocket(plain))

    assert echoed == note("echo")
    assert (unknown.reason, other_name.reason, no_tls.reason) == ("network",) * 3
    assert "certificate verify failed" in unknown.message
    assert "certificate is not valid for '127.0.0.1'" in other_name.message


def test_token_replaces_the_user_in_the_url() -> None:
    assert WebSocket("ws://a:b@host/mcp?q=1").address == "ws://a:b@host/mcp?q=1"
    assert WebSocket("ws://a:b@host/mcp?q=1", token="t").address == "ws://host/mcp?q=1"
    assert WebSocket("ws://a:b@host", headers={"authorization": "Basic x"}).address == "ws://host"
