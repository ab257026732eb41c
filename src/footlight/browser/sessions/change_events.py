"""Events about sessions and pages, for listeners that list or watch them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["ChangeKind", "OnChange", "SessionChange", "ignore_change"]

ChangeKind = Literal["opened", "navigation", "load", "closed"]
"""`navigation`: the page has a new URL. `load`: its document has loaded."""


@dataclass(frozen=True, slots=True)
class SessionChange:
    """A change of a page, or of the session itself if `page_id` is None. A crash also closes the session.

    `owner` is the principal that owns the session.
    """

    kind: ChangeKind
    owner: str
    session_id: str
    page_id: str | None = None


OnChange = Callable[[SessionChange], None]
"""A listener, which is called from the event loop. It must neither block nor raise."""


def ignore_change(_: SessionChange) -> None:
    """Do nothing."""
