"""Thresholds of an audit: how many findings of each severity are allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from footlight.audit.baseline import new_findings
from footlight.audit.findings import SEVERITIES, Severity, count_severities
from footlight.audit.results import Audit
from footlight.figures import format_count

__all__ = ["EXCEEDED", "UNMEASURED", "Thresholds", "Verdict"]

EXCEEDED = 1
UNMEASURED = 3
"""Exit statuses of the command."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of an audit. `text` has the result in its first line, then a line for each threshold."""

    passed: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The allowed number of findings on all pages together, measured and judged. None sets no limit.

    Findings of a baseline are not counted. Findings of WCAG's level AAA are counted only if `level` is AAA.

    A page that was not measured could have any number of findings, so a failed page does not pass unless it
    is allowed, and neither does a partial page if there is a threshold.
    """

    critical: int | None = None
    high: int | None = None
    medium: int | None = None
    low: int | None = None
    level: Literal["AA", "AAA"] = "AA"
    allow_partial: bool = False
    allow_failed: bool = False

    def judge(self, audit: Audit) -> Verdict | None:
        """Return the verdict, or None if no threshold is set."""
        if not self._is_set:
            return None
        lines = [*self._check_counts(audit), *self._check_unmeasured(audit)]
        passed = all(is_kept for is_kept, _ in lines)
        lines_text = "".join(f"\n  {'kept' if is_kept else 'not kept'}: {line}" for is_kept, line in lines)
        return Verdict(passed, f"{'Passed' if passed else 'Not passed'}{lines_text}")

    def exit_status(self, audit: Audit) -> int:
        """Return the exit status: exceeded thresholds take precedence over unmeasured pages."""
        if not all(is_kept for is_kept, _ in self._check_counts(audit)):
            return EXCEEDED
        return 0 if all(is_kept for is_kept, _ in self._check_unmeasured(audit)) else UNMEASURED

    @property
    def _is_set(self) -> bool:
        return any(self._maximum(severity) is not None for severity in SEVERITIES)

    def _check_counts(self, audit: Audit) -> Iterator[tuple[bool, str]]:
        counts = count_severities(
            each for each in new_findings(audit) if self.level == "AAA" or not each.is_only_aaa
        )
        new = "" if audit.known is None else "new "
        for severity, count in counts.items():
            if (most := self._maximum(severity)) is not None:
                yield (
                    count <= most,
                    f"{format_count(count, f'{new}{severity} finding')}, at most {most:,} allowed",
                )

    def _check_unmeasured(self, audit: Audit) -> Iterator[tuple[bool, str]]:
        for status, allowed, way_out in (
            # Without thresholds there is no verdict to mislead, and the report lists the missing parts.
            ("partial", self.allow_partial or not self._is_set, "--allow-partial"),
            ("failed", self.allow_failed, "--allow-failed"),
        ):
            if count := sum(page.status == status for page in audit.pages):
                pages = format_count(count, f"{status} page")
                yield allowed, f"{pages}, allowed" if allowed else f"{pages}; {way_out} lets that pass"

    def _maximum(self, severity: Severity) -> int | None:
        match severity:
            case "critical":
                return self.critical
            case "high":
                return self.high
            case "medium":
                return self.medium
            case "low":
                return self.low
