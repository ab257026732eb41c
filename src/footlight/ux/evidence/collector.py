"""What a part of the evidence is collected by, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from footlight.ux.evidence.pictures import PagePicture
from footlight.ux.findings import Fact, Finding
from footlight.ux.page import AuditedPage, View

__all__ = ["Collected", "Collector"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """Findings and facts get their ids later."""

    findings: Sequence[Finding] = ()
    facts: Sequence[Fact] = ()
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    picture: PagePicture | None = None


class Collector(Protocol):
    """Looks at one side of the page that is open. What it does to the page is its own business to undo."""

    name: str
    """For people: what is missing where it fails."""
    every_view: bool
    """Whether it is asked at every width, not only at the first."""

    async def collect(self, page: AuditedPage, view: View) -> Collected: ...
