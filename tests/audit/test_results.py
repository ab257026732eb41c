"""The result of an analysis in the specified form."""

from __future__ import annotations

from typing import Any

import pytest

from footlight.audit.findings import Element, Finding
from footlight.audit.model.stream import ToolCallRecord, Usage
from footlight.audit.results import DroppedFinding, UXAnalysisResult, Walk, WalkStep

FINDING = Finding(
    id="J1",
    rule="judged/help",
    severity="medium",
    title="No telephone",
    advice="Give one.",
    measured_by="judged by m from W1",
    elements=[Element(selector="footer")],
    count=1,
    source="judged",
    persona="Reader",
    cites=["W1"],
)
RIGHT: dict[str, Any] = {
    "url": "http://127.0.0.1/",
    "analysis_text": "Good.",
    "tool_calls": [ToolCallRecord(id="1", name="goBack", timestamp=5, duration=2.5, status="success")],
    "personas": ["Reader"],
    "timestamp": 7,
    "duration": 3.5,
}


def test_result_uses_the_documented_field_names() -> None:
    step = WalkStep(id="W1", tool="goBack", input="", ok=True, answer="there")
    result = UXAnalysisResult(
        **RIGHT,
        findings=[FINDING],
        walks=[Walk(persona="Reader", goal="Call", outcome="stopped", where="/", why="No", steps=[step])],
        dropped=[DroppedFinding(title="Dull", why="it cites no evidence")],
        usage=Usage(requests=2, input_tokens=30, output_tokens=4),
    )

    assert result.to_dict() == {
        "url": "http://127.0.0.1/",
        "analysisText": "Good.",
        "toolCalls": [{"id": "1", "name": "goBack", "timestamp": 5, "duration": 2.5, "status": "success"}],
        "personas": ["Reader"],
        "timestamp": 7,
        "duration": 3.5,
        "status": "complete",
        "findings": [
            {
                "id": "J1",
                "rule": "judged/help",
                "severity": "medium",
                "source": "judged",
                "title": "No telephone",
                "advice": "Give one.",
                "count": 1,
                "wcag": [],
                "act": [],
                "elements": [
                    {
                        "selector": "footer",
                        "html": "",
                        "text": "",
                        "note": "",
                        "viewportWidth": None,
                        "box": None,
                    }
                ],
                "measuredBy": "judged by m from W1",
                "helpUrl": None,
                "cites": ["W1"],
                "persona": "Reader",
            }
        ],
        "walks": [
            {
                "persona": "Reader",
                "goal": "Call",
                "outcome": "stopped",
                "where": "/",
                "durationMs": 0,
                "why": "No",
                "steps": [{"id": "W1", "tool": "goBack", "input": "", "ok": True, "said": "there"}],
            }
        ],
        "dropped": [{"title": "Dull", "why": "it cites no evidence"}],
        "usage": {"requests": 2, "inputTokens": 30, "outputTokens": 4},
    }


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"analysis_text": ""}, "analysis_text must not be empty"),
        ({"personas": []}, "personas must have at least one persona"),
        ({"duration": 0}, "duration must be more than 0"),
    ],
)
def test_incomplete_results_are_refused(wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        UXAnalysisResult(**{**RIGHT, **wrong})
