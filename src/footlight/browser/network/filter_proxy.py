"""A forward proxy on loopback that checks every request of the browser against the domain policy.

Navigations, redirects, popups, sub-resources, workers and WebSockets of every engine pass through it, whereas
Playwright's routes do not see redirects. The target of a request is checked; names inside an encrypted tunnel
are checked by the browser. The proxy serves one request per connection, so further requests cannot pass
unchecked.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
import threading
from typing import TYPE_CHECKING, Self

from footlight.browser.network.policy import is_link_local
from footlight.browser.network.proxy_heads import (
    HEAD_BYTES,
    ProxiedRequest,
    ProxyError,
    format_head,
    read_request,
    read_response_head,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

__all__ = ["FilterProxy"]

logger = logging.getLogger(__name__)

CONNECT_S = 20.0
NEXT_ADDRESS_S = 0.25
"""How long one address is tried before the next one is tried in parallel (RFC 8305)."""
LINGER_S = 2.0
"""How long a client may continue to send after an early response, so that it can read the response."""
CLOSE_S = 2.0
CHUNK_BYTES = 64 * 1024

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Address = tuple[str, int]


class FilterProxy:
    """The proxy, which runs until `close`.

    `refuses` is called with the host of each request: lower case, without port, brackets and trailing dot.
    `closes` is called with each address and port before a connection is opened, and `refuses_address` with
    the host and each address. The proxy connects only to the addresses that were checked, and does not
    resolve the host again.
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
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("The proxy is not running")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_BYTES, backlog=512)

    async def close(self) -> None:
        """Close every connection, within about `CLOSE_S`."""
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
                request = await read_request(client[0])
                if request is None:
                    return
                await self._pass_on(request, client)
            except ProxyError as error:
                logger.debug("Answered %d: %s", error.status, error)
                client[1].write(error.response())
            except OSError as error:
                logger.debug("A connection broke: %s", error)
                client[1].transport.abort()  # A truncated body must not look complete.
                return
            await _linger(client)

    async def _pass_on(self, request: ProxiedRequest, client: Streams) -> None:
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
        raise ProxyError(403, f"The domain policy refuses {host}", ("X-Footlight-Refused", host))


def _allow_all(_host: str, _where: object) -> bool:
    return False


# The end of a connection


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


# Connecting to the target


async def _reach(
    host: str, port: int, closes: Callable[[str, int], bool], refuses_address: Callable[[str, str], bool]
) -> Streams:
    try:
        async with asyncio.timeout(CONNECT_S):
            addresses = await _resolve(host, port)
            # A name can resolve to an address that the policy refuses.
            if not is_link_local(host) and any(is_link_local(address) for address, _ in addresses):
                raise ProxyError(403, f"{host} leads to a link-local address", ("X-Footlight-Refused", host))
            if any(refuses_address(host, address) for address, _ in addresses):
                raise ProxyError(403, f"{host} leads to a private network", ("X-Footlight-Refused", host))
            if any(closes(*address) for address in addresses):
                raise ProxyError(
                    403, f"Port {port} of {host} is for debuggers", ("X-Footlight-Refused", host)
                )
            return await _connect(addresses)
    except (OSError, TimeoutError) as error:
        reason = str(error) or f"no connection within {CONNECT_S:g} seconds"
        where = f"{host}:{port}"
        raise ProxyError(502, f"{where} cannot be reached: {reason}") from error


async def _resolve(host: str, port: int) -> list[Address]:
    if host == "localhost" or host.endswith(".localhost"):
        return [
            ("127.0.0.1", port),
            ("::1", port),
        ]  # As browsers do (RFC 6761), regardless of the resolver.
    with contextlib.suppress(ValueError):
        return [(str(ipaddress.ip_address(host)), port)]
    # A daemon thread, so that a resolver that hangs does not delay the end of the process.
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
        with contextlib.suppress(RuntimeError):  # The loop is closed.
            loop.call_soon_threadsafe(deliver, found)

    threading.Thread(target=look_up, name="proxy-resolver", daemon=True).start()
    return await answer


async def _connect(addresses: Sequence[Address]) -> Streams:
    """Connect to the first address that accepts a connection.

    Each address is tried for a moment before the next one is tried in parallel.
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


async def _exchange(request: ProxiedRequest, client: Streams, upstream: Streams) -> None:
    upstream[1].write(format_head(f"{request.method} {request.target} HTTP/1.1", request.headers))
    await _wait_until_one_ends(
        _send_body(request, client[0], upstream[1]), _return_response(upstream[0], client[1])
    )


async def _send_body(
    request: ProxiedRequest, client: asyncio.StreamReader, upstream: asyncio.StreamWriter
) -> None:
    """Send exactly the body, and then wait for the client to disconnect."""
    if await _copy(client, upstream, max_bytes=request.body_bytes) == request.body_bytes:
        await _discard(client)


async def _return_response(upstream: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
    status = 100
    while 100 <= status < 200:
        status, head = await read_response_head(upstream)
        client.write(head)
    await _copy(upstream, client)


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, max_bytes: int | None = None
) -> int:
    """Copy up to `max_bytes` bytes, or until the end, and return their number."""
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
    """Wait until one direction ends, because the other one would then wait for it forever."""
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
    """Close the writer. Pending data is sent first, unless the block was cancelled."""
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
