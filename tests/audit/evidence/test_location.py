"""A page that moves on, and what is not a page."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.findings import PageMove
from footlight.audit.page.page import DESKTOP, PHONE, AuditedPage
from footlight.protocol.errors import MCPError
from tests.audit.faults.fault import reply
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio

LOGIN = "<!doctype html><html lang=en><title>Log in</title><main><h1>Log in</h1>"


def leaving(how: str) -> str:
    return f"<!doctype html><html lang=en><title>Account</title>{how}<main><h1>Your account</h1>"


REFRESH = "<meta http-equiv=refresh content='0; url=/login'>"
LATE_SCRIPT = "<script>onload = () => setTimeout(() => { location.href = '/login' }, 700)</script>"
GIF = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
WAYS_ON = [
    REFRESH,
    "<meta http-equiv=refresh content='1; url=/login'>",
    "<script>location.replace('/login')</script>",
    LATE_SCRIPT,
]


@pytest.mark.parametrize(
    "how",
    sample_parameters(WAYS_ON, REFRESH, LATE_SCRIPT),
    ids=["refresh", "late refresh", "script", "late script"],
)
async def test_a_page_that_moves_on_is_not_taken_for_the_one_asked_for(
    page: AuditedPage, site: Site, how: str
) -> None:
    login, url = site.page(LOGIN, path="/login"), site.page(leaving(how), path="/account")

    evidence = await collect_evidence(page, url, views=(DESKTOP, PHONE))

    assert (evidence.url, evidence.title) == (login, "Log in")
    assert evidence.moves == (PageMove(from_url=url, to_url=login),)
    assert [(each.what, each.why) for each in evidence.skipped] == [
        ("the requested page", f"it moved on its own to {login}, and that page was measured")
    ]
    assert any("h1 Log in" in fact.text for fact in evidence.facts)
    assert not any("h1 Your account" in fact.text for fact in evidence.facts)


async def test_an_error_page_of_the_browser_is_no_page(page: AuditedPage, site: Site) -> None:
    url = site.page(leaving("<meta http-equiv=refresh content='0; url=http://127.0.0.1:9/'>"))

    with pytest.raises(MCPError, match=f"{url} led to an error page of the browser"):
        await collect_evidence(page, url, views=(DESKTOP,))


async def test_a_move_within_the_document_is_none(page: AuditedPage, site: Site) -> None:
    url = site.page(leaving("<script>history.pushState(null, '', '?step=1')</script>"), path="/app")

    evidence = await collect_evidence(page, url, views=(DESKTOP,))

    assert (evidence.url, evidence.moves, evidence.skipped) == (f"{url}?step=1", (), [])


@pytest.mark.parametrize(
    ("type", "content", "kind"),
    [
        ("image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"><a href="/">x</a></svg>', "an SVG image"),
        ("application/xml", "<r><a>1</a></r>", "an XML document"),
        ("application/json", '{"a": 1}', "a JSON document"),
        ("text/plain", "teas", "a plain text document"),
        ("image/gif", GIF, "an image"),
    ],
)
async def test_a_document_of_another_kind_is_named_and_not_audited(
    page: AuditedPage, site: Site, type: str, content: str | bytes, kind: str
) -> None:
    url = site.route(reply(content, type=type), path="/document")

    with pytest.raises(MCPError) as raised:
        await collect_evidence(page, url)

    assert raised.value.message == f"{url} is {kind} ({type}), not an HTML page, and was not audited"


async def test_a_pdf_document_is_not_audited(page: AuditedPage, site: Site) -> None:
    url = site.route(reply(PDF, type="application/pdf"), path="/terms.pdf")

    with pytest.raises(MCPError, match=r"is not a page|is a PDF document"):
        await collect_evidence(page, url)
