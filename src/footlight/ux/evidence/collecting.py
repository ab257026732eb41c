"""All of the evidence of one page: each collector in its turn, at each width. What fails is told."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from footlight.client.errors import MCPConnectionError, MCPError
from footlight.ux.evidence.axe import AxeRules
from footlight.ux.evidence.behaviour import Behaviour
from footlight.ux.evidence.collector import Collected, Collector
from footlight.ux.evidence.console import ConsoleErrors
from footlight.ux.evidence.focus import FocusOrder
from footlight.ux.evidence.forms import Forms
from footlight.ux.evidence.layout import Layout
from footlight.ux.evidence.links import Links
from footlight.ux.evidence.outline import Outline
from footlight.ux.evidence.photograph import Photograph
from footlight.ux.evidence.pictures import PagePicture
from footlight.ux.evidence.speed import Speed
from footlight.ux.findings import SEVERITIES, Box, Element, Evidence, Fact, Finding, Screenshot, Skipped
from footlight.ux.page import VIEWS, AuditedPage, Opened, View

__all__ = ["Measuring", "collect_evidence", "standard_collectors"]

logger = logging.getLogger(__name__)

_AT_WIDTH = re.compile(r"(.*) at (\d[\d, and]*) px")
NOTHING = "() => null"
"""Fails where no script runs, and so nothing can be measured."""
MOST_REFS = 40
MOST_PICTURES = 3
"""Of a finding."""
Progress = Callable[[str], None]


def standard_collectors() -> Sequence[Collector]:
    """In the order in which they look: those that change the page come last."""
    return (
        Speed(),
        ConsoleErrors(),
        Photograph(),
        Behaviour(),
        Outline(),
        AxeRules(),
        Forms(),
        Links(),
        Layout(),
        FocusOrder(),
    )


async def collect_evidence(
    page: AuditedPage,
    url: str,
    *,
    collectors: Sequence[Collector] | None = None,
    views: Sequence[View] = VIEWS,
    progress: Progress = lambda _: None,
) -> Evidence:
    """Open the page at each width and measure it. It stays open at the first.

    What fails after it was opened once, the connection too, is told in `skipped`; the rest stays.

    Raises:
        MCPError: it cannot be opened at the first width, or no script runs there.
    """
    chosen = standard_collectors() if collectors is None else collectors
    return await Measuring(page, url, chosen, views, progress).run()


@dataclass
class Measuring:
    """A page that is being measured. Whoever ends it early has what was measured `so_far`.

    `lost` is why the rest was not: the connection to the server is gone.
    """

    page: AuditedPage
    url: str
    collectors: Sequence[Collector] = field(default_factory=standard_collectors)
    views: Sequence[View] = VIEWS
    progress: Progress = lambda _: None
    lost: MCPConnectionError | None = None
    opened: Opened | None = None
    findings: list[Finding] = field(default_factory=list[Finding])
    facts: list[Fact] = field(default_factory=list[Fact])
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    pictures: dict[int, PagePicture] = field(default_factory=dict[int, PagePicture])
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.monotonic)

    async def run(self) -> Evidence:
        """
        Raises:
            MCPError: it cannot be opened at the first width, or no script runs there.
        """
        first, *others = self.views
        self.opened = await self.open(first)
        try:
            await self.look(first, self.collectors)
            for view in others:
                await self.look_again(view, [each for each in self.collectors if each.every_view])
            if others:
                await self.look_again(first, ())
        except MCPConnectionError as error:
            self.lost = error
            self.skip("what was to come after the connection was lost", error)
        findings = self.numbered()
        await self.refer(findings)
        shots = await asyncio.to_thread(self.show, findings)
        return self.evidence(self.opened, findings, shots)

    def so_far(self, why: str) -> Evidence | None:
        """None where it was not even opened. `why` there is no more."""
        if self.opened is None:
            return None
        self.skipped.append(Skipped(what="the rest of the measuring", why=why))
        findings = self.numbered()
        return self.evidence(self.opened, findings, self.show(findings))

    async def open(self, view: View) -> Opened:
        self.progress(f"open {self.url} at {view.width} px")
        opened = await self.page.open(self.url, view)
        await self.page.evaluate(NOTHING)
        return opened

    async def look(self, view: View, collectors: Sequence[Collector]) -> None:
        for collector in collectors:
            self.progress(collector.name)
            try:
                self.add(await collector.collect(self.page, view), view)
            except MCPConnectionError:
                raise
            except MCPError as error:
                self.skip(f"{collector.name} at {view.width} px", error)

    async def look_again(self, view: View, collectors: Sequence[Collector]) -> None:
        try:
            await self.open(view)
        except MCPConnectionError:
            raise
        except MCPError as error:
            self.skip(f"everything at {view.width} px", error)
        else:
            await self.look(view, collectors)

    def add(self, collected: Collected, view: View) -> None:
        if collected.picture is not None:
            self.pictures[view.width] = collected.picture
        for found in collected.findings:
            place = next((n for n, each in enumerate(self.findings) if _is_same(each, found)), None)
            if place is None:
                self.findings.append(found)
            else:
                self.findings[place] = _joined(self.findings[place], found)
        self.facts.extend(collected.facts)
        self.metrics |= collected.metrics

    def skip(self, what: str, error: Exception) -> None:
        logger.warning("%s could not be done: %s", what, error)
        self.skipped.append(Skipped(what=what, why=str(error)))

    def numbered(self) -> list[Finding]:
        return [
            replace(each, id=f"F{number}") for number, each in enumerate(sorted(self.findings, key=_rank), 1)
        ]

    def evidence(self, opened: Opened, findings: Sequence[Finding], shots: Sequence[Screenshot]) -> Evidence:
        return Evidence(
            url=opened.url,
            status=opened.status or _status(self.metrics),
            title=opened.title,
            server=self.page.server,
            axe_version=next((each.version for each in self.collectors if isinstance(each, AxeRules)), None),
            widths=[view.width for view in self.views],
            started_ms=int(self.started * 1000),
            duration_ms=int((time.monotonic() - self.clock) * 1000),
            findings=findings,
            facts=[replace(fact, id=f"P{number}") for number, fact in enumerate(self.facts, 1)],
            metrics=self.metrics,
            screenshots=shots,
            skipped=self.skipped,
        )

    async def refer(self, findings: list[Finding]) -> None:
        """Give the first element of each the server's ref: a model may want to act on it."""
        for place, finding in enumerate(findings[:MOST_REFS]):
            if finding.elements and finding.elements[0].selector:
                first, *others = finding.elements
                try:
                    ref = await self.page.find_ref(first.selector)
                except MCPError as error:
                    logger.info("no ref for %s: %s", first.selector, error)
                else:
                    findings[place] = replace(finding, elements=[replace(first, ref=ref), *others])

    def show(self, findings: list[Finding]) -> Sequence[Screenshot]:
        """Give the first elements of each their pictures; the screens with all of them marked."""
        marks: dict[int, list[tuple[str, Box]]] = {}
        for place, finding in enumerate(findings):
            for element in finding.elements:
                if _is_part(element) and element.box is not None and element.width is not None:
                    marks.setdefault(element.width, []).append((finding.id, element.box))
            shown = [self.shown(element) for element in finding.elements[:MOST_PICTURES]]
            findings[place] = replace(finding, elements=[*shown, *finding.elements[MOST_PICTURES:]])
        return [
            shot
            for view in self.views
            if view.width in self.pictures
            for shot in self.pictures[view.width].first_screen(marks.get(view.width, ()), view)
        ]

    def shown(self, element: Element) -> Element:
        if element.box is None or element.width not in self.pictures or not _is_part(element):
            return element
        return replace(element, picture=self.pictures[element.width].cut_out(element.box))


def _status(metrics: Mapping[str, float]) -> int | None:
    """What the browser noted of it, where the server says nothing."""
    return int(metrics["status"]) if "status" in metrics else None


def _is_part(element: Element) -> bool:
    """Rather than the whole page, of which a picture with a frame says nothing."""
    return element.selector not in ("html", "body")


def _rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _is_same(one: Finding, other: Finding) -> bool:
    """The same seen at another width."""
    return (one.rule, one.severity, one.title) == (other.rule, other.severity, other.title)


def _joined(one: Finding, other: Finding) -> Finding:
    known = {each.selector for each in one.elements}
    added = [each for each in other.elements if each.selector not in known]
    return replace(
        one,
        elements=[*one.elements, *added],
        count=max(one.count, other.count, len(known) + len(added)),
        measured_by=_both(one.measured_by, other.measured_by),
    )


def _both(one: str, other: str) -> str:
    """`the boxes at 1280 px` and `the boxes at 360 px`: the boxes at 1280 and 360 px."""
    first, second = _AT_WIDTH.fullmatch(one), _AT_WIDTH.fullmatch(other)
    if one == other:
        return one
    if first is None or second is None or first[1] != second[1]:
        return f"{one}; {other}"
    return f"{first[1]} at {first[2].replace(' and ', ', ')} and {second[2]} px"
