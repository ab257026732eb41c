"""Audit the open page without a model, and check a finding again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.page.capture import look
from footlight.browser.page.refs import leading_ref
from footlight.browser.reading.isolated_world import find_path, open_isolated_world
from footlight.errors import ElementNotFoundError, InvalidParameterError, StaleRefError
from footlight.server.tools import Count, ToolCall, tool
from footlight.toolsets.browser.auditing.findings import AuditFinding, describe_finding, shorten
from footlight.toolsets.browser.auditing.live_page import LivePage, make_measurement_error
from footlight.toolsets.browser.parameters import Selector

if TYPE_CHECKING:
    from footlight.audit.findings import Evidence
    from footlight.browser.reading.isolated_world import ElementPath

__all__ = []

MAX_SKIPPED = 10


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
        page = LivePage(call, world, snapshot=await look(call.page, call.deadline))
        measurement = Measurement(page, call.page.url, passive_collectors(), [await page.find_view()])
        try:
            evidence: Evidence = await measurement.run()
        except MCPError as error:
            raise make_measurement_error("the page cannot be audited", error) from error
        found = [
            each
            for each in evidence.findings
            # Whoever uses the session may have loaded the page again, which its timings do not tell.
            if each.rule != RELOADS.id and (not families or each.rule.partition("/")[0] in families)
        ]
        result: AuditResult = {
            "url": evidence.url,
            "findings": [await describe_finding(page, each) for each in found[:limit]],
            "total": len(found),
            "severities": {name: count for name, count in count_severities(found).items() if count},
            "toCheck": len(evidence.to_check),
        }
    if evidence.skipped:
        result["skipped"] = [
            {"what": shorten(each.what), "why": shorten(each.why)} for each in evidence.skipped[:MAX_SKIPPED]
        ]
    return result


class RecheckResult(TypedDict):
    """`found` says whether the problem is still there. `note`: the element is gone, and what that means."""

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
    collector = find_collector(rule)
    if collector is None:
        raise InvalidParameterError(
            f"finding: the rule {shorten(rule)} cannot be checked alone",
            suggestion="Speed is measured while a page loads: reload the page, then call audit_page. For "
            "others, give the id of a finding of audit_page, such as axe/image-alt@e12.",
            parameter="finding",
        )
    path: ElementPath | None = None
    note: str | None = None
    about = selector or place
    if about and about not in ("html", "body") and not rule.startswith("console/"):
        # The element of a finding exists, or it is gone: only another selector is worth waiting for.
        deadline = call.deadline if selector else call.deadline.without_patience()
        try:
            path = await find_path(call.page, about, deadline)
        except ElementNotFoundError:
            if selector:
                raise
            return {"rule": rule, "found": False, "note": "its element is gone"}
        except StaleRefError as error:
            if not error.is_gone:
                raise
            removed = call.page.view.find_removed(error.details["ref"])
            if removed is None or not removed.with_document:
                return {"rule": rule, "found": False, "note": "its element is gone"}
            url = call.page.url.partition("#")[0]
            if removed.frame != call.page.playwright.main_frame or removed.url != url:
                raise
            note = "the page was loaded again, so all of it was checked"
    snapshot = None if path else await look(call.page, call.deadline)
    async with open_isolated_world(call.page) as world:
        page = LivePage(call, world, about=path, snapshot=snapshot)
        try:
            collected = await collector.collect(page, await page.find_view())
        except MCPError as error:
            raise make_measurement_error(
                f"finding: {rule} could not be checked", error, parameter="finding"
            ) from error
        result: RecheckResult = {"rule": rule, "found": False}
        if note:
            result["note"] = note
        for each in collected.findings:
            if each.rule == rule:
                described = await describe_finding(page, each, whole=True)
                if place and path is not None:
                    described["id"] = finding
                    if leading_ref(place) == (place, ""):
                        described["elements"][0]["ref"] = place
                return {**result, "found": True, "finding": described}
    return result
