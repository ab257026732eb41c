"""The stack traces of a page's errors, with the original sources of their scripts.

The browser itself loads scripts and source maps, as its developer tools do: through the session's proxy and
by its rules. So the network policy applies, and the page can neither see nor block the requests.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urljoin, urlsplit

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.playwright_connection import send
from footlight.browser.network.source_maps import MAX_MAP_BYTES, OriginalPlace, find_map_url, find_places
from footlight.browser.snapshot.text.quoting import shorten
from footlight.errors import FootlightError, InvalidParameterError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.network.console import Message
    from footlight.browser.page.page import Page

__all__ = ["StackFrame", "add_originals", "frames_of", "parse_stack"]

MAX_FRAMES = 20
MAX_SCRIPTS = 10
MAX_FRAME_TEXT = 500
MAX_DIGITS = 9
MAX_SCRIPT_BYTES = 32_000_000
MAX_LOAD_SECONDS = 5.0
"""How long one script or source map may take to load."""
CHUNK_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A stack frame. Lines and columns count from 1; `original` is its place in the original source."""

    function: str
    url: str
    line: int
    column: int
    original: OriginalPlace | None = None
    note: str = ""
    """Why there is no original place, if the script has or may have a source map."""


def parse_stack(text: str) -> list[StackFrame]:
    """Return the frames in a text with a stack trace in the format of Chromium, Firefox or WebKit."""
    frames: list[StackFrame] = []
    for line in text.splitlines():
        if len(frames) == MAX_FRAMES:
            break
        if len(line) <= MAX_FRAME_TEXT and (frame := _parse_line(line.strip())):
            frames.append(frame)
    return frames


def frames_of(message: Message) -> list[StackFrame]:
    """Return the frames of a message: of its own stack, of a stack in its text, or its source alone."""
    source = _parse_place("", message.source)
    return parse_stack(message.stack or message.text) or ([source] if source else [])


def _parse_line(line: str) -> StackFrame | None:
    if line.startswith("at "):
        rest = line.removeprefix("at ").removeprefix("async ")
        if rest.endswith(")"):
            function, _, place = rest[:-1].rpartition(" (")
            return _parse_place(function, place)
        return _parse_place("", rest)
    function, mark, place = line.partition("@")
    return _parse_place(function, place) if mark else None


def _parse_place(function: str, place: str) -> StackFrame | None:
    rest, _, column = place.rpartition(":")
    url, _, line = rest.rpartition(":")
    is_number = line.isascii() and line.isdigit() and column.isascii() and column.isdigit()
    if not url or not is_number or max(len(line), len(column)) > MAX_DIGITS:
        return None
    return StackFrame(function, url, int(line), int(column))


async def add_originals(page: Page, frames: Sequence[StackFrame], deadline: Deadline) -> list[StackFrame]:
    """Return the frames with their places in the original sources, as far as source maps have them.

    Raises:
        InvalidParameterError: the browser is not Chromium. Only Chromium loads the source maps.
    """
    if page.session.engine != "chromium":
        engine = page.session.engine
        raise InvalidParameterError(f"source maps need Chromium; this session runs {engine}", engine=engine)
    urls = list(dict.fromkeys(each.url for each in frames if _is_web(each.url)))
    found: dict[str, dict[tuple[int, int], OriginalPlace] | None] = {}
    notes: dict[str, str] = {url: "too many scripts in one call" for url in urls[MAX_SCRIPTS:]}
    async with _open_loader(page, deadline) as loader:
        for url in urls[:MAX_SCRIPTS]:
            positions = [(each.line - 1, each.column - 1) for each in frames if each.url == url]
            try:
                found[url] = await _find_originals(loader, url, positions)
            except (Error, ValueError, TimeoutError, FootlightError) as error:
                notes[url] = _describe(error)
    located: list[StackFrame] = []
    for each in frames:
        note, places = notes.get(each.url, ""), found.get(each.url)
        original = places.get((each.line - 1, each.column - 1)) if places is not None else None
        if places is not None and original is None:
            note = "the source map has no source for this place"
        located.append(replace(each, original=original, note=note))
    return located


async def _find_originals(
    loader: _Loader, url: str, positions: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], OriginalPlace] | None:
    """Return the places that the source map of a script has, or None if there is no map."""
    script, headers = await loader.load(url, MAX_SCRIPT_BYTES)
    by_header = {name.lower(): value for name, value in headers.items()}
    address = by_header.get("sourcemap") or by_header.get("x-sourcemap")
    if not address:
        address = await asyncio.to_thread(lambda: find_map_url(script.decode("utf-8", "replace")))
    if address is None:
        return None
    if address.startswith("data:"):
        data = await asyncio.to_thread(_read_data_url, address)
    else:
        data, _ = await loader.load(urljoin(url, address), MAX_MAP_BYTES)
    return await asyncio.to_thread(find_places, data, positions)


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _read_data_url(url: str) -> bytes:
    head, comma, body = url.partition(",")
    if not comma or len(body) > MAX_MAP_BYTES * 2:
        raise ValueError("its data URL is incomplete or too long")
    if not head.endswith(";base64"):
        return unquote_to_bytes(body)
    try:
        return base64.b64decode(unquote_to_bytes(body), validate=True)
    except binascii.Error:
        raise ValueError("its data URL is not base64") from None


def _describe(error: Exception) -> str:
    if isinstance(error, FootlightError):
        return shorten(error.message, MAX_FRAME_TEXT)
    if isinstance(error, TimeoutError):
        return "the source map took too long to load"
    if isinstance(error, Error):
        return "the source map could not be loaded"
    return shorten(f"the source map cannot be read: {error}", MAX_FRAME_TEXT)


class _Loader:
    """Loads resources of a page through its browser, invisibly to the page."""

    def __init__(self, page: Page, cdp: CDPSession, frame_id: str, deadline: Deadline) -> None:
        self._page = page
        self._cdp = cdp
        self._frame_id = frame_id
        self._deadline = deadline

    async def load(self, url: str, max_bytes: int) -> tuple[bytes, dict[str, str]]:
        """Return the content and the headers of a URL.

        Raises:
            PermissionDeniedError: the policy of the server refuses its host.
            ValueError: the resource does not exist, or is larger than `max_bytes`.
            TimeoutError: it did not arrive in time.
        """
        if not _is_web(url):
            raise ValueError("its address is not an http or https URL")
        self._page.session.policy.check_url(url)
        same_origin = urlsplit(url)[:2] == urlsplit(self._page.url)[:2]
        seconds = min(MAX_LOAD_SECONDS, self._deadline.remaining_ms / 1000)
        async with asyncio.timeout(seconds):
            reply = await send(
                self._cdp,
                "Network.loadNetworkResource",
                {
                    "frameId": self._frame_id,
                    "url": url,
                    "options": {"disableCache": False, "includeCredentials": same_origin},
                },
            )
            resource = reply["resource"]
            if not resource.get("success"):
                status = int(resource.get("httpStatusCode") or 0)
                raise ValueError(f"status {status}" if status else "it could not be loaded")
            return await self._read(resource["stream"], max_bytes), resource.get("headers") or {}

    async def _read(self, stream: str, max_bytes: int) -> bytes:
        chunks: list[bytes] = []
        size = 0
        try:
            while True:
                reply = await send(self._cdp, "IO.read", {"handle": stream, "size": CHUNK_BYTES})
                text = reply["data"]
                chunk = base64.b64decode(text) if reply.get("base64Encoded") else text.encode()
                chunks.append(chunk)
                size += len(chunk)
                if size > max_bytes:
                    raise ValueError(f"it has more than {max_bytes:,} bytes")
                if reply["eof"]:
                    return b"".join(chunks)
        finally:
            with contextlib.suppress(Error):
                await self._cdp.send("IO.close", {"handle": stream})


@contextlib.asynccontextmanager
async def _open_loader(page: Page, deadline: Deadline) -> AsyncGenerator[_Loader]:
    async with asyncio.timeout(min(MAX_LOAD_SECONDS, deadline.remaining_ms / 1000)):
        cdp = await page.playwright.context.new_cdp_session(page.playwright)
        tree = await send(cdp, "Page.getFrameTree")
    try:
        yield _Loader(page, cdp, tree["frameTree"]["frame"]["id"], deadline)
    finally:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(1.0):
                await cdp.detach()
