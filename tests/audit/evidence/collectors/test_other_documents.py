"""Every collector can measure documents that are not HTML, are emptied, or shadow members of the DOM."""

from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import Response

from footlight.audit.evidence.collector import Collector
from footlight.audit.evidence.collectors.axe import AxeRules
from footlight.audit.evidence.collectors.behaviour import Behaviour
from footlight.audit.evidence.collectors.focus import FocusOrder
from footlight.audit.evidence.collectors.forms import Forms
from footlight.audit.evidence.collectors.layout import Layout
from footlight.audit.evidence.collectors.links import Links
from footlight.audit.evidence.collectors.outline import Outline
from footlight.audit.evidence.collectors.speed import Speed
from footlight.audit.page.page import AuditedPage
from tests.audit.evidence.seen import collect_at
from tests.clobbering import CLOBBERING
from tests.site import Site

pytestmark = pytest.mark.anyio

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" lang="en" width="200" height="200"><title>Teas</title>'
    '<a href="/green"><text y="20">Green</text></a><rect tabindex="0" width="30" height="30"/></svg>'
)
XML = (
    '<?xml version="1.0"?><?xml-stylesheet href="data:text/css,*{display:block}"?>'
    "<teas><a href='/green'>Green</a><select><option>White</option></select><input/></teas>"
)
EMPTIED = "<p>Teas</p><script>onload = () => document.documentElement.remove()</script>"
WITHOUT_BODY = "<p>Teas</p><script>onload = () => document.body.remove()</script>"
COLLECTORS: tuple[Collector, ...] = (
    Outline(),
    Layout(),
    Forms(),
    Links(),
    Behaviour(),
    Speed(),
    FocusOrder(),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        pytest.param("image/svg+xml", SVG, id="svg"),
        pytest.param("application/xml", XML, id="xml", marks=pytest.mark.slow),
        pytest.param("text/html", EMPTIED, id="no root"),
        pytest.param("text/html", WITHOUT_BODY, id="no body", marks=pytest.mark.slow),
        pytest.param("text/html", CLOBBERING, id="names of members"),
    ],
)
async def test_no_collector_fails_on_unusual_documents(
    page: AuditedPage, site: Site, media_type: str, content: str
) -> None:
    async def serve(_: Request) -> Response:
        return Response(content, media_type=media_type)

    url = site.route(serve)

    skipped = [each for collector in COLLECTORS for each in (await collect_at(url, page, collector)).skipped]

    assert skipped == []


async def test_xhtml_snippet_equals_the_source(page: AuditedPage, site: Site) -> None:
    async def serve(_: Request) -> Response:
        source = '<ul><li lang="en"><b>Green</b></li></ul>'
        body = f'<html xmlns="http://www.w3.org/1999/xhtml"><title>Teas</title><body>{source}</body></html>'
        return Response(body, media_type="application/xhtml+xml")

    collected = await collect_at(site.route(serve), page, AxeRules(rule="region"))

    assert [each.html for each in collected.findings[0].elements] == [
        '<ul><li lang="en"><b>Green</b></li></ul>'
    ]
