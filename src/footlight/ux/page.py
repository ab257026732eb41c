"""The page under audit, as the collectors see it: whatever the server's tools are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["DESKTOP", "PHONE", "TABLET", "VIEWS", "AuditedPage", "ConsoleMessage", "Opened", "View"]


@dataclass(frozen=True, slots=True)
class View:
    """A viewport, in CSS pixels."""

    name: str
    width: int
    height: int


DESKTOP = View("desktop", 1280, 800)
TABLET = View("tablet", 768, 1024)
PHONE = View("phone", 360, 740)
VIEWS: Sequence[View] = (DESKTOP, TABLET, PHONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Where a navigation ended. `status` is missing where the server does not say it."""

    url: str
    title: str
    status: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleMessage:
    """`source` is a URL and a line, where the server says it."""

    level: str
    """error or warning."""
    text: str
    source: str = ""


class AuditedPage(Protocol):
    """One page at a time, in one browser. Every operation raises MCPError where it fails."""

    @property
    def server(self) -> str:
        """For people: the server's name and version."""
        ...

    async def open(self, url: str, view: View) -> Opened:
        """Open it at this size, with nothing left of an earlier visit where the server can do that."""
        ...

    async def evaluate(self, script: str) -> Any:
        """The value, as JSON has it, of a function that is called without arguments. No limit of length."""
        ...

    async def press(self, key: str) -> None:
        """Press a key where the focus is."""
        ...

    async def screenshot(self, *, full_page: bool = False) -> bytes:
        """A PNG, one pixel for a CSS pixel."""
        ...

    async def console(self) -> Sequence[ConsoleMessage]:
        """Errors and warnings since the page was opened, uncaught exceptions among them."""
        ...

    async def find_ref(self, selector: str) -> str | None:
        """The server's ref of the element, for its other tools."""
        ...

    async def close(self) -> None:
        """Close what `open` opened. Raises nothing when that is gone already."""
        ...
