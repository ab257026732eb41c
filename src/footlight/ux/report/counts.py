"""How many findings there are of each severity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from footlight.figures import listed
from footlight.ux.findings import SEVERITIES, Finding, Severity

__all__ = ["counted", "severities"]


def severities(findings: Iterable[Finding]) -> Mapping[Severity, int]:
    """How many of each, all four of them, the worst first."""
    counts = Counter(finding.severity for finding in findings)
    return {severity: counts[severity] for severity in SEVERITIES}


def counted(counts: Mapping[Severity, int]) -> str:
    """`2 critical and 1 low finding`; `no findings`."""
    parts = [f"{count:,} {severity}" for severity, count in counts.items() if count]
    if not parts:
        return "no findings"
    return f"{listed(parts)} finding{'' if sum(counts.values()) == 1 else 's'}"
