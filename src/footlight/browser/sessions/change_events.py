"""Changes of sessions and pages, for listeners that list or watch them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["ChangeKind", "OnChange", "SessionChange", "ignore_change"]

ChangeKind = Literal["opened", "navigation", "load", "closed"]
"""`navigation` means that the page has another address, and `load` that its document has loaded."""


@dataclass(frozen=True, slots=True)
class SessionChange:
    """A change of a page, or of the session itself where `page_id` is None. A crash closes the session too.

    `owner` is the principal that the session belongs to.
    """

    kind: ChangeKind
    owner: str
    session_id: str
    page_id: str | None = None


OnChange = Callable[[SessionChange], None]
"""Called from the event loop. It must neither block nor raise."""


def ignore_change(_: SessionChange) -> None:
    """Do nothing with the change."""
