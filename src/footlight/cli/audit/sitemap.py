"""Read the URLs of a sitemap."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from footlight.cli.usage import BadUsage

__all__ = ["read_sitemap"]

MAX_BYTES = 10 << 20
MAX_NESTED = 10
TIMEOUT_SECONDS = 30.0
_LOCATION = re.compile(r"<loc>([^<]{1,4096})</loc>")


def read_sitemap(url: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the URL of each page. Sitemaps that an index lists are read too, up to ten.

    Raises:
        BadUsage: the sitemap cannot be read.
    """
    text = _fetch(url)
    if "<sitemapindex" not in text[:4096]:
        yield from ((f"--sitemap {url}", each) for each in _locations(text))
        return
    for nested in _locations(text)[:MAX_NESTED]:
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
                if len(data) > MAX_BYTES:
                    raise BadUsage(f"--sitemap {url}: it is larger than {MAX_BYTES >> 20} MiB")
        return data.decode("utf-8", "replace")
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise BadUsage(f"--sitemap {url}: {error or type(error).__name__}") from None
