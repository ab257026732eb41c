"""Audit the open page without a model, check a finding again, and get web vitals."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.driver.playwright_api import Error
from footlight.browser.network.console import MessageFilter
from footlight.browser.page.capture import look
from footlight.browser.page.refs import leading_ref
from footlight.browser.page.region_capture import find_ref
from footlight.browser.reading.isolated_world import (
    ScriptFailedError,
    find_path,
    open_isolated_world,
)
from footlight.errors import (
    DeadlineExceededError,
    ElementNotFoundError,
    FootlightError,
    InvalidParameterError,
    StaleRefError,
)
from footlight.server.tools import Count, ToolCall, tool
from footlight.toolsets.browser.parameters import Selector

if TYPE_CHECKING:
    from footlight.audit.findings import Evidence, Finding
    from footlight.audit.page.page import AuditViewport, ConsoleMessage, OpenResult
    from footlight.browser.reading.isolated_world import ElementPath, IsolatedWorld
    from footlight.browser.snapshot.nodes import Snapshot
    from footlight.protocol.errors import MCPError

__all__ = []

SCRIPT_SECONDS = 20.0
"""How long one script may take. A page that keeps it longer does not answer."""
FINISH_SECONDS = 1.0
"""What is left of the deadline for the answer itself."""
REF_SECONDS = 0.5
MAX_ELEMENTS = 3
MAX_TEXT = 200
MAX_SKIPPED = 10
MAX_MESSAGES = 200


class AuditedElement(TypedDict):
    """`ref` can be used as a selector."""

    selector: str
    ref: NotRequired[str]
    note: NotRequired[str]


class AuditFinding(TypedDict):
    """`id` is for `recheck`. `count` is the number of all elements, and `elements` has the first."""

    id: str
    rule: str
    severity: Literal["critical", "high", "medium", "low"]
    title: str
    count: int
    elements: list[AuditedElement]
    wcag: NotRequired[list[str]]
    advice: NotRequired[str]
    helpUrl: NotRequired[str]


class SkippedPart(TypedDict):
    what: str
    why: str


class AuditResult(TypedDict):
    """The most severe findings come first. `toCheck` counts what code could not decide."""

    url: str
    findings: list[AuditFinding]
    total: int
    severities: dict[str, int]
    toCheck: int
    skipped: NotRequired[list[SkippedPart]]


Family = Literal["axe", "console", "forms", "layout", "links", "outline", "page", "speed"]


@tool(effect="read", group="audit", default_timeout_ms=60_000)
async def audit_page(
    call: ToolCall,
    families: Annotated[list[Family] | None, Field(min_length=1, description="Only these rules")] = None,
    limit: Annotated[Count, Field(le=100)] = 20,
) -> AuditResult:
    """Audit accessibility and usability. Measures the page as it is; presses and changes nothing."""
    from footlight.audit.evidence.collector_sets import passive_collectors
    from footlight.audit.evidence.collectors.speed import RELOADS
    from footlight.audit.evidence.measurement import Measurement
    from footlight.audit.findings import count_severities
    from footlight.protocol.errors import MCPError

    call.stage("auditing the page")
    async with open_isolated_world(call.page) as world:
        page = _LivePage(call, world, snapshot=await look(call.page, call.deadline))
        measurement = Measurement(page, call.page.url, passive_collectors(), [await page.find_view()])
        try:
            evidence: Evidence = await measurement.run()
        except MCPError as error:
            raise _make_error("the page cannot be audited", error) from error
        found = [
            each
            for each in evidence.findings
            # Whoever uses the session may have loaded the page again, which its timings do not tell.
            if each.rule != RELOADS.id and (not families or each.rule.partition("/")[0] in families)
        ]
        result: AuditResult = {
            "url": evidence.url,
            "findings": [await _describe_finding(page, each) for each in found[:limit]],
            "total": len(found),
            "severities": {name: count for name, count in count_severities(found).items() if count},
            "toCheck": len(evidence.to_check),
        }
    if evidence.skipped:
        result["skipped"] = [
            {"what": each.what[:MAX_TEXT], "why": each.why[:MAX_TEXT]}
            for each in evidence.skipped[:MAX_SKIPPED]
        ]
    return result


def _make_error(what: str, error: MCPError, **details: Any) -> FootlightError:
    """Return the error of a failed measurement. A page that does not answer in time is a timeout."""
    message = f"{what}: {error.message}"
    if isinstance(error, TimeoutError):
        return DeadlineExceededError(message, **details)
    return InvalidParameterError(message, **details)


class RecheckResult(TypedDict):
    """`found` says whether the problem is still there. `note`: why it is certain that it is not."""

    rule: str
    found: bool
    finding: NotRequired[AuditFinding]
    note: NotRequired[str]


@tool(effect="read", group="audit")
async def recheck(
    call: ToolCall,
    finding: Annotated[str, Field(min_length=3, description="Id of a finding, or its rule")],
    selector: Annotated[Selector | None, Field(description="Element, if finding is only a rule")] = None,
) -> RecheckResult:
    """Check one finding again. Measures only its rule, on its element."""
    from footlight.audit.evidence.collector_sets import find_collector
    from footlight.protocol.errors import MCPError

    rule, _, place = finding.partition("@")
    selector = selector or place or None
    collector = find_collector(rule)
    if collector is None:
        raise InvalidParameterError(
            f"finding: the rule {rule} cannot be checked alone",
            suggestion="Speed is measured while a page loads: reload the page, then call audit_page. For "
            "others, give the id of a finding of audit_page, such as axe/image-alt@e12.",
            parameter="finding",
        )
    path: ElementPath | None = None
    if selector is not None and selector not in ("html", "body") and not rule.startswith("console/"):
        try:
            path = await find_path(call.page, selector, call.deadline)
        except (ElementNotFoundError, StaleRefError) as error:
            if isinstance(error, StaleRefError) and not error.is_gone:
                raise
            return {"rule": rule, "found": False, "note": "its element is gone"}
    async with open_isolated_world(call.page) as world:
        page = _LivePage(call, world, about=path)
        try:
            collected = await collector.collect(page, await page.find_view())
        except MCPError as error:
            raise _make_error(f"finding: {rule} could not be checked", error, parameter="finding") from error
        for each in collected.findings:
            if each.rule == rule:
                described = await _describe_finding(page, each, whole=True)
                if place and path is not None:
                    described["id"] = finding
                    if leading_ref(place) == (place, ""):
                        described["elements"][0]["ref"] = place
                return {"rule": rule, "found": True, "finding": described}
    return {"rule": rule, "found": False}


Rating = Literal["good", "needs improvement", "poor"]


class Vital(TypedDict):
    """`value` is in milliseconds, except for `cls`. The elements are those that it was measured at."""

    value: float
    rating: Rating
    elements: NotRequired[list[AuditedElement]]


class WebVitals(TypedDict):
    """Of the current document, since it was opened. What is missing has not been measured yet.

    `note` says what `inp` needs if it is missing.
    """

    url: str
    lcp: NotRequired[Vital]
    cls: NotRequired[Vital]
    inp: NotRequired[Vital]
    fcp: NotRequired[Vital]
    ttfb: NotRequired[Vital]
    interactions: int
    note: NotRequired[str]


LIMITS = {
    "lcp": (2_500, 4_000),
    "cls": (0.1, 0.25),
    "inp": (200, 500),
    "fcp": (1_800, 3_000),
    "ttfb": (800, 1_800),
}
"""The values up to which a vital is good, and above which it is poor (web.dev)."""


@tool(effect="read", group="audit")
async def web_vitals(call: ToolCall) -> WebVitals:
    """Get web vitals. LCP, CLS, INP, FCP and TTFB of the current document."""
    from footlight.audit.evidence.scripts import elements_of, script
    from footlight.protocol.errors import MCPError
    from footlight.protocol.untrusted_json import an_object, integer, number

    async with open_isolated_world(call.page) as world:
        page = _LivePage(call, world)
        view = await page.find_view()
        try:
            answer = an_object(await page.evaluate(script("entries", "vitals")))
        except MCPError as error:
            raise _make_error("the page cannot be measured", error) from error
        result: dict[str, Any] = {
            "url": call.page.url,
            "interactions": integer(answer.get("interactions")) or 0,
        }
        for name, (good, poor) in LIMITS.items():
            value = number(answer.get(name))
            if value is None:
                continue
            rating: Rating = "good" if value <= good else "needs improvement" if value <= poor else "poor"
            vital: Vital = {"value": round(value, 4 if name == "cls" else 0), "rating": rating}
            if found := elements_of(answer.get(f"{name}-elements"), view):
                vital["elements"] = [
                    await _describe_element(page, each.selector, "") for each in found[:MAX_ELEMENTS]
                ]
            result[name] = vital
    if "inp" not in result:
        result["note"] = "inp: no interaction was slow enough to be recorded; click or type, then call again"
    return result  # pyright: ignore[reportReturnType] - the keys are those of LIMITS


class _LivePage:
    """The page of the session, for the audit: it is not navigated, and scripts run in an isolated world."""

    server = "footlight"

    def __init__(
        self,
        call: ToolCall,
        world: IsolatedWorld,
        *,
        about: ElementPath | None = None,
        snapshot: Snapshot | None = None,
    ) -> None:
        """Create the page. Only the refs of `snapshot` are reported, because later calls know these."""
        self._snapshot = snapshot
        self._call = call
        self._world = world
        self._about = about
        self._is_silent = False

    async def find_view(self) -> AuditViewport:
        """Return the present size of the viewport."""
        from footlight.audit.page.page import AuditViewport
        from footlight.protocol.errors import MCPError

        try:
            width, height = await self.evaluate("() => [innerWidth, innerHeight]")
        except MCPError as error:
            raise _make_error("the page cannot be measured", error) from error
        return AuditViewport("the present size", int(width), int(height))

    async def open(self, url: str, view: AuditViewport) -> OpenResult:  # noqa: ARG002 - it is open
        from footlight.audit.page.page import OpenResult

        return OpenResult(url=self._call.page.url, status=None)

    async def evaluate(self, script: str) -> Any:
        from footlight.protocol.errors import MCPTimeoutError, ToolInvocationError

        seconds = min(SCRIPT_SECONDS, self._call.deadline.remaining_ms / 1000 - FINISH_SECONDS)
        # A page that did not answer once would use up the time of all other scripts too.
        if self._is_silent or seconds <= 0:
            raise MCPTimeoutError("the page did not respond in time", timeout_ms=0)
        try:
            return await self._world.call(script, seconds=seconds, about=self._about)
        except TimeoutError:
            self._is_silent = True
            raise MCPTimeoutError("the page did not respond in time", timeout_ms=seconds * 1000) from None
        except (ScriptFailedError, Error) as error:
            raise ToolInvocationError(
                self._call.mask(str(error).partition("\n")[0])[:MAX_TEXT], tool_name="evaluate"
            ) from None

    async def isolate(self, *, isolated: bool) -> bool:
        del isolated
        return True

    async def press(self, key: str) -> None:
        raise NotImplementedError(f"an audit of a live page does not press {key}")

    async def screenshot(self, *, full_page: bool = False) -> bytes:
        raise NotImplementedError("an audit of a live page takes no screenshot")

    async def console(self) -> Sequence[ConsoleMessage]:
        from footlight.audit.page.page import ConsoleMessage

        console = self._call.session.console
        await console.fetch(self._call.page.id)
        message_filter = MessageFilter(
            levels=("error", "warning"), page=self._call.page.id, since_navigation=True
        )
        return [
            ConsoleMessage(level=each.level, text=each.text, source=each.source)
            for each in console.select(message_filter)[:MAX_MESSAGES]
        ]

    async def find_ref(self, selector: str) -> str | None:
        if self._is_silent or self._snapshot is None or selector in ("html", "body"):
            return None
        page = self._call.page
        try:
            async with asyncio.timeout(REF_SECONDS):
                ref = await find_ref(page, selector, self._call.deadline.without_patience())
        except (FootlightError, TimeoutError):
            return None
        if (seen := page.view.find_seen(ref)) is None:
            return None
        page.view.note_reported([seen[0]], of=self._snapshot.nodes)
        return ref

    async def new_page(self) -> None:
        return None

    async def close(self) -> None: ...


async def _describe_finding(page: _LivePage, finding: Finding, *, whole: bool = False) -> AuditFinding:
    """Return a finding for an answer, with the advice and all of its elements if it is `whole`."""
    elements = finding.elements if whole else finding.elements[:MAX_ELEMENTS]
    described = [await _describe_element(page, each.selector, each.note, each.ref) for each in elements]
    place = described[0].get("ref") or described[0]["selector"] if described else ""
    result: AuditFinding = {
        "id": f"{finding.rule}@{place}" if place else finding.rule,
        "rule": finding.rule,
        "severity": finding.severity,
        "title": finding.title,
        "count": finding.count,
        "elements": described,
    }
    if finding.wcag:
        result["wcag"] = [*finding.wcag]
    if whole:
        result["advice"] = finding.advice
        if finding.help_url:
            result["helpUrl"] = finding.help_url
    return result


async def _describe_element(
    page: _LivePage, selector: str, note: str, ref: str | None = None
) -> AuditedElement:
    described: AuditedElement = {"selector": selector}
    if ref := ref or await page.find_ref(selector):
        described["ref"] = ref
    if note:
        described["note"] = note if len(note) <= MAX_TEXT else f"{note[: MAX_TEXT - 1]}…"
    return described
