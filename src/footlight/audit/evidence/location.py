"""Find out which page the browser shows, so that another page is not measured as the requested one."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, parse_qs, urlsplit

from footlight.audit.evidence.scripts import bare_script
from footlight.audit.findings import PageMove
from footlight.audit.page.page import AuditedPage
from footlight.protocol.errors import MCPError, MCPTimeoutError, ToolInvocationError
from footlight.protocol.untrusted_json import an_object, integer, number, text

__all__ = [
    "PageChange",
    "PageLocation",
    "PageTrail",
    "check_is_page",
    "is_same_view",
    "locate",
    "wait_for_location",
]

PageChange = Literal["none", "reloaded", "route", "document", "closed"]
"""A change of a page. `route`: a router shows another page in the same document. `closed`: by the server."""

_WAIT_SECONDS = 0.5
_ATTEMPTS = 3
_MAX_URL_LENGTH = 2_000
_LOGIN = re.compile(
    r"log[-_]?[io]n|sign[-_]?in|\bauth(?:enticate|entication|orize)?\b|\bsso\b|sessions?/new|anmeld|connexion|acceso",
    re.IGNORECASE,
)
_ERROR_VIEW = re.compile(
    r"\b(?:[45]\d\d|not-?_?found|error|denied|forbidden|unauthori[sz]ed|unavailable|expired|maintenance)\b",
    re.IGNORECASE,
)
_INDEX = re.compile(r"/index\.(html?|php|aspx?)$|/$")
_FIRST_ERROR_STATUS = 400
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
    """The page that the browser shows. `document` differs for each loaded document, also of the same URL."""

    url: str
    title: str = ""
    content_type: str = "text/html"
    document: float = 0
    referrer: str = ""
    loaded_url: str = ""
    """The URL of the document when it was loaded. Scripts can change `url` later."""
    status: int | None = None
    asks_password: bool = False
    forbids_scripts: bool = False
    """The browser runs no scripts in the document, as in a sandbox."""
    is_broken: bool = False
    """The browser shows the document only up to an error in its XML."""

    @property
    def page_url(self) -> str:
        """Return the URL that pages are compared by: without a fragment that is a place on the page."""
        return _page_url(self.url)


@dataclass
class PageTrail:
    """Follows a page from the requested URL to the one that the browser shows now."""

    requested: str
    location: PageLocation = field(default_factory=lambda: PageLocation(url=""))
    moves: list[PageMove] = field(default_factory=list[PageMove])
    """The moves from one page to another that the browser made by itself."""
    default_views: list[PageMove] = field(default_factory=list[PageMove])
    """Those of the moves with which a router showed the view that the address before stands for."""
    renamed: PageMove | None = None
    """A change of the address by a script that still shows the same page."""

    def arrive(self, opened_url: str, location: PageLocation) -> None:
        """Note where the page is after it was opened, and that a script or a router led it there."""
        self.location = location
        loaded = location.loaded_url or location.url
        # A redirect of the server leaves no referrer; a script and a meta refresh do.
        start = self.requested if location.referrer else opened_url
        if _page_url(loaded) != _page_url(start) and _page_url(location.url) != _page_url(start):
            self._add_move(start, loaded)
        if location.page_url != _page_url(self.requested):
            self._compare_urls(loaded, location.url)

    def follow(self, location: PageLocation) -> PageChange:
        """Note where the page is now, and return what happened since it was known to be elsewhere."""
        before, self.location = self.location, location
        if location.document == before.document:
            return "route" if self._compare_urls(before.url, location.url) else "none"
        loaded = location.loaded_url or location.url
        is_other = before.page_url not in (_page_url(loaded), location.page_url)
        if is_other:
            self._add_move(before.url, loaded)
        has_routed = self._compare_urls(loaded, location.url)
        return (
            "document" if is_other else "route" if has_routed and location.url != before.url else "reloaded"
        )

    def describe(self, location: PageLocation) -> str | None:
        """Return why the requested page was not measured, if `location` was measured instead."""
        if any(each not in self.default_views for each in self.moves):
            path = ", then to ".join(each.to_url for each in self.moves)
            return f"it moved on its own to {path}, and that page was measured"
        if _is_login(self.requested, location):
            return f"the site redirected to {location.url}, which asks to log in, and that page was measured"
        return None

    def describe_address(self, location: PageLocation) -> Iterator[str]:
        """Yield how the address of the same page was changed."""
        for each in dict.fromkeys(self.default_views):
            yield f"A script led from {each.from_url} to {each.to_url}, its default view, which was measured."
        loaded = location.loaded_url or location.url
        if self.moves or location.page_url == _page_url(self.requested):
            return
        if _page_url(loaded) != _page_url(self.requested):
            yield f"The server redirected {self.requested} to {loaded}."
        if self.renamed is not None:
            yield (
                f"A script changed the address {self.renamed.from_url} to {self.renamed.to_url}, "
                "and the page stayed the same."
            )

    def _compare_urls(self, before: str, after: str) -> bool:
        """Note that a script changed the address. Return whether the page is another one since."""
        if after == before:
            return False
        if not is_same_view(before, after):
            self._add_move(before, after)
            if _is_default_view(before, after):
                self.default_views.append(PageMove(from_url=before, to_url=after))
            return True
        if _page_url(before) != _page_url(after):
            self.renamed = PageMove(from_url=before, to_url=after)
        return False

    def _add_move(self, from_url: str, to_url: str) -> None:
        move = PageMove(from_url=from_url, to_url=to_url)
        if move not in self.moves:
            self.moves.append(move)


def is_same_view(one: str, other: str) -> bool:
    """Return whether a router that leads from one URL to the other still shows the same page.

    It does where it adds or removes a slash at the end, parameters, or a place on the page.
    """
    first, second = (urlsplit(each[:_MAX_URL_LENGTH]) for each in (one, other))
    if (first.scheme, first.netloc, _path(first)) != (second.scheme, second.netloc, _path(second)):
        return False
    if _route(first.fragment) != _route(second.fragment):
        return False
    known, now = parse_qs(first.query), parse_qs(second.query)
    return all(known[name] == now[name] for name in known.keys() & now.keys())


def _is_default_view(before: str, after: str) -> bool:
    """Return whether a router led from the address of a site or of a section to a view below it.

    Login and error views are not: they replace what was requested.
    """
    first, second = (urlsplit(each[:_MAX_URL_LENGTH]) for each in (before, after))
    if (first.scheme, first.netloc) != (second.scheme, second.netloc) or _route(first.fragment):
        return False
    is_below = _path(second).startswith(f"{_path(first)}/") or _path(second) == _path(first)
    view = f"{second.path}#{_route(second.fragment)}"
    return is_below and not _LOGIN.search(view) and not _ERROR_VIEW.search(view)


def _path(url: SplitResult) -> str:
    return _INDEX.sub("", url.path)


def _route(fragment: str) -> str:
    """Return the route that a router keeps in the fragment, or nothing for a place on the page."""
    return fragment.lstrip("!/").rstrip("/") if fragment.startswith(("/", "!")) else ""


def _page_url(url: str) -> str:
    page, _, fragment = url.partition("#")
    if page.startswith("blob:"):  # Each has another name, also for the same content.
        page = page.rpartition("/")[0]
    return f"{page}#{fragment}" if _route(fragment) else page


def _is_login(requested: str, location: PageLocation) -> bool:
    """Return whether the server redirected to a login page that was not requested."""
    first, second = urlsplit(requested[:_MAX_URL_LENGTH]), urlsplit(location.url[:_MAX_URL_LENGTH])
    if not location.asks_password or _path(first) == _path(second) or _LOGIN.search(first.path):
        return False
    is_return = any(first.path in value for values in parse_qs(second.query).values() for value in values)
    return bool(_LOGIN.search(f"{second.netloc}{second.path}")) or (len(first.path) > 1 and is_return)


async def locate(page: AuditedPage) -> PageLocation:
    """Return which page the browser shows, also while the page is being replaced.

    Raises:
        MCPError: the page does not answer.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return _read_location(await page.evaluate(bare_script("location")))
        except MCPTimeoutError:
            raise
        except ToolInvocationError:
            continue
    return _read_location(await page.evaluate(bare_script("location")))


async def wait_for_location(
    page: AuditedPage, is_wanted: Callable[[PageLocation], bool], limit_s: float
) -> PageLocation:
    """Return where the page is as soon as that is wanted, or when the time is up.

    Raises:
        MCPError: the page does not answer.
    """
    deadline = time.monotonic() + limit_s
    while True:
        await asyncio.sleep(_WAIT_SECONDS)
        if is_wanted(location := await locate(page)) or time.monotonic() > deadline:
            return location


def check_is_page(location: PageLocation, requested: str) -> None:
    """Check that the browser shows an HTML page.

    Raises:
        MCPError: it shows an error page of the browser, or another kind of document.
    """
    if location.url.startswith(_ERROR_PAGES):
        raise _refusal(f"{requested} led to an error page of the browser: its target cannot be loaded")
    if location.url == "about:blank" and requested != "about:blank":
        raise _refusal(f"{requested} is not a page: the browser shows nothing, as for a download")
    if location.forbids_scripts:
        raise _refusal(
            f"{location.url} forbids all scripts, also those of a measurement, as the policy `sandbox` does: "
            "allow-scripts would permit them"
        )
    if location.content_type not in _PAGE_TYPES:
        if (location.status or 0) >= _FIRST_ERROR_STATUS:
            raise _refusal(f"the site answered {location.status} at {location.url}, without an HTML page")
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
        loaded_url=text(answer.get("loaded")) or "",
        status=integer(answer.get("status")) or None,
        asks_password=answer.get("login") is True,
        forbids_scripts=answer.get("scripts") is False,
        is_broken=answer.get("broken") is True,
    )
