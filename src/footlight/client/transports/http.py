"""Streamable HTTP, as document 001 has it: one URL, a POST for each message, a GET for the server's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from footlight.client.errors import MCPError
from footlight.client.sse import MAX_EVENT_SIZE
from footlight.client.transports.http_headers import check_headers

if TYPE_CHECKING:
    import ssl

    import httpx2

    from footlight.client.channel import Receiver
    from footlight.client.transports.http_channel import HttpChannel

__all__ = ["MAX_BODY_SIZE", "StreamableHTTP"]

MAX_BODY_SIZE = 64 << 20


@dataclass(frozen=True, repr=False)
class StreamableHTTP:
    """A server at a URL.

    `headers` go with every request, but never in place of the protocol's own (R001-8). `verify` says which
    certificates are trusted: the system's, those of a file or folder, or a context's; False: any (R001-56).
    The environment's proxies are used, but not for this machine; a `proxy` given here always is.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True)
    auth: httpx2.Auth | None = field(default=None, kw_only=True)
    verify: bool | str | ssl.SSLContext = field(default=True, kw_only=True)
    proxy: str | None = field(default=None, kw_only=True)
    max_event_size: int = field(default=MAX_EVENT_SIZE, kw_only=True)
    max_body_size: int = field(default=MAX_BODY_SIZE, kw_only=True)

    def __post_init__(self) -> None:
        """Raises MCPError where the URL is none of a server's."""
        if _split(self.url).scheme not in ("http", "https"):
            raise MCPError("A server over HTTP has a URL with http:// or https://", reason="invalid")
        check_headers(self.headers)

    @property
    def where(self) -> str:
        """Without user, password, query and fragment, which may be secret."""
        parts = _split(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def __repr__(self) -> str:
        return f"StreamableHTTP({self.where!r})"

    async def open(self, receiver: Receiver) -> HttpChannel:
        """Nothing is sent yet.

        Raises:
            MCPError: the proxy, or the certificates, cannot be used.
        """
        from footlight.client.transports.http_channel import HttpChannel
        from footlight.client.transports.http_endpoint import Endpoint

        return HttpChannel(Endpoint(self), receiver, transport=self)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        known = bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
        parts = None
    if parts is None or not known:
        # The URL itself may hold a password.
        raise MCPError("The URL has no host, or no valid port", reason="invalid")
    return parts
