"""What the pages of a session write to their consoles, and the errors in them that nobody caught."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import time
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser._playwright import Error

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, ConsoleMessage, WebError
    from playwright.async_api import Page as PlaywrightPage

__all__ = ["Console", "Level", "Message", "MessageFilter"]

Level = Literal["error", "warning", "info", "debug"]

MOST_SERIOUS = 500
"""Errors and warnings that are kept. They have room of their own, so that chatter pushes none out."""
MOST_CHATTER = 500
LONGEST_TEXT = 2_000
LONGEST_URL = 300
MOST_OF_PLAYWRIGHT = 200
FEWEST_OF_MANY = 180
"""Playwright keeps so many messages of a page at the most, and at the least once it had to drop some."""
LISTEN_SECONDS = 1.0
"""How long Playwright may take to tell what was written; a page that floods it keeps it busy."""

_LEVELS: dict[str, Level] = {
    "error": "error",
    "assert": "error",
    "warning": "warning",
    "debug": "debug",
    "verbose": "debug",
}
"""Of Playwright's types; the others are `info`."""


@dataclass(slots=True)
class Message:
    """A message, and how often it came in a row.

    `number` and `last` count what was heard in the session: the first occurrence and the latest. `at` is in
    milliseconds since the epoch, `document` counts those of the page. `source` is a URL, with line and column
    from 1 where they are known.
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

    def is_like(self, other: Message) -> bool:
        return self._essence == other._essence

    @property
    def _essence(self) -> tuple[object, ...]:
        return self.level, self.text, self.source, self.page, self.document


@dataclass(slots=True)
class _Heard:
    """The last messages that were fetched of a page, and which document it had then."""

    messages: list[ConsoleMessage] = field(default_factory=list["ConsoleMessage"])
    document: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """Every condition that is given must hold."""

    levels: Collection[Level] = ()
    text: str = ""
    """A part of it, in upper or lower case."""
    page: str | None = None
    since_navigation: bool = False


class Console:
    """The last messages of a session.

    They are fetched when somebody wants to know. Playwright keeps the last 200 of a page by itself; to be
    told of each as it comes costs more than the page pays to write it, and a page that writes without end
    would hold up the whole server. Errors that nobody caught are told by Playwright in any case.
    """

    def __init__(
        self,
        context: BrowserContext,
        *,
        page_id_of: Callable[[PlaywrightPage | None], str],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self.dropped = 0
        """Messages that had to make room for later ones."""
        self.missed = False
        """Whether a page wrote more than could be fetched."""
        self._context = context
        self._page_id_of = page_id_of
        self._spawn = spawn
        self._serious: deque[Message] = deque()
        self._chatter: deque[Message] = deque()
        self._next = 1
        self._documents: dict[str, int] = {}
        self._heard: dict[PlaywrightPage, _Heard] = {}

    def watch(self) -> None:
        self._context.on("weberror", self._on_error)

    def navigated(self, page_id: str) -> None:
        """Another document is in the page."""
        self._documents[page_id] = self._document(page_id) + 1

    def forget(self, page: PlaywrightPage) -> None:
        """The page is gone; its messages stay."""
        self._heard.pop(page, None)

    async def listen(self, page_id: str | None = None) -> None:
        """Fetch what was written since the last time, in a page or in all."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LISTEN_SECONDS):
                for page in self._context.pages:
                    if page_id in (None, self._page_id_of(page)):
                        await self._fetch(page)

    def matching(self, wanted: MessageFilter) -> list[Message]:
        """Of what was fetched, oldest first."""
        messages = heapq.merge(self._serious, self._chatter, key=lambda message: message.number)
        return sorted(
            (message for message in messages if self._accepts(wanted, message)),
            key=lambda message: message.at,
        )

    def mark(self) -> int:
        """Now, for `errors_since`."""
        return self._next

    async def errors_since(self, mark: int, page_id: str | None = None, most: int = 5) -> list[Message]:
        """The first errors that became known since then, in a page or in all."""
        await self.listen(page_id)
        errors = [
            message
            for message in self._serious
            if message.last >= mark and message.level == "error" and page_id in (None, message.page)
        ]
        return sorted(errors, key=lambda message: message.at)[:most]

    def _accepts(self, wanted: MessageFilter, message: Message) -> bool:
        return (
            (not wanted.levels or message.level in wanted.levels)
            and wanted.text.lower() in message.text.lower()
            and wanted.page in (None, message.page)
            and not (wanted.since_navigation and message.document < self._document(message.page))
        )

    def _document(self, page_id: str) -> int:
        return self._documents.get(page_id, 0)

    async def _fetch(self, page: PlaywrightPage) -> None:
        page_id = self._page_id_of(page)
        document = self._document(page_id)
        heard = self._heard.setdefault(page, _Heard())
        with contextlib.suppress(Error):  # The page is gone.
            before: list[ConsoleMessage] = []
            if heard.document != document:
                before = await page.console_messages(filter="all")
            now = await page.console_messages(filter="since-navigation")
            before = before[: len(before) - _overlap(before, now)]
            self._hear(heard, before, page_id, document - 1)
            self._hear(heard, now, page_id, document)
            heard.document = document

    def _hear(self, heard: _Heard, messages: list[ConsoleMessage], page_id: str, document: int) -> None:
        known = _overlap(heard.messages, messages)
        self.missed |= not known and len(messages) >= FEWEST_OF_MANY
        for message in messages[known:]:
            self._add(_message(message, page_id, document))
        heard.messages += messages[known:]
        if gone := heard.messages[:-MOST_OF_PLAYWRIGHT]:
            del heard.messages[:-MOST_OF_PLAYWRIGHT]
            self._spawn(_release(gone))

    def _on_error(self, error: WebError) -> None:
        thrown, location = error.error, error.location
        text = f"{thrown.name}: {thrown.message}" if thrown.name else thrown.message
        page_id = self._page_id_of(error.page)
        self._add(
            Message(
                "error",
                _cut(f"Uncaught {text}", LONGEST_TEXT),
                _source(location["url"], location["line"], location["column"]),
                page_id,
                self._document(page_id),
                time.time() * 1000,
            )
        )

    def _add(self, message: Message) -> None:
        message.number = message.last = self._next
        self._next += 1
        serious = message.level in ("error", "warning")
        kept, most = (self._serious, MOST_SERIOUS) if serious else (self._chatter, MOST_CHATTER)
        if kept and kept[-1].is_like(message):
            kept[-1].last = message.number
            kept[-1].count += 1
            return
        kept.append(message)
        if len(kept) > most:
            self.dropped += kept.popleft().count


def _message(message: ConsoleMessage, page_id: str, document: int) -> Message:
    location = message.location
    return Message(
        _LEVELS.get(message.type, "info"),
        _cut(message.text, LONGEST_TEXT),
        _source(location["url"], location["line"], location["column"]),
        page_id,
        document,
        message.timestamp,
    )


def _overlap(earlier: Sequence[ConsoleMessage], later: Sequence[ConsoleMessage]) -> int:
    """How many at the end of the one list are the beginning of the other."""
    ends, begins = [_identity(message) for message in earlier], [_identity(message) for message in later]
    for length in range(min(len(ends), len(begins)), 0, -1):
        if ends[-length:] == begins[:length]:
            return length
    return 0


def _identity(message: ConsoleMessage) -> tuple[float, str, str]:
    return message.timestamp, message.type, message.text


async def _release(messages: Iterable[ConsoleMessage]) -> None:
    """Playwright keeps what was written, and the page's objects in it, until it is told."""
    for message in messages:
        for value in message.args:
            with contextlib.suppress(Error):  # It went with its page.
                await value.dispose()


def _source(url: str, line: int, column: int) -> str:
    """Playwright counts lines from 0, and gives the very beginning for what has no place in its source."""
    url = _cut(url, LONGEST_URL)
    return f"{url}:{line + 1}:{column + 1}" if url and (line or column) else url


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… [cut, {len(text)} characters]"
