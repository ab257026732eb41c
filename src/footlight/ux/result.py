"""What an analysis comes to (document 004, entity 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from footlight.ux.audited import Dropped, PageStatus, Walk
from footlight.ux.findings import Finding
from footlight.ux.stream import ToolCallRecord, Usage

__all__ = ["UXAnalysisResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UXAnalysisResult:
    """`personas` are names. `timestamp` is when it ended, in milliseconds since 1970; `duration` in
    milliseconds. From `status` on it is ours.

    Raises:
        ValueError: it has no text or no personas, or took no time (R004-50).
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
    dropped: Sequence[Dropped] = ()
    usage: Usage = field(default_factory=Usage)
    error: str | None = None

    def __post_init__(self) -> None:
        if not self.analysis_text:
            raise ValueError("analysis_text must not be empty")
        if not self.personas:
            raise ValueError("personas must have at least one")
        if self.duration <= 0:
            raise ValueError("duration must be more than 0")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values under the document's names. Pictures are left to the reports."""
        told: dict[str, Any] = {
            "url": self.url,
            "analysisText": self.analysis_text,
            "toolCalls": [call.to_dict() for call in self.tool_calls],
            "personas": list(self.personas),
            "timestamp": self.timestamp,
            "duration": self.duration,
            "status": self.status,
            "findings": [_finding(each) for each in self.findings],
            "walks": [_walk(each) for each in self.walks],
            "dropped": [{"title": each.title, "why": each.why} for each in self.dropped],
            "usage": {
                "requests": self.usage.requests,
                "inputTokens": self.usage.input_tokens,
                "outputTokens": self.usage.output_tokens,
            },
        }
        return told if self.error is None else {**told, "error": self.error}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "rule": finding.rule,
        "severity": finding.severity,
        "source": finding.source,
        "title": finding.title,
        "advice": finding.advice,
        "count": finding.count,
        "selectors": [each.selector for each in finding.elements],
        "cites": list(finding.cites),
        "persona": finding.persona,
    }


def _walk(walk: Walk) -> dict[str, Any]:
    return {
        "persona": walk.persona,
        "goal": walk.goal,
        "outcome": walk.outcome,
        "where": walk.where,
        "why": walk.why,
        "steps": [
            {"id": step.id, "tool": step.tool, "input": step.input, "ok": step.ok, "said": step.said}
            for step in walk.steps
        ],
    }
