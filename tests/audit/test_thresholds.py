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


def test_without_thresholds_there_is_no_verdict() -> None:
    assert judge(Thresholds(), page("critical"), page("low", status="partial")) == (None, 0)


def test_without_thresholds_a_page_that_failed_is_a_failure_unless_it_is_allowed() -> None:
    assert judge(Thresholds(), page(), page(status="failed")) == (None, 3)
    assert judge(Thresholds(allow_failed=True), page(), page(status="failed")) == (None, 0)


def test_as_many_as_are_allowed_pass_on_all_pages_together() -> None:
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


def test_one_more_does_not_and_only_what_was_asked_is_counted() -> None:
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
def test_with_a_threshold_what_is_missing_does_not_pass_unless_it_is_allowed(
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


def test_what_a_page_is_like_comes_before_what_is_not_known_of_it() -> None:
    assert judge(Thresholds(critical=0), page("critical"), page(status="failed"))[1] == 1
