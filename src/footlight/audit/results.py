"""The results of an audit. Values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from footlight.audit.findings import Evidence, Finding, Skipped
from footlight.audit.model.stream import ToolCallRecord, Usage

__all__ = [
    "Audit",
    "DroppedFinding",
    "GoalOutcome",
    "PageAudit",
    "PageStatus",
    "Provenance",
    "UXAnalysisResult",
    "Walk",
    "WalkStep",
]

PageStatus = Literal["complete", "partial", "failed"]
"""`partial`: parts were not done, and `skipped` lists them. `failed`: nothing was measured."""

GoalOutcome = Literal["reached", "stopped", "unfinished"]
"""`stopped`: the page stopped the persona. `unfinished`: a limit or the model ended the walk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkStep:
    """A call of a walk. Judged findings cite its `id` (`W3`); `answer` is the start of the tool's answer."""

    id: str
    tool: str
    input: str
    ok: bool
    answer: str

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "tool": self.tool, "input": self.input, "ok": self.ok, "said": self.answer}


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """An attempt at a goal of a persona. `where` and `why` describe where it ended."""

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
class DroppedFinding:
    """A judged finding that was rejected because it cited no existing evidence."""

    title: str
    why: str

    def to_dict(self) -> dict[str, str]:
        return {"title": self.title, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAudit:
    """The result for one page. `url` is the requested URL; `judged` has the model's findings."""

    url: str
    status: PageStatus
    evidence: Evidence | None = None
    walks: Sequence[Walk] = ()
    judged: Sequence[Finding] = ()
    dropped: Sequence[DroppedFinding] = ()
    analysis_text: str = ""
    tool_calls: Sequence[ToolCallRecord] = ()
    usage: Usage = field(default_factory=Usage)
    skipped: Sequence[Skipped] = ()
    error: str | None = None
    duration_ms: int = 0

    @property
    def findings(self) -> Sequence[Finding]:
        """Return the measured findings, then the judged ones."""
        return (*(self.evidence.findings if self.evidence else ()), *self.judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The versions and the model that made the audit. `provider` and `model` are None without a model."""

    footlight: str
    server: str
    axe: str | None = None
    provider: str | None = None
    model: str | None = None
    personas: Sequence[str] = ()
    focus_areas: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The result for all pages, in the requested order. `finished_ms` is None while the audit runs."""

    pages: Sequence[PageAudit]
    provenance: Provenance
    started_ms: int
    finished_ms: int | None = None
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    """Folders of source files, by the beginnings of the URLs that show them."""
    known: frozenset[str] | None = None
    """The findings of a baseline, which are not new. None without a baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UXAnalysisResult:
    """The result of `analyze_ux`. `personas` has names. `timestamp` is its end in milliseconds since
    1970, `duration` is in milliseconds.

    Raises:
        ValueError: the text, the personas or the duration are missing.
    """

    url: str
    analysis_text: str
    tool_calls: Sequence[ToolCallRecord]
    personas: Sequence[str]
    timestamp: int
    duration: float
    status: PageStatus = "complete"
    findings: Sequence[Finding] = ()
    walks: Sequence[Walk] = ()
    dropped: Sequence[DroppedFinding] = ()
    usage: Usage = field(default_factory=Usage)
    error: str | None = None

    def __post_init__(self) -> None:
        if not self.analysis_text:
            raise ValueError("analysis_text must not be empty")
        if not self.personas:
            raise ValueError("personas must have at least one persona")
        if self.duration <= 0:
            raise ValueError("duration must be more than 0")

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values with camelCase names, without pictures."""
        fields: dict[str, Any] = {
            "url": self.url,
            "analysisText": self.analysis_text,
            "toolCalls": [call.to_dict() for call in self.tool_calls],
            "personas": list(self.personas),
            "timestamp": self.timestamp,
            "duration": self.duration,
            "status": self.status,
            "findings": [each.to_dict() for each in self.findings],
            "walks": [each.to_dict() for each in self.walks],
            "dropped": [each.to_dict() for each in self.dropped],
            "usage": self.usage.to_dict(),
        }
        return fields if self.error is None else {**fields, "error": self.error}
