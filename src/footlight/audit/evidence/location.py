"""Read where the browser is, so that a page that moves on is not measured as the requested one."""

from __future__ import annotations

from dataclasses import dataclass

from footlight.audit.page.page import AuditedPage
from footlight.protocol.errors import MCPError, MCPTimeoutError, ToolInvocationError
from footlight.protocol.untrusted_json import an_object, number, text

__all__ = ["PageLocation", "check_is_page", "locate"]

_ATTEMPTS = 3
_LOCATION = """() => ({
  url: location.href, title: document.title, type: document.contentType, document: performance.timeOrigin,
  referrer: document.referrer,
})"""
_PAGE_TYPES = ("text/html", "application/xhtml+xml")
_KINDS = {
    "application/pdf": "a PDF document",
    "image/svg+xml": "an SVG image",
    "application/json": "a JSON document",
    "application/xml": "an XML document",
    "text/xml": "an XML document",
    "text/plain": "a plain text document",
}
_ERROR_PAGES = ("chrome-error:", "about:neterror", "about:certerror")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLocation:
    """Where the browser is. `document` differs for each loaded document, also of the same URL."""

    url: str
    title: str = ""
    content_type: str = "text/html"
    document: float = 0
    referrer: str = ""

    @property
    def page_url(self) -> str:
        """Return the URL without its fragment."""
        return self.url.partition("#")[0]

    def is_after_move_from(self, other: PageLocation) -> bool:
        """Return whether another document at another URL has replaced the page."""
        return self.document != other.document and self.page_url != other.page_url


async def locate(page: AuditedPage) -> PageLocation:
    """Return where the browser is, also while the page is being replaced.

    Raises:
        MCPError: the page does not answer.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return _read_location(await page.evaluate(_LOCATION))
        except MCPTimeoutError:
            raise
        except ToolInvocationError:
            continue
    return _read_location(await page.evaluate(_LOCATION))


def check_is_page(location: PageLocation, requested: str) -> None:
    """Check that the browser shows an HTML page.

    Raises:
        MCPError: it shows an error page of the browser, or another kind of document.
    """
    if location.url.startswith(_ERROR_PAGES):
        raise _refusal(f"{requested} led to an error page of the browser: its target cannot be loaded")
    if location.url == "about:blank" and requested != "about:blank":
        raise _refusal(f"{requested} is not a page: the browser shows nothing, as for a download")
    if location.content_type not in _PAGE_TYPES:
        kind = _KINDS.get(location.content_type) or _describe_type(location.content_type)
        raise _refusal(
            f"{location.url} is {kind} ({location.content_type}), not an HTML page, and was not audited"
        )


def _describe_type(content_type: str) -> str:
    family = content_type.partition("/")[0]
    return {"image": "an image", "video": "a video", "audio": "a sound"}.get(family, "a document")


def _refusal(message: str) -> MCPError:
    return ToolInvocationError(message, tool_name="navigate")


def _read_location(value: object) -> PageLocation:
    answer = an_object(value)
    return PageLocation(
        url=text(answer.get("url")) or "",
        title=text(answer.get("title")) or "",
        content_type=text(answer.get("type")) or "text/html",
        document=number(answer.get("document")) or 0,
        referrer=text(answer.get("referrer")) or "",
    )
