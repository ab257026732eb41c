"""Let a model work on a measured page: walks first, then the judgement."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
from footlight.audit.analysis.goal_walk import GoalWalk
from footlight.audit.analysis.judgement import ModelJudgement
from footlight.audit.analysis.personas import Persona
from footlight.audit.analysis.visit import Visit, origin_of, secrets_in
from footlight.audit.findings import Evidence, EvidencePicture, Finding, Skipped
from footlight.audit.model.failures import ModelError
from footlight.audit.model.provider import ChatModel
from footlight.audit.model.request import Limits
from footlight.audit.model.stream import (
    AIStreamPart,
    ErrorPart,
    FinishPart,
    FinishReason,
    PartStream,
    TextDeltaPart,
    Usage,
)
from footlight.audit.model.transcript import Transcript
from footlight.audit.page.observation import shrink_picture
from footlight.audit.page.observer import observer_for
from footlight.audit.page.page import AuditedPage
from footlight.audit.page.page_text import PageMarks
from footlight.audit.results import DroppedFinding, PageAudit, Walk
from footlight.protocol.errors import MCPError

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient

__all__ = ["PageAnalysis"]

KEPT_REQUESTS = 4
"""How many requests of the limit are reserved for the judgement."""
KEPT_TOKENS = 0.2
"""The share of the tokens that is reserved for the judgement."""
PICTURE_SIDE = 640
"""The size in pixels. A small picture is enough, because the judgement also gets the measured findings."""
NO_TEXT = "The model wrote no analysis."


class PageAnalysis(PartStream):
    """Yields the parts of the analysis; the last is a FinishPart or an ErrorPart.

    The properties have the results so far, and `add_to` adds them to the page's audit. `failure` is the error
    that ended the analysis.
    """

    def __init__(
        self,
        page: AuditedPage,
        client: MCPClient,
        evidence: Evidence,
        config: UXAnalysisConfig,
        options: AnalysisOptions,
        model: ChatModel,
    ) -> None:
        self.failure: ModelError | MCPError | None = None
        self._page = page
        self._client = client
        self._evidence = evidence
        self._config = config
        self._options = options
        self._model = model
        self._marks = PageMarks()
        self._transcript = Transcript()
        self._spent = Usage()
        self._call_ids: set[str] = set()
        self._walks: list[Walk] = []
        self._walking: GoalWalk | None = None
        self._judgement: ModelJudgement | None = None
        self._finished: FinishReason | None = None
        super().__init__()

    @property
    def usage(self) -> Usage:
        """Return the usage of the model so far."""
        under_way = self._walking or self._judgement
        return self._spent + under_way.usage if under_way else self._spent

    @property
    def walks(self) -> Sequence[Walk]:
        """Return the walks, including the current one."""
        return (*self._walks, *([self._walking.walk] if self._walking else ()))

    @property
    def judged(self) -> Sequence[Finding]:
        return tuple(self._judgement.recorded.findings) if self._judgement else ()

    @property
    def dropped(self) -> Sequence[DroppedFinding]:
        return self._judgement.recorded.dropped if self._judgement else ()

    @property
    def skipped(self) -> Sequence[Skipped]:
        """Return the parts of the model's work that were not done."""
        walks = [
            Skipped(what=f"the goal of {walk.persona}: {walk.goal}", why=walk.why)
            for walk in self.walks
            if walk.outcome == "unfinished"
        ]
        if self.failure is not None:
            return (*walks, Skipped(what="the rest of the analysis", why=self.failure.message))
        if self._finished not in (None, "stop"):
            why = "the budget was spent" if self._finished == "limit" else "the model's answer was cut"
            return (*walks, Skipped(what="the end of the analysis", why=why))
        return walks

    def add_to(self, audit: PageAudit) -> PageAudit:
        """Return the page's audit with the results of the analysis; `partial` if parts are not done."""
        skipped = (*audit.skipped, *self.skipped)
        is_partial = bool(skipped) or self._finished is None
        return replace(
            audit,
            status="partial" if audit.status == "complete" and is_partial else audit.status,
            walks=self.walks,
            judged=self.judged,
            dropped=self.dropped,
            analysis_text=self._transcript.text,
            tool_calls=self._transcript.tool_calls,
            usage=self.usage,
            skipped=skipped,
        )

    async def _work(self) -> AsyncGenerator[AIStreamPart]:
        try:
            for stage in (self._try_goals, self._judge):
                async with aclosing(stage()) as parts:
                    async for part in parts:
                        self._transcript.add(part)
                        yield part
        except (ModelError, MCPError) as error:
            self.failure = error
        for part in self._build_last_parts():
            self._transcript.add(part)
            yield part

    async def _try_goals(self) -> AsyncGenerator[AIStreamPart]:
        """Try each goal. If the server is lost, the remaining goals are unfinished; judging continues."""
        visit = await self._visit()
        limits, numbers = _limit_walks(self._options.limits), count(1)
        goals = [(persona, goal) for persona in self._config.personas for goal in persona.goals]
        for number, (persona, goal) in enumerate(goals):
            walking = self._walking = GoalWalk(
                visit,
                persona,
                goal,
                model=self._model,
                limits=limits,
                requests=min(self._options.goal_requests, self._share(limits, len(goals) - number)),
                spent=self._spent,
                next_id=lambda: f"W{next(numbers)}",
                call_ids=self._call_ids,
            )
            async with aclosing(walking.parts()) as parts:
                async for part in parts:
                    yield part
            self._spent += walking.usage
            self._walks.append(walking.walk)
            self._walking = None

    def _share(self, limits: Limits, goals: int) -> int:
        """Return how many requests the next of this many goals may use."""
        return max((limits.requests - self._spent.requests) // goals, 1)

    async def _visit(self) -> Visit:
        return Visit(
            self._page,
            self._client,
            await observer_for(self._page, self._client),
            url=self._config.url,
            marks=self._marks,
            origins={origin_of(self._config.url), origin_of(self._evidence.url)},
            secrets=_secrets(self._config.personas),
            more=self._options.tools,
        )

    async def _judge(self) -> AsyncGenerator[AIStreamPart]:
        judgement = self._judgement = ModelJudgement(
            self._evidence,
            self._walks,
            personas=self._config.personas,
            focus_areas=self._config.focus_areas,
            pictures=_choose_pictures(self._evidence) if self._options.pictures else (),
            marks=self._marks,
            model=self._model,
            limits=self._options.limits,
            spent=self._spent,
            call_ids=self._call_ids,
        )
        async with aclosing(judgement.parts()) as parts:
            async for part in parts:
                yield part
        self._finished = judgement.reason

    def _build_last_parts(self) -> Sequence[AIStreamPart]:
        last = (
            FinishPart(finish_reason=self._finished or "error")
            if self.failure is None
            else ErrorPart(error=self.failure.message)
        )
        return (last,) if self._transcript.text.strip() else (TextDeltaPart(text_delta=NO_TEXT), last)


def _secrets(personas: Sequence[Persona]) -> Collection[str]:
    """Return the names of the server's secrets that the personas mention."""
    texts = (text for persona in personas for text in (persona.description, *persona.goals))
    return {name for text in texts for name in secrets_in(text)}


def _limit_walks(limits: Limits) -> Limits:
    """Return the limits of the walks, which leave a part for the judgement."""
    tokens = None if limits.tokens is None else int(limits.tokens * (1 - KEPT_TOKENS))
    return replace(limits, requests=limits.requests - KEPT_REQUESTS, tokens=tokens)


def _choose_pictures(evidence: Evidence) -> Sequence[EvidencePicture]:
    """Return the widest and the narrowest screenshot without marks, made small."""
    shots = sorted((shot for shot in evidence.screenshots if not shot.marked), key=lambda shot: shot.width)
    return [
        shrink_picture(shot.picture.data, side=PICTURE_SIDE)
        for shot in dict.fromkeys((*shots[-1:], *shots[:1]))
    ]
