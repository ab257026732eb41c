"""The seam to `httpx2`: one URL, how to reach it, and its exceptions as ours."""

from __future__ import annotations

import logging
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2

from footlight.client.errors import MCPConnectionError, MCPError, Reason, ServerNotAvailableError
from footlight.client.transports.causes import cause

if TYPE_CHECKING:
    from footlight.client.transports.http import StreamableHTTP
    from footlight.client.transports.http_headers import Headers

__all__ = ["Endpoint"]

CONNECT_SECONDS = 10.0
KEEPALIVE_SECONDS = 4.0
"""Less than the five after which servers like uvicorn and Node.js drop an idle connection: a request that is
sent on one just then is lost."""
MAX_REDIRECTS = 5
LOOPBACK = ("all://localhost", "all://127.0.0.0/8", "all://[::1]")


class Endpoint:
    """Requests to one URL. Their only time limit is that of connecting: deadlines are the caller's."""

    def __init__(self, transport: StreamableHTTP) -> None:
        self.where = transport.where
        with self._translated():
            url = httpx2.URL(transport.url)
        user = httpx2.BasicAuth(url.username, url.password) if url.username or url.password else None
        self._url = url.copy_with(username=None, password=None, fragment=None)
        self._auth = transport.auth or user
        _keep_quiet()
        with self._usable():
            self._client = httpx2.AsyncClient(
                auth=self._auth,
                verify=self._trust(transport.verify),
                proxy=transport.proxy,
                mounts=None if transport.proxy else dict.fromkeys(LOOPBACK),
                # A proxy of the environment that cannot be used is no concern of what is on this machine.
                trust_env=not (self._is_alone and _is_loopback(url)),
                timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
                # A limit could lock up: calls that wait for our answers to the server's questions, which
                # need a connection too.
                limits=httpx2.Limits(max_connections=None, keepalive_expiry=KEEPALIVE_SECONDS),
            )

    @asynccontextmanager
    async def request(
        self, method: str, headers: Headers, body: bytes | None = None
    ) -> AsyncGenerator[httpx2.Response]:
        """Send a request and yield the answer when its head has come; it is closed on return.

        Raises:
            ServerNotAvailableError: nothing was sent.
            MCPConnectionError: the connection broke, also while the body is read.
            MCPError: the request cannot be sent, or is sent elsewhere.
        """
        with self._translated():
            response = await self._follow(method, headers, body)
            try:
                yield response
            finally:
                await response.aclose()

    async def close(self) -> None:
        await self._client.aclose()

    async def _follow(self, method: str, headers: Headers, body: bytes | None) -> httpx2.Response:
        url = self._url
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._send(
                self._client.build_request(method, url, headers=headers, content=body)
            )
            if not response.has_redirect_location:
                return response
            await response.aclose()
            url = self._redirected(response)
        raise MCPError(f"{self.where} redirects more than {MAX_REDIRECTS} times", reason="http")

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._client.send(request, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL):
            raise
        except Exception as error:
            # An `auth` is somebody else's code, with exceptions of its own.
            if self._auth is None:
                raise
            raise MCPError(
                f"{self.where}: the authorization failed: {error}", reason="http", rpc_code=401, status=401
            ) from error

    def _redirected(self, response: httpx2.Response) -> httpx2.URL:
        """Where to, as long as it is the same server and the request stays what it is.

        Raises:
            MCPError: it would not; names the place without what may be secret.
        """
        status, target = response.status_code, response.next_request
        if target is not None and status in (307, 308) and target.url.origin == response.url.origin:
            return target.url
        place = "no valid URL" if target is None else f"{_place(target.url)}: give that URL, if it is right"
        raise MCPError(
            f"{self.where} redirects ({status}) to {place}", reason="http", rpc_code=status, status=status
        )

    def _trust(self, verify: bool | str | ssl.SSLContext) -> ssl.SSLContext:
        if isinstance(verify, str):
            is_folder = Path(verify).is_dir()
            return ssl.create_default_context(
                cafile=None if is_folder else verify, capath=verify if is_folder else None
            )
        if verify is True and self._url.scheme == "http" and self._is_alone:
            # Reading all certificates takes longer than many a call. There will be no TLS, and if there
            # were, this context would trust nobody.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return httpx2.create_ssl_context(verify)

    @property
    def _is_alone(self) -> bool:
        """Whether no other URL is ever asked, as an `auth` would."""
        return self._auth is None

    @contextmanager
    def _usable(self) -> Generator[None]:
        try:
            yield
        except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
            raise MCPError(
                f"{self.where}: the proxy, or what `verify` names, cannot be used ({type(error).__name__})",
                reason="invalid",
            ) from None

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            _, ours, reason, text = next(row for row in _OURS if isinstance(error, row[0]))
            where = _place_of(error) or self.where
            # Not `from error`: its text, or that of its causes, may hold a header or the whole URL.
            raise ours(text.format(where=where, why=_why(error)), reason=reason) from None


_OURS: tuple[tuple[type[Exception], type[MCPError], Reason, str], ...] = (
    (httpx2.ConnectError, ServerNotAvailableError, "network", "{where} cannot be reached: {why}"),
    (httpx2.ConnectTimeout, ServerNotAvailableError, "network", "{where} cannot be reached: no answer"),
    (httpx2.ProxyError, ServerNotAvailableError, "network", "{where} cannot be reached by proxy: {why}"),
    (httpx2.LocalProtocolError, MCPError, "invalid", "{where}: HTTP does not allow one of the headers"),
    (httpx2.DecodingError, MCPError, "protocol", "{where}: the answer is compressed wrongly"),
    (httpx2.UnsupportedProtocol, MCPError, "invalid", "{where} is not reached over HTTP"),
    (httpx2.InvalidURL, MCPError, "invalid", "{where}: the URL is not valid"),
    (httpx2.HTTPError, MCPConnectionError, "network", "{where}: the connection broke: {why}"),
)
"""The first that fits. None of the texts shows what may be secret."""


def _why(error: BaseException) -> str:
    """What the system said, which the libraries above it repeat less exactly."""
    if isinstance(error, httpx2.RemoteProtocolError):
        # After the colon follows what the server sent, which is nobody's business.
        return str(error).partition(": ")[0]
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, OSError) and (inner.errno or inner.strerror):
            return cause(inner)
        inner = inner.__cause__ or inner.__context__
    return str(error) or type(error).__name__


def _is_loopback(url: httpx2.URL) -> bool:
    if url.host == "localhost":
        return True
    try:
        return ip_address(url.host).is_loopback
    except ValueError:  # A name.
        return False


def _place_of(error: Exception) -> str | None:
    """Where the request went, which an `auth` may have sent elsewhere."""
    try:
        return _place(error.request.url) if isinstance(error, httpx2.RequestError) else None
    except RuntimeError:  # It does not know.
        return None


def _place(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}{url.path}"


def _keep_quiet() -> None:
    """Unless asked by name, these do not log: they would write session ids and whole URLs (R001-22)."""
    for name in ("httpx2", "httpcore2"):
        if (log := logging.getLogger(name)).level == logging.NOTSET:
            log.setLevel(logging.WARNING)
