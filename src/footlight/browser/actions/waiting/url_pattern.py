"""Patterns of URLs, as callers write them."""

from __future__ import annotations

from footlight.browser.actions.waiting.quotes import shorten_quote
from footlight.errors import InvalidParameter
from footlight.patterns import LinearPattern, PatternError, matches_wildcard

__all__ = ["UrlPattern"]


class UrlPattern:
    """A pattern of URLs: `/a regular expression/`, a pattern with `*`, or a part of the URL."""

    def __init__(self, text: str, *, parameter: str) -> None:
        self.text = text
        self._expression: LinearPattern | None = None
        if len(text) > 2 and text.startswith("/") and text.endswith("/"):
            try:
                self._expression = LinearPattern(text[1:-1], dot_matches_newline=True)
            except PatternError as error:
                raise InvalidParameter(
                    f"{parameter}: {shorten_quote(text)} is not a regular expression: {error}. Without "
                    "slashes around it, it is a part of the URL",
                    parameter=parameter,
                ) from None

    def matches(self, url: str) -> bool:
        if self._expression:
            return self._expression.is_in(url)
        return matches_wildcard(self.text, url) if "*" in self.text else self.text in url
