"""Thresholds for the number of findings, and the verdict about them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from footlight.audit.findings import Severity
from footlight.audit.results import PageAudit, PageStatus
from footlight.audit.thresholds import Thresholds, Verdict
from tests.audit.report import audits
from tests.audit.report.audits import audit, evidence, finding


def page(*found: Severity, judged: Sequence[Severity] = (), status: PageStatus = "complete") -> PageAudit:
    measured = evidence([finding(severity=each) for each in found])
    return audits.page(
        status=status,
        evidence=None if status == "failed" else measured,
        judged=[finding(severity=each) for each in judged],
    )


def judge(thresholds: Thresholds, *pages: PageAudit) -> tuple[Verdict | None, int]:
    return thresholds.judge(audit(*pages)), thresholds.exit_status(audit(*pages))


def test_no_thresholds_give_no_verdict() -> None:
    assert judge(Thresholds(), page("critical"), page("low", status="partial")) == (None, 0)


def test_failed_page_fails_without_thresholds_unless_allowed() -> None:
    assert judge(Thresholds(), page(), page(status="failed")) == (None, 3)
    assert judge(Thresholds(allow_failed=True), page(), page(status="failed")) == (None, 0)


def test_allowed_findings_are_counted_across_all_pages() -> None:
    pages = page("high", "high", "medium"), page("high", "low", judged=["medium"])

    assert judge(Thresholds(critical=0, high=3, medium=2, low=1), *pages) == (
        Verdict(
            True,
            "Passed\n"
            "  kept: 0 critical findings, at most 0 allowed\n"
            "  kept: 3 high findings, at most 3 allowed\n"
            "  kept: 2 medium findings, at most 2 allowed\n"
            "  kept: 1 low finding, at most 1 allowed",
        ),
        0,
    )


def test_one_finding_too_many_fails_and_only_set_thresholds_count() -> None:
    assert judge(Thresholds(high=0), page("critical", "high")) == (
        Verdict(False, "Not passed\n  not kept: 1 high finding, at most 0 allowed"),
        1,
    )


def test_findings_of_level_aaa_count_only_on_demand() -> None:
    found = [finding(severity="low", wcag=criteria) for criteria in (["1.4.6 AAA"], ["2.4.4 A", "2.4.9 AAA"])]
    pages = audits.page(evidence=evidence(found))

    assert judge(Thresholds(low=1), pages)[1] == 0
    assert judge(Thresholds(low=1, level="AAA"), pages)[1] == 1


@pytest.mark.parametrize(
    ("status", "allowed"),
    [("partial", Thresholds(low=9, allow_partial=True)), ("failed", Thresholds(low=9, allow_failed=True))],
)
def test_failed_or_partial_page_fails_a_threshold_unless_allowed(
    status: PageStatus, allowed: Thresholds
) -> None:
    pages = page(), page(status=status)
    kept = "kept: 0 low findings, at most 9 allowed"

    assert judge(Thresholds(low=9), *pages) == (
        Verdict(False, f"Not passed\n  {kept}\n  not kept: 1 {status} page; --allow-{status} lets that pass"),
        3,
    )
    assert judge(allowed, *pages) == (
        Verdict(True, f"Passed\n  {kept}\n  kept: 1 {status} page, allowed"),
        0,
    )


def test_exceeded_threshold_takes_precedence_over_failed_page() -> None:
    assert judge(Thresholds(critical=0), page("critical"), page(status="failed"))[1] == 1
