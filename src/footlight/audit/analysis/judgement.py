"""Let a model judge the evidence: findings that cite evidence, and an analysis in prose."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from footlight.audit.analysis.brief import describe_evidence, describe_walks
from footlight.audit.analysis.personas import Persona
from footlight.audit.analysis.prompt import prompt
from footlight.audit.findings import Element, Evidence, EvidencePicture, Finding, Severity
from footlight.audit.model.provider import ChatModel
from footlight.audit.model.request import Limits
from footlight.audit.model.stage import Stage, run_stage
from footlight.audit.model.stream import (
    AIStreamPart,
    FinishPart,
    FinishReason,
    TextDeltaPart,
    ToolResultPart,
    Usage,
)
from footlight.audit.model.tools import AITool, ToolAnswer, ToolInput
from footlight.audit.page.page_text import PageMarks
from footlight.audit.results import DroppedFinding, Walk

__all__ = ["RECORD", "ModelJudgement", "RecordedFindings"]

RECORD = "recordFinding"
MAX_RECORDED = 12
"""How many findings a model may record."""
SAME_TITLE_SHARE = 0.6
"""The share of common words from which two titles say the same."""

Area = Literal[
    "wording", "structure", "trust", "task", "errors", "navigation", "help", "consistency", "other"
]


class RecordFindingInput(ToolInput):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    severity: Severity
    area: Area
    advice: Annotated[str, Field(min_length=1, max_length=1_000)]
    cites: Annotated[list[str], Field(description="Ids: F3, P1, W7")]
    selector: Annotated[str, Field(max_length=500, description="Of the element, as the evidence has it")] = ""
    persona: Annotated[str, Field(description="Whom it concerns, if not all")] = ""


class RecordedFindings:
    """The findings that a model recorded with evidence. `dropped` has those without evidence.

    A dropped finding that is recorded again with evidence is no longer dropped.
    """

    def __init__(
        self, evidence: Evidence, walks: Sequence[Walk], personas: Sequence[Persona], *, judge: str
    ) -> None:
        self.findings: list[Finding] = []
        self._measured = evidence.findings
        self._personas = [persona.name for persona in personas]
        self._judge = judge
        self._dropped: dict[str, DroppedFinding] = {}
        self._citable = [
            *(each.id for each in evidence.findings),
            *(each.id for each in evidence.facts),
            *(step.id for walk in walks for step in walk.steps),
        ]

    @property
    def dropped(self) -> Sequence[DroppedFinding]:
        return tuple(self._dropped.values())

    def tool(self) -> AITool:
        return AITool(
            name=RECORD,
            description="Record a finding that follows from the evidence",
            parameters=RecordFindingInput,
            run=self._record,
        )

    async def _record(self, arguments: RecordFindingInput) -> ToolAnswer:
        problem = self._find_problem(arguments)
        if problem is not None:
            return ToolAnswer(text=problem, is_error=True)
        self._dropped.pop(_key(arguments.title), None)
        finding = self._finding(arguments)
        self.findings.append(finding)
        return ToolAnswer(text=f"RecordedFindings as {finding.id}.")

    def _find_problem(self, arguments: RecordFindingInput) -> str | None:
        if (why := self._find_citation_problem(arguments.cites)) is not None:
            self._dropped[_key(arguments.title)] = DroppedFinding(title=arguments.title, why=why)
            return f"Not recorded: {why}. There are: {_ranges(self._citable)}."
        for known in (*self._measured, *self.findings):
            if _says_the_same(arguments, known):
                return f"Not recorded: {known.id} says that already."
        if arguments.persona and arguments.persona not in self._personas:
            return f"Not recorded: there is no persona {arguments.persona}, only {', '.join(self._personas)}."
        if len(self.findings) >= MAX_RECORDED:
            return f"Not recorded: {MAX_RECORDED} findings are the maximum. Write the analysis now."
        return None

    def _find_citation_problem(self, cites: Sequence[str]) -> str | None:
        if not cites:
            return "it cites no evidence"
        unknown = [cite for cite in cites if cite not in self._citable]
        return f"there is no evidence {', '.join(unknown)}" if unknown else None

    def _finding(self, arguments: RecordFindingInput) -> Finding:
        element = self._element(arguments.selector)
        return Finding(
            id=f"J{len(self.findings) + 1}",
            rule=f"judged/{arguments.area}",
            severity=arguments.severity,
            title=arguments.title,
            advice=arguments.advice,
            measured_by=f"judged by {self._judge}",
            elements=(element,) if element else (),
            count=1 if element else 0,
            source="judged",
            persona=arguments.persona or None,
            cites=tuple(dict.fromkeys(arguments.cites)),
        )

    def _element(self, selector: str) -> Element | None:
        """Return the measured element with its picture, or one that has the selector only."""
        if not selector:
            return None
        known = (each for finding in self._measured for each in finding.elements)
        return next((each for each in known if each.selector == selector), Element(selector=selector))


class ModelJudgement:
    """The judgement of a model. Iterate `parts`; `reason` then says how the stage ended."""

    def __init__(
        self,
        evidence: Evidence,
        walks: Sequence[Walk],
        *,
        personas: Sequence[Persona],
        focus_areas: Sequence[str],
        pictures: Sequence[EvidencePicture],
        marks: PageMarks,
        model: ChatModel,
        limits: Limits,
        spent: Usage,
        call_ids: set[str] | None = None,
    ) -> None:
        self.recorded = RecordedFindings(evidence, walks, personas, judge=model.name)
        self.reason: FinishReason = "stop"
        stage = Stage(
            instructions=prompt("judging", most=MAX_RECORDED, first=marks.first, last=marks.last),
            prompt=prompt(
                "evidence",
                personas="\n".join(f"- {each.name}: {each.description}" for each in personas),
                focus=f"Look above all at: {', '.join(focus_areas)}\n" if focus_areas else "",
                evidence=marks.wrap_text(f"{describe_evidence(evidence)}\nWalks:\n{describe_walks(walks)}"),
            ),
            tools=(self.recorded.tool(),),
            pictures=pictures,
        )
        self._run = run_stage(model, stage, limits=limits, spent=spent, call_ids=call_ids)

    @property
    def usage(self) -> Usage:
        return self._run.usage

    async def parts(self) -> AsyncGenerator[AIStreamPart]:
        """Yield the parts of the model's judgement.

        Raises:
            ModelError: the provider failed.
        """
        has_text = needs_break = False
        async with self._run as run:
            async for part in run:
                if isinstance(part, FinishPart):
                    self.reason = part.finish_reason
                    continue
                if isinstance(part, TextDeltaPart):
                    if needs_break:
                        yield TextDeltaPart(text_delta="\n\n")
                    has_text, needs_break = True, False
                elif isinstance(part, ToolResultPart):
                    needs_break = has_text
                yield part


def _says_the_same(arguments: RecordFindingInput, known: Finding) -> bool:
    """Return whether two titles say the same: all words alike, or most of them for the same element."""
    if _key(arguments.title) == _key(known.title):
        return True
    one, other = (set(_key(title).split()) for title in (arguments.title, known.title))
    has_same_words = len(one & other) / (len(one | other) or 1) >= SAME_TITLE_SHARE
    return has_same_words and arguments.selector in {"", *(each.selector for each in known.elements)}


def _key(title: str) -> str:
    return " ".join(re.findall(r"\w+", title.casefold()))


def _ranges(ids: Iterable[str]) -> str:
    """Return the ids as ranges: F1–F9, P1–P4, W1–W17. Each kind is numbered without gaps."""
    kinds: dict[str, list[str]] = {}
    for id in ids:
        kinds.setdefault(id[0], []).append(id)
    return (
        ", ".join(f"{each[0]}–{each[-1]}" if len(each) > 1 else each[0] for each in kinds.values()) or "none"
    )
