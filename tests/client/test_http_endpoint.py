"""HTTP requests: redirects, TLS, proxies and credentials, without secrets in any error."""

from __future__ import annotations

import base64
import json
import logging
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from typing import Any

import httpx2
import pytest

from footlight.client.transports.http import StreamableHTTP
from footlight.protocol.errors import MCPError, ServerNotAvailableError
from tests.certificates import Certificate, make_certificate
from tests.client.http_servers import (
    HttpServer,
    Received,
    Reply,
    Script,
    answer,
    answer_by_method,
    answer_bytes,
    answer_chunks,
    answer_in_turn,
    answer_status,
    handshake,
    list_header,
    serve_script,
)
from tests.client.over_http import connect_caller
from tests.client.recorder import Recorder
from tests.serving import listen_on_free_port

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own proxies only."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


# The URL


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("http://example.com", "http://example.com"),
        ("https://user:pass@example.com:8443/a/mcp?token=x#y", "https://example.com:8443/a/mcp"),
        ("http://[::1]:3000/mcp", "http://[::1]:3000/mcp"),
        ("HTTP://EXAMPLE.com/mcp", "http://EXAMPLE.com/mcp"),
    ],
)
def test_server_url_is_shown_without_secrets(url: str, where: str) -> None:
    transport = StreamableHTTP(url, headers={"Authorization": "Bearer x"}, proxy="http://u:p@proxy")

    assert (transport.where, repr(transport)) == (where, f"StreamableHTTP({where!r})")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://user:pass@example.com", "A server over HTTP has a URL with http:// or https://"),
        ("example.com/mcp", "The URL has no host, or no valid port"),
        ("", "The URL has no host, or no valid port"),
        ("http://", "The URL has no host, or no valid port"),
        ("http://user:pa/ss@example.com", "The URL has no host, or no valid port"),
        ("http://example.com:99999", "The URL has no host, or no valid port"),
    ],
)
def test_invalid_server_url_is_refused(url: str, message: str) -> None:
    with pytest.raises(MCPError) as refused:
        StreamableHTTP(url)

    assert (refused.value.reason, refused.value.message) == ("invalid", message)


async def test_url_path_and_query_reach_the_server() -> None:
    async with (
        serve_script(answer_by_method({})) as server,
        connect_caller(f"{server.origin}/a/b?c=d#e") as caller,
    ):
        await caller.ask()

    assert server.requests[0].target == "/a/b?c=d"


# Redirects


def redirect(status: int, location: str) -> Script:
    return answer_status(status, headers={"Location": location})


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_on_the_same_server_is_followed(status: int) -> None:
    """The request stays what it is."""
    async with (
        serve_script(answer_in_turn(redirect(status, "/mcp/"), handshake("s-1"))) as server,
        connect_caller(server, headers={"Authorization": "Bearer x"}) as caller,
    ):
        await caller.initialize()
        assert caller.channel.session_id == "s-1"

    first, second = server.requests
    assert (second.target, second.method, second.body, second.headers) == (
        "/mcp/",
        "POST",
        first.body,
        first.headers,
    )


@pytest.mark.parametrize(
    ("status", "location", "place_pattern"),
    [
        (307, "https://user:pass@evil.example/mcp?token=secret", "https://evil.example/mcp"),
        (308, "//other.example:81/x", "http://other.example:81/x"),
        (301, "/new", "{origin}/new"),
        (302, "/login?next=secret", "{origin}/login"),
        (303, "/new", "{origin}/new"),
    ],
)
async def test_redirect_to_another_origin_or_method_is_not_followed(
    status: int, location: str, place_pattern: str
) -> None:
    """A POST is not turned into a GET, and credentials go nowhere else."""
    async with serve_script(redirect(status, location)) as server, connect_caller(server) as caller:
        error = await caller.fail_request()

    place = place_pattern.format(origin=server.origin)
    assert (error.reason, error.rpc_code, error.status, error.message) == (
        "http",
        status,
        status,
        f"{server.url} redirects ({status}) to {place}: give that URL, if it is right",
    )
    assert len(server.requests) == 1


async def test_redirect_to_an_invalid_url_is_an_error() -> None:
    async with serve_script(redirect(307, "http://x:y/")) as server, connect_caller(server) as caller:
        error = await caller.fail_request()

    assert (error.status, error.message) == (307, f"{server.url} redirects (307) to no valid URL")


async def test_redirect_loop_is_limited_to_five_redirects() -> None:
    async with serve_script(redirect(307, "/mcp")) as server, connect_caller(server) as caller:
        error = await caller.fail_request()

    assert (error.reason, error.message) == ("http", f"{server.url} redirects more than 5 times")
    assert len(server.requests) == 6


@pytest.mark.parametrize("status", [300, 304])
async def test_redirect_without_location_is_an_error(status: int) -> None:
    async with serve_script(answer_status(status)) as server, connect_caller(server) as caller:
        assert (await caller.fail_request()).status == status


# The network


async def test_refused_connection_is_reported_as_server_not_available() -> None:
    async with serve_script(answer_status(200)) as server:
        pass
    async with connect_caller(server) as caller:
        error = await caller.fail_request()

    assert error.to_dict() == {
        "name": "ServerNotAvailableError",
        "code": "SERVER_NOT_AVAILABLE",
        "message": f"{server.url} cannot be reached: Connection refused",
        "reason": "network",
        "rpcCode": -32001,
    }


async def test_unknown_host_is_reported_as_server_not_available() -> None:
    async with connect_caller("http://nowhere.invalid/mcp?token=x") as caller:
        error = await caller.fail_request()

    assert (type(error), error.reason) == (ServerNotAvailableError, "network")
    assert error.message.startswith("http://nowhere.invalid/mcp cannot be reached: ")


async def test_host_with_invalid_characters_is_refused() -> None:
    with pytest.raises(MCPError, match="the URL is not valid") as refused:
        await StreamableHTTP("http://\ud83d/mcp").open(Recorder())

    assert refused.value.reason == "invalid"


@pytest.mark.parametrize("name", ["x-a\n", "", "x a"])
def test_invalid_header_name_is_refused(name: str) -> None:
    with pytest.raises(MCPError) as refused:
        StreamableHTTP("http://host/mcp", headers={name: "secret"})

    assert (refused.value.reason, refused.value.message) == (
        "invalid",
        f"headers: the name or value of {name!r} is not valid",
    )


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
async def secure(certificate: Certificate) -> AsyncGenerator[HttpServer]:
    async with serve_script(answer_by_method({}), tls=certificate.server_context()) as server:
        yield server


async def test_untrusted_certificate_is_refused(secure: HttpServer) -> None:
    async with connect_caller(secure) as caller:
        error = await caller.fail_request()

    assert (type(error), error.reason) == (ServerNotAvailableError, "network")
    assert "certificate verify failed: self-signed certificate" in error.message
    assert secure.requests == []


@pytest.mark.parametrize("how", ["context", "file", "nobody"])
async def test_trusted_certificate_is_accepted(
    secure: HttpServer, certificate: Certificate, how: str
) -> None:
    verify = {"context": certificate.trusting(), "file": str(certificate.path), "nobody": False}[how]
    async with connect_caller(secure, verify=verify) as caller:
        assert await caller.ask() == [answer(1)]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"verify": "/no/such/file.pem"}, "what `verify` names cannot be used: No such file or directory"),
        (
            {"proxy": "gopher://u:secret@x"},
            "the proxy cannot be used: its scheme is not http, https or socks5",
        ),
        ({"proxy": "http://u:secret@x:y"}, "the proxy cannot be used: its URL is not valid"),
        ({"proxy": "http://u:secret@x:70000"}, "the proxy cannot be used: its URL is not valid"),
        ({"proxy": "http://"}, "the proxy cannot be used: its URL is not valid"),
    ],
)
async def test_unusable_tls_or_proxy_option_is_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(MCPError) as refused:
        await StreamableHTTP("https://localhost/mcp", **options).open(Recorder())

    assert refused.value.reason == "invalid"
    assert refused.value.message == f"https://localhost/mcp: {what}"


# Proxies


@pytest.fixture
async def proxy() -> AsyncGenerator[HttpServer]:
    async with serve_script(answer_by_method({})) as server:
        yield server


async def test_given_proxy_is_used(proxy: HttpServer) -> None:
    """Also for this machine."""
    async with connect_caller("http://127.0.0.1:9/mcp", proxy=proxy.origin) as caller:
        assert await caller.ask() == [answer(1)]

    assert proxy.requests[0].target == "http://127.0.0.1:9/mcp"


async def test_proxy_from_the_environment_is_used(proxy: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy.origin)
    async with connect_caller("http://mcp.example/mcp") as caller:
        assert await caller.ask() == [answer(1)]

    assert proxy.requests[0].target == "http://mcp.example/mcp"


@pytest.mark.parametrize("auth", [None, httpx2.BasicAuth("u", "p")], ids=["alone", "with auth"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_environment_proxy_is_not_used_for_loopback(
    proxy: HttpServer, monkeypatch: pytest.MonkeyPatch, host: str, auth: httpx2.Auth | None
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy.origin)
    async with serve_script(answer_by_method({})) as server:
        url = server.url.replace("127.0.0.1", host)
        async with connect_caller(url, auth=auth) as caller:
            assert await caller.ask() == [answer(1)]

    assert (len(server.requests), proxy.requests) == (1, [])


async def test_unusable_environment_proxy_does_not_affect_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for which a package is missing, in the environment of a client of this machine."""
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    async with serve_script(answer_by_method({})) as server, connect_caller(server) as caller:
        assert await caller.ask() == [answer(1)]


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "gopher://127.0.0.1:1", "http://[::1"])
@pytest.mark.parametrize("who", ["nobody", "the URL's user", "an auth"])
async def test_invalid_environment_proxy_does_not_affect_authenticated_loopback(
    monkeypatch: pytest.MonkeyPatch, who: str, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    async with serve_script(answer_by_method({})) as server:
        url = server.url.replace("//", "//u:p@") if who == "the URL's user" else server.url
        async with connect_caller(
            url, auth=httpx2.BasicAuth("u", "p") if who == "an auth" else None
        ) as caller:
            assert await caller.ask() == [answer(1)]


async def test_auth_request_elsewhere_does_not_bypass_an_unusable_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may be there for a reason."""

    class Elsewhere(httpx2.Auth):
        async def async_auth_flow(
            self, request: httpx2.Request
        ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            yield httpx2.Request("GET", "http://elsewhere.invalid/token")
            yield request

    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    async with (
        serve_script(answer_by_method({})) as server,
        connect_caller(server, auth=Elsewhere()) as caller,
    ):
        error = await caller.fail_request()

    assert error.message == (
        "http://elsewhere.invalid/token cannot be reached by proxy: "
        "the environment's proxy cannot be used (the package socksio is not installed)"
    )


async def test_unreachable_proxy_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with listen_on_free_port() as listener:
        place = f"127.0.0.1:{listener.getsockname()[1]}"
    monkeypatch.setenv("ALL_PROXY", f"http://u:p4ss@{place}")
    async with connect_caller("http://mcp.example/mcp") as caller:
        error = await caller.fail_request()

    assert error.message == (
        "http://mcp.example/mcp cannot be reached: Connection refused "
        f"(the environment sets the proxy {place})"
    )


async def test_password_of_a_proxy_is_masked_in_its_refusal() -> None:
    async with (
        serve_script(answer_status(403, b"p4ssw0rd of u is blocked", content_type="text/plain")) as server,
        connect_caller(
            "http://mcp.example/mcp", proxy=server.origin.replace("//", "//u:p4ssw0rd@")
        ) as caller,
    ):
        error = await caller.fail_request()

    assert "p4ssw0rd" not in str(error.to_dict())
    assert "of u is blocked" in error.message


async def test_no_proxy_variable_is_respected(proxy: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy.origin)
    monkeypatch.setenv("NO_PROXY", "nowhere.invalid")
    async with connect_caller("http://nowhere.invalid/mcp") as caller:
        assert (await caller.fail_request()).reason == "network"

    assert proxy.requests == []


async def test_proxy_that_refuses_the_tunnel_is_reported(proxy: HttpServer) -> None:
    proxy.script = answer_status(407)
    async with connect_caller("https://mcp.example/mcp", proxy=proxy.origin) as caller:
        error = await caller.fail_request()

    assert (type(error), error.reason) == (ServerNotAvailableError, "network")
    assert error.message.startswith("https://mcp.example/mcp cannot be reached by proxy: 407")


# Credentials


async def test_user_in_the_url_becomes_basic_authorization() -> None:
    async with (
        serve_script(answer_by_method({})) as server,
        connect_caller(server.url.replace("//", "//user:p%40ss@")) as caller,
    ):
        await caller.ask()

    credentials = base64.b64encode(b"user:p@ss").decode()
    assert list_header(server.requests, "Authorization") == [f"Basic {credentials}"]


class TokenAuth(httpx2.Auth):
    """Asks for a token when it is told to, as OAuth does."""

    def __init__(self, url: str) -> None:
        self.url = url

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        response = yield request
        if response.status_code == 401:
            token = yield httpx2.Request("POST", self.url)
            if token.status_code != 200:
                raise LookupError(f"no token ({token.status_code})")
            request.headers["Authorization"] = f"Bearer {token.headers['X-Token']}"
            yield request


async def answer_with_token(request: Received, reply: Reply) -> None:
    if request.target == "/token":
        await reply.send(headers={"X-Token": "t-1"})
    elif request.headers.get("authorization") != "Bearer t-1":
        await reply.send(status=401)
    else:
        await reply.result()


async def test_custom_httpx_auth_is_used() -> None:
    async with (
        serve_script(answer_with_token) as server,
        connect_caller(server, auth=TokenAuth(f"{server.origin}/token")) as caller,
    ):
        assert await caller.ask() == [answer(1)]

    assert [request.target for request in server.requests] == ["/mcp", "/token", "/mcp"]


async def test_server_cannot_set_cookies_without_end() -> None:
    """Each request would be longer and slower than the last."""

    async def script(request: Received, reply: Reply) -> None:
        number = len(server.requests)
        names = ["balance", *(f"c{number}-{each}" for each in range(60))]
        cookies = "".join(f"Set-Cookie: {name}={number}\r\n" for name in names)
        body = json.dumps(answer(request.message["id"])).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{cookies}"
        await reply.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async with serve_script(script) as server, connect_caller(server) as caller:
        for number in range(3):
            await caller.ask("ping", number)

    sent = server.requests[-1].headers["cookie"].split("; ")
    assert len(sent) == 50
    assert "balance=2" in sent


async def test_failing_auth_is_reported_as_mcp_error() -> None:
    async with (
        serve_script(answer_status(401)) as server,
        connect_caller(server, auth=TokenAuth(f"{server.origin}/token")) as caller,
    ):
        error = await caller.fail_request()

    assert error.to_dict() == {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": f"{server.url}: the authorization failed: no token (401)",
        "reason": "http",
        "rpcCode": 401,
        "status": 401,
    }


async def test_unreachable_token_endpoint_is_named() -> None:
    """It is not the server that is down."""
    async with serve_script(answer_status(401)) as down:
        pass
    async with (
        serve_script(answer_status(401)) as server,
        connect_caller(server, auth=TokenAuth(f"{down.origin}/token?secret=x")) as caller,
    ):
        error = await caller.fail_request()

    assert error.message == f"{down.origin}/token cannot be reached: Connection refused"


# Secrets


SECRET = re.compile("s3cr3t")


async def test_secrets_are_in_no_error_log_or_name(caplog: pytest.LogCaptureFixture) -> None:
    """No session id, no credentials, no query; in no error, log or name, however loud the log."""
    caplog.set_level(logging.DEBUG)
    failures = [
        *(answer_status(404), handshake("s3cr3t-2"), answer_status(500), answer_status(401), answer_chunks()),
        *(
            answer_bytes(b""),
            redirect(307, "http://x.example/?s3cr3t"),
            answer_chunks(b"id: 1\nretry: 1\n\n", clean=False),
        ),
    ]
    errors: list[MCPError] = []
    async with serve_script(
        answer_in_turn(handshake("s3cr3t-1"), *failures, *[answer_status(500)] * 9)
    ) as server:
        url = server.url.replace("//", "//user:s3cr3t@") + "?key=s3cr3t"
        headers = {"X-Api-Key": "s3cr3t"}
        async with connect_caller(url, headers=headers, proxy=None) as caller:
            await caller.initialize()
            errors.append(await caller.fail_request())
            await caller.initialize()
            errors += [await caller.fail_request("ping", number) for number in range(6)]
            await caller.channel.terminate()
            names = [repr(caller.channel), repr(StreamableHTTP(url, headers=headers))]

    message = [part for error in errors for part in (repr(error), error.to_json(), render_causes(error))]
    assert [text for text in [*message, *names, caplog.text] if SECRET.search(text)] == []
    assert {error.reason for error in errors} == {"session_expired", "http", "protocol", "network"}


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"HTTP/1.1 200 OK\r\nMcp-Session-Id\x00: s3cr3t\r\n\r\n", "illegal header line"),
        (b"s3cr3t\r\n\r\n", "illegal status line"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ns3cr3t\r\n", "illegal chunk header"),
    ],
)
async def test_malformed_http_response_is_not_quoted_in_the_error(sent: bytes, why: str) -> None:
    """It may hold what nobody should read."""
    async with serve_script(answer_bytes(sent)) as server, connect_caller(server) as caller:
        error = await caller.fail_request()

    assert error.message == f"{server.url}: the connection broke: {why}"


def render_causes(error: BaseException | None) -> str:
    return "" if error is None else f"{error!r} {render_causes(error.__cause__ or error.__context__)}"


async def test_http_library_logs_can_be_enabled_by_name(caplog: pytest.LogCaptureFixture) -> None:
    """To look into what goes over the wire is still possible."""
    with caplog.at_level(logging.DEBUG, logger="httpcore2"):
        async with serve_script(answer_by_method({})) as server, connect_caller(server) as caller:
            await caller.ask()

    assert any(record.name.startswith("httpcore2") for record in caplog.records)


def test_slow_modules_are_imported_only_when_a_channel_opens() -> None:
    code = (
        "import sys; from footlight.client.transports.http import StreamableHTTP\n"
        "StreamableHTTP('http://localhost/mcp')\n"
        "print({'httpx2', 'httpcore2', 'h11', 'ssl', 'http', 'email'} & sys.modules.keys() or 'nothing')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "nothing"
