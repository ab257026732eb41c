"""The findings of a model, each of which must cite evidence."""

from __future__ import annotations

from typing import Any

import pytest

from footlight.audit.analysis.judgement import (
    MAX_RECORDED,
    ModelJudgement,
    RecordedFindings,
    RecordFindingInput,
)
from footlight.audit.findings import Element, EvidencePicture, Finding
from footlight.audit.model.request import Limits
from footlight.audit.model.stream import AIStreamPart, TextDeltaPart, Usage
from footlight.audit.model.tools import ToolAnswer
from footlight.audit.page.page_text import PageMarks
from footlight.audit.results import DroppedFinding
from tests.audit.evidence_by_hand import EVIDENCE, READER, WALK
from tests.audit.scripted import ScriptedModel, call
from tests.audit.shop_scripts import Turns

pytestmark = pytest.mark.anyio

GOOD: dict[str, Any] = {
    "title": "The date is nowhere",
    "severity": "high",
    "area": "task",
    "advice": "Put it under the heading.",
    "cites": ["P1", "W2"],
}


def make_recorded_findings() -> RecordedFindings:
    return RecordedFindings(EVIDENCE, [WALK], [READER], judge="scripted")


async def record(to: RecordedFindings, **given: Any) -> ToolAnswer:
    return await to.tool().run(RecordFindingInput.model_validate({**GOOD, **given}))


async def test_a_finding_that_cites_evidence_is_recorded() -> None:
    judged = make_recorded_findings()

    answer = await record(judged, persona="Reader", selector="#logo")

    assert answer == ToolAnswer(text="RecordedFindings as J1.")
    assert judged.findings == [
        Finding(
            id="J1",
            rule="judged/task",
            severity="high",
            title="The date is nowhere",
            advice="Put it under the heading.",
            measured_by="judged by scripted",
            elements=(Element(selector="#logo", html="<img>"),),
            count=1,
            source="judged",
            persona="Reader",
            cites=("P1", "W2"),
        )
    ]


@pytest.mark.parametrize(
    ("cites", "why"),
    [
        ([], "it cites no evidence"),
        (["F1", "F2", "J1"], "there is no evidence F2, J1"),
    ],
)
async def test_finding_without_valid_evidence_is_dropped_until_corrected(cites: list[str], why: str) -> None:
    judged = make_recorded_findings()

    refused = await record(judged, cites=cites)
    dropped = judged.dropped
    again = await record(judged, title="the date  is nowhere.", cites=["W1"])

    assert refused == ToolAnswer(text=f"Not recorded: {why}. There are: F1, P1, W1–W2.", is_error=True)
    assert dropped == (DroppedFinding(title="The date is nowhere", why=why),)
    assert (again.is_error, judged.dropped, len(judged.findings)) == (False, (), 1)


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ({"title": "Pictures have no text in their place!"}, "F1"),
        ({"title": "Pictures have no text in place", "selector": "#logo"}, "F1"),
        ({}, "J1"),
    ],
)
async def test_repeated_finding_is_refused(given: dict[str, Any], known: str) -> None:
    judged = make_recorded_findings()
    await record(judged)

    answer = await record(judged, **given)

    assert answer == ToolAnswer(text=f"Not recorded: {known} says that already.", is_error=True)
    assert (len(judged.findings), judged.dropped) == (1, ())


async def test_different_finding_for_the_same_element_is_recorded() -> None:
    judged = make_recorded_findings()

    answer = await record(judged, title="The logo leads to no start page", selector="#logo")

    assert answer.text == "RecordedFindings as J1."


async def test_unknown_persona_is_refused() -> None:
    answer = await record(make_recorded_findings(), persona="Ghost")

    assert answer == ToolAnswer(text="Not recorded: there is no persona Ghost, only Reader.", is_error=True)


async def test_number_of_recorded_findings_is_limited() -> None:
    judged = make_recorded_findings()
    titles = [f"{chr(ord('a') + number) * 5} differs" for number in range(MAX_RECORDED)]
    for title in titles:
        assert not (await record(judged, title=title)).is_error

    answer = await record(judged)

    assert answer.text == f"Not recorded: {MAX_RECORDED} findings are the maximum. Write the analysis now."


async def judge_with(model: ScriptedModel, **options: Any) -> tuple[ModelJudgement, list[AIStreamPart]]:
    chosen: dict[str, Any] = {"focus_areas": (), "pictures": (), "limits": Limits(), **options}
    judgement = ModelJudgement(
        EVIDENCE,
        [WALK],
        personas=[READER],
        marks=PageMarks("0123abcd"),
        model=model.model,
        spent=Usage(),
        **chosen,
    )
    return judgement, [part async for part in judgement.parts()]


async def test_model_receives_marked_evidence_and_one_tool() -> None:
    prompts: list[str] = []

    def judge(prompt: str) -> Turns:
        prompts.append(prompt)
        yield ["Good."]

    model = ScriptedModel({"": judge})
    await judge_with(model, focus_areas=["wording", "trust"])

    assert (prompts, model.offered) == (
        [
            "Personas:\n"
            "- Reader: Reads everything.\n\n"
            "Look above all at: wording, trust\n\n"
            "<page-content id=0123abcd>\n"
            "Page: http://127.0.0.1/ · Shop · status 200\n"
            "Measured at 1280 px\n"
            "Findings, measured:\n"
            "F1 critical axe/image-alt: Pictures have no text in their place · #logo\n"
            "Facts:\n"
            "P1 outline: h1 Shop\n"
            "Walks:\n"
            "Reader, goal: Find the date\n"
            "  W1 goBack → there\n"
            "  W2 goBack → there\n"
            "  stopped\n"
            "</page-content id=0123abcd>"
        ],
        [("recordFinding",)],
    )


async def test_messages_before_and_after_recording_are_separate() -> None:
    def judge(_: str) -> Turns:
        yield ["First.", call("recordFinding", **GOOD)]
        yield ["Then."]

    judgement, parts = await judge_with(ScriptedModel({"": judge}))

    text = "".join(part.text_delta for part in parts if isinstance(part, TextDeltaPart))
    assert (text, judgement.reason, judgement.usage.requests) == ("First.\n\nThen.", "stop", 2)


async def test_pictures_are_shown_to_the_model() -> None:
    def judge(_: str) -> Turns:
        yield ["Good."]

    model = ScriptedModel({"": judge})
    await judge_with(model, pictures=[EvidencePicture(data=b"\xff\xd8\xff", width=1, height=1)])

    assert '"media_type":"image/jpeg"' in model.requests[0]


async def test_spent_budget_ends_the_judgement() -> None:
    def judge(_: str) -> Turns:
        yield [call("recordFinding", **GOOD)]
        yield ["Never said."]

    judgement, _ = await judge_with(ScriptedModel({"": judge}), limits=Limits(requests=1))

    assert (judgement.reason, [finding.id for finding in judgement.recorded.findings]) == ("limit", ["J1"])
