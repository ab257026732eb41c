"""Failure drills over a network: floods, slow clients and crowds do not stop the server."""

from __future__ import annotations

import asyncio
import itertools
import json
import ssl
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.conftest import ENGINE, server_command
from tests.http_client import HttpServer, Raw, data, error, handshake, initialize, raw, request, served
from tests.network import run_server
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(ENGINE != "chromium", reason="reads Chromium's codes"),
]

LIMIT_SECONDS = 60.0
MIB = 1 << 20
READ_TIMEOUT_MS = 1_500

Tell = Callable[..., None]


@pytest.fixture
def tell(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Tell:
    """Put figures into the report, and show them where output is shown."""

    def tell(**figures: float) -> None:
        for name, value in figures.items():
            record_property(name, round(value, 3))
        reported = " ".join(f"{name}={value:g}" for name, value in figures.items())
        sys.stdout.write(f"drill: {request.node.name}: {reported}\n")

    return tell


class Memory:
    """What a server's own process takes, without its browsers; in MiB."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self.first = self.now

    @property
    def now(self) -> float:
        return self._process.memory_info().rss / MIB

    @property
    def growth(self) -> float:
        return self.now - self.first

    async def peak_during(self, work: Any) -> float:
        """Return by how much the value grew at most within the block."""
        task, peak = asyncio.ensure_future(work), 0.0
        while not task.done():
            await asyncio.wait([task], timeout=0.02)
            peak = max(peak, self.growth)
        await task
        return peak


async def let_time_pass(seconds: float) -> None:
    """Let time pass, where time itself is tested."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()


async def check_unharmed(server: HttpServer, site: Site) -> None:
    """Check that the server is the same process, its browser works, and its log has no error."""
    async with raw(server) as client:
        for path in ("/healthz", "/readyz"):
            assert (await client.send(method="GET", path=path)).status_code == 200
        made = await data(client, "create_session")
        await data(client, "navigate", url=site.page("<p>well</p>"), **made)
        assert await data(client, "get_text", selector="p", **made) == {"text": "well"}
        await data(client, "close_session", **made)
    assert server.process.returncode is None
    assert not [line for line in server.log.lines if "Traceback" in line or "Exception" in line]


@pytest.fixture(scope="module")
async def server(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[HttpServer]:
    """Is impatient, and blocks `localhost`."""
    config = {
        "listen": {"readTimeout": READ_TIMEOUT_MS},
        "pool": {"minBrowsers": 1, "maxBrowsers": 1},
        "security": {"blockedDomains": ["localhost"]},
    }
    async with served(tmp_path_factory.mktemp("drills"), config=config) as server:
        yield server


# Crowds

CLIENTS = 100
SESSIONS = 8
CROWD_SECONDS = 6.0
CROWD_GROWTH = 24.0


async def test_hundred_clients_share_eight_sessions_without_memory_growth(
    site: Site, tmp_path: Path, tell: Tell
) -> None:
    """Each finds in its session what it left there, and the server does not grow."""
    config = {"pool": {"maxBrowsers": 2}}
    context = ssl.create_default_context()  # One for all: making it is most of making a client.
    async with (
        served(tmp_path, "--enable-script-evaluation", config=config) as server,
        AsyncExitStack() as stack,
    ):
        first = await stack.enter_async_context(raw(server, verify=context))
        sessions = [await data(first, "create_session") for _ in range(SESSIONS)]
        for number, made in enumerate(sessions):
            await data(first, "navigate", url=site.page(f"<title>{number}</title>"), **made)
        clients = [await stack.enter_async_context(raw(server, verify=context)) for _ in range(CLIENTS)]
        # Every second one makes a handshake.
        speakers = [await handshake(each) if n % 2 else each for n, each in enumerate(clients)]
        memory, took = Memory(server.pid), list[float]()
        end = time.monotonic() + CROWD_SECONDS

        async def work(number: int) -> None:
            made = sessions[number % SESSIONS]
            for turn in itertools.count():
                if time.monotonic() > end:
                    return
                mine = f"{number} was here {turn} times"
                began = time.monotonic()
                await evaluate(speakers[number], f"(window.marks ??= {{}})[{number}] = '{mine}'", made)
                took.append(time.monotonic() - began)
                found = await evaluate(
                    speakers[number], f"[document.title, window.marks[{number}]].join()", made
                )
                assert found == f"{number % SESSIONS},{mine}"

        async with asyncio.TaskGroup() as group:
            for number in range(CLIENTS):
                group.create_task(work(number))
            await let_time_pass(CROWD_SECONDS / 2)
            half = memory.now
        whole = memory.now
        marks = [
            json.loads(await evaluate(first, "JSON.stringify(Object.keys(marks))", made)) for made in sessions
        ]

        tell(
            calls=2 * len(took),
            median_ms=1000 * statistics.median(took),
            slowest_ms=1000 * max(took),
            rss_first=memory.first,
            rss_half=half,
            rss_whole=whole,
        )
        assert marks == [[str(n) for n in range(CLIENTS) if n % SESSIONS == each] for each in range(SESSIONS)]
        assert whole - half < CROWD_GROWTH


async def evaluate(client: Raw, script: str, made: dict[str, Any]) -> str:
    return (await data(client, "evaluate", script=script, **made))["result"]


ABANDONED = 400
ROOM = 100
OPENING_GROWTH = 64.0
ABANDONED_GROWTH = 24.0


async def test_abandoned_transport_sessions_use_bounded_memory(
    site: Site, tmp_path: Path, tell: Tell
) -> None:
    """Of those that there is room for, each takes a little; the others nothing."""
    config = {
        "listen": {"maxTransportSessions": ROOM, "maxConnections": 50},
        "pool": {"minBrowsers": 1, "maxBrowsers": 1},
    }
    async with served(tmp_path, config=config) as server, raw(server) as client:
        await data(client, "create_session")
        memory = Memory(server.pid)

        async def abandon(count: int) -> None:
            for _ in range(count):
                assert (await client.send(initialize())).status_code == 200

        await asyncio.gather(*(abandon(ROOM // 10) for _ in range(10)))
        full = memory.now
        await asyncio.gather(*(abandon((ABANDONED - ROOM) // 10) for _ in range(10)))
        whole = memory.now
        session = await handshake(client)

        tell(rss_first=memory.first, rss_full=full, rss_whole=whole)
        assert (await session.send(request("ping"))).status_code == 200
        assert full - memory.first < OPENING_GROWTH
        assert whole - full < ABANDONED_GROWTH
        await check_unharmed(server, site)


async def test_connections_above_the_limit_are_refused(site: Site, tmp_path: Path, tell: Tell) -> None:
    config = {"listen": {"maxConnections": 10}, "pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    async with served(tmp_path, config=config) as server:
        lines = [await Line.open(server) for _ in range(10)]
        assert [await each.status() for each in lines] == [200] * 10

        more = [await Line.open(server) for _ in range(50)]
        refused = [await each.status() for each in more]
        still = [await each.status() for each in lines]
        for each in (*more, lines.pop()):
            each.close()
        async with asyncio.timeout(LIMIT_SECONDS):
            while await (again := await Line.open(server)).status() != 200:
                again.close()

        tell(refused=refused.count(503))
        assert refused == [503] * 50
        assert still == [200] * 10
        assert [await each.status() for each in lines] == [200] * 9
        for each in (*lines, again):
            each.close()
        async with raw(server) as client, asyncio.timeout(LIMIT_SECONDS):
            while (await client.send(method="GET", path="/healthz")).status_code != 200:
                pass
        await check_unharmed(server, site)


class Line:
    """A connection of bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.began = time.monotonic()

    @classmethod
    async def open(cls, server: HttpServer) -> Line:
        return cls(*await asyncio.open_connection("127.0.0.1", server.port))

    async def status(self, request: bytes = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") -> int:
        """Ask, and leave the connection open; 0 where it is closed."""
        with suppress(ConnectionError):
            self.writer.write(request)
        return await self.answer()

    async def answer(self) -> int:
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
                _, _, length = head.partition(b"content-length: ")
                await self.reader.readexactly(int(length.split(b"\r\n")[0] or 0) if length else 0)
        except (asyncio.IncompleteReadError, ConnectionError):
            return 0
        return int(head.split()[1])

    async def wait_for_end(self) -> float:
        """Return after how many seconds the connection was closed."""
        with suppress(ConnectionError):
            async with asyncio.timeout(LIMIT_SECONDS):
                await self.reader.read()
        return time.monotonic() - self.began

    async def push(self, pieces: Iterator[bytes]) -> int:
        """Send whether anybody reads or not, and return how much was sent before the other end closed."""
        sent = 0
        with suppress(ConnectionError):
            for piece in pieces:
                self.writer.write(piece)
                async with asyncio.timeout(LIMIT_SECONDS):
                    await self.writer.drain()
                sent += len(piece)
        return sent

    def close(self) -> None:
        self.writer.transport.abort()


# Bodies and heads

HEAD = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
LARGE = 50 * MIB
LARGE_GROWTH = 32.0
PIECE = b"x" * 65_536


def write_whole() -> Iterator[bytes]:
    yield f"{HEAD}Content-Length: {LARGE}\r\n\r\n".encode()
    yield from itertools.repeat(PIECE, LARGE // len(PIECE))


def write_chunks() -> Iterator[bytes]:
    yield f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode()
    yield from itertools.repeat(b"10000\r\n" + PIECE + b"\r\n", LARGE // len(PIECE))
    yield b"0\r\n\r\n"


@pytest.mark.parametrize("pieces", sample_parameters([write_whole, write_chunks], write_chunks))
async def test_body_of_50_megabytes_is_refused_without_being_buffered(
    server: HttpServer, site: Site, tell: Tell, pieces: Callable[[], Iterator[bytes]]
) -> None:
    """It is refused before it has arrived, and never held."""
    await check_unharmed(server, site)
    memory, line = Memory(server.pid), await Line.open(server)
    pushing = asyncio.create_task(line.push(pieces()))

    status = await line.answer()
    answered = time.monotonic() - line.began
    peak = await memory.peak_during(pushing)

    tell(answered_ms=1000 * answered, sent_mib=pushing.result() / MIB, rss_peak_growth=peak)
    line.close()
    assert status == 413
    assert answered < 10
    assert peak < LARGE_GROWTH
    await check_unharmed(server, site)


async def test_many_large_bodies_at_once_use_bounded_memory(
    server: HttpServer, site: Site, tell: Tell
) -> None:
    """Each may be 4 MiB, which is what it then takes; not what it would have been."""
    lines = [await Line.open(server) for _ in range(10)]
    memory = Memory(server.pid)

    async def push_all() -> None:
        await asyncio.gather(*(each.push(write_chunks()) for each in lines))

    peak = await memory.peak_during(push_all())
    statuses = [await each.answer() for each in lines]

    tell(rss_peak_growth=peak)
    for each in lines:
        each.close()
    # Whoever goes on sending until it is cut off may miss what it is told.
    assert set(statuses) <= {413, 0}
    assert peak < 3 * 4 * len(lines)
    await check_unharmed(server, site)


async def trickle(line: Line, start: str) -> None:
    """Send a byte at a time, as long as the other end reads."""
    line.writer.write(start.encode())
    with suppress(ConnectionError):
        while True:
            await let_time_pass(0.05)
            line.writer.write(b"x")
            await line.writer.drain()


@pytest.mark.parametrize(
    ("start", "statuses"),
    [
        (f"{HEAD}Content-Length: 1000\r\n\r\n", {408}),
        (f"{HEAD}X-Long: ", {0}),
        ("", {0, 400}),
    ],
    ids=["body", "head", "first line"],
)
async def test_request_sent_one_byte_at_a_time_is_cut_off(
    server: HttpServer, site: Site, tell: Tell, start: str, statuses: set[int]
) -> None:
    """While others are served."""
    lines = [await Line.open(server) for _ in range(20)]
    served = 0

    async def watch(line: Line) -> tuple[int, float]:
        trickling = asyncio.create_task(trickle(line, start))
        status = await line.answer()
        ended = await line.wait_for_end()
        trickling.cancel()
        await asyncio.wait([trickling])
        line.close()
        return status, ended

    async with raw(server) as client:
        watching = asyncio.gather(*(watch(each) for each in lines))
        while not watching.done():
            assert (await client.send(method="GET", path="/healthz")).status_code == 200
            assert "sessions" in await data(client, "list_sessions")
            served += 1
        reported = watching.result()

    tell(served=served, last_ended_ms=1000 * max(ended for _, ended in reported))
    assert {status for status, _ in reported} <= statuses
    assert all(READ_TIMEOUT_MS / 1000 * 0.9 < ended < 15 for _, ended in reported)
    assert served > 1
    await check_unharmed(server, site)


# A WebSocket that floods

FLOOD_SECONDS = 2.5
FLOOD_GROWTH = 160.0


async def send_initialize(connection: ClientConnection, number: int) -> dict[str, Any]:
    await connection.send(json.dumps(request("initialize", initialize()["params"], id=number)))
    async with asyncio.timeout(LIMIT_SECONDS):
        return json.loads(await connection.recv())


SMALL = json.dumps(request("tools/list", {"cursor": None}))
BIG = json.dumps(request("ping", {"padding": "x" * 3_900_000}))


@pytest.mark.parametrize(
    ("message", "reads"),
    [
        pytest.param(SMALL, False, id="small, unread"),
        pytest.param(SMALL, True, id="small, read"),
        pytest.param(BIG, False, id="big"),
        pytest.param("{" * 1000, False, id="junk"),
    ],
)
async def test_flooding_websocket_does_not_block_other_clients(
    tmp_path: Path, tell: Tell, message: str, reads: bool
) -> None:
    """Whether it reads the answers or not: the others are served, and what it takes is bounded."""
    async with (
        run_server(server_command("--transport", "websocket", "--port", "0"), cwd=tmp_path) as (url, process),
        connect(url, proxy=None, compression=None) as other,
        connect(url, proxy=None, compression=None, max_size=None) as flooding,
    ):
        await send_initialize(other, 0)
        await send_initialize(flooding, 0)
        memory = Memory(process.pid)
        sent = 0

        async def flood() -> None:
            nonlocal sent
            with suppress(TimeoutError, ConnectionClosed):
                async with asyncio.timeout(FLOOD_SECONDS):
                    while True:
                        await flooding.send(message)
                        sent += 1

        async def read() -> None:
            with suppress(ConnectionClosed):
                while reads:
                    await flooding.recv()

        async def watch() -> int:
            reading = asyncio.create_task(read())
            flood_over = asyncio.create_task(flood())
            served = 0
            while not flood_over.done():
                assert (await send_ping(other, served))["result"] == {}
                served += 1
            reading.cancel()
            await asyncio.wait([reading])
            return served

        watching = asyncio.create_task(watch())
        peak = await memory.peak_during(watching)
        flooding.transport.abort()

        assert (await send_ping(other, 1))["result"] == {}
        tell(sent=sent, served=watching.result(), rss_peak_growth=peak, rss_growth=memory.growth)
        assert watching.result() >= 1
        assert peak < FLOOD_GROWTH
        assert process.returncode is None


async def send_ping(connection: ClientConnection, number: int) -> dict[str, Any]:
    await connection.send(json.dumps(request("ping", id=number)))
    async with asyncio.timeout(LIMIT_SECONDS):
        return json.loads(await connection.recv())


# Where no call leads


FILE = "file:///etc/passwd"
BLOCKED = "http://localhost:{port}/"
LINK_LOCAL = "http://169.254.169.254/latest/meta-data/"


@pytest.mark.sampled(5)
@pytest.mark.parametrize("redirected", [False, True], ids=["directly", "by a redirect"])
@pytest.mark.parametrize("url", [FILE, BLOCKED, LINK_LOCAL], ids=["file", "blocked", "link-local"])
async def test_forbidden_navigation_is_refused_over_http(
    server: HttpServer, site: Site, url: str, redirected: bool
) -> None:
    """A redirect to a file is refused by the browser itself."""
    secret = url.format(port=site.port)
    async with raw(server) as client:
        made = await data(client, "create_session")
        await data(client, "navigate", url=site.page("<p>before</p>"), **made)
        asked = len(site.requests)

        refused = await error(client, "navigate", url=site.redirect(secret) if redirected else secret, **made)
        seen = await client.call("get_text", selector="body", **made)

        by_the_browser = redirected and url == FILE
        assert refused["code"] == ("NAVIGATION_FAILED" if by_the_browser else "PERMISSION_DENIED")
        assert ("ERR_UNSAFE_REDIRECT" in refused["message"]) is by_the_browser
        assert len(site.requests) - asked == redirected
        assert "root:" not in json.dumps(seen)
        await data(client, "close_session", **made)
    await check_unharmed(server, site)
