"""How long readers wait, and how much they load: what the browser timed while the page came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from footlight.client.errors import ToolInvocationError
from footlight.client.loose import an_object, integer, items, number, text
from footlight.ux.evidence.collector import Collected
from footlight.ux.evidence.rule import findings_of
from footlight.ux.evidence.scripts import script
from footlight.ux.evidence.speed_rules import LIMITS, RELOADS, RULES, Limit
from footlight.ux.findings import Fact, Finding
from footlight.ux.page import AuditedPage, View

__all__ = ["Speed"]

MOST_RESOURCES = 250
"""Browsers keep the times of so many."""
LONGEST_URL = 80
MB = 1_000_000


class Speed:
    """Comes first: whatever else looks at the page takes time in it."""

    name = "speed and weight"
    every_view = False

    async def collect(self, page: AuditedPage, view: View) -> Collected:
        told = an_object(await _told(page))
        metrics = _metrics(an_object(told.get("metrics")))
        how = f"the browser's own timings of one load at {view.width} px"
        limited = [_over(limit, metrics, told, view, how) for limit in LIMITS]
        if text(told.get("type")) == "reload":
            again = _whole("it was loaded again without anybody asking")
            limited.append(RELOADS.finding(again, view, "the browser's type of the last navigation"))
        return Collected(
            findings=[*filter(None, limited), *findings_of(RULES, told, view, how)],
            facts=[Fact(topic="speed", text=each) for each in (_times(metrics), _weight(told, metrics))],
            metrics=metrics,
        )


async def _told(page: AuditedPage) -> object:
    """Of the second load, where the page loads itself again meanwhile."""
    try:
        return await page.evaluate(script("speed"))
    except ToolInvocationError:
        return await page.evaluate(script("speed"))


def _metrics(told: Mapping[str, Any]) -> Mapping[str, float]:
    given = {name: number(value) for name, value in told.items()}
    return {
        name: round(value, 4 if name == "cls" else 0) for name, value in given.items() if value is not None
    }


def _over(
    limit: Limit, metrics: Mapping[str, float], told: Mapping[str, Any], view: View, how: str
) -> Finding | None:
    value = metrics.get(limit.metric, 0)
    over = [each for each in limit.limits if value > each[1]]
    if not over:
        return None
    severity, _ = over[-1]
    measured = f"{_said(limit.metric, value)}, good is at most {_said(limit.metric, limit.limits[0][1])}"
    how = f"{how}: {measured}"
    found = limit.rule.finding(told.get(limit.told), view, how, severity=severity)
    return found or limit.rule.finding(_whole(measured), view, how, severity=severity)


def _whole(note: str) -> Mapping[str, Any]:
    """The page itself as the element."""
    return {"elements": [{"selector": "html", "note": note}]}


def _said(metric: str, value: float) -> str:
    if metric.endswith("_ms"):
        return f"{value:,.0f} ms"
    return _size(value) if metric.endswith("_bytes") else f"{value:g}"


def _size(value: float) -> str:
    return f"{value / MB:,.1f} MB" if value >= MB else f"{value / 1_000:,.0f} kB"


def _times(metrics: Mapping[str, float]) -> str:
    names = {
        "ttfb_ms": "the server answered after",
        "fcp_ms": "something was shown after",
        "lcp_ms": "the largest part after",
        "load_ms": "all was loaded after",
        "blocking_ms": "scripts blocked it for",
        "cls": "layout shift",
    }
    said = [f"{name} {_said(metric, metrics[metric])}" for metric, name in names.items() if metric in metrics]
    return ", ".join(said if "load_ms" in metrics else [*said, "it went on loading"]).capitalize() + "."


def _weight(told: Mapping[str, Any], metrics: Mapping[str, float]) -> str:
    kinds = {kind: an_object(each) for kind, each in an_object(told.get("kinds")).items()}
    parts = [f"{integer(each.get('count'))} {kind} {_weighs(each)}" for kind, each in kinds.items()]
    largest = [an_object(each) for each in items(told.get("largest"))]
    named = [f"{(text(each.get('url')) or '')[-LONGEST_URL:]} {_weighs(each)}" for each in largest]
    requests, unknown = metrics.get("requests", 0), integer(told.get("unweighed"))
    said = [
        f"Requests: {'at least ' if requests >= MOST_RESOURCES else ''}{requests:.0f}, "
        f"{_size(metrics.get('transferred_bytes', 0))}: {', '.join(parts)}.",
        f"Largest: {', '.join(named)}.",
        f"Elements: {metrics.get('elements', 0):.0f}.",
        f"Of {unknown} nothing tells the size." if unknown else "",
    ]
    return " ".join(filter(None, said))


def _weighs(told: Mapping[str, Any]) -> str:
    return _size(number(told.get("bytes")) or 0)
