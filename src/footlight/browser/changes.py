"""News of sessions and pages, for whoever lists them or watches one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Change", "ChangeKind", "OnChange", "ignore"]

ChangeKind = Literal["opened", "navigation", "load", "closed"]
"""`navigation`: the page's address is another; `load`: its document has loaded."""


@dataclass(frozen=True, slots=True)
class Change:
    """`page_id` is None where it is the session itself that was opened or closed. A crash closes it too.

    `owner` is the principal whose session it is.
    """

    kind: ChangeKind
    owner: str
    session_id: str
    page_id: str | None = None


OnChange = Callable[[Change], None]
"""Is called as it happens, between two steps of the event loop: it must not wait, nor raise."""


def ignore(_: Change) -> None:
    """For those who need no news."""
