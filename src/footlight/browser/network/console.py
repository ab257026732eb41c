"""The console messages of a session's pages, and their uncaught errors."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import time
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.playwright_connection import stop_events
from footlight.browser.driver.shielding import start_work
from footlight.safe_text import cut_text

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, ConsoleMessage, WebError
    from playwright.async_api import Page as PlaywrightPage

__all__ = ["Console", "Level", "Message", "MessageFilter"]

Level = Literal["error", "warning", "info", "debug"]

MAX_SERIOUS = 500
"""The number of errors and warnings that are kept.

They are stored separately, so that other messages do not displace them.
"""
MAX_CHATTER = 500
MAX_TEXT = 2_000
MAX_URL = 300
MAX_STACK = 5_000
PLAYWRIGHT_KEEPS = 200
MIN_OF_MANY = 180
"""Playwright keeps at most 200 messages of a page, and at least 180 after it has dropped some."""
RELEASED_AT_ONCE = 40
"""The number of values that are released at a time. One by one would take ten times as long."""
NOT_LOADED = "Failed to load resource"
"""The beginning of Chromium's messages about requests that failed."""
OF_AUDIT = "#footlight-audit"
"""The end of the addresses that an audit asks for in the page. What fails there is no message of the page."""
LISTEN_SECONDS = 1.0
"""How long fetching the messages may take. A page that writes without a pause keeps Playwright busy."""

_LEVELS: dict[str, Level] = {
    "error": "error",
    "assert": "error",
    "warning": "warning",
    "debug": "debug",
    "verbose": "debug",
}
"""Levels by Playwright's message types. All other types are `info`."""


@dataclass(slots=True)
class Message:
    """A console message, and the number of its consecutive repetitions.

    `number` and `last` are positions in the messages of the session: of the first occurrence and the latest.
    `at` is in milliseconds since the epoch, and `document` counts the documents of the page. `source` is a
    URL, with line and column from 1 if they are known.
    """

    level: Level
    text: str
    source: str
    page: str
    document: int
    at: float
    number: int = 0
    last: int = 0
    count: int = 1
    stack: str = ""
    """The stack trace of an uncaught error. A logged error has it in its text."""

    def is_like(self, other: Message) -> bool:
        return self._comparison_key == other._comparison_key

    @property
    def _comparison_key(self) -> tuple[object, ...]:
        return self.level, self.text, self.source, self.page, self.document


@dataclass(slots=True)
class _FetchedMessages:
    """The last messages that were fetched from a page, and its document at that time."""

    messages: list[ConsoleMessage] = field(default_factory=list["ConsoleMessage"])
    document: int = -1
    fetching: asyncio.Task[None] | None = None
    unreleased: list[ConsoleMessage] = field(default_factory=list["ConsoleMessage"])
    is_behind: bool = True
    """True if the page may have written messages since the last fetch."""
    released: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the previous messages are released. A page can write faster than that takes."""

    def __post_init__(self) -> None:
        self.released.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """The conditions for a message. All conditions that are given must be met."""

    levels: Collection[Level] = ()
    text: str = ""
    """A part of the message, ignoring case."""
    page: str | None = None
    since_navigation: bool = False


class Console:
    """The last console messages of a session.

    They are fetched on demand. Playwright keeps the last 200 messages of a page. Handling an event for each
    message costs more than the page needs to write it, so a page that writes without a pause would block the
    whole server. Only the first message after a fetch is an event: without one, there is nothing to fetch.
    Uncaught errors are reported by events.
    """

    def __init__(
        self,
        context: BrowserContext,
        *,
        page_id_of: Callable[[PlaywrightPage | None], str],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self.dropped = 0
        """The number of messages that were removed to make room."""
        self.missed = False
        """Whether a page has written more messages than could be fetched."""
        self._context = context
        self._page_id_of = page_id_of
        self._spawn = spawn
        self._serious: deque[Message] = deque()
        self._chatter: deque[Message] = deque()
        self._next = 1
        self._documents: dict[str, int] = {}
        self._fetched: dict[PlaywrightPage, _FetchedMessages] = {}

    def watch(self) -> None:
        self._context.on("weberror", self._on_error)

    def count_document(self, page_id: str) -> None:
        """Record that the page has a new document."""
        self._documents[page_id] = self._document(page_id) + 1

    def forget(self, page: PlaywrightPage) -> None:
        """Drop the state of a closed page. Its messages are kept."""
        self._fetched.pop(page, None)

    async def fetch(self, page_id: str | None = None) -> None:
        """Fetch the new messages of one page, or of all pages."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LISTEN_SECONDS):
                for page in self._context.pages:
                    if page_id in (None, self._page_id_of(page)):
                        await self._fetch(page)

    def select(self, conditions: MessageFilter) -> list[Message]:
        """Return the fetched messages that meet the conditions, oldest first."""
        messages = heapq.merge(self._serious, self._chatter, key=lambda message: message.number)
        return sorted(
            (message for message in messages if self._accepts(conditions, message)),
            key=lambda message: message.at,
        )

    def mark(self) -> int:
        """Return the current position, for `errors_since`."""
        return self._next

    async def errors_since(self, mark: int, page_id: str | None = None, most: int = 5) -> list[Message]:
        """Return the first errors after the mark in the current documents of one page, or of all pages."""
        await self.fetch(page_id)
        errors = [
            message
            for message in self._serious
            if message.last >= mark
            and message.level == "error"
            and page_id in (None, message.page)
            and message.document >= self._document(message.page)
        ]
        return sorted(errors, key=lambda message: message.at)[:most]

    def _accepts(self, conditions: MessageFilter, message: Message) -> bool:
        return (
            (not conditions.levels or message.level in conditions.levels)
            and conditions.text.lower() in message.text.lower()
            and conditions.page in (None, message.page)
            and not (conditions.since_navigation and message.document < self._document(message.page))
        )

    def _document(self, page_id: str) -> int:
        return self._documents.get(page_id, 0)

    async def _fetch(self, page: PlaywrightPage) -> None:
        if page not in self._fetched:
            self._fetched[page] = _FetchedMessages()
            page.on("console", self._on_first)
        fetched = self._fetched[page]
        while fetched.fetching and not fetched.fetching.done():
            await asyncio.shield(fetched.fetching)
        if not fetched.is_behind:
            await asyncio.sleep(0)  # A caller that asks again and again would block the event loop.
            return
        # A fetch that is cancelled halfway would leave values that are never released.
        fetched.fetching = start_work(self._fetch_all(page, fetched))
        await asyncio.shield(fetched.fetching)

    async def _fetch_all(self, page: PlaywrightPage, fetched: _FetchedMessages) -> None:
        page_id = self._page_id_of(page)
        document = self._document(page_id)
        await fetched.released.wait()
        # An event that arrives from now on may be about a message that is not in the answer.
        fetched.is_behind = False
        try:
            before: list[ConsoleMessage] = []
            if fetched.document != document:
                before = await page.console_messages(filter="all")
            now = await page.console_messages(filter="since-navigation")  # This starts the events again.
            before = before[: len(before) - _overlap(before, now)]
            self._add_fetched(fetched, before, page_id, document - 1)
            self._add_fetched(fetched, now, page_id, document)
            fetched.document = document
        except Error:
            fetched.is_behind = True  # The page is gone, or its driver is.

    def _on_first(self, message: ConsoleMessage) -> None:
        """Note that there are messages to fetch, and stop the events until then."""
        page = message.page
        if page is None or (fetched := self._fetched.get(page)) is None:
            return
        fetched.unreleased.append(message)  # It may never be fetched.
        if not fetched.is_behind:
            fetched.is_behind = True
            stop_events(page, "console")

    def _add_fetched(
        self, fetched: _FetchedMessages, messages: list[ConsoleMessage], page_id: str, document: int
    ) -> None:
        known = _overlap(fetched.messages, messages)
        self.missed |= not known and len(messages) >= MIN_OF_MANY
        for message in messages[known:]:
            if message.text.startswith(NOT_LOADED) and message.location["url"].endswith(OF_AUDIT):
                continue
            self._add(_message(message, page_id, document))
        fetched.messages += messages[known:]
        if older := fetched.messages[:-PLAYWRIGHT_KEEPS]:
            del fetched.messages[:-PLAYWRIGHT_KEEPS]
            fetched.unreleased += older
            if fetched.released.is_set():
                fetched.released.clear()
                self._spawn(_release(fetched))

    def _on_error(self, error: WebError) -> None:
        page_error, location = error.error, error.location
        text = f"{page_error.name}: {page_error.message}" if page_error.name else page_error.message
        page_id = self._page_id_of(error.page)
        self._add(
            Message(
                "error",
                cut_text(text if text.startswith("Uncaught") else f"Uncaught {text}", MAX_TEXT),
                _source(location["url"], location["line"], location["column"]),
                page_id,
                self._document(page_id),
                time.time() * 1000,
                stack=(page_error.stack or "")[:MAX_STACK],
            )
        )

    def _add(self, message: Message) -> None:
        message.number = message.last = self._next
        self._next += 1
        serious = message.level in ("error", "warning")
        messages, most = (self._serious, MAX_SERIOUS) if serious else (self._chatter, MAX_CHATTER)
        if messages and messages[-1].is_like(message):
            messages[-1].last = message.number
            messages[-1].count += 1
            return
        messages.append(message)
        if len(messages) > most:
            self.dropped += messages.popleft().count


def _message(message: ConsoleMessage, page_id: str, document: int) -> Message:
    location = message.location
    return Message(
        _LEVELS.get(message.type, "info"),
        cut_text(message.text, MAX_TEXT),
        _source(location["url"], location["line"], location["column"]),
        page_id,
        document,
        message.timestamp,
    )


def _overlap(earlier: Sequence[ConsoleMessage], later: Sequence[ConsoleMessage]) -> int:
    """Return how many items at the end of `earlier` are the beginning of `later`."""
    ends, begins = [_identity(message) for message in earlier], [_identity(message) for message in later]
    for length in range(min(len(ends), len(begins)), 0, -1):
        if ends[-length:] == begins[:length]:
            return length
    return 0


def _identity(message: ConsoleMessage) -> tuple[float, str, str]:
    return message.timestamp, message.type, message.text[:MAX_TEXT]


async def _release(fetched: _FetchedMessages) -> None:
    """Release the messages and the objects in them, which Playwright keeps until they are disposed."""
    try:
        while fetched.unreleased:
            messages, fetched.unreleased = fetched.unreleased, []
            values = [value for message in messages for value in message.args]
            for at in range(0, len(values), RELEASED_AT_ONCE):
                disposals = (value.dispose() for value in values[at : at + RELEASED_AT_ONCE])
                # Values of a closed page are already gone.
                await asyncio.gather(*disposals, return_exceptions=True)
    finally:
        fetched.released.set()


def _source(url: str, line: int, column: int) -> str:
    """Return the source of a message. Playwright counts lines from 0, and uses 0:0 for an unknown source."""
    url = cut_text(url, MAX_URL)
    return f"{url}:{line + 1}:{column + 1}" if url and (line or column) else url
