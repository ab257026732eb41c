"""Faults of keyboard access: focus order, focus traps and skip links."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tests.audit.faults.fault import Fault
from tests.audit.faults.pages import document, page

__all__ = ["FAULTS"]

SIGN_UP = """<h1>Our letter</h1>
<p>Once a month: what was picked, and what came.</p>
<form action="/help">
<label for="email">Email</label><input id="email" name="email" type="email" autocomplete="email">
<p><button>Subscribe</button></p></form>"""
NOTE = """<h1>Write to us</h1>
<form action="/help">
<label for="note">Your question</label><textarea id="note" name="note" rows="4"></textarea>
<p><button>Send</button></p></form>"""
TEAS = ("Assam", "Ceylon", "Darjeeling", "Earl Grey", "Genmaicha", "Gyokuro", "Jasmine", "Keemun", "Lapsang")
KEEPING = "addEventListener('keydown', event => {{ if ({}) event.preventDefault(); }});"
ORIGINS = ("China", "India", "Japan", "Kenya", "Nepal", "Taiwan", "Turkey", "Vietnam")


def add_style(css: str, main: str = SIGN_UP) -> str:
    return page(main, head=f"<style>{css}</style>")


def swallowing(condition: str) -> str:
    return page(
        f"{NOTE}<script>note.addEventListener('keydown', event => {{ {condition} }});</script>"
        "<p>Press Escape, then Tab, to leave the field.</p>"
    )


def editor(key: str) -> str:
    """Return a page whose field keeps Tab until this key is pressed, which the page says is Ctrl+M."""
    return page(
        f"<p>Press Ctrl+M, then Tab, to leave the field.</p>{NOTE}<script>"
        "note.addEventListener('keydown', event => {"
        "if (event.key === 'Tab' && !note.dataset.left) event.preventDefault();"
        f"if (event.ctrlKey && event.key === '{key}') note.dataset.left = 'yes'; }});</script>"
    )


def explaining(key: str) -> str:
    """Return a page whose parts keep the focus until this key is pressed, which its help calls Ctrl+M."""
    return page(
        '<h1>Sencha</h1><div id="parts"><button type="button">50 g</button> '
        '<button type="button" id="ask">How to leave this part</button></div>'
        '<p id="said" role="status"></p><p><a href="/orders">Order it</a></p><script>'
        "const [first, last] = parts.children; let isOn = true;"
        "ask.onclick = () => { said.textContent = 'Press Ctrl+M to leave it.'; };"
        "parts.addEventListener('focusout', event => {"
        "if (isOn && !parts.contains(event.relatedTarget)) setTimeout(() => first.focus()); });"
        f"parts.onkeydown = event => {{ if (event.ctrlKey && event.key === '{key}') {{"
        " isOn = false; document.querySelector('main > p a').focus(); } };</script>"
    )


def refocusing(condition: str, *, delay_ms: int = 10) -> str:
    back = f"setTimeout(() => note.focus(), {delay_ms})"
    script = f"note.addEventListener('blur', () => {{ if ({condition}) {back}; }});"
    return page(f"{NOTE}<script>{script}</script>")


TAKING_BACK = "const link = document.querySelector('a'); link.onblur = () => setTimeout(() => link.focus());"


def framing(condition: str, *, attributes: str = "", script: str = "") -> str:
    """Return a page with a frame that cancels the keys of this condition."""
    inside = (
        "<!doctype html><html lang=en><title>Map</title><p>The map has <a href=/help>help</a>.</p>"
        f"<script>{KEEPING.format(condition or 'false')} {script}</script>"
    )
    frame = f'<iframe title="Map" {attributes} srcdoc="{escape(inside)}"></iframe>'
    return page(f'<h1>Find us</h1>{frame}<p><a href="/orders">Your orders</a></p>')


def dialog(script: str) -> str:
    return page(
        '<h1>Sencha</h1><div id="sizes"><button type="button">50 g</button> '
        '<button type="button">100 g</button></div><p><a href="/orders">Order it</a></p>'
        f"<script>const [first, last] = sizes.children; {script}</script>"
    )


def menu(attributes: str) -> str:
    links = "".join(f'<p><a href="/teas?{name}">{name}</a></p>' for name in TEAS[:3])
    return page(f'<h1>Teas</h1><nav aria-label="By name" {attributes}>{links}</nav><p>Nine teas.</p>')


def notice(css: str) -> str:
    links = "".join(f'<li><a href="/teas?{name}">{name}</a></li>' for name in (*TEAS, *ORIGINS))
    return page(
        f'<h1>All teas</h1><ul class="list">{links}</ul><div class="notice" role="region" '
        'aria-label="Notice"><p>We are closed on Monday. Orders are sent on Tuesday.</p></div>',
        head="<style>.list li { margin: 1.5rem 0; } .list a { display: inline-block; padding: .5rem; }"
        f".notice {{ position: fixed; inset: auto 0 0; height: 8rem; background: #eef3ec; }} {css}</style>",
    )


def sizes(css: str) -> str:
    links = "".join(f'<a href="/teas?{size}">{size} g</a>' for size in (50, 100, 250))
    return page(
        f'<h1>Sencha</h1><p class="sizes">{links}</p>',
        head="<style>.sizes { display: flex; gap: 1rem; } .sizes a { padding: .75rem; }" + css + "</style>",
    )


def beside(css: str) -> str:
    return page(
        '<h1>Sencha</h1><p>Steamed leaves. <a href="/orders">Order it</a></p><div class="bar" role="region" '
        'aria-label="Notice"><p>We are closed on Monday. Orders are sent on Tuesday.</p></div>',
        head="<style>@media (min-width: 60rem) { header, main, footer { margin: 0; }"
        f".bar {{ position: fixed; inset: 0 auto 0 0; width: 20rem; background: #eef3ec; }} {css} }}</style>",
    )


def render_many_links(skip: str) -> str:
    links = "".join(f'<li><a href="/teas?{name}">{name}</a></li>' for name in (*TEAS, *ORIGINS))
    return document(
        f'{skip}<header><nav aria-label="Shop"><ul>{links}</ul></nav></header><main id="main"><h1>Sencha</h1>'
        '<p>Steamed leaves. <a href="/orders">Order it</a></p></main>'
    )


def ordering(control: str) -> str:
    return page(
        f"<h1>Sencha</h1><p>Steamed leaves from Shizuoka.</p>{control}<p id='told' role='status'></p>"
    )


def rows(attributes: str, cell: str) -> str:
    return page(
        '<h1>Your basket</h1><table><tr><th scope="col">Tea</th></tr>'
        f'<tr {attributes}><td style="padding: .75rem">{cell}</td></tr></table>'
    ).replace("<main>", '<main id="main" tabindex="-1">')


def with_skip_link(attributes: str, script: str = "") -> str:
    link = f'<p><a href="#main" {attributes}>Skip to the main content</a></p>'
    return render_many_links(f"{link}<script>{script}</script>").replace(
        '<main id="main">', '<main id="main" tabindex="-1">'
    )


ORDER = "told.textContent = 'It is in your basket.'"

FAULTS: Sequence[Fault] = (
    Fault(
        name="a skip link that only scrolls",
        rule="focus/skip-link",
        faulty=with_skip_link('onclick="main.scrollIntoView(); return false"'),
        clean=with_skip_link('onclick="main.scrollIntoView(); main.focus(); return false"'),
    ),
    Fault(
        name="a skip link whose page takes the focus back",
        rule="focus/skip-link",
        faulty=with_skip_link("", "onhashchange = () => document.querySelector('nav a').focus();"),
        clean=with_skip_link("", "onhashchange = () => document.querySelector('main a').focus();"),
    ),
    Fault(
        name="links without an outline",
        rule="focus/not-visible",
        faulty=add_style("a:focus { outline: none; }"),
        clean=add_style("a:focus { outline: none; background: #ffe9a8; }"),
    ),
    Fault(
        name="a button whose focus ring is transparent",
        rule="focus/not-visible",
        faulty=add_style(
            "button:focus { outline: 2px solid transparent; box-shadow: 0 0 0 2px transparent; }"
        ),
        clean=add_style("button:focus { outline: 2px solid transparent; box-shadow: 0 0 0 4px #b3541e; }"),
    ),
    Fault(
        name="a text field that keeps the Tab key",
        rule="focus/trap",
        faulty=swallowing("if (event.key === 'Tab') event.preventDefault();"),
        clean=swallowing(
            "if (event.key === 'Tab' && !note.dataset.left) event.preventDefault();"
            "if (event.key === 'Escape') note.dataset.left = 'yes';"
        ),
    ),
    Fault(
        name="a part whose help names an exit that does not work",
        rule="focus/trap",
        faulty=explaining("nothing"),
        clean=explaining("m"),
    ),
    Fault(
        name="a text field whose exit does not work",
        rule="focus/trap",
        faulty=editor("nothing"),
        clean=editor("m"),
    ),
    Fault(
        name="a text field that takes the focus back",
        rule="focus/trap",
        faulty=refocusing("true"),
        clean=refocusing("note.value"),
    ),
    Fault(
        name="buttons that hand the focus to each other",
        rule="focus/trap",
        faulty=dialog(
            "last.onkeydown = event => {"
            "if (event.key === 'Tab') { event.preventDefault(); first.focus(); } };"
        ),
        clean=dialog("last.onkeydown = event => { if (event.key === 'ArrowLeft') first.focus(); };"),
    ),
    Fault(
        name="a frame that keeps the Tab key",
        rule="focus/trap",
        faulty=framing("event.key === 'Tab'"),
        clean=framing("event.key === 'ArrowDown'"),
    ),
    Fault(
        name="a field that takes the focus back after a while",
        rule="focus/trap",
        faulty=refocusing("true", delay_ms=250),
        clean=refocusing("note.value", delay_ms=250),
    ),
    Fault(
        name="a game that keeps the Tab key from the page",
        rule="focus/no-tab",
        faulty=page(f"{SIGN_UP}<script>{KEEPING.format('event.key.length > 1')}</script>"),
        clean=page(f"{SIGN_UP}<script>{KEEPING.format('event.key.startsWith(`Arrow`)')}</script>"),
    ),
    Fault(
        name="a page that cancels Tab before it reaches a field",
        rule="focus/no-tab",
        faulty=page(f"{SIGN_UP}<script>document.{KEEPING.format('event.keyCode === 9')}</script>"),
        clean=page(f"{SIGN_UP}<script>{KEEPING.format('event.keyCode === 9 && event.altKey')}</script>"),
    ),
    Fault(
        name="a button that gives the focus away",
        rule="focus/lost",
        faulty=page(SIGN_UP.replace("<button>", '<button onfocus="this.blur()">')),
        clean=page(SIGN_UP.replace("<button>", '<button onfocus="this.title = document.title">')),
    ),
    Fault(
        name="a button that is disabled when it gets the focus",
        rule="focus/lost",
        faulty=page(SIGN_UP.replace("<button>", '<button onfocus="this.disabled = true">')),
        clean=page(SIGN_UP.replace("<button>", '<button onclick="this.disabled = true">')),
    ),
    Fault(
        name="a closed menu beside the screen that takes the focus",
        rule="focus/hidden",
        faulty=menu('style="position: absolute; left: -40rem"'),
        clean=menu('style="position: absolute; left: -40rem; visibility: hidden"'),
    ),
    Fault(
        name="a folded part that takes the focus",
        rule="focus/hidden",
        faulty=menu('style="height: 0; overflow: hidden"'),
        clean=menu('style="height: 0; overflow: hidden" inert'),
    ),
    Fault(
        name="a notice over what has the focus",
        rule="focus/covered",
        faulty=notice(""),
        clean=notice("html { scroll-padding-bottom: 9rem; } body { padding-bottom: 9rem; }"),
    ),
    Fault(
        name="a row that is turned round",
        rule="focus/order",
        faulty=sizes(".sizes { flex-direction: row-reverse; justify-content: flex-end; }"),
        clean=sizes(""),
    ),
    Fault(
        name="seventeen links before the main part",
        rule="focus/no-skip-link",
        faulty=render_many_links(""),
        clean=render_many_links('<a href="#main">Skip to the content</a>'),
    ),
    Fault(
        name="a div that is clicked",
        rule="focus/unreachable",
        faulty=ordering(f'<div onclick="{ORDER}">Order</div>'),
        clean=ordering(f'<button type="button" onclick="{ORDER}">Order</button>'),
    ),
    Fault(
        name="a row that is clicked, in a main part that takes the focus of a skip link",
        rule="focus/unreachable",
        faulty=rows("onclick=\"location = '/orders'\"", "Sencha"),
        clean=rows("onclick=\"location = '/orders'\"", '<a href="/orders">Sencha</a>'),
    ),
    Fault(
        name="a button by its role alone",
        rule="focus/unreachable",
        faulty=ordering(f'<div role="button" onclick="{ORDER}">Order</div>'),
        clean=ordering(f'<div role="button" tabindex="0" onclick="{ORDER}" onkeydown="{ORDER}">Order</div>'),
    ),
    Fault(
        name="a span with the pointer of a link",
        rule="focus/unreachable",
        faulty=ordering('<p><span style="cursor: pointer">Show the price</span></p>'),
        clean=ordering("<p><span>The price is 8 euros.</span></p>"),
    ),
    Fault(
        name="a bar beside the page over what has the focus",
        rule="focus/covered",
        faulty=beside(""),
        clean=beside("header, main, footer { margin-left: 22rem; }"),
    ),
    Fault(
        name="a column that is turned round",
        rule="focus/order",
        faulty=sizes(".sizes { flex-direction: column-reverse; }"),
        clean=sizes(".sizes { flex-direction: column; }"),
    ),
    Fault(
        name="a skip link that nobody can reach",
        rule="focus/no-skip-link",
        faulty=render_many_links('<a href="#main" style="display: none">Skip to the content</a>'),
        clean=render_many_links(
            '<a href="#main" style="position: absolute; left: -99rem" onfocus="this.style.left = 0">'
            "Skip to the content</a>"
        ),
    ),
    Fault(
        name="a frame of another origin that keeps the Tab key",
        rule="focus/inside",
        faulty=framing("event.key === 'Tab'", attributes='sandbox="allow-scripts"'),
        clean=framing("event.key === 'ArrowDown'", attributes='sandbox="allow-scripts"'),
    ),
    Fault(
        name="a field in a frame of another origin that takes the focus back",
        rule="focus/inside",
        faulty=framing("", attributes='sandbox="allow-scripts"', script=TAKING_BACK),
        clean=framing("", attributes='sandbox="allow-scripts"'),
    ),
)
