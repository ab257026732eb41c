"""Faults of accessible names, colours and roles."""

from __future__ import annotations

from collections.abc import Sequence

from tests.audit.faults.fault import Fault, reply
from tests.audit.faults.pages import page

__all__ = ["FAULTS"]

PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><rect width="320" height="200"'
    ' fill="#7aa874"/></svg>'
)
MAP = "<!doctype html><html lang='en'><title>Map</title><p>We are at the end of Mill Lane.</p></html>"
ROUTES = {"/sencha.svg": reply(PICTURE, type="image/svg+xml"), "/map": reply(MAP)}
ICON = '<svg width="16" height="16" aria-hidden="true"><path d="M0 0h16v16z"/></svg>'


def tea(more: str) -> str:
    return page(
        f"<h1>Sencha</h1><p>Steamed leaves from Shizuoka, picked in May.</p>{more}"
        "<p>Brew for two minutes at 70 °C.</p>"
    )


def tabs(selected: str) -> str:
    return tea(
        f'<div role="tablist" aria-label="About sencha"><button type="button" role="tab" id="t1" {selected}'
        ' aria-controls="p1">Taste</button></div>'
        '<div role="tabpanel" id="p1" aria-labelledby="t1" tabindex="0"><p>Fresh, like cut grass.</p></div>'
    )


FAULTS: Sequence[Fault] = (
    Fault(
        name="a picture without a text",
        rule="axe/image-alt",
        faulty=tea('<img src="/sencha.svg" width="320" height="200">'),
        clean=tea('<img src="/sencha.svg" width="320" height="200" alt="Sencha leaves in a bowl">'),
        routes=ROUTES,
    ),
    Fault(
        name="a picture with the name of its file as its text",
        rule="outline/alt-says-nothing",
        faulty=tea('<img src="/sencha.svg" width="320" height="200" alt="IMG_2034.jpg">'),
        clean=tea('<img src="/sencha.svg" width="320" height="200" alt="">'),
        routes=ROUTES,
    ),
    Fault(
        name="a picture of which the text says that it is one, twice",
        rule="axe/image-redundant-alt",
        faulty=tea(
            '<p><a href="/teas"><img src="/sencha.svg" width="64" height="48" alt="All teas"> All '
            "teas</a></p>"
        ),
        clean=tea(
            '<p><a href="/teas"><img src="/sencha.svg" width="64" height="48" alt=""> All teas</a></p>'
        ),
        routes=ROUTES,
    ),
    Fault(
        name="a button with nothing but an icon",
        rule="axe/button-name",
        faulty=tea(f'<button type="button">{ICON}</button>'),
        clean=tea(f'<button type="button" aria-label="Remember this tea">{ICON}</button>'),
    ),
    Fault(
        name="a link without a name",
        rule="axe/link-name",
        faulty=tea('<p><a href="/teas"><img src="/sencha.svg" width="64" height="48" alt=""></a></p>'),
        clean=tea('<p><a href="/teas"><img src="/sencha.svg" width="64" height="48" alt="All teas"></a></p>'),
        routes=ROUTES,
    ),
    Fault(
        name="a button that is called otherwise than it reads",
        rule="axe/label-content-name-mismatch",
        faulty=tea('<button type="button" aria-label="btn-primary-2">Add to basket</button>'),
        clean=tea('<button type="button" aria-label="Add to basket: sencha">Add to basket</button>'),
    ),
    Fault(
        name="a frame without a title",
        rule="axe/frame-title",
        faulty=tea('<iframe src="/map" width="300" height="200"></iframe>'),
        clean=tea('<iframe src="/map" width="300" height="200" title="Map"></iframe>'),
        routes=ROUTES,
    ),
    Fault(
        name="a picture without a text, in a frame",
        rule="axe/image-alt",
        faulty=tea(
            "<iframe title=Map width=340 height=220 srcdoc='<img src=/sencha.svg width=320>'></iframe>"
        ),
        clean=tea(
            "<iframe title=Map width=340 height=220 srcdoc='<img src=/sencha.svg width=320 "
            "alt=Map>'></iframe>"
        ),
        routes=ROUTES,
    ),
    Fault(
        name="a button without a name, in a shadow root",
        rule="axe/button-name",
        faulty=tea(
            "<tea-rating><template shadowrootmode=open>"
            "<style>button { width: 44px; height: 44px }</style><button "
            "type=button></button></template></tea-rating>"
        ),
        clean=tea(
            "<tea-rating><template shadowrootmode=open><style>button { width: 44px; height: 44px }</style>"
            "<button type=button aria-label='Four stars'>★</button></template></tea-rating>"
        ),
    ),
    Fault(
        name="grey on white",
        rule="axe/color-contrast",
        faulty=tea('<p style="color: #aaa">Sold out until June.</p>'),
        clean=tea('<p style="color: #555">Sold out until June.</p>'),
    ),
    Fault(
        name="grey on white, for tired eyes",
        rule="axe/color-contrast-enhanced",
        faulty=tea('<p style="color: #707070">Sold out until June.</p>'),
        clean=tea('<p style="color: #505050">Sold out until June.</p>'),
    ),
    Fault(
        name="a red that is legible only to most",
        rule="axe/color-contrast-enhanced",
        faulty=tea('<p style="color: #c81e1e">Sold out until June.</p>'),
        clean=tea('<p style="color: #8c1515">Sold out until June.</p>'),
    ),
    Fault(
        name="a link that only its colour tells from the text",
        rule="axe/link-in-text-block",
        faulty=tea(
            '<p>It comes from <a href="/teas" style="text-decoration: none; color: #1f3d30">Japan</a>, '
            "by sea.</p>"
        ),
        clean=tea('<p>It comes from <a href="/teas">Japan</a>, by sea.</p>'),
    ),
    Fault(
        name="a role that does not exist",
        rule="axe/aria-roles",
        faulty=tea('<div role="notice">Sold out until June.</div>'),
        clean=tea('<div role="note">Sold out until June.</div>'),
    ),
    Fault(
        name="a property that does not exist",
        rule="axe/aria-valid-attr",
        faulty=tea('<button type="button" aria-pushed="true">Remember</button>'),
        clean=tea('<button type="button" aria-pressed="true">Remember</button>'),
    ),
    Fault(
        name="a state with a value that it cannot have",
        rule="axe/aria-valid-attr-value",
        faulty=tabs('aria-selected="yes"'),
        clean=tabs('aria-selected="true"'),
    ),
    Fault(
        name="a button in a link",
        rule="axe/nested-interactive",
        faulty=tea('<div role="button" tabindex="0">Remember <button type="button">Now</button></div>'),
        clean=tea('<p>Remember <button type="button">Now</button></p>'),
    ),
    Fault(
        name="something hidden from screen readers that has the focus",
        rule="axe/aria-hidden-focus",
        faulty=tea('<div aria-hidden="true"><button type="button">Remember</button></div>'),
        clean=tea('<div aria-hidden="true">❦</div><button type="button">Remember</button>'),
    ),
    Fault(
        name="a picture with a text that only says that it is one",
        rule="outline/alt-says-nothing",
        faulty=tea('<img src="/sencha.svg" width="320" height="200" alt="Image">'),
        clean=tea('<img src="/sencha.svg" width="320" height="200" alt="Image of a bowl with sencha">'),
        routes=ROUTES,
    ),
)
