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
            "findings": [each.to_dict() for each in self.findings],
            "walks": [each.to_dict() for each in self.walks],
            "dropped": [each.to_dict() for each in self.dropped],
            "usage": self.usage.to_dict(),
        }
        return told if self.error is None else {**told, "error": self.error}
