"""An audit for programs. Pictures are not in it."""

from __future__ import annotations

import json
from typing import Any

from footlight.ux.audited import Audit, PageAudit, Provenance
from footlight.ux.findings import Evidence
from footlight.ux.report.counts import severities
from footlight.ux.report.placed import placed
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
        "findings": [{"page": each.page.url, **each.finding.to_dict()} for each in found],
        "pages": [_page(page) for page in audit.pages],
        "provenance": _provenance(audit.provenance),
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def _page(page: PageAudit) -> dict[str, Any]:
    return {
        "url": page.url,
        "status": page.status,
        "error": page.error,
        "durationMs": page.duration_ms,
        "counts": severities(page.findings),
        **(_measured(page.evidence) if page.evidence else {}),
        "walks": [each.to_dict() for each in page.walks],
        "analysisText": page.analysis_text,
        "toolCalls": [each.to_dict() for each in page.tool_calls],
        "usage": page.usage.to_dict(),
        "dropped": [each.to_dict() for each in page.dropped],
        "skipped": [
            each.to_dict() for each in (*(page.evidence.skipped if page.evidence else ()), *page.skipped)
        ],
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
        "facts": [each.to_dict() for each in evidence.facts],
    }


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
