"""What comes from a page stands between marks when a model reads it: it is data, and never an instruction."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

__all__ = ["PageMarks"]


@dataclass(frozen=True, slots=True)
class PageMarks:
    """Those of one run. No page can write the second one: it does not know the run's number."""

    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def first(self) -> str:
        return f"<page-content id={self.id}>"

    @property
    def last(self) -> str:
        return f"</page-content id={self.id}>"

    def around(self, text: str) -> str:
        """Without the number, should the page have got hold of it: a model might have typed it there."""
        return f"{self.first}\n{text.replace(self.id, '')}\n{self.last}"

    def within(self, text: str) -> str:
        """What stands between them; a text without marks as it is."""
        return text.removeprefix(self.first).removesuffix(self.last).strip()
