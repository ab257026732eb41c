"""The runner of the ACT test cases, with a sample of cases written here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footlight import MCPClient
from scripts.act_cases import ASSETS, audit_cases, load_cases, write_table
from tests.client.browser_servers import config_of

pytestmark = pytest.mark.anyio

PAGE = '<!doctype html><html lang="{}"><title>Opening hours</title><main><h1>Opening hours</h1>{}</main>'
SAMPLE = (
    ("b5c3f8", "failed", "3.1.1", PAGE.format("", "<p>We are open from nine to five.</p>")),
    ("b5c3f8", "passed", "3.1.1", PAGE.format("en", "<p>We are open from nine to five.</p>")),
    ("ucwvc8", "failed", "3.1.1", PAGE.format("nl", "<p>We are open from nine to five on each day.</p>")),
    (
        "ucwvc8",
        "inapplicable",
        "3.1.1",
        PAGE.format("en", "<p lang='nl'>Wij zijn open van negen tot vijf.</p>"),
    ),
)


def write_sample(folder: Path) -> None:
    listed = []
    for number, (rule, expected, criterion, html) in enumerate(SAMPLE):
        path = f"testcases/{rule}/{number}.html"
        file = folder / ASSETS / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html)
        required = {f"wcag20:{criterion}": {"forConformance": True}, "wcag20:1.1.1": {"secondary": "not it"}}
        listed.append(
            {
                "ruleId": rule,
                "ruleName": f"The rule {rule}",
                "ruleAccessibilityRequirements": required,
                "expected": expected,
                "testcaseId": str(number),
                "relativePath": path,
            }
        )
    (folder / ASSETS / "testcases.json").write_text(json.dumps({"testcases": listed}))


@pytest.mark.slow
async def test_table_counts_detections_and_false_alarms(tmp_path: Path) -> None:
    write_sample(tmp_path)
    cases = load_cases(tmp_path)
    assert [case.criteria for case in cases] == [frozenset({"3.1.1"})] * 4

    command = config_of("footlight").transport()
    async with MCPClient(command, timeout_ms=60_000) as client:
        results = await audit_cases(cases, tmp_path, jobs=2, clients=[client])

    assert [each.error for each in results] == [None] * 4
    assert [*write_table(results)][2:] == [
        "| The rule b5c3f8 (`b5c3f8`) | 1 | 1 | 1 | 0 | 1 |",
        "| The rule ucwvc8 (`ucwvc8`) | 1 | 1 | 0 | 0 | 1 |",
        "| **all** | 2 | 2 | 1 | 0 | 2 |",
    ]
