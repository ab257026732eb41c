"""Faults of the layout: sizes, positions and overlaps, at each width."""

from __future__ import annotations

from collections.abc import Sequence

from tests.audit.faults.fault import Fault, reply
from tests.audit.faults.pages import page
from tests.audit.faults.pictures import noise

__all__ = ["FAULTS"]

VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
ABOUT = (
    "Our teas come from small gardens that we have known for years. Leaves are picked in spring and summer, "
    "dried in the shade and packed on the same day, so that nothing of their scent is lost on the way. "
) * 4
SHRUNK = (
    "@media (max-width: 30rem) {{ main button"
    " {{ padding: 0; min-width: 0; min-height: 0; width: {size}; height: {size}; }} }}"
)
STARS = "<h1>Sencha</h1><p>" + "".join(f'<button type="button">{n}</button>' for n in range(1, 6)) + "</p>"
PLAIN = "<h1>Sencha</h1><p>Steamed leaves from Shizuoka, picked in May.</p>"

NESTED = f'{PLAIN}<div class="half"><div class="half"><div class="half">Prices include tax.</div></div></div>'
CHOICE = (
    '<h1>Find a tea</h1><form role="search" action="/teas"><label for="from">Origin</label>'
    '<select id="from" name="from"><option>Japan</option><option>China</option></select>'
    " <button>Find</button></form>"
)
LEAVES = f'{PLAIN}<img src="/leaves.png" alt="Leaves" width="120" height="80">'


def add_style(css: str, main: str = PLAIN) -> str:
    return page(main, head=f"<style>{css}</style>")


def prices(around: str) -> str:
    months = "".join(
        f'<th scope="col">{month}</th>' for month in ("January", "February", "March", "April", "May")
    )
    row = "".join(f"<td>{price},50 euros</td>" for price in range(5, 10))
    table = f'<table><tr><td></td>{months}</tr><tr><th scope="row">Sencha</th>{row}</tr></table>'
    return add_style(
        "th, td { padding: 0 2rem; white-space: nowrap; }", f"<h1>Prices</h1><div {around}>{table}</div>"
    )


def labels(css: str) -> str:
    return add_style(
        ".bowl { position: relative; height: 8rem; }" + css,
        '<h1>Sizes</h1><div class="bowl"><p>A small bowl</p><p class="two">A large bowl</p></div>',
    )


def bars(css: str) -> str:
    teas = "".join(
        f"<p>Tea number {number} of our list, from a garden in the hills.</p>" for number in range(40)
    )
    return add_style(
        "body > header { position: sticky; top: 0; background: #fff; }"
        "body > footer { position: fixed; bottom: 0; left: 0; right: 0; background: #eef3ec; }"
        "html { scroll-padding: 12rem 0; }" + css,
        f"<h1>All teas</h1>{teas}",
    )


def card(style: str, more: str = "") -> str:
    text = "<p>Steamed leaves from Shizuoka, picked in May.</p><p>For two cups, at seventy degrees.</p>"
    return add_style(
        f".card {{ width: 12rem; {style} }} .card p {{ margin: 0 0 .5rem; }}",
        f'<h1>Sencha</h1><div class="card">{text}</div>{more}',
    )


def leaves(style: str) -> str:
    return page(f'{PLAIN}<img src="/leaves.png" alt="Leaves" width="300" height="80" style="{style}">')


FAULTS: Sequence[Fault] = (
    Fault(
        name="a box wider than a phone",
        rule="layout/overflow",
        faulty=add_style("main p { width: 44rem; background: #eef3ec; }"),
        clean=add_style("main p { max-width: 44rem; background: #eef3ec; }"),
    ),
    Fault(
        name="a table that does not scroll",
        rule="layout/overflow",
        faulty=prices(""),
        clean=prices('role="region" aria-label="Prices" tabindex="0" style="overflow-x: auto"'),
    ),
    Fault(
        name="a word that prevents zooming",
        rule="layout/no-zoom",
        faulty=page(PLAIN).replace(VIEWPORT, VIEWPORT.replace('">', ', user-scalable=never">')),
        clean=page(PLAIN).replace(VIEWPORT, VIEWPORT.replace('">', ', user-scalable=yes">')),
    ),
    Fault(
        name="a largest size that is a word",
        rule="layout/no-zoom",
        faulty=page(PLAIN).replace(VIEWPORT, VIEWPORT.replace('">', ', maximum-scale=none">')),
        clean=page(PLAIN).replace(VIEWPORT, VIEWPORT.replace('">', ', maximum-scale=10">')),
    ),
    Fault(
        name="a line that ends in the middle",
        rule="layout/cut-off",
        faulty=add_style("main p { width: 9rem; overflow: hidden; white-space: nowrap; }"),
        clean=add_style(
            "main p { width: 9rem; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }"
        ),
    ),
    Fault(
        name="a button too low for its text",
        rule="layout/cut-off",
        faulty=add_style(
            "main button { width: 6rem; height: 2.75rem; overflow: hidden; }",
            f'{PLAIN}<button type="button">Remember this tea for later</button>',
        ),
        clean=add_style(
            "main button { width: 6rem; }",
            f'{PLAIN}<button type="button">Remember this tea for later</button>',
        ),
    ),
    Fault(
        name="a card that ends in the middle of a line",
        rule="layout/cut-off",
        faulty=card("height: 3.75rem; overflow: hidden"),
        clean=card(
            "height: 3.75rem; overflow: hidden", '<button type="button" aria-expanded="false">More</button>'
        ),
    ),
    Fault(
        name="a card whose text is too long for it",
        rule="layout/cut-off",
        faulty=card("max-height: 2.25rem; overflow: clip"),
        clean=card("min-height: 2.25rem; overflow: clip"),
    ),
    Fault(
        name="a text that begins beside the page",
        rule="layout/cut-off",
        faulty=add_style("main p { position: relative; left: -2.5rem; } main { margin: 0; }"),
        clean=add_style("main p { position: relative; left: 0; } main { margin: 0; }"),
    ),
    Fault(
        name="texts in the same place",
        rule="layout/overlap",
        faulty=labels(".bowl p { position: absolute; margin: 0; top: 1rem; } .bowl .two { left: 1rem; }"),
        clean=labels(".bowl p { position: absolute; margin: 0; top: 1rem; } .bowl .two { top: 4rem; }"),
    ),
    Fault(
        name="tiny print",
        rule="layout/tiny-text",
        faulty=add_style("main p { font-size: 8px; }"),
        clean=add_style("main p { font-size: 14px; }"),
    ),
    Fault(
        name="small print",
        rule="layout/small-text",
        faulty=add_style("main p { font-size: 11px; }"),
        clean=add_style("main p { font-size: 12px; }"),
    ),
    Fault(
        name="a field with small letters",
        rule="layout/field-zoom",
        faulty=page(
            '<h1>Find a tea</h1><form role="search" action="/teas"><label for="q">Name</label>'
            '<input id="q" name="q" style="font-size: 14px"> <button>Find</button></form>'
        ),
        clean=page(
            '<h1>Find a tea</h1><form role="search" action="/teas"><label for="q">Name</label>'
            '<input id="q" name="q"> <button>Find</button></form>'
        ),
    ),
    Fault(
        name="bars that leave little of a phone",
        rule="layout/fixed-bars",
        faulty=bars("body > footer { height: 14rem; } body { padding-bottom: 15rem; }"),
        clean=bars("body > header, body > footer { position: static; }"),
    ),
    Fault(
        name="a page that phones shrink",
        rule="layout/no-viewport",
        faulty=page(PLAIN).replace(VIEWPORT, ""),
        clean=page(PLAIN),
    ),
    Fault(
        name="a page as wide as a desk",
        rule="layout/fixed-viewport",
        faulty=page(PLAIN).replace(VIEWPORT, '<meta name="viewport" content="width=1024">'),
        clean=page(PLAIN),
    ),
    Fault(
        name="lines across the whole desk",
        rule="layout/long-lines",
        faulty=add_style("main { max-width: none; }", f"<h1>About us</h1><p>{ABOUT}</p>"),
        clean=add_style("main p { max-width: 65ch; }", f"<h1>About us</h1><p>{ABOUT}</p>"),
    ),
    Fault(
        name="a picture pulled wide",
        rule="layout/stretched-image",
        faulty=leaves("height: 80px"),
        clean=leaves("height: 80px; object-fit: cover"),
        routes={"/leaves.png": reply(noise(120, 80), type="image/png")},
    ),
    Fault(
        name="letters that turn grey on a phone",
        rule="axe/color-contrast",
        faulty=add_style("@media (max-width: 30rem) { main p { color: #aaa; } }"),
        clean=add_style("@media (max-width: 30rem) { main p { color: #555; } }"),
    ),
    Fault(
        name="buttons that shrink on a phone",
        rule="axe/target-size",
        faulty=add_style(SHRUNK.format(size="1rem"), STARS),
        clean=add_style(SHRUNK.format(size="2.75rem"), STARS),
    ),
    Fault(
        name="a heading that slides into its text",
        rule="layout/overlap",
        faulty=add_style("h1 { margin: 0 0 -3rem; line-height: 1; } main p { margin: 0; }"),
        clean=add_style("h1 { margin: 0 0 -.25rem; line-height: 1; } main p { margin: 0; }"),
    ),
    Fault(
        name="a footnote that shrinks with what is around it",
        rule="layout/tiny-text",
        faulty=add_style(".half { font-size: 75%; }", NESTED),
        clean=add_style(".half { font-size: 95%; }", NESTED),
    ),
    Fault(
        name="an imprint in small letters on a phone",
        rule="layout/small-text",
        faulty=add_style("@media (max-width: 30rem) { footer p { font-size: 10.5px; } }"),
        clean=add_style("@media (max-width: 30rem) { footer p { font-size: 13px; } }"),
    ),
    Fault(
        name="a list to choose from with small letters on a phone",
        rule="layout/field-zoom",
        faulty=add_style("@media (max-width: 30rem) { select { font-size: 13px; } }", CHOICE),
        clean=add_style("@media (min-width: 30rem) { select { font-size: 13px; } }", CHOICE),
    ),
    Fault(
        name="a notice that stays on half of a phone",
        rule="layout/fixed-bars",
        faulty=bars("body > header { position: static; } body > footer { height: 45vh; }"),
        clean=bars(
            "body > header { position: static; } body > footer { height: 45vh; }"
            "@media (max-width: 30rem) { body > footer { position: static; } }"
        ),
    ),
    Fault(
        name="a viewport by the name of another attribute",
        rule="layout/no-viewport",
        faulty=page(PLAIN).replace(VIEWPORT, VIEWPORT.replace("name=", "property=")),
        clean=page(PLAIN).replace(VIEWPORT, VIEWPORT.replace('"viewport"', '"Viewport"')),
    ),
    Fault(
        name="a page as wide as a phone of long ago",
        rule="layout/fixed-viewport",
        faulty=page(PLAIN).replace(VIEWPORT, '<meta name="viewport" content="initial-scale=1, width=320">'),
        clean=page(PLAIN).replace(VIEWPORT, '<meta name="viewport" content="initial-scale=1">'),
    ),
    Fault(
        name="long lines in a list",
        rule="layout/long-lines",
        faulty=add_style("main { max-width: none; }", f"<h1>About us</h1><ul><li>{ABOUT}</li></ul>"),
        clean=add_style(
            "main { max-width: none; } main p { columns: 3; }", f"<h1>About us</h1><p>{ABOUT * 2}</p>"
        ),
    ),
    Fault(
        name="a picture pressed into a square",
        rule="layout/stretched-image",
        faulty=add_style("main img { width: 10rem; height: 10rem; }", LEAVES),
        clean=add_style("main img { width: 10rem; height: 10rem; object-fit: contain; }", LEAVES),
        routes={"/leaves.png": reply(noise(120, 80), type="image/png")},
    ),
)
