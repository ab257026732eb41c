"""Serve the pages of a fault on a site of their own, and measure them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

from footlight import MCPClient
from footlight.audit.evidence.collector import Collector
from footlight.audit.evidence.collector_sets import standard_collectors
from footlight.audit.evidence.collectors.photograph import Photograph
from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.findings import Evidence, Finding
from footlight.audit.page.page import VIEWPORTS, AuditedPage, AuditViewport
from tests.audit.faults.fault import Fault
from tests.audit.faults.one_session import OneSessionPage
from tests.audit.faults.pages import NAVIGATION, page
from tests.client.browser_servers import config_of
from tests.site import Handler, serve_site

__all__ = ["evidence_of", "evidence_of_twin", "finding_of", "one_browser", "own_to_check"]


@asynccontextmanager
async def one_browser(count: int = 1) -> AsyncGenerator[Sequence[AuditedPage]]:
    """Yield audited pages of one server, each with a session that serves any number of visits in turn."""
    async with MCPClient(config_of("footlight").transport(), timeout_ms=60_000) as client:
        session = {"ignoreHttpsErrors": True}  # Certificates of tests are signed by themselves.
        pages = [OneSessionPage(client, session=session) for _ in range(count)]
        yield pages
        for page in pages:
            await page.end()


async def finding_of(audited: AuditedPage, fault: Fault) -> Finding | None:
    """Return the finding of the fault's rule, or its open check, at the first width or else at all widths."""
    for views in (VIEWPORTS[:1], VIEWPORTS):
        evidence = await evidence_of(
            audited,
            fault.faulty,
            fault.routes,
            path=fault.faulty_path,
            is_secure=fault.is_secure,
            views=views,
            collectors=_family(fault.rule),
        )
        for finding in (*evidence.findings, *own_to_check(evidence)):
            if finding.rule == fault.rule:
                return finding
    return None


async def evidence_of_twin(
    audited: AuditedPage, fault: Fault, *, views: Sequence[AuditViewport] = VIEWPORTS
) -> Evidence:
    """Return the evidence of the clean page."""
    return await evidence_of(
        audited, fault.clean, fault.routes, path=fault.clean_path, is_secure=fault.is_secure, views=views
    )


def own_to_check(evidence: Evidence) -> Sequence[Finding]:
    """Return the open checks of our own rules, without those of axe-core."""
    return [each for each in evidence.to_check if not each.rule.startswith("axe/")]


def _family(rule: str) -> Sequence[Collector]:
    """Return the collectors in the module that is named like the rule's family, or else all of them."""
    family, every = rule.partition("/")[0], standard_collectors()
    return [each for each in every if type(each).__module__.endswith(f".{family}")] or every


async def evidence_of(
    audited: AuditedPage,
    html: str,
    routes: Mapping[str, Handler],
    *,
    path: str = "/page",
    is_secure: bool = False,
    views: Sequence[AuditViewport] = VIEWPORTS,
    collectors: Sequence[Collector] | None = None,
) -> Evidence:
    """Serve the HTML at `/page`, open the path, and return the evidence.

    By default all collectors run, except the one that only takes screenshots.
    """
    if collectors is None:
        collectors = [each for each in standard_collectors() if not isinstance(each, Photograph)]
    async with serve_site(is_secure=is_secure) as site:
        for place, title in NAVIGATION.items():
            site.page(page(f"<h1>{title.replace('&', '&amp;')}</h1>", title=title), path=place)
        for place, handler in routes.items():
            site.route(handler, path=place)
        site.page(html, path="/page")
        evidence = await collect_evidence(audited, site.url + path, collectors=collectors, views=views)
        await audited.close()
        return evidence
