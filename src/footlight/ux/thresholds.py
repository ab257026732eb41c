"""Whether an audit is good enough for a build to go on: how many findings of each severity there may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from footlight.figures import number_of
from footlight.ux.audited import Audit
from footlight.ux.findings import SEVERITIES, Severity
from footlight.ux.report.counts import severities

__all__ = ["EXCEEDED", "UNMEASURED", "Judgement", "Thresholds"]

EXCEEDED = 1
UNMEASURED = 3
"""Exit statuses."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """`text` has a line for each threshold: what it is, and what was counted."""

    passed: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """At most so many findings on all pages together, measured and judged; None is not looked at.

    What was not measured could have any number of them: a page that failed does not pass unless it is allowed
    to, nor does a partial one where there is a threshold.
    """

    critical: int | None = None
    high: int | None = None
    medium: int | None = None
    low: int | None = None
    allow_partial: bool = False
    allow_failed: bool = False

    def judge(self, audit: Audit) -> Judgement | None:
        """None where no threshold is set."""
        if not self._is_set:
            return None
        lines = [*self._counted(audit), *self._unmeasured(audit)]
        passed = all(kept for kept, _ in lines)
        told = "".join(f"\n  {'kept' if kept else 'not kept'}: {line}" for kept, line in lines)
        return Judgement(passed, f"{'Passed' if passed else 'Not passed'}{told}")

    def exit_status(self, audit: Audit) -> int:
        """What a page is like comes first, then what could not be known of it."""
        if not all(kept for kept, _ in self._counted(audit)):
            return EXCEEDED
        return 0 if all(kept for kept, _ in self._unmeasured(audit)) else UNMEASURED

    @property
    def _is_set(self) -> bool:
        return any(self._most(severity) is not None for severity in SEVERITIES)

    def _counted(self, audit: Audit) -> Iterator[tuple[bool, str]]:
        counts = severities(finding for page in audit.pages for finding in page.findings)
        for severity, count in counts.items():
            if (most := self._most(severity)) is not None:
                yield count <= most, f"{number_of(count, f'{severity} finding')}, at most {most:,} allowed"

    def _unmeasured(self, audit: Audit) -> Iterator[tuple[bool, str]]:
        for status, allowed, way_out in (
            # Without thresholds nobody is misled by what is missing, which the report tells.
            ("partial", self.allow_partial or not self._is_set, "--allow-partial"),
            ("failed", self.allow_failed, "--allow-failed"),
        ):
            if count := sum(page.status == status for page in audit.pages):
                pages = number_of(count, f"{status} page")
                yield allowed, f"{pages}, allowed" if allowed else f"{pages}; {way_out} lets that pass"

    def _most(self, severity: Severity) -> int | None:
        match severity:
            case "critical":
                return self.critical
            case "high":
                return self.high
            case "medium":
                return self.medium
            case "low":
                return self.low
