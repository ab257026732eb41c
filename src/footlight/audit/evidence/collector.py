"""The interface of the collectors, and the values that they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from footlight.audit.evidence.pictures import PageScreenshot
from footlight.audit.findings import ElementBox, Fact, Finding, Skipped
from footlight.audit.page.page import AuditedPage, AuditViewport

__all__ = ["Collected", "Collector"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The findings and facts of one collector. The measurement numbers findings and facts later."""

    findings: Sequence[Finding] = ()
    facts: Sequence[Fact] = ()
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    picture: PageScreenshot | None = None
    boxes: Mapping[int, ElementBox] | None = None
    """The boxes of all described elements when `picture` was taken, by their handles."""
    to_check: Sequence[Finding] = ()
    """What the rules could not decide, for a check by hand."""
    skipped: Sequence[Skipped] = ()
    """Parts that failed while the others were measured."""


class Collector(Protocol):
    """Measures one aspect of the open page, and undoes its own changes to the page."""

    name: str
    """A label for reports, which name it when the collector fails."""
    every_view: bool
    """Whether the collector runs at every width, or only at the first."""

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected: ...
