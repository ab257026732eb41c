"""What an audit leaves: a page after the other, each complete, partial or failed. Values only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from footlight.ux.findings import Evidence, Finding, Skipped
from footlight.ux.stream import ToolCallRecord, Usage

__all__ = ["Audit", "Dropped", "GoalOutcome", "PageAudit", "PageStatus", "Provenance", "Walk", "WalkStep"]

PageStatus = Literal["complete", "partial", "failed"]
"""`partial`: something of it was not done, and `skipped` says what. `failed`: nothing was measured."""

GoalOutcome = Literal["reached", "stopped", "unfinished"]
"""`stopped`: the page did not let the persona go on. `unfinished`: our limits, or the model, ended it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkStep:
    """A call of a walk. `id` (`W3`) is what judged findings cite; `said` begins what the tool answered."""

    id: str
    tool: str
    input: str
    ok: bool
    said: str

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "tool": self.tool, "input": self.input, "ok": self.ok, "said": self.said}


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """A goal of a persona, tried. `where` and `why` are of the last place."""

    persona: str
    goal: str
    outcome: GoalOutcome
    where: str = ""
    why: str = ""
    steps: Sequence[WalkStep] = ()
    duration_ms: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "persona": self.persona,
            "goal": self.goal,
            "outcome": self.outcome,
            "where": self.where,
            "why": self.why,
            "durationMs": self.duration_ms,
            "steps": [each.to_dict() for each in self.steps],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A judged finding that cited no evidence there is, and so is none."""

    title: str
    why: str

    def to_dict(self) -> dict[str, str]:
        return {"title": self.title, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAudit:
    """`url` is what was asked for. `error` says why it failed. `judged` are the model's findings."""

    url: str
    status: PageStatus
    evidence: Evidence | None = None
    walks: Sequence[Walk] = ()
    judged: Sequence[Finding] = ()
    dropped: Sequence[Dropped] = ()
    analysis_text: str = ""
    tool_calls: Sequence[ToolCallRecord] = ()
    usage: Usage = field(default_factory=Usage)
    skipped: Sequence[Skipped] = ()
    error: str | None = None
    duration_ms: int = 0

    @property
    def findings(self) -> Sequence[Finding]:
        """The measured ones, then the judged ones."""
        return (*(self.evidence.findings if self.evidence else ()), *self.judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """By what the audit was made. No keys, no paths. `provider` and `model` are missing without a model."""

    footlight: str
    server: str
    axe: str | None = None
    provider: str | None = None
    model: str | None = None
    personas: Sequence[str] = ()
    focus_areas: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """All pages, in the order asked for. `finished_ms` is missing while it goes on."""

    pages: Sequence[PageAudit]
    provenance: Provenance
    started_ms: int
    finished_ms: int | None = None
