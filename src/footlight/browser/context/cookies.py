"""The cookies of a session, and the error for a cookie that the browser refuses."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from footlight.browser.driver.playwright_api import Error, cause, is_closed, protocol_reason
from footlight.errors import InvalidParameterError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

__all__ = ["CookieJar", "make_refused_cookie_error"]

MAX_COOKIE_BYTES = 4096
_HTTP_URL = re.compile(r"(?:https?|wss?)://[^/\s]", re.IGNORECASE)


class CookieJar:
    """The cookies of a browser context."""

    def __init__(self, context: BrowserContext, browser: Browser) -> None:
        self._context = context
        self._browser = browser

    async def find(self, urls: Sequence[str]) -> list[dict[str, Any]]:
        """Return all cookies, or those that would be sent to the URLs.

        Raises:
            InvalidParameterError: one of them is not a URL.
        """
        for index, url in enumerate(urls):
            if not _HTTP_URL.match(url):
                raise _make_url_error(index, url)
        try:
            return await self._find(urls)
        except Error:
            # The browser does not report which URL is invalid, so they are tried one by one.
            for index, url in enumerate(urls):
                try:
                    await self._find([url])
                except Error as error:
                    if protocol_reason(error) != "Invalid URL":
                        raise
                    raise _make_url_error(index, url) from None
            raise

    async def _find(self, urls: Sequence[str]) -> list[dict[str, Any]]:
        found: Any = await self._context.cookies(list(urls)) if urls else await self._context.cookies()
        return found

    async def delete(self, *, name: str | None = None, domain: str | None = None) -> int:
        """Delete the cookies with this name and domain, or all, and return their number.

        The cookies of a domain's subdomains are not deleted.
        """
        before = await self._context.cookies()
        if domain is None:
            await self._context.clear_cookies(name=name)
        else:
            host = domain.removeprefix(".").lower()
            for own in {each.get("domain", "") for each in before}:
                if own.removeprefix(".") == host:
                    await self._context.clear_cookies(name=name, domain=own)
        return len(before) - len(await self._context.cookies())

    async def are_stored(self, cookies: Sequence[dict[str, Any]]) -> list[bool]:
        """Return for each cookie whether one with its name is stored for its host."""
        stored = {_name_and_host(cookie) for cookie in await self._context.cookies()}
        return [_name_and_host(cookie) in stored for cookie in cookies]

    async def add(self, cookies: Sequence[dict[str, Any]]) -> None:
        """Add cookies.

        Raises:
            InvalidParameterError: the browser refuses a cookie.
        """
        try:
            await self._context.add_cookies(cast("Any", cookies))
        except Error as error:
            refusal = await make_refused_cookie_error(self._browser, cookies, error)
            raise refusal or InvalidParameterError(f"cookies: {cause(error)}", parameter="cookies") from error


def _make_url_error(index: int, url: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"urls.{index}: needs a full URL, such as https://example.com/, got {url[:100]!r}",
        parameter=f"urls.{index}",
    )


async def make_refused_cookie_error(
    browser: Browser, cookies: Sequence[Mapping[str, Any]], error: Error, *, of: str = ""
) -> InvalidParameterError | None:
    """Return the error for the first cookie that the browser refuses, or None if it accepts each.

    The browser does not report which cookie is invalid, so they are tried one by one in a separate context.
    `of` precedes the name of the field.
    """
    if not cookies or is_closed(error):
        return None
    trial = await browser.new_context()
    try:
        for index, cookie in enumerate(cookies):
            try:
                await trial.add_cookies([cast("Any", cookie)])
            except Error as refusal:
                if is_closed(refusal):
                    return None
                reason = protocol_reason(refusal)
                inner = re.match(r"cookies\[0\]\.(\w{1,40}): ", reason)
                name, text = (inner[1], reason[inner.end() :]) if inner else _explain_refusal(cookie, reason)
                field = f"{of}cookies.{index}" + (f".{name}" if name else "")
                return InvalidParameterError(f"{field}: {text}", parameter=field)
    finally:
        with contextlib.suppress(Error):
            await trial.close()
    return None


def _explain_refusal(cookie: Mapping[str, Any], reason: str) -> tuple[str, str]:
    """Return the field for which Chromium refuses a cookie, and its rule. It names neither."""
    name, value, is_secure = cookie["name"], cookie["value"], cookie.get("secure")
    if "Invalid cookie fields" not in reason:
        return "", reason
    for field, text, excluded in (("name", name, "=;"), ("value", value, ";")):
        if any(each in excluded or (each < " " and each != "\t") or each == "\x7f" for each in text):
            return field, f"must not contain {' or '.join(excluded)}, nor control characters"
    if len(f"{name}{value}".encode()) > MAX_COOKIE_BYTES:
        return "value", f"has more than {MAX_COOKIE_BYTES} bytes together with the name"
    if not cookie.get("path", "/").startswith("/"):
        return "path", "must begin with /"
    prefix = next((each for each in ("__host-", "__secure-") if name.lower().startswith(each)), None)
    if not is_secure and (prefix or cookie.get("partitionKey")):
        return "secure", f"must be true for a cookie {'with this name' if prefix else 'with a partitionKey'}"
    return "", f"{reason}; a name with __Host- needs path / and no domain" if prefix else reason


def _name_and_host(cookie: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name and host of a cookie with a URL or domain. The host is as the browser stores it."""
    url: str = cookie.get("url", "")
    domain: str = cookie.get("domain", "")
    host = (domain or urlsplit(url).hostname or "").removeprefix(".").lower()
    with contextlib.suppress(UnicodeError):
        host = host.encode("idna").decode()
    return cookie["name"], host
