"""Verdicts for reports."""

from __future__ import annotations

from typing import NamedTuple

from tests.ux.report.audits import HOSTILE


class Given(NamedTuple):
    """A verdict, of whatever thresholds."""

    passed: bool
    text: str


FAILED = Given(passed=False, text="Not passed:\n  over  1 critical finding, at most 0 allowed")
HOSTILE_VERDICT = Given(passed=True, text=HOSTILE)
