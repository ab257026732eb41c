"""Measure a page at one width: run each collector, and start again if the page moves on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from footlight.audit.evidence.collector import Collected, Collector
from footlight.audit.evidence.collector_sets import PRESSING
from footlight.audit.evidence.collectors.axe import AxeRules
from footlight.audit.evidence.collectors.focus import LEAVES, FocusOrder
from footlight.audit.evidence.collectors.speed import RELOADS
from footlight.audit.evidence.gathered import GatheredEvidence
from footlight.audit.evidence.location import (
    PageChange,
    PageLocation,
    PageTrail,
    check_is_page,
    locate,
    wait_for_location,
)
from footlight.audit.evidence.replaced import PageFunctions
from footlight.audit.findings import Skipped
from footlight.audit.page.page import AuditedPage, AuditViewport, OpenResult
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError, ToolInvocationError

__all__ = ["PageMeasurement", "Progress"]

logger = logging.getLogger(__name__)

MAX_MOVES = 4
"""How often the collectors start again on a page that moves on."""
BLANK = "about:blank"
ABORTED = "net::ERR_ABORTED"
"""The failure that Chromium reports for a navigation that shows nothing new."""
MAX_WAIT_SECONDS = 6.0
Progress = Callable[[str], None]


@dataclass
class PageMeasurement:
    """The measurement of a page at one width after another, in one tab."""

    page: AuditedPage
    url: str
    progress: Progress
    gathered: GatheredEvidence = field(default_factory=GatheredEvidence)
    trail: PageTrail = field(init=False)
    functions: PageFunctions = field(init=False)
    expected: PageLocation | None = None
    """The page that was measured at the first width. The other widths must measure the same one."""
    untouched: PageLocation | None = None
    """The location of the page before keys were pressed, which can change its address."""
    first_done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first collector, which measures speed, has ended: then other pages may load."""
    opened_at: float = 0.0
    """When the page was last opened, of the monotonic clock."""

    def __post_init__(self) -> None:
        self.trail = PageTrail(self.url)
        self.functions = PageFunctions(self.page)

    def is_expected(self, location: PageLocation) -> bool:
        """Return whether this is the page that was measured at the first width."""
        return self.expected is None or location.page_url == self.expected.page_url

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

    async def measure_again(self, view: AuditViewport, collectors: Sequence[Collector]) -> None:
        before, moves = self.gathered.copy(), [*self.trail.moves]
        try:
            await self.open(view)
            if (
                self.trail.moves
                and not self.is_expected(self.trail.location)
                and not await self.returns_to_expected()
            ):
                self.refuse_other_page()
            await self.measure(view, collectors)
            if not self.is_expected(self.trail.location):
                self.gathered = before.copy()
                self.refuse_other_page()
        except MCPConnectionError:
            raise
        except MCPError as error:
            self.gathered.skip(f"everything at {view.width} px", error)
        finally:
            self.trail.moves[:] = moves

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
                    stays = await self.stays_without_keys(view)
                except MCPConnectionError:
                    raise
                except MCPError as error:
                    self.gathered.skip(f"everything from {collector.name} on at {view.width} px", error)
                    return True
                if not stays:
                    return False
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

    async def returns_to_expected(self) -> bool:
        """Return whether the page moves on to the measured one within a few seconds, as it did before."""
        self.trail.follow(await wait_for_location(self.page, self.is_expected, MAX_WAIT_SECONDS))
        return self.is_expected(self.trail.location)

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

    def refuse_other_page(self) -> None:
        raise ToolInvocationError(
            f"the page moved on to {self.trail.location.url} this time", tool_name="navigate"
        )


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
