"""The metrics of a page in a report."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.collectors.speed import LAYOUT_SHIFT, LIMITS
from footlight.audit.report.metrics import read_metrics


def test_known_metrics_come_first_with_units_and_limits() -> None:
    reported = read_metrics(
        {
            "images": 12,
            "status": 200,
            "cls": 0.31,
            "transferred_bytes": 812_345,
            "dom_ready_ms": 61_000,
            "lcp_ms": 2499.6,
        }
    )

    assert [(each.label, each.text, each.rating, each.limit) for each in reported] == [
        ("Largest paint (LCP)", "2.5 s", "good", "up to 2.5 s"),
        ("Layout shift (CLS)", "0.31", "poor", "up to 0.1"),
        ("Transferred", "812 kB", "good", "up to 3.0 MB"),
        ("Images", "12", None, ""),
        ("Dom ready", "1 min 1 s", None, ""),
    ]


def test_metric_limits_match_the_rules() -> None:
    ruled = {
        each.metric: [most for _, most in each.limits]
        for each in (*LIMITS, LAYOUT_SHIFT)
        if len(each.limits) > 1
    }

    assert {each.name: [each.good, each.poor] for each in read_metrics(dict.fromkeys(ruled, 0))} == ruled


@pytest.mark.parametrize(
    ("ms", "rating", "share"),
    [
        (0, "good", 0),
        (2500, "good", 1 / 3),
        (3250, "fair", 0.5),
        (4000, "fair", 2 / 3),
        (4001, "poor", 0.67),
        (90_000, "poor", 1),
    ],
)
def test_metric_value_is_placed_on_a_three_part_scale(ms: float, rating: str, share: float) -> None:
    [metric] = read_metrics({"lcp_ms": ms})

    assert (metric.rating, metric.share) == (rating, pytest.approx(share, abs=0.01))
