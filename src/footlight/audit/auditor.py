"""Audit pages: measure each page, then let a model walk through it and judge it."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio

from footlight import __version__
from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
from footlight.audit.analysis.page_analysis import PageAnalysis
from footlight.audit.evidence.gathered import describe_failure
from footlight.audit.evidence.measurement import Measurement
from footlight.audit.findings import Evidence, Skipped
from footlight.audit.model.stream import AIStreamPart, ToolResultPart
from footlight.audit.page.server_page import page_of
from footlight.audit.results import Audit, PageAudit, Provenance
from footlight.protocol.errors import MCPConnectionError, MCPError

if TYPE_CHECKING:
    from footlight.audit.model.provider import ChatModel
    from footlight.audit.page.page import AuditedPage
    from footlight.client.mcp_client import MCPClient

__all__ = ["AuditWatcher", "Auditor", "Judge", "PageAuditor"]

logger = logging.getLogger(__name__)

PAGE_LIMIT_SECONDS = 300.0
CLOSE_SECONDS = 5.0
FIRST_ERROR_STATUS = 400


class AuditWatcher:
    """Receives the events of an audit. Every method does nothing: override those that you need.

    Pages that are audited in parallel are shown in order: the events of a page follow the end of the page
    before it.
    """

    def page_begins(self, number: int, count: int, url: str) -> None: ...

    def step(self, name: str) -> None:
        """Handle the beginning of a step, such as a measurement."""

    def part(self, part: AIStreamPart) -> None:
        """Handle a part of the model's stream."""

    def result_changes(self, page: PageAudit) -> None:
        """Handle a change in the result of the current page."""

    def page_ends(self, audit: Audit) -> None:
        """Handle the end of a page. `audit` has the pages up to this one, which is the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model, and what to ask it about each page.

    The URL in `config` is replaced by that of the page. The caller closes the model.
    """

    model: ChatModel
    config: UXAnalysisConfig
    options: AnalysisOptions = field(default_factory=AnalysisOptions)


class Auditor:
    """Audits a list of pages. A page that fails does not affect the others.

    Call `run` once. `audit` is the result so far, at any time, also after cancellation.
    """

    def __init__(
        self,
        client: MCPClient,
        *,
        judge: Judge | None = None,
        watcher: AuditWatcher | None = None,
        on_page: Callable[[Audit], None] = lambda _: None,
        session: Mapping[str, Any] | None = None,
        limit_s: float = PAGE_LIMIT_SECONDS,
        jobs: int = 1,
    ) -> None:
        """Create an auditor.

        Args:
            client: the caller closes it. It is reconnected if its server is lost.
            on_page: called with the result so far whenever a page has ended.
            jobs: how many pages are audited at a time, if the server has several and no model is asked.
            session: arguments of `create_session` besides the viewport: a saved state, headers.
            limit_s: the time limit of each page; what was measured until then is kept.
        """
        self._client = client
        self._judge = judge
        self._watcher = watcher or AuditWatcher()
        self._on_page = on_page
        self._session = session
        self._limit_s = limit_s
        self._jobs = 1 if judge else jobs
        self._reconnecting = anyio.Lock()
        self._pages: dict[int, PageAudit] = {}
        self._server = ""
        self._started = time.time()
        self._finished: float | None = None

    @property
    def audit(self) -> Audit:
        return self._audit_up_to(max(self._pages, default=0))

    def _audit_up_to(self, last: int) -> Audit:
        return Audit(
            pages=tuple(page for number, page in sorted(self._pages.items()) if number <= last),
            provenance=self._provenance(),
            started_ms=int(self._started * 1000),
            finished_ms=None if self._finished is None else int(self._finished * 1000),
        )

    async def run(self, urls: Sequence[str]) -> Audit:
        """Audit the pages, one after the other or in parallel.

        Raises:
            MCPError: the server cannot be reached, or has no browser tools.
        """
        first = await page_of(self._client, session=self._session)
        self._server = first.server
        others = [await first.new_page() for _ in range(min(self._jobs, len(urls)) - 1)]
        view = _OrderedView(self._watcher, len(urls), self._audit_up_to)
        waiting = deque(enumerate(urls, 1))
        async with anyio.create_task_group() as tasks:
            for page in (first, *filter(None, others)):
                tasks.start_soon(self._audit_pages, waiting, page, view)
        return self.audit

    async def _audit_pages(
        self, waiting: deque[tuple[int, str]], page: AuditedPage, view: _OrderedView
    ) -> None:
        """Audit the pages that wait, one after the other."""
        try:
            while waiting:
                number, url = waiting.popleft()
                page = await self._audit_page(number, url, page, view)
                if len(self._pages) == view.count:
                    self._finished = time.time()
                view.end(number)
                self._on_page(self.audit)
        finally:
            # Shielded: the page is closed also when the caller has cancelled the work.
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await page.close()

    async def _audit_page(self, number: int, url: str, page: AuditedPage, view: _OrderedView) -> AuditedPage:
        """Return the page to continue with: that of a new server where the old one was lost."""
        auditor = PageAuditor(
            url,
            page,
            self._client,
            judge=self._judge,
            watcher=view.begin(number, url),
            session=self._session,
            reconnecting=self._reconnecting,
        )
        try:
            with anyio.move_on_after(self._limit_s) as limit:
                async with aclosing(auditor.parts()) as parts:
                    async for _ in parts:
                        pass
        except anyio.get_cancelled_exc_class():
            auditor.end("it was interrupted")
            raise
        else:
            if limit.cancelled_caught:
                auditor.end(f"it took more than {self._limit_s:g} s")
        finally:
            self._pages[number] = auditor.audit
        return auditor.page

    def _provenance(self) -> Provenance:
        judge = self._judge
        measured = (page.evidence for page in self._pages.values() if page.evidence)
        return Provenance(
            footlight=__version__,
            server=self._server,
            axe=next((each.axe_version for each in measured if each.axe_version), None),
            provider=judge.model.provider if judge else None,
            model=judge.model.name if judge else None,
            personas=tuple(persona.name for persona in judge.config.personas) if judge else (),
            focus_areas=tuple(judge.config.focus_areas) if judge else (),
        )


class _OrderedView:
    """Shows a watcher the pages of an audit in order, although some are audited at the same time."""

    def __init__(self, watcher: AuditWatcher, count: int, audit_up_to: Callable[[int], Audit]) -> None:
        self.count = count
        self._watcher = watcher
        self._audit_up_to = audit_up_to
        self._shown = 1
        self._urls: dict[int, str] = {}
        self._ended: set[int] = set()

    def begin(self, number: int, url: str) -> AuditWatcher:
        """Return the watcher of a page. It passes its events on while the page is the one that is shown."""
        self._urls[number] = url
        if number == self._shown:
            self._watcher.page_begins(number, self.count, url)
        return _PageWatcher(self._watcher, lambda: number == self._shown)

    def end(self, number: int) -> None:
        """Show the end of a page, once those before it have ended, and the pages after it."""
        self._ended.add(number)
        while self._shown in self._ended:
            self._watcher.page_ends(self._audit_up_to(self._shown))
            self._shown += 1
            if self._shown in self._urls:
                self._watcher.page_begins(self._shown, self.count, self._urls[self._shown])


class _PageWatcher(AuditWatcher):
    def __init__(self, watcher: AuditWatcher, is_shown: Callable[[], bool]) -> None:
        self._watcher = watcher
        self._is_shown = is_shown

    def step(self, name: str) -> None:
        if self._is_shown():
            self._watcher.step(name)

    def part(self, part: AIStreamPart) -> None:
        if self._is_shown():
            self._watcher.part(part)

    def result_changes(self, page: PageAudit) -> None:
        if self._is_shown():
            self._watcher.result_changes(page)


class PageAuditor:
    """Audits one page: measures it, then lets the judge's model work on it.

    Iterate `parts` once. `audit` is the result so far, at any time. `page` is the audited page; it is
    replaced when the server is lost and started again.
    """

    def __init__(
        self,
        url: str,
        page: AuditedPage,
        client: MCPClient,
        *,
        judge: Judge | None,
        watcher: AuditWatcher,
        session: Mapping[str, Any] | None = None,
        reconnecting: anyio.Lock | None = None,
    ) -> None:
        """Create an auditor. Those that use the same client share `reconnecting`."""
        self.page = page
        self._url = url
        self._client = client
        self._judge = judge
        self._watcher = watcher
        self._session = session
        self._reconnecting = reconnecting or anyio.Lock()
        self._began = time.monotonic()
        self._measurement: Measurement | None = None
        self._evidence: Evidence | None = None
        self._analysis: PageAnalysis | None = None
        self._end_reason: str | None = None
        self._error: str | None = None

    @property
    def audit(self) -> PageAudit:
        duration_ms = int((time.monotonic() - self._began) * 1000)
        evidence = self._evidence
        if evidence is None:
            return PageAudit(url=self._url, status="failed", error=self._error, duration_ms=duration_ms)
        skipped = tuple(self._list_skipped(evidence))
        measured = PageAudit(
            url=self._url,
            status="partial" if evidence.skipped or skipped else "complete",
            evidence=evidence,
            skipped=skipped,
            duration_ms=duration_ms,
        )
        return self._analysis.add_to(measured) if self._analysis else measured

    async def parts(self) -> AsyncGenerator[AIStreamPart]:
        """Do the work, and yield the parts of the model's stream. Failures end up in `audit`."""
        try:
            await self._measure()
        except MCPError as error:
            logger.warning("%s could not be measured: %s", self._url, error.message)
            self._error = describe_failure(error)
        if self._evidence is None:
            return
        self._watcher.result_changes(self.audit)
        if self._judge is None:
            return
        async with aclosing(self._analyze(self._judge, self._evidence)) as parts:
            async for part in parts:
                yield part

    def end(self, why: str) -> None:
        """Note that the work was ended early. What was measured so far is kept."""
        if self._evidence is None and self._measurement is not None:
            self._evidence = self._measurement.make_partial_evidence(why)
        self._end_reason = self._error = why

    async def _measure(self) -> None:
        if not self._client.connected:  # The server was lost on the previous page.
            await self._reconnect()
        lost = await self._measure_once()
        if lost is not None:
            self._watcher.step(f"retry with a new server: {lost.message}")
            await self._reconnect()
            lost = await self._measure_once()
        if lost is not None and self._evidence is None:
            raise lost

    async def _measure_once(self) -> MCPConnectionError | None:
        """Return why the server was lost, or None. There may be evidence even if it was."""
        self._measurement = Measurement(
            self.page, self._url, progress=self._watcher.step, leaves_open=self._judge is not None
        )
        try:
            self._evidence = await self._measurement.run()
        except MCPConnectionError as error:
            return error
        return self._measurement.lost

    async def _reconnect(self) -> None:
        async with self._reconnecting:
            if not self._client.connected:
                await self._client.reconnect()
        self.page = await page_of(self._client, session=self._session)

    async def _analyze(self, judge: Judge, evidence: Evidence) -> AsyncGenerator[AIStreamPart]:
        self._watcher.step("the model's analysis")
        config = replace(judge.config, url=self._url)
        async with PageAnalysis(
            self.page, self._client, evidence, config, judge.options, judge.model
        ) as analysis:
            self._analysis = analysis
            async for part in analysis:
                self._watcher.part(part)
                if isinstance(part, ToolResultPart):
                    self._watcher.result_changes(self.audit)
                yield part

    def _list_skipped(self, evidence: Evidence) -> Iterator[Skipped]:
        if evidence.status is not None and evidence.status >= FIRST_ERROR_STATUS:
            why = f"the site answered {evidence.status}, and its error page was measured"
            yield Skipped(what="the requested page", why=why)
        if self._end_reason is not None and self._judge is not None:
            yield Skipped(what="the rest of the model's work", why=self._end_reason)
