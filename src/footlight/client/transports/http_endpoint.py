"""Send requests to one URL, and translate the exceptions of `httpx2`.

No other module uses the client of `httpx2`.
"""

from __future__ import annotations

import logging
import ssl
import urllib.request
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from http.cookiejar import Cookie, CookieJar
from pathlib import Path
from typing import TYPE_CHECKING, cast

import httpx2

from footlight.client.transports.network import describe_os_error
from footlight.client.transports.secret_mask import (
    mask_error,
    secrets_in_form,
    secrets_in_headers,
    secrets_in_url,
)
from footlight.protocol.errors import MCPConnectionError, MCPError, Reason, ServerNotAvailableError
from footlight.transports.loopback import is_loopback

if TYPE_CHECKING:
    from footlight.client.transports.http_headers import Headers

__all__ = ["HttpEndpoint"]

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0
KEEPALIVE_SECONDS = 4.0
"""The time after which idle connections are closed. Servers such as uvicorn and Node.js close them after five
seconds, and a request that is sent at that moment is lost.
"""
MAX_REDIRECTS = 5
MAX_AUTH_BODY = 1 << 20
"""The maximum size of an answer that an `auth` reads."""
MAX_COMPRESSED_AUTH_BODY = 32 << 10
"""The same for a compressed answer, which may become a thousand times as large."""
MAX_COOKIES = 50
MAX_COOKIE = 4_096
"""The maximum number of characters of a cookie. The limits are those that RFC 6265 asks of clients."""
MAX_SENT = 20
"""The number of the last requests whose secrets are masked in errors."""
LOOPBACK = ("all://localhost", "all://127.0.0.0/8", "all://[::1]")


class HttpEndpoint:
    """Sends requests to one URL. Only connecting has a time limit; callers set deadlines for requests."""

    def __init__(
        self,
        url: str,
        *,
        where: str,
        auth: httpx2.Auth | None = None,
        verify: bool | str | ssl.SSLContext = True,
        proxy: str | None = None,
    ) -> None:
        self.where = where
        with self._translate_errors():
            parsed = httpx2.URL(url)
        named = parsed.username or parsed.password
        self._url = parsed.copy_with(username=None, password=None, fragment=None)
        self._given_url = url
        self._sent: deque[tuple[httpx2.Headers, bytes]] = deque(maxlen=MAX_SENT)
        """The headers and forms of the last requests, also of those that an `auth` has sent."""
        self._secrets: set[str] | None = None
        """The secrets of these requests, once they have been searched."""
        self._given_auth = auth
        self._auth = (
            _BoundedAuth(auth)
            if auth is not None
            else httpx2.BasicAuth(parsed.username, parsed.password)
            if named
            else None
        )
        _silence_loggers()
        self._proxy = proxy
        with self._check_configuration("what `verify` names"):
            context = self._make_ssl_context(verify)
        with self._check_configuration("the proxy" if proxy else "the proxy of the environment"):
            _check_proxy_address(self._find_proxy())
            self._client = self._make_client(proxy, context)

    def _make_client(self, proxy: str | None, verify: ssl.SSLContext) -> httpx2.AsyncClient:
        def client(*, trust_env: bool, **others: httpx2.AsyncBaseTransport) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(
                auth=self._auth,
                verify=verify,
                proxy=proxy,
                mounts=None if proxy else {**dict.fromkeys(LOOPBACK), **others},
                trust_env=trust_env,
                timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
                # A limit could cause a deadlock: a call may wait for the answer to a request of the server,
                # and sending that answer also needs a connection.
                limits=httpx2.Limits(max_connections=None, keepalive_expiry=KEEPALIVE_SECONDS),
                cookies=_BoundedCookieJar(),
                event_hooks={"request": [self._note_request]},
            )

        if proxy or not is_loopback(self._url.host):
            return client(trust_env=True)
        if self._only_url:
            return client(trust_env=False)
        # A server on this machine needs no proxy. If the environment's proxy cannot be used, only requests of
        # the `auth` to other hosts fail.
        try:
            return client(trust_env=True)
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            return client(trust_env=False, **{"all://": _UnusableProxy(_describe_unusable(error))})

    @asynccontextmanager
    async def request(
        self, method: str, headers: Headers, body: bytes | None = None
    ) -> AsyncGenerator[httpx2.Response]:
        """Send a request and yield the response when its headers have arrived. It is closed on exit.

        Raises:
            ServerNotAvailableError: the request was not sent.
            MCPConnectionError: the connection broke, also while the caller reads the body.
            MCPError: the request cannot be sent, or is redirected to another server.
        """
        with self._mask_errors(), self._translate_errors():
            response = await self._send_following_redirects(method, headers, body)
            try:
                yield response
            finally:
                await response.aclose()

    async def close(self) -> None:
        await self._client.aclose()

    def find_secrets(self) -> set[str]:
        """Return the secrets that were sent: those of the URL, of headers, and of requests for tokens."""
        if self._secrets is None:
            headers = {header for each, _ in self._sent for header in each.multi_items()}
            forms = (secrets_in_form(form) for _, form in self._sent)
            urls = (secrets_in_url(url) for url in (self._given_url, self._find_proxy()))
            self._secrets = secrets_in_headers(headers).union(*urls, *forms)
        return self._secrets

    async def _note_request(self, request: httpx2.Request) -> None:
        is_form = request.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded")
        self._secrets = None
        self._sent.append((request.headers, request.content if is_form else b""))

    async def _send_following_redirects(
        self, method: str, headers: Headers, body: bytes | None
    ) -> httpx2.Response:
        url = self._url
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._send(
                self._client.build_request(method, url, headers=headers, content=body)
            )
            if not response.has_redirect_location:
                return response
            await response.aclose()
            url = self._redirect_target(response)
        raise MCPError(f"{self.where} redirects more than {MAX_REDIRECTS} times", reason="http")

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._client.send(request, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL):
            raise
        except Exception as error:
            # An `auth` is code of the caller and may raise any exception.
            if self._auth is None:
                raise
            # The other lines of a failed validation, and the causes of the exception, may contain a token.
            logger.debug("the authorization failed", exc_info=True)
            why = str(error).partition("\n")[0]
            raise MCPError(
                f"{self.where}: the authorization failed: {why}", reason="http", rpc_code=401, status=401
            ) from None

    def _redirect_target(self, response: httpx2.Response) -> httpx2.URL:
        """Return the target of a redirect to the same server that keeps the method and the body.

        Raises:
            MCPError: any other redirect. The message shows the target without secrets.
        """
        status, target = response.status_code, response.next_request
        if target is not None and status in (307, 308) and target.url.origin == response.url.origin:
            return target.url
        described = (
            "no valid URL" if target is None else f"{_url_place(target.url)}: give that URL, if it is right"
        )
        raise MCPError(
            f"{self.where} redirects ({status}) to {described}", reason="http", rpc_code=status, status=status
        )

    def _make_ssl_context(self, verify: bool | str | ssl.SSLContext) -> ssl.SSLContext:
        if isinstance(verify, str):
            is_folder = Path(verify).is_dir()
            return ssl.create_default_context(
                cafile=None if is_folder else verify, capath=verify if is_folder else None
            )
        if verify is True and self._url.scheme == "http" and self._only_url:
            # Plain HTTP needs no certificates, and loading them is slow. This context trusts no server.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return httpx2.create_ssl_context(verify)

    @property
    def _only_url(self) -> bool:
        """Return whether no other URL is requested. An `auth` may send requests to other URLs."""
        return self._given_auth is None

    @contextmanager
    def _check_configuration(self, what: str) -> Generator[None]:
        try:
            yield
        except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
            raise MCPError(
                f"{self.where}: {what} cannot be used: {_describe_unusable(error)}", reason="invalid"
            ) from None

    @contextmanager
    def _mask_errors(self) -> Generator[None]:
        try:
            yield
        except MCPError as error:
            mask_error(error, self.find_secrets())
            raise

    @contextmanager
    def _translate_errors(self) -> Generator[None]:
        try:
            yield
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            _, ours, reason, text = next(row for row in _ERRORS if isinstance(error, row[0]))
            where = _request_place(error) or self.where
            # Not `from error`, because these exceptions may contain a header or the whole URL.
            why = _describe(error)
            if isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout)):
                why += self._describe_proxy()
            raise ours(text.format(where=where, why=why), reason=reason) from None

    def _describe_proxy(self) -> str:
        """Return the proxy of a failed connection, without its credentials, for an error message."""
        proxy = self._find_proxy()
        if not proxy:
            return ""
        place = proxy.rpartition("@")[2].rpartition("://")[2].strip("/")[:100]
        # `httpx2` reads more forms of NO_PROXY than `urllib`, so it may have connected without the proxy.
        return (
            f" (through the proxy {place})" if self._proxy else f" (the environment sets the proxy {place})"
        )

    def _find_proxy(self) -> str:
        """Return the URL of the proxy, given or of the environment, or an empty string."""
        if self._proxy is not None or is_loopback(self._url.host):
            return self._proxy or ""
        of_environment = urllib.request.getproxies()
        if urllib.request.proxy_bypass(self._url.host):
            return ""
        return of_environment.get(self._url.scheme) or of_environment.get("all") or ""


class _BoundedCookieJar(CookieJar):
    """Keeps the first cookies, because all of them are read and sent with each request."""

    def set_cookie(self, cookie: Cookie) -> None:
        kept = {(each.domain, each.path, each.name) for each in self}
        is_known = (cookie.domain, cookie.path, cookie.name) in kept
        if len(cookie.name) + len(cookie.value or "") <= MAX_COOKIE and (is_known or len(kept) < MAX_COOKIES):
            super().set_cookie(cookie)


class _BoundedAuth(httpx2.Auth):
    """Limits the size of the answers that an `auth` reads, such as the metadata of an authorization server.

    The library reads them whole. The answer to the caller's own request is only limited if it is an error.
    """

    def __init__(self, inner: httpx2.Auth) -> None:
        self._inner = inner

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = self._inner.async_auth_flow(request)
        try:
            sent = await anext(flow)
            while True:
                response = yield sent
                if sent is not request or response.is_error:
                    _limit_body(response)
                sent = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()


def _limit_body(response: httpx2.Response) -> None:
    """Limit the size of the body.

    Raises:
        MCPError: the body is compressed more than once.
    """
    coding = response.headers.get("Content-Encoding", "identity")
    if "," in coding:
        raise MCPError(f"the answer is compressed with {coding!r:.40}", reason="protocol")
    limit = MAX_AUTH_BODY if coding == "identity" else MAX_COMPRESSED_AUTH_BODY
    response.stream = _LimitedStream(cast("httpx2.AsyncByteStream", response.stream), limit)


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, limit: int) -> None:
        self._inner = inner
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > self._limit:
                raise MCPError(f"an answer has more than {self._limit} bytes", reason="protocol")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


class _UnusableProxy(httpx2.AsyncBaseTransport):
    """Fails every request that needs the environment's proxy, because that cannot be used."""

    def __init__(self, why: str) -> None:
        self._describe = why

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ProxyError(f"the environment's proxy cannot be used ({self._describe})", request=request)


_ERRORS: tuple[tuple[type[Exception], type[MCPError], Reason, str], ...] = (
    (httpx2.ConnectError, ServerNotAvailableError, "network", "{where} cannot be reached: {why}"),
    (httpx2.ConnectTimeout, ServerNotAvailableError, "network", "{where} cannot be reached: {why}"),
    (httpx2.ProxyError, ServerNotAvailableError, "network", "{where} cannot be reached by proxy: {why}"),
    (httpx2.LocalProtocolError, MCPError, "invalid", "{where}: HTTP does not allow one of the headers"),
    (httpx2.DecodingError, MCPError, "protocol", "{where}: the answer is compressed wrongly"),
    (httpx2.TooManyRedirects, MCPError, "http", "{where}: the authorization took too many requests"),
    (httpx2.UnsupportedProtocol, MCPError, "invalid", "{where} is not reached over HTTP"),
    (httpx2.InvalidURL, MCPError, "invalid", "{where}: the URL is not valid"),
    (httpx2.HTTPError, MCPConnectionError, "network", "{where}: the connection broke: {why}"),
)
"""Exceptions, their translations, reasons and messages. The first matching row is used.

The messages contain no secrets.
"""


def _describe(error: BaseException) -> str:
    """Return the operating system's message if there is one, because it is more exact than the library's."""
    if isinstance(error, httpx2.ConnectTimeout):
        return "no answer"
    if isinstance(error, httpx2.RemoteProtocolError):
        # The text after the colon was sent by the server.
        return str(error).partition(": ")[0]
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, OSError) and (inner.errno or inner.strerror):
            return describe_os_error(inner)
        inner = inner.__cause__ or inner.__context__
    return str(error) or type(error).__name__


def _check_proxy_address(proxy: str) -> None:
    """Check what `httpx2` notices only when it connects, and then raises as another exception.

    Raises:
        httpx2.InvalidURL: the proxy has no host, or no valid port.
    """
    address = httpx2.URL(proxy if "://" in proxy else f"http://{proxy}")
    if proxy and not (address.host and (address.port is None or 0 < address.port < 1 << 16)):
        raise httpx2.InvalidURL("no host, or no valid port")


def _describe_unusable(error: Exception) -> str:
    """Return the reason why certificates or a proxy cannot be used, without the proxy's URL."""
    if isinstance(error, ImportError):
        return "the package socksio is not installed"
    if isinstance(error, OSError):
        return describe_os_error(error)
    if isinstance(error, httpx2.InvalidURL):
        return "its URL is not valid"
    return "its scheme is not http, https or socks5"


def _request_place(error: Exception) -> str | None:
    """Return the URL of the failed request, without secrets. An `auth` may send requests to other URLs."""
    try:
        return _url_place(error.request.url) if isinstance(error, httpx2.RequestError) else None
    except RuntimeError:  # The error has no request.
        return None


def _url_place(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}{url.path}"


def _silence_loggers() -> None:
    """Raise the log level of the HTTP libraries unless it was set, because they log ids and whole URLs."""
    for name in ("httpx2", "httpcore2"):
        if (log := logging.getLogger(name)).level == logging.NOTSET:
            log.setLevel(logging.WARNING)
