"""Measure one page: run each collector at each width, and list what failed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio

from footlight.audit.evidence.collector import Collector
from footlight.audit.evidence.collector_sets import standard_collectors
from footlight.audit.evidence.collectors.axe import AxeRules
from footlight.audit.evidence.finding_lists import add_refs
from footlight.audit.evidence.gathered import GatheredEvidence
from footlight.audit.evidence.location import PageLocation
from footlight.audit.evidence.page_measurement import PageMeasurement, Progress
from footlight.audit.evidence.page_source import read_source
from footlight.audit.findings import Evidence, Fact, Finding, ScreenPicture, Skipped
from footlight.audit.page.page import VIEWPORTS, AuditedPage, AuditViewport, OpenResult
from footlight.protocol.errors import MCPConnectionError, MCPError

__all__ = ["Measurement", "collect_evidence"]

CLOSE_SECONDS = 10.0


async def collect_evidence(
    page: AuditedPage,
    url: str,
    *,
    collectors: Sequence[Collector] | None = None,
    views: Sequence[AuditViewport] = VIEWPORTS,
    progress: Progress = lambda _: None,
) -> Evidence:
    """Open the page at each width and measure it. Leave it open at the first width.

    Failures after the first opening, including a lost connection, are listed in `skipped`.

    Raises:
        MCPError: the page cannot be opened at the first width, or runs no scripts.
    """
    chosen = standard_collectors() if collectors is None else collectors
    return await Measurement(page, url, chosen, views, progress).run()


@dataclass
class Measurement:
    """The measurement of a page. If it ends early, `make_partial_evidence` returns the evidence up to then.

    `lost` is the error if the connection to the server was lost.
    """

    page: AuditedPage
    url: str
    collectors: Sequence[Collector] = field(default_factory=standard_collectors)
    views: Sequence[AuditViewport] = VIEWPORTS
    progress: Progress = lambda _: None
    leaves_open: bool = True
    """If set, the page is left as it was opened, at the first width, and the findings have refs in it."""
    lost: MCPConnectionError | None = None
    opened: OpenResult | None = None
    first: PageMeasurement = field(init=False)
    """The measurement in the tab that stays open. It ends with the evidence of all widths."""
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.first = PageMeasurement(self.page, self.url, self.progress)

    @property
    def gathered(self) -> GatheredEvidence:
        return self.first.gathered

    async def run(self) -> Evidence:
        """Run the measurement.

        Raises:
            MCPError: the page cannot be opened at the first width, or runs no scripts.
        """
        view, *others = self.views
        first = self.first
        for each in self.collectors:
            if isinstance(each, AxeRules):
                each.first = view
        self.opened = await first.open(view)
        source = ""
        try:
            async with self.measure_in_parallel(others) as measurements:
                await first.measure(view, self.collectors)
                first.expected = first.untouched or first.trail.location
                first.first_done.set()
                source = await read_source(self.page) if self.gathered.findings else ""
                for other, measurement in zip(others, measurements, strict=True):
                    if measurement is None or not self.merge(await measurement):
                        await first.measure_again(other, self.collectors_of_width())
            if others and self.leaves_open:
                await first.measure_again(view, ())
        except MCPConnectionError as error:
            self.lost = error
            self.gathered.skip("everything after the connection was lost", error)
        if source:
            await asyncio.to_thread(self.gathered.add_places, source)
        findings = self.gathered.number_findings()
        if self.leaves_open:
            await add_refs(findings, self.page)
        shots = await asyncio.to_thread(self.gathered.add_pictures, findings, self.views)
        self.gathered.to_check = [self.gathered.with_pictures(each) for each in self.gathered.to_check]
        return self.make_evidence(self.opened, findings, shots)

    def collectors_of_width(self) -> Sequence[Collector]:
        return [each for each in self.collectors if each.every_view]

    @asynccontextmanager
    async def measure_in_parallel(
        self, views: Sequence[AuditViewport]
    ) -> AsyncGenerator[Sequence[asyncio.Task[PageMeasurement] | None]]:
        """Measure at these widths on pages of their own, as soon as the speed of the first is known.

        Yields a task for each width, or None where the server has only one page.
        """
        tasks: list[asyncio.Task[PageMeasurement] | None] = []
        try:
            for view in views:
                page = await self.page.new_page()
                tasks.append(None if page is None else asyncio.create_task(self.measure_on_page(page, view)))
            yield tasks
        finally:
            for task in filter(None, tasks):
                task.cancel()
            # Shielded: the pages are closed also when the caller has cancelled the work.
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await asyncio.gather(*filter(None, tasks), return_exceptions=True)

    async def measure_on_page(self, page: AuditedPage, view: AuditViewport) -> PageMeasurement:
        """Measure at one width on another page, which is closed at the end. Failures end up in `skipped`."""
        other = PageMeasurement(page, self.url, self.progress)
        try:
            await self.first.first_done.wait()
            await other.open(view)
            await other.measure(view, self.collectors_of_width())
        except MCPConnectionError:
            raise
        except MCPError as error:
            other.gathered.skip(f"everything at {view.width} px", error)
        finally:
            await page.close()
        return other

    def merge(self, other: PageMeasurement) -> bool:
        """Add what was measured at another width. Return False if that was another page."""
        if (self.first.trail.moves or other.trail.moves) and not self.first.is_expected(other.trail.location):
            return False
        self.gathered.merge(other.gathered)
        return True

    def make_partial_evidence(self, why: str) -> Evidence | None:
        """Return the evidence so far, or None if the page was never opened. `why` says why it ended."""
        if self.opened is None:
            return None
        self.gathered.skipped.append(Skipped(what="the rest of the measurement", why=why))
        findings = self.gathered.number_findings()
        return self.make_evidence(self.opened, findings, self.gathered.add_pictures(findings, self.views))

    def make_evidence(
        self, opened: OpenResult, findings: Sequence[Finding], shots: Sequence[ScreenPicture]
    ) -> Evidence:
        trail = self.first.trail
        location, moves = self.first.expected or trail.location, trail.moves
        return Evidence(
            url=location.url or opened.url,
            status=self.gathered.status if moves else opened.status or self.gathered.status,
            title=location.title,
            server=self.page.server,
            axe_version=next((each.version for each in self.collectors if isinstance(each, AxeRules)), None),
            widths=[view.width for view in self.views],
            started_ms=int(self.started * 1000),
            duration_ms=int((time.monotonic() - self.clock) * 1000),
            findings=findings,
            facts=self.list_facts(location),
            metrics=self.gathered.metrics,
            screenshots=shots,
            skipped=[*self.describe_moves(location), *self.gathered.skipped],
            to_check=self.gathered.number_checks(),
            moves=tuple(moves),
        )

    def describe_moves(self, location: PageLocation) -> Sequence[Skipped]:
        """Return why the requested page was not measured, if it moved on, or is shown in part."""
        why = self.first.trail.describe(location)
        skipped = [Skipped(what="the requested page", why=why)] if why else []
        if location.is_broken:
            why = "its XML is not well-formed, and the browser shows it only up to the first error"
            skipped.append(Skipped(what="the rest of the page", why=why))
        return skipped

    def list_facts(self, location: PageLocation) -> Sequence[Fact]:
        """Return the facts with their ids, and those about the address of the page."""
        addresses = [Fact(topic="page", text=each) for each in self.first.trail.describe_address(location)]
        return [
            replace(fact, id=f"P{number}")
            for number, fact in enumerate([*self.gathered.facts, *addresses], 1)
        ]
