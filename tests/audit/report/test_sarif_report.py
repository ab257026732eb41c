"""The SARIF report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from footlight.audit.baseline import element_key
from footlight.audit.findings import Finding
from footlight.audit.report.sarif_report import render_sarif
from tests.audit.report.audits import HOSTILE, audit, element, evidence, finding, page, shop
from tests.audit.report.verdicts import FAILED, HOSTILE_VERDICT

SCHEMA = jsonschema.Draft7Validator(
    json.loads((Path(__file__).parent / "schemas/sarif-2.1.0-rtm.5.json").read_text("utf-8"))
)


def run_of(text: str) -> dict[str, Any]:
    data = json.loads(text.encode())
    assert (data["version"], len(data["runs"])) == ("2.1.0", 1)
    return data["runs"][0]


def results(*findings: Finding, url: str = "https://shop.test/order") -> list[dict[str, Any]]:
    return run_of(render_sarif(audit(page(findings, url=url))))["results"]


def prints(*findings: Finding, url: str = "https://shop.test/order") -> list[str]:
    return [each["partialFingerprints"]["footlightFinding/v1"] for each in results(*findings, url=url)]


def test_result_has_rule_level_and_element_location() -> None:
    [result] = results(
        finding(
            "layout/target-size",
            "medium",
            title="Too small",
            advice="Make it larger.",
            elements=[element("#pay", html="<b>Pay</b>", note="18 × 16 px.", width=360, line=7, column=3)],
        )
    )

    assert result.pop("partialFingerprints").keys() == {"primaryLocationLineHash", "footlightFinding/v1"}
    assert result == {
        "ruleId": "layout/target-size",
        "ruleIndex": 0,
        "level": "warning",
        "message": {"text": "Too small. 18 × 16 px. Element: #pay. Make it larger."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "shop.test/order"},
                    "region": {"startLine": 7, "startColumn": 3, "snippet": {"text": "<b>Pay</b>"}},
                },
                "logicalLocations": [{"fullyQualifiedName": "#pay", "kind": "element"}],
            }
        ],
        "properties": {
            "page": "https://shop.test/order",
            "severity": "medium",
            "source": "measured",
            "finding": "F1",
            "count": 1,
            "measuredBy": "axe-core 4.12.1 at 1280 px",
            "viewportWidth": 360,
        },
    }


def test_each_rule_is_listed_once_with_its_worst_level() -> None:
    driver = run_of(render_sarif(shop()))["tool"]["driver"]

    assert (driver["name"], driver["version"]) == ("Footlight", "1.0.0")
    assert driver["rules"][:2] == [
        {
            "id": "axe/image-alt",
            "shortDescription": {"text": "Images must have alternative text"},
            "help": {"text": "Give each image an alt that says what it shows."},
            "helpUri": "https://dequeuniversity.com/rules/axe/4.12/image-alt",
            "defaultConfiguration": {"level": "error"},
            "properties": {"tags": ["axe", "measured"]},
        },
        {
            "id": "judged/wording",
            "shortDescription": {"text": "judged/wording"},
            "help": {"text": "Judged by a model. Each result has its own advice."},
            "defaultConfiguration": {"level": "error"},
            "properties": {"tags": ["judged"]},
        },
    ]


def test_each_result_refers_to_a_listed_rule_and_a_location() -> None:
    run = run_of(render_sarif(shop()))
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]

    assert len(run["results"]) == 5 + 1 + 1 + 1
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["locations"][0]["physicalLocation"].keys() == {"artifactLocation"}
    assert rules == [*dict.fromkeys(rules)]


def test_fingerprint_is_independent_of_measurement_and_wording() -> None:
    """Or how much else was found, and with a model the words of it."""
    before = finding(elements=[element("#a", note="contrast 2.3:1")], id="F1", title="First words")
    after = finding(elements=[element("#a", note="contrast 2.4:1")], id="F7", title="Other words", count=9)

    assert prints(before) == prints(finding("axe/list"), after)[1:]
    assert prints(before) == prints(before, url="https://shop.test/order#top")


@pytest.mark.parametrize(
    "other",
    [
        {"rule": "axe/list"},
        {"persona": "Ana"},
        {"elements": [element("#b")]},
    ],
)
def test_fingerprints_of_different_findings_differ(other: dict[str, Any]) -> None:
    one = finding(elements=[element("#a")])

    assert len({*prints(one, replace(one, **other))}) == 2
    assert prints(one) != prints(one, url="https://shop.test/other")


def test_equal_fingerprints_are_numbered() -> None:
    first, second = prints(finding(), finding(severity="low"))

    assert (first.partition(":")[0], first[-2:], second[-2:]) == (second.partition(":")[0], ":1", ":2")


def test_failures_and_skipped_work_are_reported() -> None:
    [invocation] = run_of(render_sarif(shop(), verdict=FAILED))["invocations"]
    reported = invocation.pop("toolExecutionNotifications")

    assert invocation == {
        "executionSuccessful": False,
        "startTimeUtc": "2026-01-15T12:00:00.000Z",
        "endTimeUtc": "2026-01-15T12:01:35.000Z",
    }
    on = "Not done on https://shop.test"
    assert [(each["level"], each["message"]["text"]) for each in reported] == [
        ("warning", f"{on}/order: axe-core's rules at 768 px: timed out after 60 s"),
        (
            "warning",
            f"{on}/order: a finding of the model: The colours are sad: it cites F9, which does not exist",
        ),
        ("error", f"{on}/gone: the whole page: net::ERR_CONNECTION_REFUSED"),
    ]


def test_unfinished_audit_is_marked() -> None:
    [invocation] = run_of(render_sarif(audit(page(), finished_ms=None)))["invocations"]

    assert (invocation["executionSuccessful"], "endTimeUtc" in invocation) == (False, False)
    assert invocation["toolExecutionNotifications"][0]["message"]["text"].startswith(
        "This audit is not finished"
    )


def test_hostile_text_is_escaped_in_messages_and_uris() -> None:
    url = "https://shop.test/ü [1]?q=<|>&r=100%#a#b\n"
    hostile = finding(
        HOSTILE, title=HOSTILE, elements=[element(HOSTILE, html=HOSTILE)], help_url="javascript:alert(1)"
    )
    text = render_sarif(audit(page([hostile], url=url, error=HOSTILE)), verdict=HOSTILE_VERDICT)
    run = run_of(text)
    [result] = run["results"]
    messages = [
        result["message"]["text"],
        run["tool"]["driver"]["rules"][0]["shortDescription"]["text"],
        *(each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]),
    ]

    assert "\x1b" not in text
    assert "helpUri" not in run["tool"]["driver"]["rules"][0]
    for message in messages:
        assert "](" not in message
        assert not re.search(r"(?<!\{)\{(\{\{)*\d", message)
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "shop.test/%C3%BC%20%5B1%5D%3Fq=%3C%7C%3E&r=100%25"


def test_a_page_without_evidence_or_findings_makes_no_results() -> None:
    assert run_of(render_sarif(audit(page(evidence=None), page(evidence=evidence()))))["results"] == []


def test_report_is_valid_for_schema_and_code_hosts() -> None:
    """With every kind of page and finding, hostile texts too."""
    hostile = finding(title=HOSTILE, advice=HOSTILE, elements=[element(HOSTILE, html=HOSTILE, note=HOSTILE)])
    url = f"https://shop.test:8443/{HOSTILE}?a=b"
    audits = [shop(), audit(page([hostile], url=url)), replace(shop(), known=frozenset())]

    for each in audits:
        report = json.loads(render_sarif(each))
        SCHEMA.validate(report)
        for result in run_of(render_sarif(each))["results"]:
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            assert re.fullmatch(r"(?:[\w.~!$&'()*+,;=@/-]|%[0-9A-Fa-f]{2})+", uri), uri
            assert not uri.startswith("/")
            assert result["partialFingerprints"]["primaryLocationLineHash"]
            assert result["ruleId"]
            assert result["message"]["text"]


def test_results_of_a_baseline_are_unchanged_and_others_are_new() -> None:
    one = page([finding(elements=[element("#a"), element("#b")])], url="https://shop.test/order")
    known = frozenset([element_key("axe/image-alt", "shop.test/order", "#a", None)])

    results = run_of(render_sarif(replace(audit(one), known=known)))["results"]

    assert [each["baselineState"] for each in results] == ["unchanged", "new"]
