"""Patterns of URLs, as callers write them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from footlight.browser.actions.waiting.quotes import shorten_quote
from footlight.browser.network.request_log import LogEntry
from footlight.errors import InvalidParameter
from footlight.patterns import LinearPattern, PatternError, matches_wildcard

__all__ = ["UrlPattern"]

MAX_INSTRUCTIONS = 2_000
"""Maximum size of a compiled expression. The request log keeps 5,000 characters of a URL: at most 70 ms."""
MAX_STEPS = 20_000_000
"""Instructions times characters. Of a longer URL, only the first characters are compared: 10,000 or more."""


class UrlPattern:
    """A pattern of URLs: `/a regular expression/`, a pattern with `*`, or a part of the URL."""

    def __init__(self, text: str, *, parameter: str) -> None:
        self.text = text
        self._expression: LinearPattern | None = None
        self._known: dict[str, bool] = {}
        if len(text) > 2 and text.startswith("/") and text.endswith("/"):
            try:
                self._expression = LinearPattern(
                    text[1:-1], dot_matches_newline=True, max_instructions=MAX_INSTRUCTIONS
                )
            except PatternError as error:
                raise InvalidParameter(
                    f"{parameter}: {shorten_quote(text)} is not a regular expression: {error}. Without "
                    "slashes around it, it is a part of the URL",
                    parameter=parameter,
                ) from None

    def matches(self, url: str) -> bool:
        if self._expression is None:
            return matches_wildcard(self.text, url) if "*" in self.text else self.text in url
        if url not in self._known:
            self._known[url] = self._expression.is_in(url[: MAX_STEPS // self._expression.instructions])
        return self._known[url]

    async def find_first(
        self, entries: Iterable[LogEntry], accepts: Callable[[LogEntry], bool]
    ) -> LogEntry | None:
        """Return the first entry that is accepted and whose URL matches.

        Expressions run in a thread, URL by URL: a page can make thousands of URLs that take long.
        """
        for entry in entries:
            if self._expression and entry.url not in self._known:
                await asyncio.to_thread(self.matches, entry.url)
            if self.matches(entry.url) and accepts(entry):
                return entry
        return None

    def has_matched(self, entry: LogEntry) -> bool:
        """Return whether the URL matches, as far as there was time to find out."""
        return self._known.get(entry.url, False) if self._expression else self.matches(entry.url)
