"""Finding the line and column of an element in the source of its page."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.evidence.page_source import PageSource, SourcePlace
from footlight.audit.page.page import DESKTOP, AuditedPage
from tests.processor_time import limit_processor_time
from tests.site import serve_site

SOURCE = """<!doctype html>
<html lang=en>
<!-- <img src="a.png"> -->
<script>document.write('<img src="b.png">')</script>
<TITLE>Ünï &amp; <img src="c.png"></TITLE>
<p>Two: <img SRC='a.png' title="1 > 0">
  <a href="/x">One</a> <a href="/x">Two &amp; three</a>
  <i class=star></i><i class=star></i>
  <button id="pay" disabled>Pay</button>
"""


@pytest.mark.parametrize(
    ("snippet", "place"),
    [
        ('<html lang="en">…</html>', SourcePlace(2, 1)),
        ('<img src="a.png" title="1 > 0">', SourcePlace(6, 9)),
        ('<a href="/x">Two &amp; three</a>', SourcePlace(7, 24)),
        ('<button id="pay" disabled="">Pay</button>', SourcePlace(9, 3)),
        ('<button id="pay" class="made-by-a-script">Pay</button>', SourcePlace(9, 3)),
        ('<i class="star"></i>', None),
        ('<img src="b.png">', None),
        ("no element", None),
    ],
)
def test_element_is_located_only_when_unambiguous(snippet: str, place: SourcePlace | None) -> None:
    assert PageSource(SOURCE).find(snippet) == place


@pytest.mark.parametrize("part", ["<", '<a "', "<a b='", "<script>", "<!--", "<a =", "<a\t"])
def test_hostile_source_is_searched_in_linear_time(part: str) -> None:
    with limit_processor_time(5):
        PageSource(part * (500_000 // len(part))).find('<a href="/x">')


@pytest.mark.anyio
async def test_findings_name_the_line_of_their_elements(page: AuditedPage) -> None:
    async with serve_site() as site:
        url = site.page(
            '<!doctype html>\n<html lang="en">\n<title>Teas</title>\n<p>Tea\n  <img src="/t.png">'
        )
        evidence = await collect_evidence(page, url, views=(DESKTOP,))

    [image] = [
        each for finding in evidence.findings if finding.rule == "axe/image-alt" for each in finding.elements
    ]
    assert (image.line, image.column) == (5, 3)
