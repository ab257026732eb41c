"""The client's channel over a WebSocket. Each message is a text frame."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    PayloadTooBig,
    ProxyError,
)
from websockets.headers import build_authorization_basic
from websockets.protocol import State

from footlight.client.tasks import wait_shielded
from footlight.client.transports.network import describe_os_error, retry_after_ms
from footlight.client.transports.secret_mask import (
    mask_answer,
    mask_secrets,
    secrets_in_headers,
    secrets_in_url,
)
from footlight.log import LimitedWarnings
from footlight.protocol.errors import MCPConnectionError, MCPError, ServerNotAvailableError
from footlight.protocol.messages import Message, encode, parse
from footlight.transports.loopback import is_loopback
from footlight.transports.websocket_options import CLOSE_SECONDS, SUBPROTOCOL, WIRE
from footlight.transports.websocket_slices import SlicedConnection

if TYPE_CHECKING:
    from ssl import SSLContext

    from footlight.protocol.channel import Channel, Receiver

__all__ = ["open_websocket"]

logger = logging.getLogger("footlight.client.websocket")

# At level DEBUG, this logger writes all headers, including the token.
_frame_logger = logging.getLogger("footlight.client.websocket.frames")
_frame_logger.setLevel(logging.INFO)

OPEN_SECONDS = 10.0
MAX_BODY = 64 << 10
MAX_SHOWN = 200


async def open_websocket(
    url: str,
    receiver: Receiver,
    *,
    where: str,
    headers: Mapping[str, str],
    ssl: SSLContext | None,
    max_size: int,
) -> Channel:
    """Connect and return the channel. Errors name the server by `where`, which contains no secret."""
    secrets = secrets_in_url(url) | secrets_in_headers({**_user_header(url), **headers}.items())
    options: dict[str, Any] = {**WIRE, "max_size": max_size}
    if ssl is not None:
        options["ssl"] = ssl
    try:
        socket = await _ConnectWithoutRedirects(
            url,
            subprotocols=[SUBPROTOCOL],
            additional_headers=headers,
            proxy=None if is_loopback(urlsplit(url).hostname or "") else True,
            open_timeout=OPEN_SECONDS,
            create_connection=_Socket,
            logger=_frame_logger,
            **options,
        )
    except InvalidStatus as error:
        raise _refusal(error, where=where, secrets=secrets) from None
    except (OSError, InvalidHandshake, InvalidProxy, UnicodeError, ImportError) as error:
        raise ServerNotAvailableError(f"{where}: {_describe_failure(error)}") from None
    return _WebSocketChannel(socket, receiver, where=where, max_size=max_size, secrets=secrets)


class _Socket(SlicedConnection, ClientConnection):
    """A client's connection on which a flood of frames does not block the event loop."""


class _ConnectWithoutRedirects(connect):
    """Refuses redirects, because headers and token are meant for this address only."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def _user_header(url: str) -> Mapping[str, str]:
    """Return the header that the library sends for the user in the URL."""
    parts = urlsplit(url)
    if not parts.username:
        return {}
    user, password = unquote(parts.username), unquote(parts.password or "")
    return {"Authorization": build_authorization_basic(user, password)}


def _refusal(error: InvalidStatus, *, where: str, secrets: Collection[str]) -> ServerNotAvailableError:
    response = error.response
    body = (response.body or b"")[:MAX_BODY].decode(errors="replace").strip()
    body = mask_secrets(body, secrets)
    visible_body = body if len(body) <= MAX_SHOWN and body.isprintable() else ""
    refused = ServerNotAvailableError(
        f"{where}: the server refused the connection: HTTP {response.status_code}: "
        f"{visible_body or mask_secrets(response.reason_phrase, secrets)[:MAX_SHOWN]}",
        reason="http",
        rpc_code=response.status_code,
        status=response.status_code,
        data=body or None,
    )
    fields = response.headers
    refused.retry_after_ms = retry_after_ms(fields.get("Retry-After"), date=fields.get("Date"))
    return refused


def _describe_failure(error: Exception) -> str:
    """Return a description of a failed connection.

    The messages of libraries are not used, because they may contain a header or a proxy's address.
    """
    match error:
        case TimeoutError():
            return f"the server did not answer within {OPEN_SECONDS:.0f} s"
        case ProxyError() | InvalidProxy() | ImportError():
            return "the proxy for this address cannot be used"
        case InvalidHandshake():
            return "the server does not speak WebSocket"
        case UnicodeError():
            return "there is no such host"
        case OSError():
            return f"no connection: {describe_os_error(error)}"
        case _:
            return "no connection"


class _WebSocketChannel:
    cancels_by_closing = False

    def __init__(
        self,
        socket: ClientConnection,
        receiver: Receiver,
        *,
        where: str,
        max_size: int,
        secrets: Collection[str],
    ) -> None:
        self._socket = socket
        self._receiver = receiver
        self._where = where
        self._max_size = max_size
        self._secrets = secrets
        self._send_lock = asyncio.Lock()
        self._warnings = LimitedWarnings(logger)
        self._closed = False
        self._closing: asyncio.Task[None] | None = None
        self._reading = asyncio.create_task(self._read(), name="footlight-websocket")

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:  # noqa: ARG002
        frame = encode(message)
        try:
            async with self._send_lock:
                # Wait for room first. Otherwise, messages of cancelled callers would fill the buffer.
                await self._socket.drain()
                await self._socket.send(frame, text=True)
        except ConnectionClosed as error:
            raise self._error(error) from None
        except OSError:
            await self._socket.wait_closed()
        # Waiting for room returns without an error when the connection ends.
        if self._socket.state is State.CLOSED:
            raise self._error(self._socket.close_exc)

    def use_version(self, version: str) -> None:
        pass

    async def close(self) -> None:
        self._closed = True
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="footlight-websocket-close")
        await wait_shielded(self._closing)

    async def _close(self) -> None:
        try:
            # The library limits the wait for the close frame, but not the wait for room in the buffer.
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._socket.close()
        finally:
            self._socket.transport.abort()
            await self._socket.wait_closed()
            await asyncio.wait([self._reading])

    async def _read(self) -> None:
        try:
            while True:
                self._take(await self._socket.recv())
        except ConnectionClosed as error:
            if not self._closed:
                self._receiver.on_connection_lost(self._error(error))

    def _take(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            self._warnings.log("%s: skipped a binary frame of %d bytes", self._where, len(frame))
            return
        try:
            message = parse(frame, unit="frame")
        except MCPError:
            shown = mask_secrets(frame[:MAX_BODY], self._secrets)[:120]
            self._warnings.log("%s: skipped a frame that is not a message: %.120r", self._where, shown)
            return
        if not self._closed:
            self._receiver.receive(mask_answer(message, self._secrets))

    def _error(self, error: ConnectionClosed) -> MCPConnectionError:
        if self._closed:
            return MCPConnectionError(f"{self._where}: the connection was closed", reason="not_connected")
        return MCPConnectionError(f"{self._where}: {self._describe_end(error)}")

    def _describe_end(self, error: ConnectionClosed) -> str:
        if isinstance(error.__cause__, PayloadTooBig):
            return f"the server sent a message of more than {self._max_size} bytes"
        if error.rcvd is not None:
            reason = f": {mask_secrets(error.rcvd.reason, self._secrets)}" if error.rcvd.reason else ""
            return f"the server closed the connection with code {error.rcvd.code}{reason}"
        if error.sent is not None:
            return f"the connection was closed with code {error.sent.code}: {error.sent.reason}"
        return "the connection broke"
