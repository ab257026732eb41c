"""Render an audit as JUnit XML, which build servers show: a test suite for each page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from footlight.audit.baseline import is_known, page_path
from footlight.audit.findings import Finding
from footlight.audit.report.presentable import make_plain, make_presentable
from footlight.audit.results import Audit, PageAudit
from footlight.audit.thresholds import Verdict

__all__ = ["render_junit"]

MAX_TEXT = 4_000
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(audit: Audit, *, verdict: Verdict | None = None) -> str:  # noqa: ARG001 - as other formats
    """Render the JUnit report. A finding is a failed test; those of the baseline or level AAA are skipped."""
    root = ElementTree.Element("testsuites", {"name": "footlight audit"})
    presentable = make_presentable(audit)
    for page in presentable.pages:
        root.append(_render_page(presentable, page))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _render_page(audit: Audit, page: PageAudit) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", {"name": _text(_page_name(audit, page))})
    cases = [*_render_cases(audit, page)]
    suite.extend(cases)
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    suite.set("time", f"{page.duration_ms / 1000:.3f}")
    return suite


def _render_cases(audit: Audit, page: PageAudit) -> Iterator[ElementTree.Element]:
    for finding in page.findings:
        case = _case(audit, page, f"{finding.rule}: {finding.title}")
        if is_known(audit, page, finding):
            ElementTree.SubElement(case, "skipped", {"message": "in the baseline"})
        elif finding.is_only_aaa:
            ElementTree.SubElement(case, "skipped", {"message": "of WCAG's level AAA"})
        else:
            head = {"type": finding.severity, "message": _text(finding.title)}
            ElementTree.SubElement(case, "failure", head).text = _text(_describe(finding))
        yield case
    if page.error is not None or page.status == "failed":
        case = _case(audit, page, "the page can be audited")
        ElementTree.SubElement(case, "error", {"message": _text(page.error or "the page failed")})
        yield case
    elif not page.findings:
        yield _case(audit, page, "no findings")


def _case(audit: Audit, page: PageAudit, name: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", {"classname": _text(_page_name(audit, page)), "name": _text(name)})


def _page_name(audit: Audit, page: PageAudit) -> str:
    """Return the URL, or the path of a local file, whose URL has another port in each run."""
    is_file = any(page.url.startswith(start) for start in audit.sources)
    return page_path(page.url, audit.sources) if is_file else page.url


def _describe(finding: Finding) -> str:
    elements = (f"{each.selector}: {each.note}".rstrip(": ") for each in finding.elements)
    return "\n".join((finding.advice, *elements))


def _text(text: str) -> str:
    """Return the text with only the characters that XML allows."""
    return _NOT_XML.sub("\ufffd", make_plain(text))[:MAX_TEXT]
