"""The interface of the page under audit, independent of the server's tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = [
    "DESKTOP",
    "PHONE",
    "TABLET",
    "VIEWPORTS",
    "AuditViewport",
    "AuditedPage",
    "ConsoleMessage",
    "OpenResult",
]


@dataclass(frozen=True, slots=True)
class AuditViewport:
    """The size of a viewport in CSS pixels."""

    name: str
    width: int
    height: int


DESKTOP = AuditViewport("desktop", 1280, 800)
TABLET = AuditViewport("tablet", 768, 1024)
PHONE = AuditViewport("phone", 360, 740)
VIEWPORTS: Sequence[AuditViewport] = (DESKTOP, TABLET, PHONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenResult:
    """The end of a navigation: its address and status. `status` is None if the server does not report it."""

    url: str
    status: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleMessage:
    """A console message. `source` is a URL and a line, if the server reports them."""

    level: str
    """error or warning."""
    text: str
    source: str = ""


class AuditedPage(Protocol):
    """One page at a time in one browser. Every operation raises MCPError if it fails."""

    @property
    def server(self) -> str:
        """Return the server's name and version."""
        ...

    async def open(self, url: str, view: AuditViewport) -> OpenResult:
        """Open the URL at this size, in a new session if the server has sessions."""
        ...

    async def evaluate(self, script: str) -> Any:
        """Call a JavaScript function without arguments and return its value as JSON, of any length."""
        ...

    async def isolate(self, *, isolated: bool) -> bool:
        """Let `evaluate` run scripts in a world that the page cannot change, or in the page's own.

        Return whether they run in such a world now, which not every server and browser has.
        """
        ...

    async def press(self, key: str) -> None:
        """Press a key where the focus is."""
        ...

    async def screenshot(self, *, full_page: bool = False) -> bytes:
        """Return a PNG with one pixel for each CSS pixel."""
        ...

    async def console(self) -> Sequence[ConsoleMessage]:
        """Return errors, warnings and uncaught exceptions since the page was opened."""
        ...

    async def find_ref(self, selector: str) -> str | None:
        """Return the server's ref of the element, or None."""
        ...

    async def new_page(self) -> AuditedPage | None:
        """Return another page of the same browser that is not open yet, or None if there can be only one."""
        ...

    async def close(self) -> None:
        """Close the session of the page. Never raises."""
        ...
