"""Render an audit as SARIF 2.1.0 for code hosts, with a result for each element."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from footlight.audit.baseline import element_key, page_path
from footlight.audit.findings import Element, Finding, Severity
from footlight.audit.page.page_text import shorten
from footlight.audit.report.presentable import make_plain, make_presentable
from footlight.audit.report.summary import (
    UNFINISHED,
    ListedFinding,
    list_findings,
    list_to_check,
    list_undone,
)
from footlight.audit.results import Audit
from footlight.audit.thresholds import Verdict

__all__ = ["render_sarif"]

Level = Literal["error", "warning", "note"]

_LEVELS: Mapping[Severity, Level] = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_PAGE = Element(selector="")


def render_sarif(audit: Audit, *, verdict: Verdict | None = None) -> str:
    """Render the SARIF report. `executionSuccessful` is false while the audit runs or if a page failed."""
    audit = make_presentable(audit)
    found = list_findings(audit)
    checks = list_to_check(audit)
    rules = _rules([*found, *checks])
    run = {
        "tool": {
            "driver": {
                "name": "Footlight",
                "version": audit.provenance.footlight,
                "rules": [*rules.values()],
            }
        },
        "automationDetails": {"id": "footlight-audit/"},
        "invocations": [_invocation(audit)],
        "results": [*_results(audit, [*found, *checks], [*rules], checks)],
        "properties": {
            "server": audit.provenance.server,
            "axe": audit.provenance.axe,
            "model": audit.provenance.model,
            **({} if verdict is None else {"verdict": make_plain(verdict.text), "passed": verdict.passed}),
        },
    }
    return (
        json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)
        + "\n"
    )


def _rules(found: Sequence[ListedFinding]) -> Mapping[str, dict[str, Any]]:
    """Return each rule once with its worst severity. The advice of judged findings is in the results."""
    rules: dict[str, dict[str, Any]] = {}
    for finding in (each.finding for each in found):
        is_judged = finding.source == "judged"
        rules.setdefault(
            finding.rule,
            {
                "id": finding.rule,
                "shortDescription": {"text": finding.rule if is_judged else _text(finding.title)},
                "help": {
                    "text": "Judged by a model. Each result has its own advice."
                    if is_judged
                    else _text(finding.advice)
                },
                **({"helpUri": finding.help_url} if _is_web(finding.help_url) else {}),
                "defaultConfiguration": {"level": _LEVELS[finding.severity]},
                "properties": {
                    "tags": sorted({finding.rule.partition("/")[0], finding.source, *_criteria_tags(finding)})
                },
            },
        )
    return rules


def _criteria_tags(finding: Finding) -> Iterator[str]:
    yield from (f"WCAG {each}" for each in finding.wcag)
    yield from (f"ACT {each}" for each in finding.act)


def _results(
    audit: Audit, found: Sequence[ListedFinding], rules: Sequence[str], checks: Sequence[ListedFinding]
) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for each in found:
        is_check = each in checks
        path = page_path(each.page.url, audit.sources)
        for element in each.finding.elements or (_PAGE,):
            print_ = _fingerprint(each, element, path)
            seen[print_] += 1
            yield {
                "ruleId": each.finding.rule,
                "ruleIndex": rules.index(each.finding.rule),
                **(
                    {"kind": "review", "level": "none"}
                    if is_check
                    else {"level": _LEVELS[each.finding.severity]}
                ),
                "message": {"text": _message(each.finding, element)},
                "locations": [_location(element, path)],
                # Code hosts read the first. Equal fingerprints are numbered.
                "partialFingerprints": {
                    "primaryLocationLineHash": f"{print_}:{seen[print_]}",
                    "footlightFinding/v1": f"{print_}:{seen[print_]}",
                },
                "properties": {"page": each.page.url, **_properties(each.finding, element)},
                **_state(audit, print_),
            }


def _fingerprint(placed: ListedFinding, element: Element, path: str) -> str:
    finding = placed.finding
    return element_key(finding.rule, path, element.selector or finding.title, finding.persona)


def _state(audit: Audit, key: str) -> dict[str, str]:
    """Return whether the baseline has the result, if there is a baseline."""
    return {} if audit.known is None else {"baselineState": "unchanged" if key in audit.known else "new"}


def _message(finding: Finding, element: Element) -> str:
    parts = [
        finding.title,
        element.note,
        f"Element: {element.selector}" if element.selector else "",
        finding.advice,
    ]
    return _text(". ".join(part.strip().rstrip(".") for part in parts if part.strip()) + ".")


def _location(element: Element, path: str) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": path}}
    if element.line is not None:
        place["region"] = {
            "startLine": element.line,
            "startColumn": element.column or 1,
            **({"snippet": {"text": element.html}} if element.html else {}),
        }
    where: dict[str, Any] = {"physicalLocation": place}
    if element.selector:
        where["logicalLocations"] = [{"fullyQualifiedName": element.selector, "kind": "element"}]
    return where


def _properties(finding: Finding, element: Element) -> dict[str, Any]:
    properties = {
        "severity": finding.severity,
        "source": finding.source,
        "persona": finding.persona,
        "finding": finding.id,
        "count": finding.count,
        "measuredBy": finding.measured_by,
        "viewportWidth": element.width,
        "cites": [*finding.cites],
        "wcag": [*finding.wcag],
        "act": [*finding.act],
    }
    return {name: value for name, value in properties.items() if value not in (None, "", [])}


def _invocation(audit: Audit) -> dict[str, Any]:
    failed = any(page.status == "failed" for page in audit.pages)
    notes = [("note", UNFINISHED)] if audit.finished_ms is None else []
    notes += [
        (
            "error" if audit.pages[number - 1].status == "failed" else "warning",
            f"Not done on {audit.pages[number - 1].url}: {what}: {why}",
        )
        for number, what, why in list_undone(audit)
    ]
    return {
        "executionSuccessful": audit.finished_ms is not None and not failed,
        "startTimeUtc": _utc(audit.started_ms),
        **({} if audit.finished_ms is None else {"endTimeUtc": _utc(audit.finished_ms)}),
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": _text(text)}} for level, text in notes
        ],
    }


def _text(text: str) -> str:
    """Return the text without placeholders and links (SARIF 3.11.5, 3.11.6)."""
    return shorten(text).replace("{", "{{").replace("}", "}}").replace("](", "] (") or "-"


def _utc(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03}Z"


def _is_web(url: str | None) -> bool:
    return (url or "").startswith(("http://", "https://"))
