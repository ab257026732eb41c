"""Render an audit as JSON, without pictures."""

from __future__ import annotations

import json
from typing import Any

from footlight.audit.findings import Evidence, count_severities
from footlight.audit.report.presentable import make_plain, make_presentable
from footlight.audit.report.summary import headline, list_findings
from footlight.audit.results import Audit, PageAudit, Provenance
from footlight.audit.thresholds import Verdict

__all__ = ["SCHEMA_VERSION", "render_json"]

SCHEMA_VERSION = 1
"""The version of the format. Additions do not change it."""


def render_json(audit: Audit, *, verdict: Verdict | None = None) -> str:
    """Render the JSON report. Findings of all pages are in one list, the worst first."""
    audit = make_presentable(audit)
    found = list_findings(audit)
    report = {
        "schemaVersion": SCHEMA_VERSION,
        "finished": audit.finished_ms is not None,
        "startedMs": audit.started_ms,
        "finishedMs": audit.finished_ms,
        "headline": headline(audit),
        **(
            {}
            if verdict is None
            else {"verdict": {"passed": verdict.passed, "text": make_plain(verdict.text)}}
        ),
        "counts": count_severities(each.finding for each in found),
        "findings": [{"page": each.page.url, **each.finding.to_dict()} for each in found],
        "toCheck": [
            {"page": page.url, **each.to_dict()}
            for page in audit.pages
            if page.evidence
            for each in page.evidence.to_check
        ],
        "pages": [_describe_page(page) for page in audit.pages],
        **({"sources": dict(audit.sources)} if audit.sources else {}),
        "provenance": _describe_provenance(audit.provenance),
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def _describe_page(page: PageAudit) -> dict[str, Any]:
    return {
        "url": page.url,
        "status": page.status,
        "error": page.error,
        "durationMs": page.duration_ms,
        "counts": count_severities(page.findings),
        **(_describe_evidence(page.evidence) if page.evidence else {}),
        "walks": [each.to_dict() for each in page.walks],
        "analysisText": page.analysis_text,
        "toolCalls": [each.to_dict() for each in page.tool_calls],
        "usage": page.usage.to_dict(),
        "dropped": [each.to_dict() for each in page.dropped],
        "skipped": [
            each.to_dict() for each in (*(page.evidence.skipped if page.evidence else ()), *page.skipped)
        ],
    }


def _describe_evidence(evidence: Evidence) -> dict[str, Any]:
    """Return the fields of a page that was opened."""
    return {
        "finalUrl": evidence.url,
        "moves": [each.to_dict() for each in evidence.moves],
        "httpStatus": evidence.status,
        "title": evidence.title,
        "startedMs": evidence.started_ms,
        "viewportWidths": [*evidence.widths],
        "metrics": dict(evidence.metrics),
        "facts": [each.to_dict() for each in evidence.facts],
    }


def _describe_provenance(provenance: Provenance) -> dict[str, Any]:
    return {
        "footlight": provenance.footlight,
        "server": provenance.server,
        "axe": provenance.axe,
        "provider": provenance.provider,
        "model": provenance.model,
        "personas": [*provenance.personas],
        "focusAreas": [*provenance.focus_areas],
    }
