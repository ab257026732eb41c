"""An audit for programs. Pictures are not in it."""

from __future__ import annotations

import json
from typing import Any

from footlight.ux.audited import Audit, PageAudit, Provenance, Walk
from footlight.ux.findings import Element, Evidence, Skipped
from footlight.ux.report.figures import severities
from footlight.ux.report.placed import Placed, placed
from footlight.ux.report.presentable import plain, presentable
from footlight.ux.report.verdict import Verdict, headline

__all__ = ["SCHEMA_VERSION", "as_json"]

SCHEMA_VERSION = 1
"""Of the shape. What is added leaves it as it is."""


def as_json(audit: Audit, *, verdict: Verdict | None = None) -> str:
    """Findings of all pages on one list, the worst first. `finishedMs` is null while the audit goes on."""
    audit = presentable(audit)
    found = placed(audit)
    told = {
        "schemaVersion": SCHEMA_VERSION,
        "finished": audit.finished_ms is not None,
        "startedMs": audit.started_ms,
        "finishedMs": audit.finished_ms,
        "headline": headline(audit),
        **({} if verdict is None else {"verdict": {"passed": verdict.passed, "text": plain(verdict.text)}}),
        "counts": severities(each.finding for each in found),
        "findings": [_finding(each) for each in found],
        "pages": [_page(page) for page in audit.pages],
        "provenance": _provenance(audit.provenance),
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def _finding(placed: Placed) -> dict[str, Any]:
    finding = placed.finding
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "source": finding.source,
        "page": placed.page.url,
        "id": finding.id,
        "title": finding.title,
        "advice": finding.advice,
        "measuredBy": finding.measured_by,
        "helpUrl": finding.help_url,
        "persona": finding.persona,
        "cites": [*finding.cites],
        "count": finding.count,
        "elements": [_element(each) for each in finding.elements],
    }


def _element(element: Element) -> dict[str, Any]:
    """Without its ref, which ended with its session."""
    box = element.box
    return {
        "selector": element.selector,
        "html": element.html,
        "text": element.text,
        "note": element.note,
        "viewportWidth": element.width,
        "box": box and {"x": box.x, "y": box.y, "width": box.width, "height": box.height},
    }


def _page(page: PageAudit) -> dict[str, Any]:
    return {
        "url": page.url,
        "status": page.status,
        "error": page.error,
        "durationMs": page.duration_ms,
        "counts": severities(page.findings),
        **(_measured(page.evidence) if page.evidence else {}),
        "walks": [_walk(each) for each in page.walks],
        "analysisText": page.analysis_text,
        "toolCalls": [each.to_dict() for each in page.tool_calls],
        "usage": {
            "requests": page.usage.requests,
            "inputTokens": page.usage.input_tokens,
            "outputTokens": page.usage.output_tokens,
        },
        "dropped": [{"title": each.title, "why": each.why} for each in page.dropped],
        "skipped": _skipped([*(page.evidence.skipped if page.evidence else ()), *page.skipped]),
    }


def _measured(evidence: Evidence) -> dict[str, Any]:
    """Only of a page that was opened."""
    return {
        "finalUrl": evidence.url,
        "httpStatus": evidence.status,
        "title": evidence.title,
        "startedMs": evidence.started_ms,
        "viewportWidths": [*evidence.widths],
        "metrics": dict(evidence.metrics),
        "facts": [{"id": each.id, "topic": each.topic, "text": each.text} for each in evidence.facts],
    }


def _walk(walk: Walk) -> dict[str, Any]:
    return {
        "persona": walk.persona,
        "goal": walk.goal,
        "outcome": walk.outcome,
        "where": walk.where,
        "why": walk.why,
        "durationMs": walk.duration_ms,
        "steps": [
            {"id": each.id, "tool": each.tool, "input": each.input, "ok": each.ok, "said": each.said}
            for each in walk.steps
        ],
    }


def _skipped(skipped: list[Skipped]) -> list[dict[str, str]]:
    return [{"what": each.what, "why": each.why} for each in skipped]


def _provenance(provenance: Provenance) -> dict[str, Any]:
    return {
        "footlight": provenance.footlight,
        "server": provenance.server,
        "axe": provenance.axe,
        "provider": provenance.provider,
        "model": provenance.model,
        "personas": [*provenance.personas],
        "focusAreas": [*provenance.focus_areas],
    }
