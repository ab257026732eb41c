"""Collect the URLs to audit from the command line, files and sitemaps."""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from footlight.browser_client.validation import validate_url
from footlight.cli.usage import InvalidUsageError
from footlight.protocol.errors import MCPError

__all__ = ["read_urls"]

MAX_URLS = 100
MAX_SITEMAP_BYTES = 10 << 20
MAX_NESTED_SITEMAPS = 10
TIMEOUT_SECONDS = 30.0
_LOCATION = re.compile(r"<loc>([^<]{1,4096})</loc>")


def read_urls(
    words: Sequence[str], lists: Sequence[Path], sitemaps: Sequence[str]
) -> tuple[Sequence[str], int]:
    """Return each URL once, in order, and the number of repetitions that were dropped.

    `words` are the URLs of the command line, with local files replaced. `lists` are files with a URL on each
    line, and `sitemaps` are the URLs of sitemaps.

    Raises:
        InvalidUsageError: a URL cannot be audited, or there are no URLs or too many.
    """
    import ada_url

    pages: dict[str, str] = {}
    named = 0
    for where, url in _list_urls(words, lists, sitemaps):
        try:
            validate_url(url, tool=where)
        except MCPError as error:
            hint = "" if "://" in url else f"; did you mean {_likely_url(url)}?"
            raise InvalidUsageError(f"{error.message.removesuffix('.')}: {url}{hint}") from None
        parsed = ada_url.URL(url)
        if parsed.username or parsed.password:
            raise InvalidUsageError(
                f"{where}: a URL with a user name or password would appear in every report; use --state"
            )
        pages.setdefault(parsed.href, url)
        named += 1
    if not pages:
        raise InvalidUsageError("name a page: footlight audit URL, or --urls FILE")
    if len(pages) > MAX_URLS:
        raise InvalidUsageError(f"{len(pages)} pages: the limit is {MAX_URLS} per run; split the list")
    return list(pages.values()), named - len(pages)


def _likely_url(url: str) -> str:
    local = url.lower().startswith(("localhost", "127."))
    return f"{'http' if local else 'https'}://{url}"


def _list_urls(
    words: Sequence[str], lists: Sequence[Path], sitemaps: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield each URL, after a description of its source."""
    for word in words:
        if word == "-":
            yield from _lines("standard input", sys.stdin.read())
        else:
            yield "URL", word
    for file in lists:
        try:
            yield from _lines(str(file), file.read_text("utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise InvalidUsageError(f"--urls {file}: {why}") from None
    for url in sitemaps:
        yield from _read_sitemap(url)


def _lines(name: str, text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        url = line.strip()
        if url and not url.startswith("#"):
            yield f"{name}, line {number}", url


def _read_sitemap(url: str) -> Iterator[tuple[str, str]]:
    """Yield the source and the URL of each page. Up to ten sitemaps in a sitemap index are read too.

    Raises:
        InvalidUsageError: the sitemap cannot be read.
    """
    text = _fetch(url)
    if "<sitemapindex" not in text[:4096]:
        yield from ((f"--sitemap {url}", each) for each in _locations(text))
        return
    for nested in _locations(text)[:MAX_NESTED_SITEMAPS]:
        yield from ((f"--sitemap {nested}", each) for each in _locations(_fetch(nested)))


def _locations(text: str) -> list[str]:
    return [html.unescape(each).strip() for each in _LOCATION.findall(text)]


def _fetch(url: str) -> str:
    import httpx2

    try:
        data = bytearray()
        with httpx2.stream("GET", url, timeout=TIMEOUT_SECONDS, follow_redirects=True) as response:
            response.raise_for_status()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > MAX_SITEMAP_BYTES:
                    raise InvalidUsageError(
                        f"--sitemap {url}: it is larger than {MAX_SITEMAP_BYTES >> 20} MiB"
                    )
        return data.decode("utf-8", "replace")
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise InvalidUsageError(f"--sitemap {url}: {error or type(error).__name__}") from None
