"""Where links lead, and what they say."""

from __future__ import annotations

from collections.abc import Sequence

from tests.audit.faults.fault import Fault, reply
from tests.audit.faults.pages import page

__all__ = ["FAULTS"]

ROUTES = {
    "/sencha": reply(page("<h1>Sencha</h1>")),
    "/bancha": reply(page("<h1>Bancha</h1>")),
    "/failing": reply("Not now", status=500),
    "/members": reply("Sign in first", status=401),
}


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
)
