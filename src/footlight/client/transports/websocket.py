"""MCP over WebSocket, from the client's end: where the server is, and what lets us in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from footlight.client.errors import MCPError
from footlight.client.transports.http_headers import check_headers

if TYPE_CHECKING:
    from ssl import SSLContext

    from footlight.client.channel import Channel, Receiver

__all__ = ["WebSocket"]

MAX_SIZE = 64 << 20

_OWN = re.compile(r"host|connection|upgrade|sec-websocket-.*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, repr=False)
class WebSocket:
    """A `ws:` or `wss:` URL. `max_size` are the bytes of a message that may come.

    `headers` go with the opening handshake, and `token` as its bearer token, to this address alone: a
    redirect is not followed. What belongs to WebSocket itself cannot be replaced.

    Raises:
        MCPError: the URL or a header is none (`reason` is "invalid").
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
        """The URL without user, query and fragment."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def address(self) -> str:
        """The URL to connect to. Its user is left out where a header says who comes: one must be enough."""
        parts = urlsplit(self.url)
        if "authorization" not in {name.lower() for name in self.request_headers}:
            return self.url
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def request_headers(self) -> Mapping[str, str]:
        """What goes with the handshake beyond WebSocket's own."""
        headers = {name: value for name, value in self.headers.items() if not _OWN.fullmatch(name)}
        if self.token is None:
            return headers
        others = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        return {**others, "Authorization": f"Bearer {self.token}"}

    async def open(self, receiver: Receiver) -> Channel:
        """Connect.

        Raises:
            ServerNotAvailableError: nobody answers, or not in WebSocket (`reason` is "network"), or the
                server refuses (`reason` is "http", with `status`, and the body as `data`).
        """
        # Here, because it takes as long to import as everything else together.
        from footlight.client.transports.websocket_channel import connected

        return await connected(self, receiver)


def _check_url(url: str, *, with_ssl: bool) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # Raises where it is no number.
    except ValueError:
        raise MCPError("The URL is none", reason="invalid") from None
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.fragment:
        raise MCPError("The URL must be ws://host/path or wss://host/path", reason="invalid")
    if with_ssl and parts.scheme != "wss":
        raise MCPError("TLS needs a URL with wss://", reason="invalid")
