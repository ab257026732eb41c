"""The filter proxy, with a real Chromium and with requests that no browser would send."""

from __future__ import annotations

import asyncio
import logging
import shutil
import socket
import ssl
import threading
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import Browser, Error, Page
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute

from footlight.browser.network import filter_proxy, proxy_heads
from footlight.browser.network.filter_proxy import FilterProxy
from footlight.browser.network.policy import DomainPolicy
from tests.serving import listen_on_free_port, serve_app

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from starlette.requests import Request
    from starlette.websockets import WebSocket

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0
REFUSED = "127.0.0.1"
"""The site answers under two names: `localhost` is allowed, this one is not."""


class Site:
    """A small site, and what it was asked for: `(host, path)`."""

    def __init__(self, port: int) -> None:
        self.allowed = f"http://localhost:{port}"
        self.refused = f"http://{REFUSED}:{port}"
        self.port = port
        self.pages: dict[str, str] = {}
        self.asked: list[tuple[str, str]] = []
        self.headers: dict[str, str] = {}
        self.abandoned = asyncio.Event()

    def show(self, path: str, html: str) -> str:
        self.pages[path] = html.replace("ALLOWED", self.allowed).replace("REFUSED", self.refused)
        return self.allowed + path

    async def page(self, request: Request) -> Response:
        self.asked.append((request.url.hostname or "", request.url.path))
        self.headers = dict(request.headers)
        body = self.pages.get(request.url.path, "")
        kind = "text/javascript" if request.url.path.endswith(".js") else "text/html"
        return HTMLResponse(body, media_type=kind, headers={"Access-Control-Allow-Origin": "*"})

    async def redirect(self, request: Request) -> Response:
        return RedirectResponse(request.query_params["to"])

    async def echo(self, request: Request) -> Response:
        return Response(await request.body())

    async def slow(self, _: Request) -> Response:
        async def drip() -> AsyncGenerator[bytes]:
            try:
                while True:
                    yield b"x" * 1000
                    await asyncio.sleep(0.01)
            finally:
                self.abandoned.set()

        return StreamingResponse(drip())

    async def socket(self, websocket: WebSocket) -> None:
        self.asked.append((websocket.url.hostname or "", "/socket"))
        await websocket.accept()
        await websocket.send_text(await websocket.receive_text() + "!")
        await websocket.close()


@pytest.fixture(scope="module")
async def proxied_server() -> AsyncGenerator[Site]:
    listening = listen_on_free_port()
    site = Site(listening.getsockname()[1])
    app = Starlette(
        routes=[
            Route("/redirect", site.redirect),
            Route("/echo", site.echo, methods=["POST"]),
            Route("/slow", site.slow),
            WebSocketRoute("/socket", site.socket),
            Route("/{path:path}", site.page),
        ]
    )
    async with serve_app(app, listening, ws="websockets-sansio"):
        yield site


@pytest.fixture
async def site(proxied_server: Site) -> Site:
    proxied_server.asked.clear()
    proxied_server.pages.clear()
    proxied_server.abandoned.clear()
    return proxied_server


@pytest.fixture
def refused() -> list[str]:
    """The hosts of the requests that `proxy` refused."""
    return []


@pytest.fixture
async def proxy(refused: list[str]) -> AsyncGenerator[FilterProxy]:
    def refuses(host: str) -> bool:
        if host == REFUSED:
            refused.append(host)
        return host == REFUSED

    async with FilterProxy(refuses) as proxy:
        yield proxy


@pytest.fixture
async def page(chromium: Browser, proxy: FilterProxy) -> AsyncGenerator[Page]:
    context = await chromium.new_context(proxy={"server": proxy.url})
    yield await context.new_page()
    await context.close()


# In a browser


async def test_page_loads_only_allowed_resources(
    site: Site, proxy: FilterProxy, page: Page, refused: list[str]
) -> None:
    site.show("/a.js", "window.a = 1")

    await page.goto(
        site.show(
            "/",
            """<script src="/a.js"></script><img src="REFUSED/i.png"><iframe src="REFUSED/frame"></iframe>
            <link rel="stylesheet" href="REFUSED/s.css"><script src="REFUSED/b.js"></script>""",
        )
    )

    assert await page.evaluate("window.a") == 1
    assert {host for host, _ in site.asked} == {"localhost"}
    assert refused == [REFUSED] * 4


async def test_refused_page_shows_the_domain_policy_error(site: Site, proxy: FilterProxy, page: Page) -> None:
    response = await page.goto(site.refused + "/page")

    assert response is not None
    assert (response.status, response.headers["x-footlight-refused"]) == (403, REFUSED)
    assert await page.inner_text("body") == f"The domain policy refuses {REFUSED}\n"
    assert site.asked == []


async def test_redirect_to_a_refused_host_is_blocked(
    site: Site, proxy: FilterProxy, page: Page, refused: list[str]
) -> None:
    response = await page.goto(f"{site.allowed}/redirect?to={site.refused}/secret")

    assert response is not None
    assert (response.status, response.url) == (403, f"{site.refused}/secret")
    assert site.asked == []
    assert refused == [REFUSED]


async def test_popup_is_subject_to_the_domain_policy(site: Site, proxy: FilterProxy, page: Page) -> None:
    await page.goto(site.show("/", '<a href="REFUSED/popup" target="_blank">open</a>'))

    async with page.expect_popup() as popup:
        await page.click("a")
    await (await popup.value).wait_for_load_state()

    assert await (await popup.value).inner_text("body") == f"The domain policy refuses {REFUSED}\n"
    assert site.asked == [("localhost", "/")]


@pytest.mark.parametrize("kind", ["worker", "shared", "service"])
async def test_workers_are_subject_to_the_domain_policy(
    site: Site, proxy: FilterProxy, page: Page, kind: str, refused: list[str]
) -> None:
    site.show(
        "/worker.js",
        """const tell = async port => port.postMessage([
          await fetch('ALLOWED/data').then(r => r.status, e => e.name),
          await fetch('REFUSED/data').then(r => r.status, e => e.name)]);
        if (self.SharedWorkerGlobalScope) onconnect = event => tell(event.ports[0]);
        else onmessage = event => tell(event.ports[0] || self);""",
    )
    await page.goto(site.show("/", "page"))
    ask = {
        "worker": "const w = new Worker('/worker.js'); w.onmessage = e => done(e.data); w.postMessage('')",
        "shared": "const w = new SharedWorker('/worker.js'); w.port.onmessage = e => done(e.data)",
        "service": """await navigator.serviceWorker.register('/worker.js');
          const c = new MessageChannel(); c.port1.onmessage = e => done(e.data);
          (await navigator.serviceWorker.ready).active.postMessage('', [c.port2])""",
    }[kind]

    reported = await page.evaluate(f"() => new Promise(async done => {{ {ask} }})")

    assert reported == [200, "TypeError"]
    assert {host for host, _ in site.asked} == {"localhost"}
    assert refused == [REFUSED]


@pytest.mark.parametrize(("name", "expected"), [("localhost", "hello!"), (REFUSED, "closed")])
async def test_websockets_are_subject_to_the_domain_policy(
    site: Site, proxy: FilterProxy, page: Page, name: str, expected: str, refused: list[str]
) -> None:
    await page.goto(site.show("/", "page"))

    answer = await page.evaluate(
        """url => new Promise(done => {
          const socket = new WebSocket(url);
          socket.onopen = () => socket.send('hello');
          socket.onmessage = event => done(event.data);
          socket.onclose = () => done('closed');
        })""",
        f"ws://{name}:{site.port}/socket",
    )

    assert answer == expected
    assert ((REFUSED, "/socket") in site.asked) is False
    assert refused == ([REFUSED] if name == REFUSED else [])


@pytest.mark.slow
async def test_large_body_is_sent_and_received_unchanged(site: Site, page: Page) -> None:
    await page.goto(site.show("/", "page"))

    same = await page.evaluate(
        """async () => {
          const sent = new Uint8Array(5_000_000).map((_, i) => i * 7 + (i >> 8));
          const response = await fetch('/echo', {method: 'POST', body: sent});
          const back = new Uint8Array(await response.arrayBuffer());
          return back.length === sent.length && back.every((byte, i) => byte === sent[i]);
        }"""
    )

    assert same


@pytest.mark.slow
async def test_large_body_to_a_refused_host_gets_a_403(site: Site, page: Page) -> None:
    await page.goto(
        site.show("/", '<form method="post" action="REFUSED/echo"><textarea name="t"></textarea></form>')
    )
    await page.evaluate("document.querySelector('textarea').value = 'x'.repeat(5_000_000)")

    async with page.expect_navigation() as navigation:
        await page.evaluate("document.forms[0].submit()")
    response = await navigation.value

    assert response is not None
    assert response.status == 403


@pytest.mark.slow
async def test_many_concurrent_requests_succeed(site: Site, page: Page) -> None:
    await page.goto(site.show("/", "page"))

    statuses = await page.evaluate(
        "() => Promise.all(Array.from({length: 300}, (_, i) => fetch('/n/' + i).then(r => r.status)))"
    )

    assert statuses == [200] * 300
    assert len(set(site.asked)) == 301


async def test_aborted_request_is_aborted_at_the_server(site: Site, page: Page) -> None:
    await page.goto(site.show("/", "page"))

    await page.evaluate(
        """async () => {
          const controller = new AbortController();
          const response = await fetch('/slow', {signal: controller.signal});
          await response.body.getReader().read();
          controller.abort();
        }"""
    )

    async with asyncio.timeout(10):
        await site.abandoned.wait()


async def test_unreachable_server_gives_a_502(proxy: FilterProxy, page: Page) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]

    response = await page.goto(f"http://localhost:{port}/")

    assert response is not None
    assert response.status == 502
    assert response.headers["x-footlight-proxy"].startswith(f"localhost:{port} cannot be reached")
    with pytest.raises(Error, match="ERR_TUNNEL_CONNECTION_FAILED"):
        await page.goto(f"https://localhost:{port}/")


async def test_https_is_tunnelled_and_filtered(
    chromium: Browser, proxy: FilterProxy, tmp_path: Path, refused: list[str]
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    making = await asyncio.create_subprocess_exec(
        *[openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
        *["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "certificate")],
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await making.wait() == 0
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(tmp_path / "certificate", tmp_path / "key")

    async with serve_answer(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret", tls=tls) as server:
        context = await chromium.new_context(proxy={"server": proxy.url}, ignore_https_errors=True)
        page = await context.new_page()
        await page.goto(f"https://localhost:{server.port}/")
        assert await page.inner_text("body") == "secret"
        with pytest.raises(Error, match="ERR_TUNNEL_CONNECTION_FAILED"):
            await page.goto(f"https://{REFUSED}:{server.port}/")
        await context.close()

    assert refused == [REFUSED]


# By hand


class Upstream:
    """A server that notes what it is sent and answers the same to everything."""

    def __init__(self) -> None:
        self.port = 0
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []


@asynccontextmanager
async def serve_answer(answer: bytes, *, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Upstream]:
    upstream = Upstream()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            upstream.heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer)
            await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()
            upstream.bodies.append(await reader.read())
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
        async with asyncio.timeout(LIMIT_SECONDS):
            await server.wait_closed()


async def send_to_proxy(proxy: FilterProxy, request: bytes) -> bytes:
    """Return everything that the proxy answers to these bytes until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    try:
        async with asyncio.timeout(10):
            writer.write(request)
            return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


def status(answer: bytes) -> int:
    return int(answer.split(b" ")[1])


async def test_request_and_response_headers_are_rewritten(proxy: FilterProxy) -> None:
    answer = (
        b"HTTP/1.1 200 Fine\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n"
        b"Proxy-Authenticate: Basic\r\nX-Footlight-Refused: me\r\n"
        b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\nbody"
    )
    async with serve_answer(answer) as upstream:
        told_back = await send_to_proxy(
            proxy,
            b"POST http://LocalHost:%d/a?b HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nhost: other\r\n"
            b"Proxy-Connection: keep-alive\r\nProxy-Authorization: x\r\n"
            b"Connection: Upgrade, X-Own, Content-Length\r\nUpgrade: websocket\r\nX-Own: 1\r\n"
            b"Content-Length: 4\r\n\r\nbodyGET http://127.0.0.1/ HTTP/1.1\r\n\r\n" % upstream.port,
        )

    assert (
        told_back
        == b"HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nConnection: close\r\n\r\nbody"
    )
    assert upstream.heads == [
        b"POST /a?b HTTP/1.1\r\nHost: LocalHost:%d\r\nAccept: */*\r\n"
        b"Content-Length: 4\r\nConnection: close\r\n\r\n" % upstream.port
    ]
    assert upstream.bodies == [b"body"]


async def test_interim_responses_are_forwarded(proxy: FilterProxy) -> None:
    answer = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody"
    async with serve_answer(answer) as upstream:
        told_back = await send_to_proxy(proxy, b"GET http://localhost:%d HTTP/1.1\r\n\r\n" % upstream.port)

    assert told_back == (
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody"
    )
    assert upstream.heads[0].startswith(b"GET / HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
        b"HTTP/1.1 101 S\r\n\r\n",
        b"x" * 300_000,
    ],
)
async def test_non_http_server_gives_a_502(proxy: FilterProxy, answer: bytes) -> None:
    async with serve_answer(answer) as upstream:
        assert (
            status(await send_to_proxy(proxy, b"GET http://localhost:%d/ HTTP/1.1\r\n\r\n" % upstream.port))
            == 502
        )


@pytest.mark.parametrize(
    ("request_bytes", "expected"),
    [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET https://localhost/ HTTP/1.1\r\n\r\n", 400),
        (b"GET ftp://localhost/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://user@localhost/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://127.0.0.1\\@localhost/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://127.1/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://0x7f000001/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://2130706433/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://localhost:0/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://localhost:99999/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://local%68ost/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http:/// HTTP/1.1\r\n\r\n", 400),
        (b"GET http://./ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://[::1/ HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT localhost HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT http://localhost:1/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://localhost/ HTTP/2.0\r\n\r\n", 400),
        (b"GET http://localhost/ HTTP/1.1\r\nA : b\r\n\r\n", 400),
        (b"GET http://localhost/ HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400),
        (b"GET http://localhost/ HTTP/1.1\r\nA: b\nB: c\r\n\r\n", 400),
        (b"POST http://localhost/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST http://localhost/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST http://localhost/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"\x16\x03\x01\x02\x00\x01\xff\x00\r\n\r\n", 400),
        (b"GET http://localhost/ HTTP/1.1\r\nA: " + b"b" * 70_000 + b"\r\n\r\n", 431),
        (b"GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 403),
        (b"GET http://127.0.0.1.:1/ HTTP/1.1\r\n\r\n", 403),
        (b"GET http://[::ffff:7f00:1]:1/ HTTP/1.1\r\n\r\n", 403),
        (b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n", 403),
        (b"CONNECT [::1]:1 HTTP/1.1\r\n\r\n", 502),
        (b"CONNECT no-such-host.invalid:1 HTTP/1.1\r\n\r\n", 502),
        (b"GET http://%s.invalid/ HTTP/1.1\r\n\r\n" % (b"a" * 70), 502),
    ],
)
async def test_unforwardable_request_gets_an_error_status(
    proxy: FilterProxy, request_bytes: bytes, expected: int
) -> None:
    answer = await send_to_proxy(proxy, request_bytes)

    assert status(answer) == expected
    assert answer.endswith(b"\n")
    assert answer.count(b"\n") == answer.count(b"\r\n") + 1  # one line of text


async def test_slow_request_head_times_out(proxy: FilterProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_heads, "HEAD_S", 0.05)

    assert status(await send_to_proxy(proxy, b"GET http://localhost/ HTTP/1.1\r\n")) == 408


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("http://LOCALHOST.:1/", "localhost"),
        ("http://[0:0::1]:1/", "::1"),
        ("http://xn--mnchen-3ya.test:1/", "xn--mnchen-3ya.test"),
    ],
)
async def test_policy_receives_a_normalised_host(target: str, asked: str) -> None:
    seen: list[str] = []

    def refuses(host: str) -> bool:
        seen.append(host)
        return True

    async with FilterProxy(refuses) as proxy:
        answer = await send_to_proxy(proxy, f"GET {target} HTTP/1.1\r\n\r\n".encode())

    assert seen == [asked]
    assert f"X-Footlight-Refused: {asked}\r\n".encode() in answer


@pytest.mark.parametrize("method", ["GET http://localhost:%d/", "CONNECT localhost:%d"])
async def test_closed_address_is_not_connected(method: str) -> None:
    """Whatever name leads there."""
    async with silent() as port:

        def closes(address: str, asked: int) -> bool:
            return (address, asked) == ("127.0.0.1", port)

        async with FilterProxy(lambda _: False, closes=closes) as proxy:
            answer = await send_to_proxy(proxy, f"{method % port} HTTP/1.1\r\n\r\n".encode())

    assert answer.startswith(b"HTTP/1.1 403 ")


async def test_failing_policy_blocks_the_request(caplog: pytest.LogCaptureFixture) -> None:
    def refuses(host: str) -> bool:
        raise LookupError(host)

    async with FilterProxy(refuses) as proxy:
        assert await send_to_proxy(proxy, b"GET http://localhost/ HTTP/1.1\r\n\r\n") == b""

    assert "A connection through the proxy failed" in caplog.text


@pytest.mark.parametrize("sent", [b"", b"GET http", b"CONNECT localhost:%d HTTP/1.1\r\n\r\n"])
async def test_closing_the_proxy_ends_every_connection(sent: bytes) -> None:
    before = asyncio.all_tasks()
    async with silent() as port:
        proxy = FilterProxy(lambda _: False)
        await proxy.start()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
        writer.write(sent.replace(b"%d", b"%d" % port))
        if sent.startswith(b"CONNECT"):
            await reader.readuntil(b"\r\n\r\n")

        began = time.monotonic()
        await proxy.close()
        await proxy.close()

        assert time.monotonic() - began < LIMIT_SECONDS / 2
        async with asyncio.timeout(LIMIT_SECONDS):
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
        writer.close()
        with suppress(ConnectionResetError):
            await writer.wait_closed()

    with pytest.raises(RuntimeError, match="not running"):
        _ = proxy.url
    assert asyncio.all_tasks() == before


async def test_every_address_of_a_host_is_tried(proxy: FilterProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    def addresses(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        assert host == "two.test"
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("::1", "127.0.0.1")
        ]

    async with serve_answer(b"HTTP/1.1 200 OK\r\n\r\nhere") as upstream:
        monkeypatch.setattr(socket, "getaddrinfo", addresses)
        answer = await send_to_proxy(proxy, b"GET http://two.test:%d/ HTTP/1.1\r\n\r\n" % upstream.port)

    assert answer == b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhere"


async def test_resolved_addresses_are_checked_against_the_policy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that leads elsewhere the next time it is resolved leads nowhere."""
    found = [["203.0.114.9", "10.0.0.1"], ["127.0.0.1"]]

    def addresses(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 80)) for each in found.pop(0)]

    policy = DomainPolicy(None, None, block_private=True)
    async with FilterProxy(policy.refuses, refuses_address=policy.refuses_address) as proxy:
        monkeypatch.setattr(socket, "getaddrinfo", addresses)
        for left in (1, 0):
            answer = await send_to_proxy(proxy, b"GET http://two.test/ HTTP/1.1\r\n\r\n")

            assert answer.startswith(b"HTTP/1.1 403 ")
            assert b"X-Footlight-Refused: two.test" in answer
            assert len(found) == left


async def test_hanging_resolver_does_not_delay_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answered = threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> list[object]:
        asked.set()
        answered.wait(2 * LIMIT_SECONDS)
        return []

    async with FilterProxy(lambda _: False) as proxy:
        monkeypatch.setattr(socket, "getaddrinfo", hang)
        waiting = asyncio.create_task(send_to_proxy(proxy, b"GET http://slow.test/ HTTP/1.1\r\n\r\n"))
        assert await asyncio.to_thread(asked.wait, 10)
        began = time.monotonic()
        await proxy.close()
        took = time.monotonic() - began
    answered.set()

    assert took < LIMIT_SECONDS / 2
    with suppress(ConnectionResetError):
        assert await waiting == b""


@asynccontextmanager
async def silent() -> AsyncGenerator[int]:
    """Yield the port of a server that accepts connections and never answers."""
    served: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionResetError):
            await reader.read()
        writer.transport.abort()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    async with asyncio.timeout(LIMIT_SECONDS):
        await asyncio.gather(*served)
        await server.wait_closed()


async def test_proxy_logs_nothing_above_debug(
    site: Site, proxy: FilterProxy, page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger=filter_proxy.__name__):
        await page.goto(site.show("/", '<img src="REFUSED/i.png">'))
        await send_to_proxy(proxy, b"junk\r\n\r\n")

    assert caplog.records == []
