"""MCP over WebSocket, with the server's address and the client's credentials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from footlight.client.transports.network import check_headers
from footlight.protocol.errors import MCPError

if TYPE_CHECKING:
    from ssl import SSLContext

    from footlight.protocol.channel import Channel, Receiver

__all__ = ["WebSocket"]

MAX_SIZE = 64 << 20

_OWN = re.compile(r"host|connection|upgrade|sec-websocket-.*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, repr=False)
class WebSocket:
    """A server at a `ws:` or `wss:` URL. `max_size` is the maximum size of an incoming message in bytes.

    `headers` are sent with the opening handshake, and `token` as its bearer token. Redirects are not
    followed, so these are sent to this address only. The headers of WebSocket itself cannot be replaced.

    Raises:
        MCPError: the URL or a header is not valid (`reason` is "invalid").
    """

    url: str
    _: KW_ONLY
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    token: str | None = None
    ssl: SSLContext | None = None
    max_size: int = MAX_SIZE

    def __post_init__(self) -> None:
        _check_url(self.url, with_ssl=self.ssl is not None)
        check_headers(self.headers)
        check_headers(self.request_headers)

    def __repr__(self) -> str:
        return f"WebSocket({self.where!r})"

    @property
    def where(self) -> str:
        """Return the URL without user, query and fragment."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def address(self) -> str:
        """Return the URL to connect to. An `Authorization` header replaces the user in the URL."""
        parts = urlsplit(self.url)
        if "authorization" not in {name.lower() for name in self.request_headers}:
            return self.url
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def request_headers(self) -> Mapping[str, str]:
        """Return the additional headers of the handshake."""
        headers = {name: value for name, value in self.headers.items() if not _OWN.fullmatch(name)}
        if self.token is None:
            return headers
        others = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        return {**others, "Authorization": f"Bearer {self.token}"}

    async def open(self, receiver: Receiver) -> Channel:
        """Connect to the server.

        Raises:
            ServerNotAvailableError: the server cannot be reached or does not speak WebSocket (`reason` is
                "network"), or refused (`reason` is "http", with `status`, and the body as `data`).
        """
        # Imported late, because it takes as long as all other imports of the client together.
        from footlight.client.transports.websocket_channel import open_websocket

        return await open_websocket(
            self.address,
            receiver,
            where=self.where,
            headers=self.request_headers,
            ssl=self.ssl,
            max_size=self.max_size,
        )


def _check_url(url: str, *, with_ssl: bool) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # Raises ValueError if the port is not a number.
    except ValueError:
        raise MCPError("The URL is not valid", reason="invalid") from None
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.fragment:
        raise MCPError("The URL must be ws://host/path or wss://host/path", reason="invalid")
    if with_ssl and parts.scheme != "wss":
        raise MCPError("TLS needs a URL with wss://", reason="invalid")
