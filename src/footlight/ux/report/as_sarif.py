"""An audit for code hosts: SARIF 2.1.0. A result for each element, so that a host sees which are gone."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import quote

from footlight.ux.audited import Audit
from footlight.ux.findings import Element, Finding, Severity
from footlight.ux.report.placed import Placed, placed
from footlight.ux.report.presentable import plain, presentable
from footlight.ux.report.verdict import UNFINISHED, Verdict, undone
from footlight.ux.shortened import shortened

__all__ = ["as_sarif"]

Level = Literal["error", "warning", "note"]

_LEVELS: Mapping[Severity, Level] = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_IN_PATH = "%/:?@!$&'()*+,;=~"
_PAGE = Element(selector="")


def as_sarif(audit: Audit, *, verdict: Verdict | None = None) -> str:
    """`executionSuccessful` is false while the audit goes on, and where a page failed."""
    audit = presentable(audit)
    found = placed(audit)
    rules = _rules(found)
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
        "results": [*_results(found, [*rules])],
        "properties": {
            "server": audit.provenance.server,
            "axe": audit.provenance.axe,
            "model": audit.provenance.model,
            **({} if verdict is None else {"verdict": plain(verdict.text), "passed": verdict.passed}),
        },
    }
    return (
        json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)
        + "\n"
    )


def _rules(found: Sequence[Placed]) -> Mapping[str, dict[str, Any]]:
    """Each once, with its worst severity. A model's advice is of one finding, and stands in its result."""
    rules: dict[str, dict[str, Any]] = {}
    for finding in (each.finding for each in found):
        is_judged = finding.source == "judged"
        rules.setdefault(
            finding.rule,
            {
                "id": finding.rule,
                "shortDescription": {"text": finding.rule if is_judged else _text(finding.title)},
                "help": {
                    "text": "Judged by a model; each result has its advice."
                    if is_judged
                    else _text(finding.advice)
                },
                **({"helpUri": finding.help_url} if _is_web(finding.help_url) else {}),
                "defaultConfiguration": {"level": _LEVELS[finding.severity]},
                "properties": {"tags": sorted({finding.rule.partition("/")[0], finding.source})},
            },
        )
    return rules


def _results(found: Sequence[Placed], rules: Sequence[str]) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for each in found:
        for element in each.finding.elements or (_PAGE,):
            print_ = _fingerprint(each, element)
            seen[print_] += 1
            yield {
                "ruleId": each.finding.rule,
                "ruleIndex": rules.index(each.finding.rule),
                "level": _LEVELS[each.finding.severity],
                "message": {"text": _message(each.finding, element)},
                "locations": [_location(each, element)],
                # The first is the one that code hosts read. Of equal ones each has its number.
                "partialFingerprints": {
                    "primaryLocationLineHash": f"{print_}:{seen[print_]}",
                    "footlightFinding/v1": f"{print_}:{seen[print_]}",
                },
                "properties": _properties(each.finding, element),
            }


def _fingerprint(placed: Placed, element: Element) -> str:
    """The same in the next run: of nothing measured, and of no model's words where there is an element."""
    finding = placed.finding
    what = element.selector or finding.title
    parts = (
        finding.rule,
        placed.page.url.partition("#")[0],
        what,
        finding.persona or "",
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _message(finding: Finding, element: Element) -> str:
    parts = [
        finding.title,
        element.note,
        f"Element: {element.selector}" if element.selector else "",
        finding.advice,
    ]
    return _text(". ".join(part.strip().rstrip(".") for part in parts if part.strip()) + ".")


def _location(placed: Placed, element: Element) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": 1}  # A page has no lines; code hosts refuse a location without.
    if element.html:
        region["snippet"] = {"text": element.html}
    where: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(placed.page.url)}, "region": region}
    }
    if element.selector:
        where["logicalLocations"] = [{"fullyQualifiedName": element.selector, "kind": "element"}]
    return where


def _properties(finding: Finding, element: Element) -> dict[str, Any]:
    told = {
        "severity": finding.severity,
        "source": finding.source,
        "persona": finding.persona,
        "finding": finding.id,
        "count": finding.count,
        "measuredBy": finding.measured_by,
        "viewportWidth": element.width,
        "cites": [*finding.cites],
    }
    return {name: value for name, value in told.items() if value not in (None, "", [])}


def _invocation(audit: Audit) -> dict[str, Any]:
    failed = any(page.status == "failed" for page in audit.pages)
    told = [("note", UNFINISHED)] if audit.finished_ms is None else []
    told += [
        (
            "error" if audit.pages[number - 1].status == "failed" else "warning",
            f"Not done on {audit.pages[number - 1].url}: {what}: {why}",
        )
        for number, what, why in undone(audit)
    ]
    return {
        "executionSuccessful": audit.finished_ms is not None and not failed,
        "startTimeUtc": _utc(audit.started_ms),
        **({} if audit.finished_ms is None else {"endTimeUtc": _utc(audit.finished_ms)}),
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": _text(text)}} for level, text in told
        ],
    }


def _text(text: str) -> str:
    """A message in which nothing is a placeholder or a link (SARIF 3.11.5, 3.11.6)."""
    return shortened(text).replace("{", "{{").replace("}", "}}").replace("](", "] (") or "-"


def _uri(url: str) -> str:
    """With all that has no place in one spelt out: browsers take more than code hosts do."""
    before, mark, after = url.partition("#")
    origin = re.match(r"[a-z]+://[^/?]*", before)
    start = origin[0] if origin else ""
    parts = (quote(start, safe=_IN_PATH + "[]"), quote(before[len(start) :], safe=_IN_PATH), mark)
    return re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", "".join(parts) + quote(after, safe=_IN_PATH))


def _utc(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03}Z"


def _is_web(url: str | None) -> bool:
    return (url or "").startswith(("http://", "https://"))
