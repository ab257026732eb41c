"""A call of a tool in the form for the watch page and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

__all__ = ["Box", "Entry", "Source"]

Source = Literal["agent", "person"]
Box = tuple[float, float, float, float]
"""Left, top, width and height, as fractions of the viewport from 0 to 1."""


@dataclass(slots=True, kw_only=True)
class Entry:
    """A call, or a step of a person. All of its texts are masked.

    `outcome` is "running", "ok", "cancelled" or an error code.
    """

    number: int
    tool: str
    arguments: Mapping[str, Any]
    at_ms: float
    """Milliseconds since the epoch."""
    owner: str = ""
    """The principal to which the session belongs. It is not shown."""
    session_id: str | None = None
    source: Source = "agent"
    revision: int = 0
    outcome: str = "running"
    duration_ms: int | None = None
    target: str = ""
    """A locator for the target element, which also works in other runs."""
    page_id: str = ""
    url: str = ""
    change: str = ""
    """How the page changed: `same`, `diff`, `full`, `unknown`, or "" without an observation."""
    changes: str = ""
    """The changed lines of the page."""
    title: str = ""
    console: Sequence[str] = ()
    events: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """New and closed pages, dialogs and downloads."""
    files: Sequence[str] = ()
    """Paths of files that the call has written, such as recordings and PDF files."""
    trace: Path | None = None
    """The trace that the call has written to the output folder."""
    error: Mapping[str, Any] | None = None
    tokens: int = 0
    """The estimated length of the answer in tokens."""
    box: Box | None = None
    """The position of the target element."""
    picture: bytes | None = None
    """A picture of the page after the call, as JPEG or PNG."""
    size: int = 0
    """The number of values and characters, which the journal counts."""

    @property
    def is_over(self) -> bool:
        return self.outcome != "running"

    @property
    def failed(self) -> bool:
        return self.outcome not in ("running", "ok")

    def as_json(self) -> dict[str, Any]:
        """Return all fields except the owner, the picture and the path of the trace."""
        return {
            "number": self.number,
            "session": self.session_id,
            "source": self.source,
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "at": round(self.at_ms),
            "outcome": self.outcome,
            "duration": self.duration_ms,
            "target": self.target,
            "page": self.page_id,
            "url": self.url,
            "change": self.change,
            "changes": self.changes,
            "title": self.title,
            "console": list(self.console),
            "events": dict(self.events),
            "files": list(self.files),
            "error": dict(self.error) if self.error is not None else None,
            "tokens": self.tokens,
            "box": list(self.box) if self.box is not None else None,
            "hasPicture": self.picture is not None,
            "hasTrace": self.trace is not None,
        }
