"""A model's work on one page that was measured: its walks, then its judgement."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio

from footlight.client.errors import MCPError
from footlight.ux.audited import Dropped, PageAudit, Walk
from footlight.ux.config import AnalysisOptions, UXAnalysisConfig
from footlight.ux.errors import ModelError
from footlight.ux.findings import Evidence, Finding, Picture, Skipped
from footlight.ux.judging import Judgement
from footlight.ux.looking import looking_at
from footlight.ux.model.provider import ChatModel
from footlight.ux.model.run import Limits
from footlight.ux.page import AuditedPage
from footlight.ux.persona import Persona
from footlight.ux.small_picture import small_picture
from footlight.ux.stream import AIStreamPart, ErrorPart, FinishPart, FinishReason, TextDeltaPart, Usage
from footlight.ux.transcript import Transcript
from footlight.ux.untrusted import PageMarks
from footlight.ux.visit import Visit, origin_of, secrets_in
from footlight.ux.walking import GoalWalk

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient

__all__ = ["PageAnalysis", "analyze_page"]

KEPT_REQUESTS = 4
"""Of the limit, for the judgement: walks alone would be worth little."""
KEPT_TOKENS = 0.2
"""Of the limit, the same."""
PICTURE_SIDE = 640
"""Pixels: the judgement is sent what was measured of the pictures beside them."""
NO_TEXT = "The model wrote no analysis."


def analyze_page(
    page: AuditedPage,
    client: MCPClient,
    evidence: Evidence,
    config: UXAnalysisConfig,
    options: AnalysisOptions,
    model: ChatModel,
) -> PageAnalysis:
    """Begin nothing yet: the work is done as it is iterated. All that is handed over stays its owner's."""
    return PageAnalysis(page, client, evidence, config, options, model)


class PageAnalysis:
    """The parts, in order and live, at last a FinishPart or an ErrorPart. To be entered, and iterated once.

    What came of it so far can be asked for at any time, and `added_to` puts it into the page's audit.
    `failure` is why it ended with an error.
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
        self._walks: list[Walk] = []
        self._walking: GoalWalk | None = None
        self._judgement: Judgement | None = None
        self._finished: FinishReason | None = None
        self._parts = self._work()

    @property
    def usage(self) -> Usage:
        """Of all that was asked of the model so far."""
        under_way = self._walking or self._judgement
        return self._spent + under_way.usage if under_way else self._spent

    @property
    def walks(self) -> Sequence[Walk]:
        """The one under way too."""
        return (*self._walks, *([self._walking.walk] if self._walking else ()))

    @property
    def judged(self) -> Sequence[Finding]:
        return tuple(self._judgement.recorded.findings) if self._judgement else ()

    @property
    def dropped(self) -> Sequence[Dropped]:
        return self._judgement.recorded.dropped if self._judgement else ()

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What of the model's work was not done."""
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

    def added_to(self, audit: PageAudit) -> PageAudit:
        """The page's audit with all of this in it; `partial` where something was not done, or is not yet."""
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

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Shielded: a cancelled caller must still not leave a request behind.
        with anyio.CancelScope(shield=True):
            await self._parts.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AIStreamPart:
        return await anext(self._parts)

    async def _work(self) -> AsyncGenerator[AIStreamPart]:
        try:
            for stage in (self._try_goals, self._judge):
                async with aclosing(stage()) as parts:
                    async for part in parts:
                        self._transcript.add(part)
                        yield part
        except (ModelError, MCPError) as error:
            self.failure = error
        for part in self._last_parts():
            self._transcript.add(part)
            yield part

    async def _try_goals(self) -> AsyncGenerator[AIStreamPart]:
        """Should the server be lost, the goals that are left are told as unfinished; judging goes on."""
        visit = await self._visit()
        limits, numbers = _walking_limits(self._options.limits), count(1)
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
            )
            async with aclosing(walking.parts()) as parts:
                async for part in parts:
                    yield part
            self._spent += walking.usage
            self._walks.append(walking.walk)
            self._walking = None

    def _share(self, limits: Limits, goals: int) -> int:
        """Of the requests that are left, for the next of so many goals: each is tried."""
        return max((limits.requests - self._spent.requests) // goals, 1)

    async def _visit(self) -> Visit:
        return Visit(
            self._page,
            self._client,
            await looking_at(self._page, self._client),
            url=self._config.url,
            marks=self._marks,
            origins={origin_of(self._config.url), origin_of(self._evidence.url)},
            secrets=_secrets(self._config.personas),
            more=self._options.tools,
        )

    async def _judge(self) -> AsyncGenerator[AIStreamPart]:
        judgement = self._judgement = Judgement(
            self._evidence,
            self._walks,
            personas=self._config.personas,
            focus_areas=self._config.focus_areas,
            pictures=_shown(self._evidence) if self._options.pictures else (),
            marks=self._marks,
            model=self._model,
            limits=self._options.limits,
            spent=self._spent,
        )
        async with aclosing(judgement.parts()) as parts:
            async for part in parts:
                yield part
        self._finished = judgement.reason

    def _last_parts(self) -> Sequence[AIStreamPart]:
        last = (
            FinishPart(finish_reason=self._finished or "error")
            if self.failure is None
            else ErrorPart(error=self.failure.message)
        )
        return (last,) if self._transcript.text.strip() else (TextDeltaPart(text_delta=NO_TEXT), last)


def _secrets(personas: Sequence[Persona]) -> Collection[str]:
    """Those of the server that the personas were given by name."""
    texts = (text for persona in personas for text in (persona.description, *persona.goals))
    return {name for text in texts for name in secrets_in(text)}


def _walking_limits(limits: Limits) -> Limits:
    """Something is left for the judgement."""
    tokens = None if limits.tokens is None else int(limits.tokens * (1 - KEPT_TOKENS))
    return replace(limits, requests=limits.requests - KEPT_REQUESTS, tokens=tokens)


def _shown(evidence: Evidence) -> Sequence[Picture]:
    """The widest and the narrowest screen, without marks."""
    shots = sorted((shot for shot in evidence.screenshots if not shot.marked), key=lambda shot: shot.width)
    return [
        small_picture(shot.picture.data, side=PICTURE_SIDE)
        for shot in dict.fromkeys((*shots[-1:], *shots[:1]))
    ]
