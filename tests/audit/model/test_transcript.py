"""Collecting the parts of an analysis."""

from __future__ import annotations

from footlight.audit.model.stream import TextDeltaPart, ToolCallPart, ToolResultPart
from footlight.audit.model.transcript import Transcript


def test_deltas_form_the_text_and_each_call_is_recorded() -> None:
    transcript = Transcript()

    for part in (
        TextDeltaPart(text_delta="One "),
        ToolCallPart(tool_call_id="1", tool_name="clickElement", input={}),
        ToolResultPart(tool_call_id="1", tool_name="clickElement", result="Not there", is_error=True),
        ToolCallPart(tool_call_id="2", tool_name="goBack", input={}),
        TextDeltaPart(text_delta="two"),
    ):
        transcript.add(part)

    message = [(each.id, each.name, each.status, each.error) for each in transcript.tool_calls]
    assert (transcript.text, message) == (
        "One two",
        [
            ("1", "clickElement", "error", "Not there"),
            ("2", "goBack", "error", "it was interrupted"),
        ],
    )
    assert all(each.duration >= 0 and each.timestamp > 0 for each in transcript.tool_calls)
