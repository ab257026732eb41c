"""Who is told what an audit does, while it does it."""

from __future__ import annotations

from footlight.ux.audited import Audit, PageAudit
from footlight.ux.stream import AIStreamPart

__all__ = ["Watcher"]


class Watcher:
    """Does nothing with it. Whoever wants to know overrides what they want to know."""

    def page_begins(self, number: int, count: int, url: str) -> None: ...

    def step(self, name: str) -> None:
        """Something is about to be measured."""

    def part(self, part: AIStreamPart) -> None:
        """Of a model's work."""

    def page_grows(self, page: PageAudit) -> None:
        """With what there is of the page under way."""

    def page_ends(self, audit: Audit) -> None:
        """With all pages that have ended."""
