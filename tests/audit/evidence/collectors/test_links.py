"""Links: their targets, which are requested, and their texts."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from footlight.audit.evidence.collectors.links import Links
from footlight.audit.findings import Fact
from footlight.audit.page.page import AuditedPage
from tests.audit.evidence.seen import collect_at, summarize
from tests.site import Site, serve_site

pytestmark = pytest.mark.anyio


@pytest.fixture
async def own_site() -> AsyncGenerator[Site]:
    """Of which nobody else asks anything."""
    async with serve_site() as site:
        yield site


def document(body: str) -> str:
    head = "<!doctype html><html lang=en><title>Teas</title><link rel=icon href='data:,'>"
    return f"{head}<body><h1>Teas</h1>{body}"


def links(*addresses: str) -> str:
    return document("".join(f"<p><a href='{each}'>At {each}</a>" for each in addresses))


async def answer_get_only(request: Request) -> Response:
    return PlainTextResponse("here", 200 if request.method == "GET" else 405)


async def get_alone_finds_it(request: Request) -> Response:
    return PlainTextResponse("here", 200 if request.method == "GET" else 404)


async def test_only_links_of_the_same_site_are_requested(any_page: AuditedPage, own_site: Site) -> None:
    other = own_site.at("localhost")
    own_site.page("fine", path="/fine")
    own_site.page("wrong", path="/failing", status=503)
    own_site.page("no", path="/members", status=403)
    own_site.redirect("/fine", path="/moved")
    own_site.redirect(f"{other}/away", path="/leaving")
    own_site.route(answer_get_only, path="/no-head")
    own_site.route(get_alone_finds_it, path="/wrong-head")
    paths = ["/fine", "/fine#part", "/gone", "/failing", "/members", "/moved", "/leaving", "/no-head"]
    paths += [
        "/wrong-head",
        "/logout",
        "/teas/3/delete",
        "/basket?action=empty",
        f"{other}/other",
        "tel:+4412345",
    ]
    own_site.page(links(*paths), path="/start")

    collected = await collect_at(own_site.at("127.0.0.1") + "/start", any_page, Links())

    assert summarize(collected) == {
        "links/broken": [
            ("p:nth-of-type(3) > a", "status 404: /gone"),
            ("p:nth-of-type(4) > a", "status 503: /failing"),
        ]
    }
    assert collected.facts[:2] == [
        Fact(
            topic="links",
            text="Links (14): 12 to this site, 1 to other sites, 1 to tel:. Other sites, not asked: "
            "localhost.",
        ),
        Fact(
            topic="links",
            text="Of 8 addresses of this site 7 answered; 1 gave no answer that counts;"
            " 3 links were left alone, for to follow them may change something.",
        ),
    ]
    assert sorted(set(own_site.requests)) == [
        ("GET", "/failing"),
        ("GET", "/gone"),
        ("GET", "/members"),
        ("GET", "/no-head"),
        ("GET", "/start"),
        ("GET", "/wrong-head"),
        ("HEAD", "/away"),
        ("HEAD", "/failing"),
        ("HEAD", "/fine"),
        ("HEAD", "/gone"),
        ("HEAD", "/leaving"),
        ("HEAD", "/members"),
        ("HEAD", "/moved"),
        ("HEAD", "/no-head"),
        ("HEAD", "/wrong-head"),
    ]


async def test_only_first_fifty_links_are_requested(page: AuditedPage, own_site: Site) -> None:
    paths = [f"/{number}" for number in range(60)]
    for path in paths:
        own_site.page("fine", path=path)

    collected = await collect_at(own_site.page(links(*paths), path="/start"), page, Links())

    assert summarize(collected) == {}
    assert {path for _, path in own_site.requests} == {"/start", *paths[:50]}
    assert collected.facts[1] == Fact(
        topic="links", text="Of 60 addresses of this site 50 answered; 10 were too many."
    )


async def test_page_that_forbids_requests_has_no_broken_links(page: AuditedPage, own_site: Site) -> None:
    url = own_site.page(links("/gone"), headers={"Content-Security-Policy": "connect-src 'none'"})

    collected = await collect_at(url, page, Links())

    assert summarize(collected) == {}
    assert collected.facts[1] == Fact(
        topic="links",
        text="Of 1 addresses of this site 0 answered; 1 gave no answer that counts.",
    )


async def test_missing_fragment_targets_are_found(page: AuditedPage, site: Site) -> None:
    body = (
        "<p><a href='/'>Start</a> <a href='#there'>a</a> <a href='#caf%C3%A9'>b</a> <a "
        "href='#old'>c</a> <a href='#top'>d</a>"
        "<a href='#/route'>e</a> <a href='#panel' aria-controls=panel>f</a> <a href='#menu' "
        "data-toggle=menu>g</a>"
        "<a href='#:~:text=tea'>h</a> <a href='#gone'>i</a></p><h2 id=there>There</h2><h2 "
        "id=café>Café</h2><a name=old></a>"
    )
    site.page("start", path="/")

    collected = await collect_at(site.page(document(body)), page, Links())

    assert summarize(collected) == {
        "links/missing-fragment": [("a:nth-of-type(10)", "nothing has the id gone")]
    }


async def test_links_used_as_buttons_or_with_unusable_addresses_are_found(
    page: AuditedPage, site: Site
) -> None:
    body = (
        "<p><a href='#'>Add</a> <a href='javascript:void 0'>Print</a> <a href='#'>Nach oben</a> <a "
        "href='#' role=button>Menu</a>"
        "<a href='mailto:shop'>Write</a> <a href='tel:call-us'>Call</a> <a href='tel:112'>Help</a> <a "
        "href='mailto:a@b.example'>Us</a>"
    )

    collected = await collect_at(site.page(document(body)), page, Links())

    assert summarize(collected) == {
        "links/unusable-address": [("a:nth-of-type(5)", "mailto:shop"), ("a:nth-of-type(6)", "tel:call-us")],
        "links/link-as-button": [
            ("a:nth-of-type(1)", 'href="#"'),
            ("a:nth-of-type(2)", 'href="javascript:void 0"'),
        ],
    }


async def test_ambiguous_link_texts_to_different_pages_are_found(page: AuditedPage, site: Site) -> None:
    site.page("prices of green teas, by the gram", path="/a")
    site.page("how we send parcels abroad", path="/b")
    body = (
        "<p><a href='/a'>Weiterlesen …</a> <a href='/b'>weiterlesen</a> <a href='/a'>here</a> <a "
        "href='/a'>Here</a>"
        "<a href='/a'>Details<span style='position: absolute; clip-path: inset(50%)'> of sencha</span></a>"
        "<a href='/b'>Details</a></p>"
        "<ul><li><a href='/a'>Prices</a><li><a href='/b'>Prices</a><li>2024: <a "
        "href='/a'>Report</a><li>2025: <a href='/b'>Report</a></ul>"
        "<table><tr><td><a href='/a'>Edit</a><td><a href='/b'>Edit</a></table>"
        "<p><a href='/a' target=_blank>Sencha</a> <a href='/b' target=_blank>Bancha (neues Fenster)</a></p>"
    )

    collected = await collect_at(site.page(document(body)), page, Links())

    assert summarize(collected) == {
        "links/vague-text": [
            ("p:nth-of-type(1) > a:nth-of-type(1)", "“Weiterlesen …” leads to /a"),
            ("p:nth-of-type(1) > a:nth-of-type(2)", "“weiterlesen” leads to /b"),
        ],
        "links/same-text": [
            ("li:nth-of-type(1) > a", "“Prices” leads to /a"),
            ("li:nth-of-type(2) > a", "“Prices” leads to /b"),
        ],
        "links/same-name": [
            ("li:nth-of-type(3) > a", "“Report” leads to /a"),
            ("li:nth-of-type(4) > a", "“Report” leads to /b"),
            ("td:nth-of-type(1) > a", "“Edit” leads to /a"),
            ("td:nth-of-type(2) > a", "“Edit” leads to /b"),
        ],
        "links/new-window": [("p:nth-of-type(2) > a:nth-of-type(1)", 'target="_blank"')],
    }


async def test_inline_links_and_links_to_equal_content_may_share_text(page: AuditedPage, site: Site) -> None:
    site.page("the product", path="/product")
    site.page("the product", path="/products/1")
    body = (
        "<p>Our <a href='/product'>product</a> is better than any other <a href='/other'>Product</a>.</p>"
        "<ul><li><a href='/product'>Sencha</a><li><a href='/products/1'>Sencha</a></ul>"
        "<ul><li><a href='/product/'>Bancha</a><li><a href='/product/index.html?utm_source=a'>Bancha</a></ul>"
    )

    collected = await collect_at(site.page(document(body)), page, Links())

    assert "links/same-text" not in summarize(collected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("script", "found"),
    [
        pytest.param("", [], id="one source without scripts is the same content"),
        pytest.param(
            "<script>app.dataset.ready = 'yes'</script>",
            [],
            id="scripts that show the same",
        ),
        pytest.param(
            "<script>app.textContent = location.pathname === '/one' ? 'Sencha' : 'Winter'</script>",
            [
                "li:nth-of-type(1) > a",
                "li:nth-of-type(2) > a",
                "p > a:nth-of-type(1)",
                "a:nth-of-type(2)",
            ],
            id="scripts that show something else",
        ),
    ],
)
async def test_pages_with_equal_source_are_compared_as_rendered(
    page: AuditedPage, site: Site, script: str, found: list[str]
) -> None:
    for path in ("/one", "/two"):
        site.page(f"<title>Shop</title><main id=app>Loading the shop</main>{script}", path=path)
    body = (
        "<ul><li><a href='/one'>Prices</a><li><a href='/two'>Prices</a></ul>"
        "<p>See the <a href='/one'>order</a> of May and the <a href='/two'>order</a> of June.</p>"
    )

    collected = await collect_at(site.page(document(body)), page, Links(renders=True))

    assert [selector for selector, _ in summarize(collected).get("links/same-text", [])] == found


async def test_new_window_link_is_found_without_surrounding_text(page: AuditedPage, site: Site) -> None:
    body = "<div><a href='/map' target=_blank>Map</a></div>"

    collected = await collect_at(site.page(document(body)), page, Links())

    assert [*summarize(collected)] == ["links/broken", "links/new-window"]
    assert collected.skipped == []


async def test_svg_link_does_not_break_the_other_rules(page: AuditedPage, site: Site) -> None:
    drawing = "<svg width=90 height=30><a href='/map' target='_blank'><text y=20>Map</text></a></svg>"

    collected = await collect_at(
        site.page(document(f"{drawing}<p><a href='#nowhere'>Prices</a></p>")), page, Links()
    )

    assert [*summarize(collected)] == ["links/broken", "links/missing-fragment", "links/new-window"]
    assert collected.skipped == []
