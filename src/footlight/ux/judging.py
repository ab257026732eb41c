"""A model judges the evidence: findings that cite it, and the analysis in words."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from footlight.ux.audited import Dropped, Walk
from footlight.ux.brief import brief_of, walks_told
from footlight.ux.findings import Element, Evidence, Finding, Picture, Severity
from footlight.ux.model.ai_tool import AITool, ToolAnswer
from footlight.ux.model.provider import ChatModel
from footlight.ux.model.run import Limits, Stage, run_stage
from footlight.ux.persona import Persona
from footlight.ux.prompt import prompt
from footlight.ux.stream import AIStreamPart, FinishPart, FinishReason, TextDeltaPart, ToolResultPart, Usage
from footlight.ux.tools import ToolInput
from footlight.ux.untrusted import PageMarks

__all__ = ["RECORD", "Judgement", "Recorded"]

RECORD = "recordFinding"
MOST = 12
"""Findings that a model may record: with more, nobody would know where to begin."""
SAME = 0.6
"""So many of two titles' words are the same when they say the same."""

Area = Literal[
    "wording", "structure", "trust", "task", "errors", "navigation", "help", "consistency", "other"
]


class Record(ToolInput):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    severity: Severity
    area: Area
    advice: Annotated[str, Field(min_length=1, max_length=1_000)]
    cites: Annotated[list[str], Field(description="Ids: F3, P1, W7")]
    selector: Annotated[str, Field(max_length=500, description="Of the element, as the evidence has it")] = ""
    persona: Annotated[str, Field(description="Whom it concerns, if not all")] = ""


class Recorded:
    """The findings that a model has recorded, each with evidence. `dropped` are those that had none.

    One that is recorded again, now rightly, is dropped no more.
    """

    def __init__(
        self, evidence: Evidence, walks: Sequence[Walk], personas: Sequence[Persona], *, judge: str
    ) -> None:
        self.findings: list[Finding] = []
        self._measured = evidence.findings
        self._personas = [persona.name for persona in personas]
        self._judge = judge
        self._dropped: dict[str, Dropped] = {}
        self._citable = [
            *(each.id for each in evidence.findings),
            *(each.id for each in evidence.facts),
            *(step.id for walk in walks for step in walk.steps),
        ]

    @property
    def dropped(self) -> Sequence[Dropped]:
        return tuple(self._dropped.values())

    def tool(self) -> AITool:
        return AITool(
            name=RECORD,
            description="Record a finding that follows from the evidence",
            parameters=Record,
            run=self._record,
        )

    async def _record(self, given: Record) -> ToolAnswer:
        problem = self._problem(given)
        if problem is not None:
            return ToolAnswer(text=problem, is_error=True)
        self._dropped.pop(_key(given.title), None)
        finding = self._finding(given)
        self.findings.append(finding)
        return ToolAnswer(text=f"Recorded as {finding.id}.")

    def _problem(self, given: Record) -> str | None:
        if (why := self._uncited(given.cites)) is not None:
            self._dropped[_key(given.title)] = Dropped(title=given.title, why=why)
            return f"Not recorded: {why}. There are: {_ranges(self._citable)}."
        for known in (*self._measured, *self.findings):
            if _says_the_same(given, known):
                return f"Not recorded: {known.id} says that already."
        if given.persona and given.persona not in self._personas:
            return f"Not recorded: there is no persona {given.persona}, only {', '.join(self._personas)}."
        if len(self.findings) >= MOST:
            return f"Not recorded: {MOST} are the most. Write the analysis now."
        return None

    def _uncited(self, cites: Sequence[str]) -> str | None:
        if not cites:
            return "it cites nothing"
        unknown = [cite for cite in cites if cite not in self._citable]
        return f"there is no evidence {', '.join(unknown)}" if unknown else None

    def _finding(self, given: Record) -> Finding:
        element = self._element(given.selector)
        return Finding(
            id=f"J{len(self.findings) + 1}",
            rule=f"judged/{given.area}",
            severity=given.severity,
            title=given.title,
            advice=given.advice,
            measured_by=f"judged by {self._judge}",
            elements=(element,) if element else (),
            count=1 if element else 0,
            source="judged",
            persona=given.persona or None,
            cites=tuple(dict.fromkeys(given.cites)),
        )

    def _element(self, selector: str) -> Element | None:
        """With its picture, where it was measured."""
        if not selector:
            return None
        known = (each for finding in self._measured for each in finding.elements)
        return next((each for each in known if each.selector == selector), Element(selector=selector))


class Judgement:
    """Iterate `parts`: the last one of them, which says how the stage ended, is not in it but in `reason`."""

    def __init__(
        self,
        evidence: Evidence,
        walks: Sequence[Walk],
        *,
        personas: Sequence[Persona],
        focus_areas: Sequence[str],
        pictures: Sequence[Picture],
        marks: PageMarks,
        model: ChatModel,
        limits: Limits,
        spent: Usage,
    ) -> None:
        self.recorded = Recorded(evidence, walks, personas, judge=model.name)
        self.reason: FinishReason = "stop"
        stage = Stage(
            instructions=prompt("judging", most=MOST, first=marks.first, last=marks.last),
            prompt=prompt(
                "evidence",
                personas="\n".join(f"- {each.name}: {each.description}" for each in personas),
                focus=f"Look above all at: {', '.join(focus_areas)}\n" if focus_areas else "",
                evidence=marks.around(f"{brief_of(evidence)}\nWalks:\n{walks_told(walks)}"),
            ),
            tools=(self.recorded.tool(),),
            pictures=pictures,
        )
        self._run = run_stage(model, stage, limits=limits, spent=spent)

    @property
    def usage(self) -> Usage:
        return self._run.usage

    async def parts(self) -> AsyncGenerator[AIStreamPart]:
        """
        Raises:
            ModelError: the provider failed.
        """
        said = apart = False
        async with self._run as run:
            async for part in run:
                if isinstance(part, FinishPart):
                    self.reason = part.finish_reason
                    continue
                if isinstance(part, TextDeltaPart):
                    if apart:
                        yield TextDeltaPart(text_delta="\n\n")
                    said, apart = True, False
                elif isinstance(part, ToolResultPart):
                    apart = said
                yield part


def _says_the_same(given: Record, known: Finding) -> bool:
    """The same words; of the same element, most of them are enough."""
    if _key(given.title) == _key(known.title):
        return True
    one, other = (set(_key(title).split()) for title in (given.title, known.title))
    alike = len(one & other) / (len(one | other) or 1) >= SAME
    return alike and given.selector in {"", *(each.selector for each in known.elements)}


def _key(title: str) -> str:
    return " ".join(re.findall(r"\w+", title.casefold()))


def _ranges(ids: Iterable[str]) -> str:
    """F1–F9, P1–P4, W1–W17: each kind is numbered without gaps."""
    kinds: dict[str, list[str]] = {}
    for id in ids:
        kinds.setdefault(id[0], []).append(id)
    return (
        ", ".join(f"{each[0]}–{each[-1]}" if len(each) > 1 else each[0] for each in kinds.values()) or "none"
    )
