"""The HTTP client through which a model is asked. It alone knows the key."""

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

__all__ = ["is_loopback", "responses_closed", "signing_client"]

_HEADERS = {
    *("accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"),
    *("anthropic-beta", "anthropic-version"),
}
"""What the wire formats ask for, besides the key."""

_CONNECT_TIMEOUT_S = 10.0
_READ_TIMEOUT_S = 600.0
"""Between two bytes. What a whole request may take is in the limits of a run."""

_opened: ContextVar[list[httpx2.Response]] = ContextVar("_opened")


def signing_client(url: str, header: str, key: SecretStr, *, prefix: str = "") -> httpx2.AsyncClient:
    """For the vendors' libraries: none of them can log the key, or show it in an error.

    They add headers from variables of the environment, which were not given to us: these are taken out.
    Nothing is redirected, with the key. Whoever made the client closes it.
    """
    import httpx2

    async def sign(request: httpx2.Request) -> None:
        for name in {*request.headers} - _HEADERS:
            del request.headers[name]
        if value := key.get_secret_value():
            request.headers[header] = prefix + value
        # The libraries ask for one time for everything, which is too much for this.
        request.extensions["timeout"] = {**request.extensions["timeout"], "connect": _CONNECT_TIMEOUT_S}

    async def keep(response: httpx2.Response) -> None:
        _opened.get([]).append(response)

    return httpx2.AsyncClient(
        timeout=_READ_TIMEOUT_S,
        follow_redirects=False,
        # A proxy of the environment cannot reach loopback, and is not shown the key.
        trust_env=not is_loopback(url),
        event_hooks={"request": [sign], "response": [keep]},
    )


def is_loopback(url: str) -> bool:
    """Whether it leads to this machine, by its name or address."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@asynccontextmanager
async def responses_closed() -> AsyncGenerator[None]:
    """Close on leaving what was opened within.

    Google's library leaves a stream that is not read to its end to the garbage collector.
    """
    opened: list[httpx2.Response] = []
    _opened.set(opened)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            for response in opened:
                await response.aclose()
