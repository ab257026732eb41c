"""A forward proxy on loopback that checks every request of the browser against the domain policy.

Navigations, redirects, popups, sub-resources, workers and WebSockets of every engine pass through it, whereas
Playwright's routes do not see redirects. The target of a request decides; the browser checks the names inside
an encrypted tunnel. The proxy serves one request per connection, so no further request passes unchecked.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import re
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from footlight.browser.network.policy import is_link_local

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
    from types import TracebackType

__all__ = ["FilterProxy", "RefusedRequest"]

logger = logging.getLogger(__name__)

HEAD_BYTES = 64 * 1024
HEAD_S = 10.0
CONNECT_S = 20.0
NEXT_ADDRESS_S = 0.25
"""How long an address is tried alone, before the next one is tried in parallel (RFC 8305)."""
LINGER_S = 2.0
"""How long a client may continue to send after an early response, so that it can read the response."""
CLOSE_S = 2.0
CHUNK_BYTES = 64 * 1024
MAX_REFUSALS = 1000

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Address = tuple[str, int]
Header = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A request that the proxy refused. `at` is `time.monotonic()`."""

    host: str
    at: float


class FilterProxy:
    """The proxy. `refuses` is called with the host of each request: lower case, no port, brackets or trailing
    dot.

    `closes` is called with each address and port before a connection is opened, and `refuses_address` with
    the host and each address. The proxy connects to the addresses that were checked, and does not resolve
    the host again.
    """

    def __init__(
        self,
        refuses: Callable[[str], bool],
        *,
        closes: Callable[[str, int], bool] | None = None,
        refuses_address: Callable[[str, str], bool] | None = None,
    ) -> None:
        self._refuses = refuses
        self._closes = closes or _allow_all
        self._refuses_address = refuses_address or _allow_all
        self._refusals: deque[RefusedRequest] = deque(maxlen=MAX_REFUSALS)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("The proxy is not running")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def refusals(self) -> Sequence[RefusedRequest]:
        """Return the latest refused requests, oldest first."""
        return tuple(self._refusals)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_BYTES, backlog=512)

    async def close(self) -> None:
        """End every connection, within about `CLOSE_S`."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for connection in self._connections:
            connection.cancel()
        if self._connections:
            await asyncio.wait(self._connections, timeout=CLOSE_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None:  # The proxy is closing.
            writer.transport.abort()
            return
        connection = asyncio.create_task(self._serve((reader, writer)))
        self._connections.add(connection)
        connection.add_done_callback(self._forget)

    def _forget(self, connection: asyncio.Task[None]) -> None:
        self._connections.discard(connection)
        if not connection.cancelled() and (error := connection.exception()):
            logger.error("A connection through the proxy failed", exc_info=error)

    async def _serve(self, client: Streams) -> None:
        async with _close_writer(client[1]):
            try:
                request = await _read_request(client[0])
                if request is None:
                    return
                await self._pass_on(request, client)
            except _ProxyError as error:
                logger.debug("Answered %d: %s", error.status, error)
                client[1].write(error.response())
            except OSError as error:
                logger.debug("A connection broke: %s", error)
                client[1].transport.abort()  # a body cut short must not look complete
                return
            await _linger(client)

    async def _pass_on(self, request: _Request, client: Streams) -> None:
        self._check(request.host)
        upstream = await _reach(request.host, request.port, self._closes, self._refuses_address)
        async with _close_writer(upstream[1]):
            if request.method == "CONNECT":
                await _tunnel(client, upstream)
            else:
                await _exchange(request, client, upstream)

    def _check(self, host: str) -> None:
        if not self._refuses(host):
            return
        self._refusals.append(RefusedRequest(host, time.monotonic()))
        raise _ProxyError(403, f"The domain policy refuses {host}", ("X-Footlight-Refused", host))


def _allow_all(_host: str, _where: object) -> bool:
    return False


# Answers of our own


class _ProxyError(Exception):
    """A response to the client that is sent instead of connecting it."""

    def __init__(self, status: int, text: str, *headers: Header) -> None:
        super().__init__(text)
        self.status = status
        self.headers = headers

    def response(self) -> bytes:
        body = f"{self}\n".encode()
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("Connection", "close"),
            ("X-Footlight-Proxy", str(self).encode("ascii", "replace").decode()),
            *self.headers,
        ]
        return _head(f"HTTP/1.1 {self.status} {_REASONS[self.status]}", headers) + body


_REASONS = {
    400: "Bad Request",
    403: "Forbidden",
    408: "Request Timeout",
    411: "Length Required",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
}


async def _linger(client: Streams) -> None:
    """Read what the client still sends, because a reset would discard the response."""
    reader, writer = client
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(LINGER_S):
            await writer.drain()
            writer.write_eof()
            await _discard(reader)


async def _discard(reader: asyncio.StreamReader) -> None:
    while await reader.read(CHUNK_BYTES):
        pass


# The request


@dataclass(frozen=True, slots=True)
class _Request:
    """`target` is in origin form; `headers` are those to forward."""

    method: str
    host: str
    port: int
    target: str
    headers: Sequence[Header]
    body_bytes: int


async def _read_request(reader: asyncio.StreamReader) -> _Request | None:
    """Read the request, or return None if the client closed the connection without one."""
    try:
        async with asyncio.timeout(HEAD_S):
            head = await reader.readuntil(b"\r\n\r\n")
    except TimeoutError:
        raise _ProxyError(408, f"No request within {HEAD_S:g} seconds") from None
    except asyncio.LimitOverrunError:
        raise _ProxyError(431, f"The head of a request has at most {HEAD_BYTES} bytes") from None
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise _ProxyError(400, "The request ends within its head") from None
    return _parse_request(head.decode("latin-1"))


_REQUEST_LINE = re.compile(r"([!#$%&'*+.^_`|~\w-]+) ([^\x00-\x20\x7f]+) HTTP/1\.[01]", re.ASCII)
_HEADER = re.compile(r"([!#$%&'*+.^_`|~\w-]+):[ \t]*+([^\x00-\x08\x0a-\x1f\x7f]*)", re.ASCII)
_ABSOLUTE = re.compile(r"http://([^/?#]*)([^#]*)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[\w.~-]+)(?::(\d*))?", re.IGNORECASE | re.ASCII)


def _parse_request(head: str) -> _Request:
    line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    found = _REQUEST_LINE.fullmatch(line)
    if not found:
        raise _ProxyError(400, "Not an HTTP request")
    method, target = found.groups()
    headers = _parse_headers(lines)
    if headers is None:
        raise _ProxyError(400, "A malformed header")
    if method == "CONNECT":
        host, port = _parse_authority(target, None)
        return _Request(method, host, port, "", (), 0)
    absolute = _ABSOLUTE.fullmatch(target)
    if not absolute:
        raise _ProxyError(400, "This is a proxy: a request names its target as http://host/path")
    authority, path = absolute.groups()
    host, port = _parse_authority(authority, 80)
    end_to_end = _end_to_end(headers, ("host",))
    return _Request(
        method,
        host,
        port,
        path if path.startswith("/") else f"/{path}",
        (("Host", authority), *end_to_end, ("Connection", "close")),
        _body_bytes(headers),
    )


def _parse_headers(lines: Iterable[str]) -> list[Header] | None:
    found = [_HEADER.fullmatch(line) for line in lines]
    return [(match[1], match[2].rstrip(" \t")) for match in found if match] if all(found) else None


def _parse_authority(authority: str, default_port: int | None) -> tuple[str, int]:
    found = _AUTHORITY.fullmatch(authority)
    port = int(found[2] or 0) if found and len(found[2] or "") <= 5 else -1
    if found and not found[2]:
        port = default_port or -1
    host = _normalize_host(found[1]) if found else None
    if host is None or not 0 < port < 65536:
        raise _ProxyError(400, "The target names no host and port")
    return host, port


def _normalize_host(host: str) -> str | None:
    """Return the host as the policy expects it, or None for a number that is not an address.

    Resolvers disagree about such numbers.
    """
    host = host.lower().removesuffix(".")
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host.strip("[]"))
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return (mapped or address).compressed
    last = host.rpartition(".")[2]
    is_number = last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last)
    return None if not last or is_number or host.startswith("[") else host


_HOP_BY_HOP = {"connection", "keep-alive", "te", "upgrade", "x-footlight-refused", "x-footlight-proxy"}
"""Headers that are not forwarded, besides every `Proxy-*`. The last two are specific to this proxy."""


def _end_to_end(headers: Sequence[Header], left_out: Iterable[str] = ()) -> list[Header]:
    named = {
        option.strip().lower()
        for name, value in headers
        if name.lower() == "connection"
        for option in value.split(",")
    }
    # Naming them in `Connection` must not take the framing of the body away.
    dropped = _HOP_BY_HOP | set(left_out) | (named - {"content-length", "transfer-encoding"})
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in dropped and not name.lower().startswith("proxy-")
    ]


def _body_bytes(headers: Sequence[Header]) -> int:
    if any(name.lower() == "transfer-encoding" for name, _ in headers):
        raise _ProxyError(411, "A request's body comes with its length")
    lengths = {value for name, value in headers if name.lower() == "content-length"}
    if not lengths:
        return 0
    length = lengths.pop()
    if lengths or not re.fullmatch(r"[0-9]{1,18}", length):
        raise _ProxyError(400, "A malformed Content-Length")
    return int(length)


def _head(line: str, headers: Iterable[Header]) -> bytes:
    return "\r\n".join([line, *(f"{name}: {value}" for name, value in headers), "", ""]).encode("latin-1")


# Connecting to the target


async def _reach(
    host: str, port: int, closes: Callable[[str, int], bool], refuses_address: Callable[[str, str], bool]
) -> Streams:
    try:
        async with asyncio.timeout(CONNECT_S):
            addresses = await _resolve(host, port)
            # A name can lead to where the policy lets no address lead.
            if not is_link_local(host) and any(is_link_local(address) for address, _ in addresses):
                raise _ProxyError(403, f"{host} leads to a link-local address", ("X-Footlight-Refused", host))
            if any(refuses_address(host, address) for address, _ in addresses):
                raise _ProxyError(403, f"{host} leads to a private network", ("X-Footlight-Refused", host))
            if any(closes(*address) for address in addresses):
                raise _ProxyError(
                    403, f"Port {port} of {host} is for debuggers", ("X-Footlight-Refused", host)
                )
            return await _connect(addresses)
    except (OSError, TimeoutError) as error:
        reason = str(error) or f"no connection within {CONNECT_S:g} seconds"
        where = f"{host}:{port}"
        raise _ProxyError(502, f"{where} cannot be reached: {reason}") from error


async def _resolve(host: str, port: int) -> list[Address]:
    if host == "localhost" or host.endswith(".localhost"):
        return [
            ("127.0.0.1", port),
            ("::1", port),
        ]  # as browsers do it (RFC 6761), whatever the resolver says
    with contextlib.suppress(ValueError):
        return [(str(ipaddress.ip_address(host)), port)]
    # A thread that nobody waits for: a resolver that hangs must not hold up the end of the process.
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[Address]] = loop.create_future()

    def deliver(found: list[Address] | OSError) -> None:
        if answer.done():
            return
        if isinstance(found, OSError):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def look_up() -> None:
        found: list[Address] | OSError
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found = [(str(info[4][0]), port) for info in infos]
        except (OSError, UnicodeError) as error:
            found = error if isinstance(error, OSError) else OSError(f"no host name: {host}")
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(deliver, found)

    threading.Thread(target=look_up, name="proxy-resolver", daemon=True).start()
    return await answer


async def _connect(addresses: Sequence[Address]) -> Streams:
    """Connect to the first address that answers.

    Each is tried for a moment before the next is tried in parallel.
    """
    waiting = list(addresses)
    attempts: set[asyncio.Task[Streams]] = set()
    failure: OSError = OSError("the name has no address")
    winner: Streams | None = None
    try:
        while winner is None and (waiting or attempts):
            if waiting:
                attempts.add(asyncio.create_task(_open(waiting.pop(0))))
            ended, attempts = await asyncio.wait(
                attempts, timeout=NEXT_ADDRESS_S if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for attempt in ended:
                error = attempt.exception()
                if error is None and winner is None:
                    winner = attempt.result()
                elif error is None:
                    attempt.result()[1].transport.abort()
                elif isinstance(error, OSError):
                    failure = error
                else:
                    raise error
    finally:
        for attempt in attempts:
            attempt.cancel()
        for late in await asyncio.gather(*attempts, return_exceptions=True):
            if not isinstance(late, BaseException):
                late[1].transport.abort()
    if winner is None:
        raise failure
    return winner


async def _open(address: Address) -> Streams:
    return await asyncio.open_connection(*address, limit=4 * HEAD_BYTES)


# Forwarding


async def _tunnel(client: Streams, upstream: Streams) -> None:
    client[1].write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
    await _wait_until_one_ends(_copy(client[0], upstream[1]), _copy(upstream[0], client[1]))


async def _exchange(request: _Request, client: Streams, upstream: Streams) -> None:
    upstream[1].write(_head(f"{request.method} {request.target} HTTP/1.1", request.headers))
    await _wait_until_one_ends(
        _send_body(request, client[0], upstream[1]), _return_response(upstream[0], client[1])
    )


async def _send_body(request: _Request, client: asyncio.StreamReader, upstream: asyncio.StreamWriter) -> None:
    """Send exactly the body, and then wait for the client to disconnect."""
    if await _copy(client, upstream, max_bytes=request.body_bytes) == request.body_bytes:
        await _discard(client)


async def _return_response(upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
    status = 100
    while 100 <= status < 200:
        status, head = await _read_response(upstream)
        client.write(head)
    await _copy(upstream, client)


_STATUS_LINE = re.compile(r"HTTP/1\.[01] (\d{3})(?: [^\x00-\x08\x0a-\x1f\x7f]*)?", re.ASCII)


async def _read_response(upstream: asyncio.StreamReader) -> tuple[int, bytes]:
    try:
        head = (await upstream.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise _ProxyError(502, "The server did not answer with a response") from None
    line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    found = _STATUS_LINE.fullmatch(line)
    headers = _parse_headers(lines)
    if not found or headers is None or found[1] == "101":
        raise _ProxyError(502, "The server answered with a malformed response")
    status = int(found[1])
    ending = [] if status < 200 else [("Connection", "close")]
    return status, _head(line, [*_end_to_end(headers), *ending])


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, max_bytes: int | None = None
) -> int:
    """Copy up to `most` bytes, or to the end, and return their number."""
    copied = 0
    while max_bytes is None or copied < max_bytes:
        data = await reader.read(CHUNK_BYTES if max_bytes is None else min(CHUNK_BYTES, max_bytes - copied))
        if not data:
            break
        writer.write(data)
        await writer.drain()
        copied += len(data)
    return copied


async def _wait_until_one_ends(*directions: Awaitable[object]) -> None:
    """Wait until one side ends, because the other one would wait for it forever."""
    tasks = {asyncio.ensure_future(direction) for direction in directions}
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in ended:
        task.result()


@contextlib.asynccontextmanager
async def _close_writer(writer: asyncio.StreamWriter) -> AsyncGenerator[None]:
    """Close the writer. What is still to be written is sent first, unless the block was cancelled."""
    try:
        yield
    except asyncio.CancelledError:
        writer.transport.abort()
        raise
    finally:
        writer.close()
        try:
            async with asyncio.timeout(CLOSE_S):
                await writer.wait_closed()
        except (OSError, TimeoutError):
            writer.transport.abort()
