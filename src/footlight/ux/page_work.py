"""The work on one page: it is measured, then judged where there is a model."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from footlight.client.errors import MCPConnectionError, MCPError
from footlight.ux.audited import PageAudit
from footlight.ux.config import AnalysisOptions, UXAnalysisConfig
from footlight.ux.evidence.collecting import Measuring
from footlight.ux.findings import Evidence, Skipped
from footlight.ux.page_analysis import PageAnalysis, analyze_page
from footlight.ux.stream import ToolResultPart

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient
    from footlight.ux.model.provider import ChatModel
    from footlight.ux.page import AuditedPage
    from footlight.ux.watcher import Watcher

__all__ = ["Judge", "PageWork"]

logger = logging.getLogger(__name__)

FIRST_ERROR_STATUS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model, and what it is asked of each page: `config` is of any of them. The model stays its owner's."""

    model: ChatModel
    config: UXAnalysisConfig
    options: AnalysisOptions = field(default_factory=AnalysisOptions)

    def analysis(self, url: str, page: AuditedPage, client: MCPClient, evidence: Evidence) -> PageAnalysis:
        return analyze_page(page, client, evidence, replace(self.config, url=url), self.options, self.model)


class PageWork:
    """`audit` is what there is of it at any time.

    `reach` connects the client to a new server, and gives the page there: `page` is then that one.
    """

    def __init__(
        self,
        url: str,
        page: AuditedPage,
        client: MCPClient,
        *,
        reach: Callable[[], Awaitable[AuditedPage]],
        judge: Judge | None,
        watcher: Watcher,
    ) -> None:
        self.page = page
        self._url = url
        self._client = client
        self._reach = reach
        self._judge = judge
        self._watcher = watcher
        self._began = time.monotonic()
        self._measuring: Measuring | None = None
        self._evidence: Evidence | None = None
        self._analysis: PageAnalysis | None = None
        self._cut: str | None = None
        self._error: str | None = None

    @property
    def audit(self) -> PageAudit:
        duration_ms = int((time.monotonic() - self._began) * 1000)
        evidence = self._evidence
        if evidence is None:
            return PageAudit(url=self._url, status="failed", error=self._error, duration_ms=duration_ms)
        skipped = tuple(self._skipped(evidence))
        measured = PageAudit(
            url=self._url,
            status="partial" if evidence.skipped or skipped else "complete",
            evidence=evidence,
            skipped=skipped,
            duration_ms=duration_ms,
        )
        return self._analysis.added_to(measured) if self._analysis else measured

    async def run(self) -> None:
        """What goes wrong is in the `audit`."""
        try:
            await self._measure()
        except MCPError as error:
            logger.warning("%s could not be measured: %s", self._url, error.message)
            self._error = error.message
        if self._evidence is None:
            return
        self._watcher.page_grows(self.audit)
        if self._judge is not None:
            await self._be_judged(self._judge, self._evidence)

    def end(self, why: str) -> None:
        """It was ended early: keep what was measured."""
        if self._evidence is None and self._measuring is not None:
            self._evidence = self._measuring.so_far(why)
        self._cut = self._error = why

    async def _measure(self) -> None:
        if not self._client.connected:  # The page before has lost it.
            self.page = await self._reach()
        lost = await self._measured()
        if lost is not None:
            self._watcher.step(f"once more, with a new server: {lost.message}")
            self.page = await self._reach()
            lost = await self._measured()
        if lost is not None and self._evidence is None:
            raise lost

    async def _measured(self) -> MCPConnectionError | None:
        """Why the server was lost, should it be; there may be evidence all the same."""
        self._measuring = Measuring(self.page, self._url, progress=self._watcher.step)
        try:
            self._evidence = await self._measuring.run()
        except MCPConnectionError as error:
            return error
        return self._measuring.lost

    async def _be_judged(self, judge: Judge, evidence: Evidence) -> None:
        self._watcher.step("what the model makes of it")
        async with judge.analysis(self._url, self.page, self._client, evidence) as analysis:
            self._analysis = analysis
            async for part in analysis:
                self._watcher.part(part)
                if isinstance(part, ToolResultPart):
                    self._watcher.page_grows(self.audit)

    def _skipped(self, evidence: Evidence) -> Iterator[Skipped]:
        if evidence.status is not None and evidence.status >= FIRST_ERROR_STATUS:
            why = f"the site answered {evidence.status}, and what it shows then was measured"
            yield Skipped(what="the page that was asked for", why=why)
        if self._cut is not None and self._judge is not None:
            yield Skipped(what="the rest of the model's work", why=self._cut)
