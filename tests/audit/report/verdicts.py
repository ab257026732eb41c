"""Examples of verdicts for reports."""

from __future__ import annotations

from footlight.audit.thresholds import Verdict
from tests.audit.report.audits import HOSTILE

FAILED = Verdict(passed=False, text="Not passed:\n  over  1 critical finding, at most 0 allowed")
HOSTILE_VERDICT = Verdict(passed=True, text=HOSTILE)
