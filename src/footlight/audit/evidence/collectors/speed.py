"""Measure loading speed and page weight from the browser's own timings, with the limits of web.dev."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.rule import Rule, findings_of
from footlight.audit.evidence.scripts import script
from footlight.audit.findings import Fact, Finding, Severity
from footlight.audit.page.page import AuditedPage, AuditViewport
from footlight.protocol.errors import ToolInvocationError
from footlight.protocol.untrusted_json import an_object, integer, items, number, text

__all__ = ["LAYOUT_SHIFT", "LIMITS", "RELOADS", "RULES", "LayoutShift", "Limit", "Speed"]

MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A metric and its limits, the strictest last.

    `elements` is the key of the script's answer that has the elements of the finding.
    """

    rule: Rule
    metric: str
    limits: Sequence[tuple[Severity, float]]
    elements: str = ""


LIMITS = (
    Limit(
        rule=Rule(
            id="speed/largest-paint",
            severity="medium",
            title="The largest part of the page is shown late",
            advice="Make the server answer sooner, load the largest image or font first, and let no script "
            "or style stand before it.",
            help_url="https://web.dev/articles/lcp",
        ),
        metric="lcp_ms",
        limits=(("medium", 2_500), ("high", 4_000)),
        elements="lcp",
    ),
    Limit(
        rule=Rule(
            id="speed/blocking",
            severity="medium",
            title="The page does not answer while its scripts run",
            advice="Do less while the page loads: split long work, put it off, or move it to a worker.",
            help_url="https://web.dev/articles/tbt",
        ),
        metric="blocking_ms",
        limits=(("medium", 200), ("high", 600)),
    ),
    Limit(
        rule=Rule(
            id="speed/slow-answer",
            severity="low",
            title="The server takes long to answer",
            advice="Keep the answer ready in a cache, or find out what the server waits for.",
            help_url="https://web.dev/articles/ttfb",
        ),
        metric="ttfb_ms",
        limits=(("low", 800), ("medium", 1_800)),
    ),
    Limit(
        rule=Rule(
            id="speed/heavy",
            severity="medium",
            title="The page is heavy",
            advice="Compress images and give each screen its size, load what is further down when it is "
            "needed, and leave out scripts that this page does not use.",
            help_url="https://web.dev/learn/performance",
        ),
        metric="transferred_bytes",
        limits=(("medium", 3 * MB), ("high", 10 * MB)),
    ),
    Limit(
        rule=Rule(
            id="speed/redirects",
            severity="low",
            title="The page is reached over several redirects",
            advice="Link to the address where they end, or redirect there in one step.",
        ),
        metric="redirects",
        limits=(("low", 1),),
    ),
)
LAYOUT_SHIFT = Limit(
    rule=Rule(
        id="speed/layout-shift",
        severity="medium",
        title="The page moves while it is read",
        advice="Keep room for what comes late: give images and frames a width and a height, and put "
        "notices over the page or below, never in between.",
        help_url="https://web.dev/articles/cls",
    ),
    metric="cls",
    limits=(("medium", 0.1), ("high", 0.25)),
    elements="shifted",
)
RULES = (
    Rule(
        id="speed/oversized-image",
        severity="low",
        title="Images are much larger than they are shown",
        advice="Offer the image in several sizes with srcset and sizes, in a modern format.",
        help_url="https://web.dev/articles/serve-responsive-images",
    ),
    Rule(
        id="speed/uncompressed",
        severity="low",
        title="Large texts are sent without compression",
        advice="Let the server compress HTML, scripts and styles with brotli, zstd or gzip.",
        help_url="https://web.dev/articles/reduce-network-payloads-using-text-compression",
    ),
    Rule(
        id="speed/late-paint",
        severity="medium",
        title="Nothing is shown until a slow script or style has come",
        advice="Give the script defer or async; load a style that is not needed first with a media query, "
        "or put what is into the page.",
        help_url="https://web.dev/articles/render-blocking-resources",
    ),
)
RELOADS = Rule(
    id="page/reloads",
    wcag=("2.2.1 A",),
    severity="medium",
    title="The page loads itself again",
    advice="Bring in what is new without loading the page again, by which readers lose their place and what "
    "they typed.",
    help_url="https://www.w3.org/WAI/WCAG22/Understanding/timing-adjustable.html",
)


MAX_RESOURCES = 250
"""How many requests browsers keep the timings of."""
MAX_URL_LENGTH = 80
ATTEMPTS = 3
"""How many times to measure a page that navigates meanwhile. One load can end two attempts."""


class Speed:
    """Measure speed. Runs first, because every other collector takes time in the page."""

    name = "speed and weight"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        answer = an_object(await _measure(page))
        metrics = _read_metrics(an_object(answer.get("metrics")))
        how = f"the browser's own timings of one load at {view.width} px"
        limited = [_check_limit(limit, metrics, answer, view, how) for limit in LIMITS]
        if text(answer.get("type")) == "reload":
            element = _whole_page("it reloaded itself")
            limited.append(RELOADS.finding(element, view, "the browser's type of the last navigation"))
        return Collected(
            findings=[*filter(None, limited), *findings_of(RULES, answer, view, how)],
            facts=[
                Fact(topic="speed", text=each)
                for each in (_describe_times(metrics), _describe_weight(answer, metrics))
            ],
            metrics=metrics,
        )


class LayoutShift:
    """Measure how far the page has moved since it was opened.

    Runs after the collectors that leave the page alone, because much of a page comes late.
    """

    name = "layout shift"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        answer = an_object(await page.evaluate(script("entries", "layout_shift")))
        metrics = _read_metrics(an_object(answer.get("metrics")))
        how = f"the browser's own record of layout shifts at {view.width} px"
        found = _check_limit(LAYOUT_SHIFT, metrics, answer, view, how)
        fact = Fact(topic="speed", text=f"Layout shift {_format_value('cls', metrics.get('cls', 0))}.")
        return Collected(findings=[found] if found else [], facts=[fact], metrics=metrics)


async def _measure(page: AuditedPage) -> object:
    """Return the browser's timings, of the last load if the page reloads itself meanwhile."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(ToolInvocationError):
            return await page.evaluate(script("entries", "speed"))
    return await page.evaluate(script("entries", "speed"))


def _read_metrics(answer: Mapping[str, Any]) -> Mapping[str, float]:
    numbers = {name: number(value) for name, value in answer.items()}
    return {
        name: round(value, 4 if name == "cls" else 0) for name, value in numbers.items() if value is not None
    }


def _check_limit(
    limit: Limit, metrics: Mapping[str, float], answer: Mapping[str, Any], view: AuditViewport, how: str
) -> Finding | None:
    value = metrics.get(limit.metric, 0)
    exceeded = [each for each in limit.limits if value > each[1]]
    if not exceeded:
        return None
    severity, _ = exceeded[-1]
    good = _format_value(limit.metric, limit.limits[0][1])
    measured = f"{_format_value(limit.metric, value)}, good is at most {good}"
    how = f"{how}: {measured}"
    found = limit.rule.finding(answer.get(limit.elements), view, how, severity=severity)
    return found or limit.rule.finding(_whole_page(measured), view, how, severity=severity)


def _whole_page(note: str) -> Mapping[str, Any]:
    """Return an answer that has the whole page as its element."""
    return {"elements": [{"selector": "html", "note": note}]}


def _format_value(metric: str, value: float) -> str:
    if metric.endswith("_ms"):
        return f"{value:,.0f} ms"
    return _format_bytes(value) if metric.endswith("_bytes") else f"{value:g}"


def _format_bytes(value: float) -> str:
    return f"{value / MB:,.1f} MB" if value >= MB else f"{value / 1_000:,.0f} kB"


def _describe_times(metrics: Mapping[str, float]) -> str:
    names = {
        "ttfb_ms": "the server answered after",
        "fcp_ms": "something was shown after",
        "lcp_ms": "the largest part after",
        "load_ms": "all was loaded after",
        "blocking_ms": "scripts blocked it for",
    }
    phrases = [
        f"{name} {_format_value(metric, metrics[metric])}"
        for metric, name in names.items()
        if metric in metrics
    ]
    return ", ".join(phrases if "load_ms" in metrics else [*phrases, "it went on loading"]).capitalize() + "."


def _describe_weight(answer: Mapping[str, Any], metrics: Mapping[str, float]) -> str:
    kinds = {kind: an_object(each) for kind, each in an_object(answer.get("kinds")).items()}
    parts = [f"{integer(each.get('count'))} {kind} {_format_weight(each)}" for kind, each in kinds.items()]
    largest = [an_object(each) for each in items(answer.get("largest"))]
    named = [f"{(text(each.get('url')) or '')[-MAX_URL_LENGTH:]} {_format_weight(each)}" for each in largest]
    requests, unknown = metrics.get("requests", 0), integer(answer.get("unweighed"))
    sentences = [
        f"Requests: {'at least ' if requests >= MAX_RESOURCES else ''}{requests:.0f}, "
        f"{_format_bytes(metrics.get('transferred_bytes', 0))}: {', '.join(parts)}.",
        f"Largest: {', '.join(named)}.",
        f"Elements: {metrics.get('elements', 0):.0f}.",
        f"Of {unknown} nothing tells the size." if unknown else "",
    ]
    return " ".join(filter(None, sentences))


def _format_weight(answer: Mapping[str, Any]) -> str:
    return _format_bytes(number(answer.get("bytes")) or 0)
