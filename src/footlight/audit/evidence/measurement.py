"""Measure one page: run each collector at each width, and list what failed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import anyio

from footlight.audit.evidence.collector import Collected, Collector
from footlight.audit.evidence.collector_sets import PRESSING, standard_collectors
from footlight.audit.evidence.collectors.axe import AxeRules
from footlight.audit.evidence.collectors.focus import LEAVES, FocusOrder
from footlight.audit.evidence.collectors.speed import RELOADS
from footlight.audit.evidence.finding_lists import add_refs
from footlight.audit.evidence.gathered import GatheredEvidence
from footlight.audit.evidence.location import (
    PageChange,
    PageLocation,
    PageTrail,
    check_is_page,
    locate,
    wait_for_location,
)
from footlight.audit.evidence.page_source import read_source
from footlight.audit.evidence.replaced import PageFunctions
from footlight.audit.findings import Evidence, Fact, Finding, ScreenPicture, Skipped
from footlight.audit.page.page import VIEWPORTS, AuditedPage, AuditViewport, OpenResult
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError, ToolInvocationError

__all__ = ["Measurement", "collect_evidence"]

logger = logging.getLogger(__name__)

MAX_MOVES = 4
"""How often the collectors start again on a page that moves on."""
BLANK = "about:blank"
ABORTED = "net::ERR_ABORTED"
"""The failure that Chromium reports for a navigation that shows nothing new."""
MAX_WAIT_SECONDS = 6.0
CLOSE_SECONDS = 10.0
Progress = Callable[[str], None]


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
    gathered: GatheredEvidence = field(default_factory=GatheredEvidence)
    trail: PageTrail = field(init=False)
    functions: PageFunctions = field(init=False)
    measured: PageLocation | None = None
    """The page that was measured at the first width."""
    untouched: PageLocation | None = None
    """The location of the page before keys were pressed, which can change its address."""
    first_done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first collector, which measures speed, has ended: then other pages may load."""
    opened_at: float = 0.0
    """When the page was last opened, of the monotonic clock."""
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.trail = PageTrail(self.url)
        self.functions = PageFunctions(self.page)

    async def run(self) -> Evidence:
        """Run the measurement.

        Raises:
            MCPError: the page cannot be opened at the first width, or runs no scripts.
        """
        first, *others = self.views
        for each in self.collectors:
            if isinstance(each, AxeRules):
                each.first = first
        self.opened = await self.open(first)
        source = ""
        try:
            async with self.measure_in_parallel(others) as measurements:
                await self.measure(first, self.collectors)
                self.measured = self.untouched or self.trail.location
                self.first_done.set()
                source = await read_source(self.page) if self.gathered.findings else ""
                for view, measurement in zip(others, measurements, strict=True):
                    if measurement is None or not self.merge(await measurement):
                        await self.measure_again(view, self.collectors_of_width())
            if others and self.leaves_open:
                await self.measure_again(first, ())
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
    ) -> AsyncGenerator[Sequence[asyncio.Task[Measurement] | None]]:
        """Measure at these widths on pages of their own, as soon as the speed of the first is known.

        Yields a task for each width, or None where the server has only one page.
        """
        pages = [await self.page.new_page() for _ in views]
        tasks = [
            None if page is None else asyncio.create_task(self.measure_on_page(page, view))
            for page, view in zip(pages, views, strict=True)
        ]
        try:
            yield tasks
        finally:
            for task in filter(None, tasks):
                task.cancel()
            # Shielded: the pages are closed also when the caller has cancelled the work.
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await asyncio.gather(*filter(None, tasks), return_exceptions=True)

    async def measure_on_page(self, page: AuditedPage, view: AuditViewport) -> Measurement:
        """Measure at one width on another page, which is closed at the end. Failures end up in `skipped`."""
        await self.first_done.wait()
        other = Measurement(page, self.url, self.collectors_of_width(), (view,), self.progress)
        try:
            other.opened = await other.open(view)
            await other.measure(view, other.collectors)
        except MCPConnectionError:
            raise
        except MCPError as error:
            other.gathered.skip(f"everything at {view.width} px", error)
        finally:
            await page.close()
        return other

    def merge(self, other: Measurement) -> bool:
        """Add what was measured at another width. Return False if that was another page."""
        if (self.trail.moves or other.trail.moves) and not self.is_measured(other.trail.location):
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

    async def open(self, view: AuditViewport) -> OpenResult:
        """Open the page, and note where it leads.

        Raises:
            MCPError: it cannot be opened, or what is opened is not an HTML page.
        """
        self.progress(f"open {self.url} at {view.width} px")
        self.opened_at = time.monotonic()
        try:
            opened = await self.page.open(self.url, view)
        except ToolInvocationError as error:
            if ABORTED not in error.message:
                raise
            message = f"{self.url} shows no page: the site answered without content, or with a download"
            raise ToolInvocationError(message, tool_name="navigate") from error
        await self.functions.choose()
        self.trail.arrive(opened.url, await locate(self.page))
        check_is_page(self.trail.location, self.url)
        return opened

    def is_measured(self, location: PageLocation) -> bool:
        """Return whether this is the page that was measured at the first width."""
        return self.measured is None or location.page_url == self.measured.page_url

    async def measure(self, view: AuditViewport, collectors: Sequence[Collector]) -> None:
        """Run the collectors. If the page moves on to another page meanwhile, start again on that one.

        Raises:
            MCPError: the page moved on to something that is not an HTML page.
        """
        before = self.gathered.copy()
        for attempt in range(MAX_MOVES):
            if attempt:
                await self.functions.choose()
            if await self.collect(view, collectors):
                return
            self.gathered = before.copy()
        self.gathered.skipped.append(
            Skipped(what=f"everything at {view.width} px", why="the page moves on again and again")
        )

    async def collect(self, view: AuditViewport, collectors: Sequence[Collector]) -> bool:
        """Run the collectors. Return False as soon as the page has moved on."""
        collectors, skipped = self.functions.select_reliable(collectors, view)
        self.gathered.skipped += skipped
        for place, collector in enumerate(collectors):
            self.progress(collector.name)
            known, has_moved = self.trail.location, bool(self.trail.moves)
            collected, failure = await self.try_collector(collector, view)
            self.first_done.set()
            change: PageChange = "none"
            if failure is not None or _must_follow(collectors, place):
                change = await self.follow(failure)
            if not isinstance(collector, PRESSING):
                self.untouched = self.trail.location
            if change == "closed" and failure is not None:
                self.gathered.skip(f"{collector.name} at {view.width} px", failure)
                await self.open_again(view)
                continue
            if change == "reloaded":
                self.note_reload(view)
                if failure is not None:
                    collected, failure = await self.try_collector(collector, view)
                    change = await self.follow()
            what = f"{collector.name} at {view.width} px"
            if change == "route" and isinstance(collector, PRESSING):
                why = f"the page changed to {self.trail.location.url} while keys were pressed"
                self.gathered.skipped.append(Skipped(what=what, why=why))
            elif change == "document" and isinstance(collector, PRESSING) and not has_moved:
                left_for, self.trail.location = self.trail.location, known
                self.trail.moves.clear()  # The keys led there, and the page did not move on its own.
                try:
                    if not await self.stays_without_keys(view):
                        return False
                except MCPConnectionError:
                    raise
                except MCPError as error:
                    self.gathered.skip(f"everything from {collector.name} on at {view.width} px", error)
                    return True
                self.note_leaving(collector, view, left_for.url)
                continue
            elif change in ("document", "route"):
                return False
            if failure is not None:
                self.gathered.skip(what, failure)
            if collected is not None:
                self.gathered.add(collected, view)
        return True

    async def try_collector(
        self, collector: Collector, view: AuditViewport
    ) -> tuple[Collected | None, Exception | None]:
        """Return what the collector measured, or why it failed.

        Raises:
            MCPConnectionError: the connection was lost.
        """
        try:
            return await collector.collect(self.page, view), None
        except MCPConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - a defect of one collector must not end the others
            return None, error

    async def follow(self, failure: Exception | None = None) -> PageChange:
        """Return what happened to the page since it was last looked at, and since a collector failed.

        Raises:
            MCPError: what replaced it is not an HTML page.
        """
        before = self.trail.location
        try:
            location = await self.locate_after(failure)
        except MCPConnectionError:
            raise
        except MCPError as error:
            logger.info("the page does not say where it is: %s", error)
            return "none"
        if failure is not None and location.url == BLANK != before.url:
            return "closed"
        check_is_page(location, before.url)
        return self.trail.follow(location)

    async def locate_after(self, failure: Exception | None) -> PageLocation:
        """Return where the page is. The server may still be closing one whose script does not end."""
        if isinstance(failure, MCPTimeoutError):
            with suppress(MCPTimeoutError):
                return await locate(self.page)
        return await locate(self.page)

    async def open_again(self, view: AuditViewport) -> None:
        """Open the page again, for the collectors that follow.

        Raises:
            MCPError: it cannot be opened, or leads elsewhere this time.
        """
        before, self.opened_at = self.trail.location, time.monotonic()
        await self.page.open(self.url, view)
        self.trail.location = await locate(self.page)
        if self.trail.location.page_url != before.page_url:
            self.refuse_other_page()

    async def stays_without_keys(self, view: AuditViewport) -> bool:
        """Open the page again after keys led to another one. Return False if it moves on without keys.

        Raises:
            MCPError: it cannot be opened again.
        """
        known, limit_s = (
            self.trail.location.page_url,
            min(time.monotonic() - self.opened_at, MAX_WAIT_SECONDS),
        )
        self.opened_at = time.monotonic()
        await self.page.open(self.url, view)
        location = await wait_for_location(self.page, lambda found: found.page_url != known, limit_s)
        return self.trail.follow(location) in ("none", "reloaded")

    def note_leaving(self, collector: Collector, view: AuditViewport, url: str) -> None:
        """Add that keys led to another page, which was not measured."""
        why = f"the page changed to {url} while keys were pressed"
        self.gathered.skipped.append(Skipped(what=f"{collector.name} at {view.width} px", why=why))
        element = {"elements": [{"selector": "html", "note": f"it led to {url}"}]}
        found = LEAVES.finding(element, view, f"presses of Tab at {view.width} px")
        if found is not None and isinstance(collector, FocusOrder):
            self.gathered.to_check.append(found)

    def note_reload(self, view: AuditViewport) -> None:
        """Add the finding that the page loads itself again."""
        element = {"elements": [{"selector": "html", "note": "it reloaded itself"}]}
        found = RELOADS.finding(element, view, f"the document during the measurement at {view.width} px")
        if found is not None and not any(each.rule == RELOADS.id for each in self.gathered.findings):
            self.gathered.findings.append(found)

    async def measure_again(self, view: AuditViewport, collectors: Sequence[Collector]) -> None:
        before, moves = self.gathered.copy(), [*self.trail.moves]
        try:
            await self.open(view)
            if (
                self.trail.moves
                and not self.is_measured(self.trail.location)
                and not await self.returns_to_measured()
            ):
                self.refuse_other_page()
            await self.measure(view, collectors)
            if not self.is_measured(self.trail.location):
                self.gathered = before.copy()
                self.refuse_other_page()
        except MCPConnectionError:
            raise
        except MCPError as error:
            self.gathered.skip(f"everything at {view.width} px", error)
        finally:
            self.trail.moves[:] = moves

    def refuse_other_page(self) -> None:
        raise ToolInvocationError(
            f"the page moved on to {self.trail.location.url} this time", tool_name="navigate"
        )

    async def returns_to_measured(self) -> bool:
        """Return whether the page moves on to the measured one within a few seconds, as it did before."""
        self.trail.follow(await wait_for_location(self.page, self.is_measured, MAX_WAIT_SECONDS))
        return self.is_measured(self.trail.location)

    def make_evidence(
        self, opened: OpenResult, findings: Sequence[Finding], shots: Sequence[ScreenPicture]
    ) -> Evidence:
        location, moves = self.measured or self.trail.location, self.trail.moves
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
        why = self.trail.describe(location)
        skipped = [Skipped(what="the requested page", why=why)] if why else []
        if location.is_broken:
            why = "its XML is not well-formed, and the browser shows it only up to the first error"
            skipped.append(Skipped(what="the rest of the page", why=why))
        return skipped

    def list_facts(self, location: PageLocation) -> Sequence[Fact]:
        """Return the facts with their ids, and those about the address of the page."""
        addresses = [Fact(topic="page", text=each) for each in self.trail.describe_address(location)]
        return [
            replace(fact, id=f"P{number}")
            for number, fact in enumerate([*self.gathered.facts, *addresses], 1)
        ]


def _must_follow(collectors: Sequence[Collector], place: int) -> bool:
    """Return whether to look where the page is after this collector.

    A move begins the measurement again, so that the end would be enough. It is noticed earlier after those
    that take long, and around those that press keys, whose effect is not a move of the page's own.
    """
    following = collectors[place + 1 : place + 2]
    return (
        not following
        or place == 0
        or isinstance(collectors[place], (AxeRules, *PRESSING))
        or isinstance(following[0], PRESSING)
    )
