"""Streamable HTTP: a POST for each message, and a GET stream for messages outside of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from footlight.client.transports.network import check_headers
from footlight.protocol.errors import MCPError
from footlight.protocol.sse import MAX_EVENT_SIZE

if TYPE_CHECKING:
    import ssl

    import httpx2

    from footlight.client.transports.http_channel import HttpChannel
    from footlight.protocol.channel import Receiver

__all__ = ["MAX_BODY_SIZE", "StreamableHTTP"]

MAX_BODY_SIZE = 64 << 20


@dataclass(frozen=True, repr=False)
class StreamableHTTP:
    """A server at a URL.

    `headers` are sent with every request, but cannot replace those of the protocol. `verify` selects the
    trusted certificates: those of the system (True), of a file or folder, of an SSL context, or any
    certificate (False). `proxy` is always used. Without it, the environment's proxies are used, except for
    servers on this machine.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True)
    auth: httpx2.Auth | None = field(default=None, kw_only=True)
    verify: bool | str | ssl.SSLContext = field(default=True, kw_only=True)
    proxy: str | None = field(default=None, kw_only=True)
    max_event_size: int = field(default=MAX_EVENT_SIZE, kw_only=True)
    max_body_size: int = field(default=MAX_BODY_SIZE, kw_only=True)

    def __post_init__(self) -> None:
        """Check the URL and the headers.

        Raises:
            MCPError: the URL or a header is not valid (`invalid`).
        """
        if _parse_url(self.url).scheme not in ("http", "https"):
            raise MCPError("A server over HTTP has a URL with http:// or https://", reason="invalid")
        check_headers(self.headers)

    @property
    def where(self) -> str:
        """Return the URL without user, password, query and fragment, which may be secret."""
        parts = _parse_url(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def __repr__(self) -> str:
        return f"StreamableHTTP({self.where!r})"

    async def open(self, receiver: Receiver) -> HttpChannel:
        """Create a channel, without sending a request yet.

        Raises:
            MCPError: the proxy or the certificates cannot be used.
        """
        from footlight.client.transports.http_channel import HttpChannel
        from footlight.client.transports.http_endpoint import HttpEndpoint

        endpoint = HttpEndpoint(
            self.url, where=self.where, auth=self.auth, verify=self.verify, proxy=self.proxy
        )
        return HttpChannel(
            endpoint,
            receiver,
            headers=self.headers,
            max_event_size=self.max_event_size,
            max_body_size=self.max_body_size,
        )


def _parse_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
        parts = None
    if parts is None or not valid:
        # The message does not contain the URL, because that may contain a password.
        raise MCPError("The URL has no host, or no valid port", reason="invalid")
    return parts
