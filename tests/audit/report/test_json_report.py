"""The JSON report."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from footlight.audit.report.json_report import render_json
from tests.audit.report.audits import BEGAN_MS, HOSTILE, audit, finding, page, shop
from tests.audit.report.verdicts import FAILED


def read(text: str) -> dict[str, Any]:
    """Parse JSON like a strict parser: without NaN and lone surrogates."""
    return json.loads(text.encode(), parse_constant=refuse)


def refuse(name: str) -> None:
    raise AssertionError(f"JSON has no {name}")


def test_findings_of_all_pages_are_sorted_by_severity() -> None:
    data = read(render_json(shop(), verdict=FAILED))

    assert [(each["severity"], each["rule"], each["source"], each["page"]) for each in data["findings"]] == [
        ("critical", "axe/image-alt", "measured", "https://shop.test/order"),
        ("high", "judged/wording", "judged", "https://shop.test/order"),
        ("medium", "layout/target-size", "measured", "https://shop.test/order"),
        ("low", "console/error", "measured", "https://shop.test/order"),
    ]
    assert data["findings"][2] == {
        "rule": "layout/target-size",
        "severity": "medium",
        "source": "measured",
        "page": "https://shop.test/order",
        "id": "F2",
        "title": "What is to be touched is too small",
        "advice": "Make it 24 by 24 pixels, or keep others away from it.",
        "measuredBy": "boxes at 360 px",
        "helpUrl": None,
        "wcag": [],
        "act": [],
        "persona": None,
        "cites": [],
        "count": 1,
        "elements": [
            {
                "selector": "#pay",
                "html": '<button id="pay">Pay</button>',
                "text": "",
                "note": "18 × 16 px, needed 24 × 24",
                "viewportWidth": 360,
                "box": {"x": 20, "y": 120, "width": 300, "height": 200},
            }
        ],
    }


def test_top_level_fields_contain_summary_and_provenance() -> None:
    data = read(render_json(shop(), verdict=FAILED))
    del data["findings"], data["pages"]

    assert data == {
        "schemaVersion": 1,
        "toCheck": [],
        "finished": True,
        "startedMs": BEGAN_MS,
        "finishedMs": BEGAN_MS + 95_000,
        "headline": "1 critical, 1 high, 1 medium and 1 low findings on 2 pages, of which 1 failed",
        "verdict": {"passed": False, "text": FAILED.text},
        "counts": {"critical": 1, "high": 1, "medium": 1, "low": 1},
        "provenance": {
            "footlight": "1.0.0",
            "server": "footlight 1.0.0",
            "axe": "4.12.1",
            "provider": "anthropic",
            "model": "some-model",
            "personas": ["Ana", "Ben"],
            "focusAreas": ["checkout"],
        },
    }


def test_page_entry_has_state_and_everything_but_findings() -> None:
    order, gone = read(render_json(shop()))["pages"]

    assert gone == {
        "url": "https://shop.test/gone",
        "status": "failed",
        "error": "net::ERR_CONNECTION_REFUSED",
        "durationMs": 40,
        "counts": {"critical": 0, "high": 0, "medium": 0, "low": 0},
        "walks": [],
        "analysisText": "",
        "toolCalls": [],
        "usage": {"requests": 0, "inputTokens": 0, "outputTokens": 0},
        "dropped": [],
        "skipped": [],
    }
    assert [*order] == [
        *("url", "status", "error", "durationMs", "counts"),
        *("finalUrl", "moves", "httpStatus", "title", "startedMs", "viewportWidths", "metrics", "facts"),
        *("walks", "analysisText", "toolCalls", "usage", "dropped", "skipped"),
    ]
    assert order["walks"][0]["steps"][2] == {
        "id": "W3",
        "tool": "pressKey",
        "input": "Enter",
        "ok": False,
        "said": "nothing happened",
    }
    assert (order["dropped"], order["skipped"]) == (
        [{"title": "The colours are sad", "why": "it cites F9, which does not exist"}],
        [{"what": "axe-core's rules at 768 px", "why": "timed out after 60 s"}],
    )


def test_pictures_are_omitted() -> None:
    assert len(render_json(shop())) < 10_000


def test_unfinished_audit_is_marked() -> None:
    data = read(render_json(replace(shop(), finished_ms=None)))

    assert (data["finished"], data["finishedMs"]) == (False, None)
    assert "verdict" not in data


def test_hostile_text_stays_text() -> None:
    data = render_json(audit(page([finding(title=HOSTILE)], url=HOSTILE)))

    assert "\x1b" not in data
    assert "\u202e" not in data
    assert read(data)["findings"][0]["title"].startswith('"><script>document.title="owned"</script>')
