"""URL patterns in the syntax of callers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from footlight.browser.actions.waiting.quotes import shorten_quote
from footlight.browser.network.request_log import LogEntry
from footlight.errors import InvalidParameterError
from footlight.patterns import LinearPattern, PatternError, matches_wildcard

__all__ = ["UrlPattern"]

MAX_INSTRUCTIONS = 2_000
"""Maximum size of a compiled expression. A URL in the request log has 5,000 characters: at most 70 ms."""
MAX_STEPS = 20_000_000
"""Instructions times characters. Only the first characters of a longer URL are compared: 10,000 or more."""


class UrlPattern:
    """A URL pattern: `/a regular expression/`, a pattern with `*`, or a part of the URL."""

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
                raise InvalidParameterError(
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

        Regular expressions run in a thread, one URL at a time: a page can create thousands of slow URLs.
        """
        for entry in entries:
            if self._expression and entry.url not in self._known:
                await asyncio.to_thread(self.matches, entry.url)
            if self.matches(entry.url) and accepts(entry):
                return entry
        return None

    def has_matched(self, entry: LogEntry) -> bool:
        """Return whether the URL is known to match. A regular expression is not evaluated again."""
        return self._known.get(entry.url, False) if self._expression else self.matches(entry.url)
