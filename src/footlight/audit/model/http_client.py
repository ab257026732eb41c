"""The HTTP client for a model's provider. Only this module handles the key."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

if TYPE_CHECKING:
    import httpx2
    from pydantic import SecretStr

__all__ = ["close_responses", "is_loopback", "make_signing_client"]

_HEADERS = {
    *("accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"),
    *("anthropic-beta", "anthropic-version"),
}
"""The headers that the wire formats need, besides the key."""

_CONNECT_TIMEOUT_S = 10.0
_READ_TIMEOUT_S = 600.0
"""The maximum time between two bytes. `Limits` has the time limit of a whole request."""

_opened: ContextVar[list[httpx2.Response]] = ContextVar("_opened")


def make_signing_client(url: str, header: str, key: SecretStr, *, prefix: str = "") -> httpx2.AsyncClient:
    """Return a client that adds the key, so that no vendor's library can log it or show it in an error.

    Headers that the libraries add from environment variables are removed. Redirects are not followed, because
    the key would go with them. The caller closes the client.
    """
    import httpx2

    async def sign(request: httpx2.Request) -> None:
        for name in {*request.headers} - _HEADERS:
            del request.headers[name]
        if value := key.get_secret_value():
            request.headers[header] = prefix + value
        # The libraries set one time limit for everything, which is too long for connecting.
        request.extensions["timeout"] = {**request.extensions["timeout"], "connect": _CONNECT_TIMEOUT_S}

    async def keep(response: httpx2.Response) -> None:
        _opened.get([]).append(response)

    return httpx2.AsyncClient(
        timeout=_READ_TIMEOUT_S,
        follow_redirects=False,
        # A proxy cannot reach loopback, and must not get the key.
        trust_env=not is_loopback(url),
        event_hooks={"request": [sign], "response": [keep]},
    )


def is_loopback(url: str) -> bool:
    """Return whether the URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@asynccontextmanager
async def close_responses() -> AsyncGenerator[None]:
    """Close on exit the responses that were opened in the block.

    Google's library leaves unfinished streams to the garbage collector.
    """
    opened: list[httpx2.Response] = []
    _opened.set(opened)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            for response in opened:
                await response.aclose()
