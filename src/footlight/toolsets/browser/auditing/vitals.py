"""Get the web vitals of the open page."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from footlight.browser.reading.isolated_world import open_isolated_world
from footlight.server.tools import ToolCall, tool
from footlight.toolsets.browser.auditing.findings import MAX_ELEMENTS, AuditedElement, describe_element
from footlight.toolsets.browser.auditing.live_page import LivePage, make_measurement_error

__all__ = []

Rating = Literal["good", "needs improvement", "poor"]


class Vital(TypedDict):
    """`value` is in milliseconds, except for `cls`. The elements are those that it was measured at."""

    value: float
    rating: Rating
    elements: NotRequired[list[AuditedElement]]


class WebVitals(TypedDict):
    """The web vitals of the current document. A value that is missing has not been measured yet.

    `note` says why `inp` is missing, or that it may be too low.
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


MIN_RECORDED_MS = 104
"""Browsers record the first interaction, and later ones only if they took at least this time."""


@tool(effect="read", group="audit")
async def web_vitals(call: ToolCall) -> WebVitals:
    """Get web vitals. LCP, CLS, INP, FCP and TTFB of the current document."""
    from footlight.audit.evidence.scripts import elements_of, script
    from footlight.protocol.errors import MCPError
    from footlight.protocol.untrusted_json import an_object, integer, number

    async with open_isolated_world(call.page) as world:
        page = LivePage(call, world)
        view = await page.find_view()
        try:
            answer = an_object(await page.evaluate(script("entries", "vitals")))
        except MCPError as error:
            raise make_measurement_error("the page cannot be measured", error) from error
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
                    await describe_element(page, each.selector, "") for each in found[:MAX_ELEMENTS]
                ]
            result[name] = vital
    if not result["interactions"]:
        result["note"] = "inp: no interaction was recorded yet; click or type, then call again"
    elif "inp" not in result or (result["interactions"] > 1 and result["inp"]["value"] < MIN_RECORDED_MS):
        result["note"] = f"inp: all took less than {MIN_RECORDED_MS} ms, of which only the first is measured"
    return result  # pyright: ignore[reportReturnType] - the keys are those of LIMITS
