"""A page of a fault, served on a site of its own and measured by everything that there is."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

from footlight import MCPClient
from footlight.audit.evidence.collector import Collector
from footlight.audit.evidence.measurement import collect_evidence, standard_collectors
from footlight.audit.findings import Evidence, Finding
from footlight.audit.page.page import VIEWPORTS, AuditedPage, AuditViewport
from footlight.audit.page.server_page import page_of
from tests.audit.faults.fault import Fault
from tests.audit.faults.pages import NAVIGATION, page
from tests.client.browser_servers import config_of
from tests.site import Handler, serve_site

__all__ = ["evidence_of", "finding_of", "one_browser"]


@asynccontextmanager
async def one_browser() -> AsyncGenerator[AuditedPage]:
    """Yield a page of one server and one client, for any number of visits in turn."""
    async with MCPClient(config_of("footlight").transport(), timeout_ms=60_000) as client:
        yield await page_of(client)


async def finding_of(audited: AuditedPage, fault: Fault) -> Finding | None:
    """Return the finding of the rule on its faulty page: at the first width, or else at any."""
    for views in (VIEWPORTS[:1], VIEWPORTS):
        evidence = await evidence_of(
            audited, fault.faulty, fault.routes, views=views, collectors=_family(fault.rule)
        )
        for finding in evidence.findings:
            if finding.rule == fault.rule:
                return finding
    return None


def _family(rule: str) -> Sequence[Collector]:
    """Return the collectors of a rule's family, which has its module's name; of `page` those of all."""
    family, every = rule.partition("/")[0], standard_collectors()
    return [each for each in every if type(each).__module__.endswith(f".{family}")] or every


async def evidence_of(
    audited: AuditedPage,
    html: str,
    routes: Mapping[str, Handler],
    *,
    views: Sequence[AuditViewport] = VIEWPORTS,
    collectors: Sequence[Collector] | None = None,
) -> Evidence:
    """Of this page, at this site's `/page`."""
    async with serve_site() as site:
        for path, title in NAVIGATION.items():
            site.page(page(f"<h1>{title.replace('&', '&amp;')}</h1>", title=title), path=path)
        for path, handler in routes.items():
            site.route(handler, path=path)
        evidence = await collect_evidence(
            audited, site.page(html, path="/page"), collectors=collectors, views=views
        )
        await audited.close()
        return evidence
