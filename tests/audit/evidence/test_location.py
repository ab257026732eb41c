"""Pages that redirect or navigate while they are measured, and documents that are no pages."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.collectors.focus import FocusOrder
from footlight.audit.evidence.collectors.outline import Outline
from footlight.audit.evidence.location import PageLocation, PageTrail
from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.findings import PageMove
from footlight.audit.page.page import DESKTOP, PHONE, AuditedPage, AuditViewport
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    sample_parameters(WAYS_ON, REFRESH, LATE_SCRIPT),
    ids=["refresh", "late refresh", "script", "late script"],
)
async def test_self_redirecting_page_is_reported_as_moved(page: AuditedPage, site: Site, how: str) -> None:
    login, url = site.page(LOGIN, path="/login"), site.page(leaving(how), path="/account")

    evidence = await collect_evidence(page, url, views=(DESKTOP, PHONE))

    assert (evidence.url, evidence.title) == (login, "Log in")
    assert evidence.moves == (PageMove(from_url=url, to_url=login),)
    assert [(each.what, each.why) for each in evidence.skipped] == [
        ("the requested page", f"it moved on its own to {login}, and that page was measured")
    ]
    assert any("h1 Log in" in fact.text for fact in evidence.facts)
    assert not any("h1 Your account" in fact.text for fact in evidence.facts)


@pytest.mark.slow
async def test_page_that_tab_leaves_is_measured_itself(page: AuditedPage, site: Site) -> None:
    login = site.page(LOGIN, path="/login")
    url = site.page(leaving("<img src='data:,'><a href=/login onfocus='location.href = href'>Log in</a>"))

    evidence = await collect_evidence(page, url, views=(DESKTOP, PHONE))

    assert (evidence.url, evidence.moves) == (url, ())
    assert [(each.what, each.why) for each in evidence.skipped] == [
        ("keyboard focus order at 1280 px", f"the page changed to {login} while keys were pressed")
    ]
    assert "axe/image-alt" in {each.rule for each in evidence.findings}
    [found] = [each for each in evidence.to_check if each.rule == "focus/changes-page"]
    assert [each.note for each in found.elements] == [f"it led to {login}"]


@pytest.mark.slow
async def test_document_whose_scripts_are_forbidden_is_refused(page: AuditedPage, site: Site) -> None:
    url = site.page(leaving(""), headers={"content-security-policy": "sandbox"})

    with pytest.raises(MCPError, match=f"{url} forbids all scripts"):
        await collect_evidence(page, url, views=(DESKTOP,))


async def test_document_with_broken_xml_is_reported_as_shown_in_part(page: AuditedPage, site: Site) -> None:
    head = "<html xmlns='http://www.w3.org/1999/xhtml' lang='en'><head><title>Menu</title></head>"
    xhtml = {"content-type": "application/xhtml+xml"}
    url = site.page(f"{head}<body><p>Soup<br></p></body></html>", headers=xhtml)

    evidence = await collect_evidence(page, url, collectors=[Outline()], views=(DESKTOP,))

    assert [each.what for each in evidence.skipped] == ["the rest of the page"]


async def test_browser_error_page_is_refused(page: AuditedPage, site: Site) -> None:
    url = site.page(leaving("<meta http-equiv=refresh content='0; url=http://127.0.0.1:9/'>"))

    with pytest.raises(MCPError, match=f"{url} led to an error page of the browser"):
        await collect_evidence(page, url, views=(DESKTOP,))


@pytest.mark.parametrize("new", ["?step=1", "/app/", "#more"], ids=["parameter", "slash", "place"])
async def test_address_normalised_by_router_is_not_a_move(page: AuditedPage, site: Site, new: str) -> None:
    url = site.page(leaving(f"<script>history.replaceState(null, '', '{new}')</script>"), path="/app")

    evidence = await collect_evidence(page, url, collectors=[Outline()], views=(DESKTOP,))

    assert (evidence.url, evidence.moves, evidence.skipped) == (urljoin(url, new), (), [])
    said = [each.text for each in evidence.facts if "changed the address" in each.text]
    assert said == (
        []
        if new.startswith("#")
        else [f"A script changed the address {url} to {evidence.url}, and the page stayed the same."]
    )


ROUTERS = {
    "at load": "<script>history.replaceState(null, '', '/login')</script>",
    "later": "<script>onload = () => setTimeout(() => history.pushState(null, '', '/login'), 300)</script>",
    "fragment": "<script>onload = () => setTimeout(() => { location.hash = '#/login' }, 300)</script>",
}


@pytest.mark.parametrize("how", sample_parameters([*ROUTERS], "at load"))
async def test_client_side_route_change_is_a_move(page: AuditedPage, site: Site, how: str) -> None:
    url = site.page(leaving(ROUTERS[how]), path="/app")
    target = f"{url}#/login" if how == "fragment" else f"{site.url}/login"

    evidence = await collect_evidence(page, url, collectors=[Slow(), Outline()], views=(DESKTOP,))

    assert (evidence.url, evidence.moves) == (target, (PageMove(from_url=url, to_url=target),))
    assert [each.what for each in evidence.skipped] == ["the requested page"]


@pytest.mark.slow
async def test_address_change_during_key_presses_is_ignored(page: AuditedPage, site: Site) -> None:
    search = "<button onfocus=\"history.replaceState(null, '', '?search=')\">Search</button>"
    url = site.page(leaving(search), path="/account")

    evidence = await collect_evidence(page, url, collectors=[Outline(), FocusOrder()], views=(DESKTOP, PHONE))

    assert (evidence.url, evidence.moves, evidence.skipped) == (url, (), [])


@pytest.mark.parametrize("new", sample_parameters(["/home", "/app/teas", "/#/teas"], "/home"))
async def test_default_view_chosen_by_router_is_reported(page: AuditedPage, site: Site, new: str) -> None:
    start = "/app/" if new.startswith("/app") else "/"
    how = f"<script>onload = () => setTimeout(() => history.replaceState(null, '', '{new}'), 100)</script>"
    url, target = site.page(leaving(how), path=start), f"{site.url}{new}"

    evidence = await collect_evidence(page, url, collectors=[Slow(), Outline()], views=(DESKTOP,))

    assert (evidence.url, evidence.skipped) == (target, [])
    assert evidence.moves == (PageMove(from_url=url, to_url=target),)
    said = f"A script led from {url} to {target}, its default view, which was measured."
    assert said in [each.text for each in evidence.facts]


@pytest.mark.parametrize("new", ["/login", "/404", "/app/not-found", "/#/error"])
def test_route_change_between_views_is_not_a_default_view(new: str) -> None:
    trail = PageTrail("http://teas.test/", PageLocation(url="http://teas.test/"))

    change = trail.follow(PageLocation(url=f"http://teas.test{new}"))

    assert (change, trail.default_views) == ("route", [])
    assert trail.describe(trail.location) is not None


async def test_redirect_to_login_is_reported(page: AuditedPage, site: Site) -> None:
    login = site.page(f"{LOGIN}<form><input type=password></form>", path="/login")
    home, url = site.redirect("/start", path="/"), site.redirect("/login?next=/orders", path="/orders")
    start = site.page(leaving("<form><input type=password></form>"), path="/start")

    from_orders = await collect_evidence(page, url, collectors=[Outline()], views=(DESKTOP,))
    from_home = await collect_evidence(page, home, collectors=[Outline()], views=(DESKTOP,))

    assert [(each.what, each.why) for each in from_orders.skipped] == [
        (
            "the requested page",
            f"the site redirected to {login}?next=/orders, which asks to log in, and that page was measured",
        )
    ]
    assert (from_home.url, from_home.skipped) == (start, [])
    assert f"The server redirected {home} to {start}." in [each.text for each in from_home.facts]


async def test_collector_is_retried_after_page_reload(page: AuditedPage, site: Site) -> None:
    url, interrupted = site.page(leaving("")), Interrupted()

    evidence = await collect_evidence(page, url, collectors=[interrupted, Outline()], views=(DESKTOP,))

    assert interrupted.attempts == 2
    assert (evidence.skipped, evidence.moves) == ([], ())
    assert [each.rule for each in evidence.findings] == ["page/reloads"]


class Interrupted:
    """A collector during which the page loads itself again, once."""

    name, every_view = "an interrupted look", False

    def __init__(self) -> None:
        self.attempts = 0

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        del view
        self.attempts += 1
        if self.attempts == 1:
            await page.evaluate("() => { location.reload(); return new Promise(() => {}) }")
        return Collected()


class Slow:
    """A collector during which the page can go on."""

    name, every_view = "a long look", False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        del view
        await page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 400))")
        return Collected()


@pytest.mark.sampled(3)
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
async def test_non_html_document_is_named_and_not_audited(
    page: AuditedPage, site: Site, type: str, content: str | bytes, kind: str
) -> None:
    url = site.route(reply(content, type=type), path="/document")

    with pytest.raises(MCPError) as raised:
        await collect_evidence(page, url)

    assert raised.value.message == f"{url} is {kind} ({type}), not an HTML page, and was not audited"


async def test_error_response_without_a_page_is_reported(page: AuditedPage, site: Site) -> None:
    failing = site.route(reply("", type="text/plain", status=500))
    empty = site.route(reply("", status=204))

    for url, why in ((failing, f"the site answered 500 at {failing}"), (empty, f"{empty} has no document")):
        with pytest.raises(MCPError, match=why):
            await collect_evidence(page, url)


async def test_a_pdf_document_is_not_audited(page: AuditedPage, site: Site) -> None:
    url = site.route(reply(PDF, type="application/pdf"), path="/terms.pdf")

    with pytest.raises(MCPError, match=r"is not a page|is a PDF document"):
        await collect_evidence(page, url)
