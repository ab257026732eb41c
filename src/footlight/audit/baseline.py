"""Identify findings across runs: those of a baseline are known, all others are new."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlsplit

from footlight.audit.findings import Element, Finding
from footlight.audit.results import Audit, PageAudit
from footlight.errors import ConfigurationError

__all__ = ["element_key", "is_known", "load_baseline", "new_findings", "page_path"]

MAX_BASELINE_BYTES = 64 << 20
_SAFE = "%!$&'()*+,;=@~"
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def page_path(url: str, sources: Mapping[str, str]) -> str:
    """Return a relative path for the page: that of its source file, or else host and path of the URL.

    `sources` maps the beginnings of URLs to folders of the repository. The path is percent-encoded and has no
    `..`, so that code hosts accept it.
    """
    for start, folder in sources.items():
        if url.startswith(start):
            rest = url[len(start) :].partition("#")[0].partition("?")[0]
            return _relative([*folder.split("/"), *rest.split("/")], is_folder=not rest or rest.endswith("/"))
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    is_folder = not parts.query and (not path or path.endswith("/"))
    return _relative([parts.netloc.rpartition("@")[2], *path.split("/")], is_folder=is_folder)


def element_key(rule: str, path: str, what: str, persona: str | None) -> str:
    """Return a hash that is the same in the next run: without measured values or a model's words.

    `what` is the selector of an element, or the title of a finding without elements.
    """
    return hashlib.sha256("\0".join((rule, path, what, persona or "")).encode()).hexdigest()[:32]


def is_known(audit: Audit, page: PageAudit, finding: Finding) -> bool:
    """Return True if the baseline has every element of the finding."""
    return audit.known is not None and audit.known.issuperset(_keys(page.url, finding, audit.sources))


def new_findings(audit: Audit) -> Sequence[Finding]:
    """Return the findings of all pages that the baseline does not have."""
    return [
        finding for page in audit.pages for finding in page.findings if not is_known(audit, page, finding)
    ]


def load_baseline(file: Path, sources: Mapping[str, str]) -> frozenset[str]:
    """Return the keys of all findings in a JSON report of an earlier audit.

    Raises:
        ConfigurationError: the file is not such a report.
    """
    try:
        if file.stat().st_size > MAX_BASELINE_BYTES:
            raise ValueError("it is too large")
        report = json.loads(file.read_text("utf-8"))
        saved = {**cast("Mapping[str, str]", report.get("sources") or {}), **sources}
        return frozenset(key for each in report["findings"] for key in _read_saved_keys(each, saved))
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a JSON report of footlight audit"
        raise ConfigurationError(
            f"--baseline {file}: {why}", suggestion="Write one with `footlight audit … --out baseline.json`."
        ) from None


def _read_saved_keys(finding: Mapping[str, Any], sources: Mapping[str, str]) -> Iterable[str]:
    elements = [str(each["selector"]) for each in finding["elements"]] or [str(finding["title"])]
    path = page_path(str(finding["page"]), sources)
    return [element_key(str(finding["rule"]), path, each, finding.get("persona")) for each in elements]


def _keys(url: str, finding: Finding, sources: Mapping[str, str]) -> Iterable[str]:
    path = page_path(url, sources)
    elements = finding.elements or (Element(selector=""),)
    return [
        element_key(finding.rule, path, each.selector or finding.title, finding.persona) for each in elements
    ]


def _relative(parts: Sequence[str], *, is_folder: bool) -> str:
    result: list[str] = []
    for part in parts:
        if part == "..":
            result[1:] = result[1:-1]
        elif part not in ("", "."):
            result.append(part)
    encoded = (quote(part, safe=_SAFE) for part in [*result, *(["index.html"] if is_folder else [])])
    return _LONE_PERCENT.sub("%25", "/".join(encoded))
