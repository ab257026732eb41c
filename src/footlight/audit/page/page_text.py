"""Handle text from pages: shorten it to one line, and mark it as data for a model."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

__all__ = ["PageMarks", "shorten"]


MAX_WORD = 20
"""A longer word may be cut, such as an address."""


def shorten(text: str, characters: int = 2_000) -> str:
    """Return the text on one line with single spaces, cut to `characters` after a word."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    words, space, rest = line[:characters].rpartition(" ")
    return f"{words if space and len(rest) < MAX_WORD else line[: characters - 1]}…"


@dataclass(frozen=True, slots=True)
class PageMarks:
    """The marks around page content in one run. A page cannot forge them: they contain a random id."""

    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def first(self) -> str:
        return f"<page-content id={self.id}>"

    @property
    def last(self) -> str:
        return f"</page-content id={self.id}>"

    def wrap_text(self, text: str) -> str:
        """Return the text between marks. The id is removed from it: a model may have typed it into a page."""
        return f"{self.first}\n{text.replace(self.id, '')}\n{self.last}"

    def unwrap_text(self, text: str) -> str:
        """Return the text between the marks, or the text itself if it has none."""
        return text.removeprefix(self.first).removesuffix(self.last).strip()
