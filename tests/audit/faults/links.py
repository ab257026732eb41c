"""Faults of links: their targets and their texts."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from tests.audit.faults.fault import Fault, reply
from tests.audit.faults.pages import page

__all__ = ["FAULTS"]

ROUTES = {
    "/sencha": reply(page("<h1>Sencha</h1><p>Steamed leaves that taste like grass.</p>", title="Sencha")),
    "/bancha": reply(page("<h1>Bancha</h1><p>Roasted in autumn, mild at night.</p>", title="Bancha")),
    "/chat": reply(page("<h1>Chat</h1><p>Write to our tea master, from nine to five.</p>", title="Chat")),
    "/hotline": reply(page("<h1>Hotline</h1><p>Ring 01422 555010 at any hour.</p>", title="By telephone")),
    "/map": reply("<!doctype html><html lang=en><title>Map</title><p>Mill Lane, past the bridge"),
    "/plan": reply("<!doctype html><html lang=en><title>Map</title><p>Mill Lane, by the old bridge"),
    "/hours": reply("<!doctype html><html lang=en><title>Hours</title><p>Open from nine to five"),
    "/talk": reply(page("<h1>Chat</h1><p>Write to our tea master, nine to five.</p>", title="Chat")),
    "/failing": reply("Not now", status=500),
    "/members": reply("Sign in first", status=401),
}


async def answer_query(request: Request) -> Response:
    path = "/chat" if request.query_params.get("by") == "1" else "/hotline"
    return await ROUTES[path](request)


def teas(more: str) -> str:
    return page(f"<h1>Green teas</h1><p>Two that we like best this spring.</p>{more}")


def teaser(first: str, second: str, attributes: str = "") -> str:
    return teas(
        f'<h2>Sencha</h2><p>Fresh, like grass. <a href="/sencha">{first}</a></p>'
        f'<h2>Bancha</h2><p>Mild, for the evening. <a href="/bancha" {attributes}>{second}</a></p>'
    )


def menu(first: str, second: str) -> str:
    return teas(
        f'<ul><li><a href="/sencha">{first}</a></li><li><a href="/bancha">{second}</a></li>'
        '<li><a href="/teas">All teas</a></li></ul>'
    )


def frames(first: str, second: str) -> str:
    frame = '<iframe title="{}" src="{}"></iframe>'
    return f"<h2>Find us</h2>{frame.format(first, '/map')}{frame.format(second, '/hours')}"


def retargeted(target: str) -> str:
    """Return a page with two links to the chat, of which a script leads the second elsewhere."""
    links = '<p>You may <a href="/chat">ask us</a> in writing or <a id="other" href="/chat">ask us</a>.</p>'
    return teas(f"{links}<script>other.href = '{target}';</script>")


def pictured(first: str, second: str) -> str:
    picture = '<a href="{}"><img src="/leaf.svg" width="48" height="48" alt="{}"></a>'
    return teas(f"<p>{picture.format('/sencha', first)} {picture.format('/bancha', second)}</p>")


LEAF = '<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48"><circle cx="24" cy="24" r="20"/></svg>'
DRAWING = (
    '<svg width="240" height="60" role="group" aria-label="Our garden"><a xlink:href="{}">'
    '<text x="10" y="40" font-size="24">Tea garden</text></a></svg>'
)
FAULTS: Sequence[Fault] = (
    Fault(
        name="a link to a page that is gone",
        rule="links/broken",
        faulty=teas('<p>Read about <a href="/matcha">matcha</a>.</p>'),
        clean=teas('<p>Read about <a href="/sencha">sencha</a>, <a href="/members">for members</a>.</p>'),
        routes=ROUTES,
    ),
    Fault(
        name="a link to a page that fails",
        rule="links/broken",
        faulty=teas('<p>Our <a href="/failing">catalogue</a> has them all.</p>'),
        clean=teas('<p>Our <a href="/bancha#prices">catalogue</a> has them all.</p>'),
        routes=ROUTES,
    ),
    Fault(
        name="a link to a place that is not on the page",
        rule="links/missing-fragment",
        faulty=teas(
            '<p>See <a href="#brewing">how to brew</a>.</p><h2 id="brew">Brewing</h2><p>Two minutes.</p>'
        ),
        clean=teas(
            '<p>See <a href="#brew">how to brew</a>.</p><h2 id="brew">Brewing</h2><p>Two minutes.</p>'
            '<p><a href="#">Back to the top</a> <a href="#top">Top ↑</a></p>'
        ),
        routes=ROUTES,
    ),
    Fault(
        name="a link that is a button",
        rule="links/link-as-button",
        faulty=teas('<p><a href="#" onclick="return false">Remember these teas</a></p>'),
        clean=teas(
            '<p><button type="button" onclick="this.textContent = \'Done\'">Remember these teas</button></p>'
        ),
    ),
    Fault(
        name="a link that runs a script",
        rule="links/link-as-button",
        faulty=teas('<p><a href="javascript:window.print()">Print this page</a></p>'),
        clean=teas('<p><button type="button" onclick="print()">Print this page</button></p>'),
    ),
    Fault(
        name="read more, twice",
        rule="links/vague-text",
        faulty=teaser("Read more", "Read more"),
        clean=teaser("More about sencha", "Read more", 'aria-label="Read more about bancha"'),
        routes=ROUTES,
    ),
    Fault(
        name="the same name for two pages of a menu",
        rule="links/same-text",
        faulty=menu("Our favourite", "Our favourite"),
        clean=menu("Our favourite", "The one for the evening"),
        routes=ROUTES,
    ),
    Fault(
        name="the same name for two pages in one sentence",
        rule="links/same-text",
        faulty=teas('<p>You may <a href="/chat">ask us</a> in writing or <a href="/hotline">ask us</a>.</p>'),
        clean=teas('<p>You may <a href="/chat">ask us</a> here or <a href="/talk">ask us</a> there.</p>'),
        routes=ROUTES,
    ),
    Fault(
        name="the same name for two pages in two parts",
        rule="links/same-name",
        faulty=teas('<p>Our <a href="/chat">service</a>.</p><p>The <a href="/hotline">service</a>.</p>'),
        clean=teas('<p>Our <a href="/chat">service</a>.</p><p>The <a href="/talk">service</a>.</p>'),
        routes=ROUTES,
    ),
    Fault(
        name="the same name for two answers to a query",
        rule="links/same-name",
        faulty=teas('<p>Our <a href="/ask?by=1">advice</a>.</p><p>Your <a href="/ask?by=2">advice</a>.</p>'),
        clean=teas('<p>Our <a href="/chat?by=1">advice</a>.</p><p>Your <a href="/chat?by=2">advice</a>.</p>'),
        routes={**ROUTES, "/ask": answer_query},
    ),
    Fault(
        name="read more, in a sentence of one of two",
        rule="links/vague-text",
        faulty=teas('<p><a href="/sencha">More</a></p><p><a href="/bancha">More</a></p>'),
        clean=teas(
            '<p><a href="/sencha">More</a> on sencha.</p><p><a href="/bancha">More</a> on bancha.</p>'
        ),
        routes=ROUTES,
    ),
    Fault(
        name="two frames of one name",
        rule="links/same-frame-name",
        faulty=teas(frames("Our map", "Our map")),
        clean=teas(frames("Our map", "Our hours")),
        routes=ROUTES,
    ),
    Fault(
        name="two frames of one name, in different attributes",
        rule="links/same-frame-name",
        faulty=teas(frames("Help", "Help").replace("title", "aria-label", 1)),
        clean=teas(frames("Help", "Help").replace("/hours", "/plan")),
        routes=ROUTES,
    ),
    Fault(
        name="a new window that nobody is told of",
        rule="links/new-window",
        faulty=teas('<p>Read <a href="/sencha" target="_blank">about sencha</a>.</p>'),
        clean=teas('<p>Read <a href="/sencha" target="_blank">about sencha (opens in a new tab)</a>.</p>'),
        routes=ROUTES,
    ),
    Fault(
        name="an address that no letter reaches",
        rule="links/unusable-address",
        faulty=teas('<p><a href="mailto:">Write to us</a></p>'),
        clean=teas(
            '<p><a href="mailto:shop@brookleaf.example?subject=Tea">Write to us</a>, '
            '<a href="tel:+441422555010">call us</a>, <a href="mailto:?subject=Tea">tell a friend</a></p>'
        ),
    ),
    Fault(
        name="a file on the author's computer",
        rule="links/local-address",
        faulty=teas('<p>See <a href="file:///C:/teas/prices.pdf">our prices</a>.</p>'),
        clean=teas('<p>See <a href="/sencha">our prices</a>.</p>'),
        routes=ROUTES,
    ),
    Fault(
        name="a link to a place whose id has another case",
        rule="links/missing-fragment",
        faulty=teas('<p>See <a href="#Brewing">how to brew</a>.</p><h2 id="brewing">Brewing</h2>'),
        clean=teas(
            '<p>See <a href="#brewing-%C3%BC">how to brew</a>.</p><h2 id="brewing-ü">Brewing</h2>'
            '<p>Or <a href="#prices">what it costs</a>.</p><a name="prices"></a><p>From 8 euros.</p>'
        ),
        routes=ROUTES,
    ),
    Fault(
        name="a new window by a name",
        rule="links/new-window",
        faulty=teas('<p>Read <a href="/sencha" target="tea">about sencha</a>.</p>'),
        clean=teas(
            '<p>Read <a href="/sencha" target="_self">about sencha</a> and <a href="/bancha" target="_blank">'
            'about bancha <img src="/out.svg" alt="(new window)" width="12" height="12"></a>.</p>'
        ),
        routes={
            **ROUTES,
            "/out.svg": reply('<svg xmlns="http://www.w3.org/2000/svg"/>', type="image/svg+xml"),
        },
    ),
    Fault(
        name="a folder on the author's network",
        rule="links/local-address",
        faulty=teas('<p>See <a href="FILE://server/teas/prices.pdf">our prices</a>.</p>'),
        clean=teas('<p>See <a href="/sencha">our prices</a>.</p>'),
        routes=ROUTES,
    ),
    Fault(
        name="a number that no telephone can call",
        rule="links/unusable-address",
        faulty=teas('<p><a href="tel:">Call us</a></p>'),
        clean=teas('<p><a href="tel:+44-1422-555010;ext=12">Call us</a></p>'),
    ),
    Fault(
        name="a link in a drawing to a page that is gone",
        rule="links/broken",
        faulty=teas(DRAWING.format("/matcha")),
        clean=teas(DRAWING.format("/sencha")),
        routes=ROUTES,
    ),
    Fault(
        name="links of one name whose targets a script changes",
        rule="links/same-text",
        faulty=retargeted("/hotline"),
        clean=retargeted("/talk"),
        routes=ROUTES,
    ),
    Fault(
        name="pictures of one name that lead to different pages",
        rule="links/same-text",
        faulty=pictured("Order", "Order"),
        clean=pictured("Order sencha", "Order bancha"),
        routes={**ROUTES, "/leaf.svg": reply(LEAF, type="image/svg+xml")},
    ),
)
