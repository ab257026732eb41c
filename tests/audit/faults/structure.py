"""Faults of headings, landmarks, languages, tables and lists."""

from __future__ import annotations

from collections.abc import Sequence

from tests.audit.faults.fault import Fault
from tests.audit.faults.pages import document, page

__all__ = ["FAULTS"]

BREWING = """
  <p>Sencha is steamed within hours of picking, which keeps its leaves green and its taste fresh.</p>
  <h2>Brewing</h2>
  <p>Take five grams for a pot. Let boiling water stand for five minutes before you pour it.</p>
"""

STEAMED = (
    "<p>Sencha is steamed within hours of picking, which keeps its leaves green and its taste fresh.</p>"
    "<p>Take five grams for a pot, and let boiling water stand for five minutes before you pour it.</p>"
)
MENU = '<ul><li><a href="/">Start</a></li><li><a href="/teas">Teas</a></li></ul>'

GERMAN = """
  <h1>Grüner Tee</h1>
  <p>Sencha wird innerhalb von wenigen Stunden nach der Ernte gedämpft, und das hält die Blätter grün und den
  Geschmack frisch. Für eine Kanne sind fünf Gramm genug. Das Wasser ist nach dem Kochen zu heiß für
  die Blätter, und mit der Zeit werden sie bitter: nicht mit kochendem Wasser aufgießen, nur mit heißem.
  Die zweite Tasse ist für viele die beste, und auch die dritte ist gut. Wir schicken den Tee in
  einer Dose, die ihn vor Licht und Luft schützt, und legen ein Blatt mit der Anleitung bei.</p>
"""

HEBREW = (
    "<h1>תה ירוק</h1>" + "<p>העלים מאודים תוך שעות ספורות מרגע הקטיף וכך נשמר צבעם הירוק וטעמם הרענן</p>" * 5
)
ARABIC = "شاي أخضر ياباني تُبخَّر أوراقه بعد ساعات قليلة من قطفها فيبقى لونها أخضر وطعمها طازجا"

PRICES = (
    ("Tea", "50 g", "100 g", "250 g"),
    ("Sencha", "£6", "£11", "£25"),
    ("Gyokuro", "£14", "£27", "£64"),
    ("Bancha", "£4", "£7", "£15"),
    ("Genmaicha", "£5", "£9", "£20"),
)


def prices(header: str) -> str:
    """Return a page with a table whose first row and column have cells of this element."""
    kinds = [[header if 0 in (row, column) else "td" for column in range(4)] for row in range(5)]
    rows = [
        "".join(f"<{kind}>{cell}</{kind}>" for kind, cell in zip(*row, strict=True))
        for row in zip(kinds, PRICES, strict=True)
    ]
    return page("<h1>Prices</h1><table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>")


def render_list(items: str) -> str:
    return page(
        f"<h1>Delivery</h1><p>We send within the country:</p>{items}<p>Ask us about other places.</p>"
    )


FAULTS: Sequence[Fault] = (
    Fault(
        name="a heading of a level that skips one",
        rule="axe/heading-order",
        faulty=page(f"<h1>Sencha</h1>{BREWING.replace('h2', 'h4')}"),
        clean=page(f"<h1>Sencha</h1>{BREWING}"),
    ),
    Fault(
        name="a heading with nothing in it",
        rule="axe/empty-heading",
        faulty=page(f"<h1>Sencha</h1><h2></h2>{BREWING}"),
        clean=page(f"<h1>Sencha</h1><h2>Its leaves</h2>{BREWING}"),
    ),
    Fault(
        name="a page without a first heading",
        rule="axe/page-has-heading-one",
        faulty=page(f'<p class="title">Sencha</p>{BREWING}'),
        clean=page(f"<h1>Sencha</h1>{BREWING}"),
    ),
    Fault(
        name="text outside of all landmarks",
        rule="axe/region",
        faulty=document(f"<main><h1>Sencha</h1>{BREWING}</main><div>Free delivery from £30 on.</div>"),
        clean=document(f"<main><h1>Sencha</h1>{BREWING}</main><footer>Free delivery from £30 on.</footer>"),
    ),
    Fault(
        name="two navigations of the same name",
        rule="axe/landmark-unique",
        faulty=page(f'<h1>Sencha</h1>{BREWING}<nav aria-label="Shop"><a href="/teas">All teas</a></nav>'),
        clean=page(f'<h1>Sencha</h1>{BREWING}<nav aria-label="Related"><a href="/teas">All teas</a></nav>'),
    ),
    Fault(
        name="a title of the framework",
        rule="outline/title-says-nothing",
        faulty=page(f"<h1>Sencha</h1>{BREWING}", title="Vite + React + TS"),
        clean=page(f"<h1>Sencha</h1>{BREWING}", title="Home – Brook & Leaf"),
    ),
    Fault(
        name="a page without a title",
        rule="axe/document-title",
        faulty=page(f"<h1>Sencha</h1>{BREWING}", title=""),
        clean=page(f"<h1>Sencha</h1>{BREWING}", title="Sencha"),
    ),
    Fault(
        name="a page without a language",
        rule="axe/html-has-lang",
        faulty=page(f"<h1>Sencha</h1>{BREWING}", lang=""),
        clean=page(f"<h1>Sencha</h1>{BREWING}", lang="en-GB"),
    ),
    Fault(
        name="a German page that says it is English",
        rule="outline/wrong-language",
        faulty=page(GERMAN, lang="en"),
        clean=page(f"{GERMAN}<p lang='en'>The English say tea.</p>", lang="de"),
    ),
    Fault(
        name="a short Dutch page that says it is English",
        rule="outline/wrong-language",
        faulty=document(
            "<main><h1>Groene thee</h1><p>Giet nooit kokend water op de bladeren van deze thee.</p></main>",
            title="Groene thee – Brook & Leaf",
        ),
        clean=page("<h1>Green tea</h1><p>Never pour boiling water on these. In Dutch it is “thee”.</p>"),
    ),
    Fault(
        name="a French greeting that says it is Dutch",
        rule="outline/wrong-language-of-part",
        faulty=page(f"<h1>Sencha</h1>{BREWING}<p lang='nl'>Bonne année à tous nos clients !</p>"),
        clean=page(f"<h1>Sencha</h1>{BREWING}<p lang='fr'>Bonne année à tous nos clients !</p>"),
    ),
    Fault(
        name="an English sentence that says it is German",
        rule="outline/wrong-language-of-part",
        faulty=page(f"<h1>Sencha</h1>{BREWING}<p lang='de'>We send our tea in small tins.</p>"),
        clean=page(f"<h1>Sencha</h1>{BREWING}<p lang='de'>Wir schicken den Tee in Dosen.</p>"),
    ),
    Fault(
        name="no way past the navigation",
        rule="outline/no-bypass",
        faulty=document(f"<nav>{MENU}</nav><div><p><b>Sencha</b></p>{STEAMED}</div>"),
        clean=page(f"<h1>Sencha</h1>{STEAMED}"),
    ),
    Fault(
        name="a skip link to what is to be skipped",
        rule="outline/no-bypass",
        faulty=document(
            f'<a href="#menu">Skip the menu</a><nav id="menu">{MENU}</nav>'
            f"<div><p><b>Sencha</b></p>{STEAMED}</div>"
        ),
        clean=page(f"<h1>Sencha</h1>{STEAMED}"),
    ),
    Fault(
        name="content without a heading",
        rule="outline/no-content-heading",
        faulty=document(f"<nav><h1>Shop</h1>{MENU}</nav><main>{STEAMED}</main>"),
        clean=page(f"<h1>Sencha</h1>{STEAMED}"),
    ),
    Fault(
        name="a heading that is out of sight",
        rule="outline/no-content-heading",
        faulty=page(f'<h1 style="position: absolute; left: -9999px">Sencha</h1>{STEAMED}'),
        clean=page(f"<h1>Sencha</h1>{STEAMED}"),
    ),
    Fault(
        name="a description of a role that is not there",
        rule="outline/description-of-no-role",
        faulty=page('<h1>Sencha</h1><p aria-roledescription="slide">Steamed leaves.</p>'),
        clean=page('<h1>Sencha</h1><p role="group" aria-label="1" aria-roledescription="slide">Steamed.</p>'),
    ),
    Fault(
        name="braille for a heading that is none",
        rule="outline/description-of-no-role",
        faulty=page('<h1>Teas</h1><h2 role="none" aria-brailleroledescription="tea">Sencha</h2>'),
        clean=page(
            '<h1>Teas</h1><h2 aria-brailleroledescription="tea" aria-roledescription="tea">Sencha</h2>'
        ),
    ),
    Fault(
        name="a name that screen readers leave out",
        rule="axe/aria-prohibited-attr",
        faulty=page("<h1>Sencha</h1><p>Now <span aria-label='one euro'>€1</span> for a tin.</p>"),
        clean=page("<h1>Sencha</h1><p>Now <a href='/teas' aria-label='€1, one euro'>€1</a> for a tin.</p>"),
    ),
    Fault(
        name="a heading of a column without cells",
        rule="axe/th-has-data-cells",
        faulty=page("<h1>Teas</h1><table><tr><th>Tea<th>Price<tr><td>Sencha</table>"),
        clean=page("<h1>Teas</h1><table><tr><th>Tea<th>Price<tr><td>Sencha<td>€1</table>"),
    ),
    Fault(
        name="a label of a card that has no role",
        rule="axe/aria-prohibited-attr",
        faulty=page("<h1>Teas</h1><div aria-label='Sencha'>Steamed leaves from Shizuoka.</div>"),
        clean=page("<h1>Teas</h1><div role='group' aria-label='Sencha'>Steamed leaves from Shizuoka.</div>"),
    ),
    Fault(
        name="a heading of a row alone",
        rule="axe/th-has-data-cells",
        faulty=page("<h1>Teas</h1><table><tr><th>Tea<td>Price<tr><th scope=row>Sencha</table>"),
        clean=page("<h1>Teas</h1><table><tr><th>Tea<th>Price<tr><th scope=row>Sencha<td>€1</table>"),
    ),
    Fault(
        name="a page that is replaced tomorrow",
        rule="axe/meta-refresh-no-exceptions",
        faulty=page(
            f"<h1>Sencha</h1>{BREWING}", head='<meta http-equiv="refresh" content="72001; url=/teas">'
        ),
        clean=page(f"<h1>Sencha</h1>{BREWING}"),
    ),
    Fault(
        name="a page that loads itself each day",
        rule="axe/meta-refresh-no-exceptions",
        faulty=page(f"<h1>Sencha</h1>{BREWING}", head='<meta http-equiv="refresh" content="86400">'),
        clean=page(f"<h1>Sencha</h1>{BREWING}"),
    ),
    Fault(
        name="a Hebrew page from left to right",
        rule="outline/wrong-direction",
        faulty=document(f"<main>{HEBREW}</main>", title="תה ירוק", lang="he"),
        clean=document(f'<main dir="rtl">{HEBREW}</main>', title="תה ירוק", lang="he"),
    ),
    Fault(
        name="letters in a wrong encoding",
        rule="outline/garbled-text",
        faulty=page("<h1>Our growers</h1><p>JosÃ© sends us his first flush in May.</p>"),
        clean=page(
            "<h1>Our growers</h1><p>José and João send us their first flush in May, at 20 °C – “early”.</p>"
        ),
    ),
    Fault(
        name="a value that was never put in",
        rule="outline/left-over-text",
        faulty=page("<h1>Your basket</h1><p>Hello {{ customer.name }}, you have two teas in it.</p>"),
        clean=page(
            "<h1>Templates</h1><p>Write <code>{{ customer.name }}</code> where the name shall be.</p>"
        ),
    ),
    Fault(
        name="a table without headers",
        rule="axe/td-has-header",
        faulty=prices("td"),
        clean=prices("th"),
    ),
    Fault(
        name="a list of drawn bullets",
        rule="outline/drawn-list",
        faulty=render_list(
            "<p>• by post, in three days</p><p>• by courier, the next day</p><p>• to our shop</p>"
        ),
        clean=render_list(
            "<ul><li>by post, in three days</li><li>by courier, the next day</li><li>to our shop</li></ul>"
        ),
    ),
    Fault(
        name="a list with something else in it",
        rule="axe/list",
        faulty=render_list("<ul><div>by post, in three days</div><li>by courier</li></ul>"),
        clean=render_list("<ul><li><div>by post, in three days</div></li><li>by courier</li></ul>"),
    ),
    Fault(
        name="a page that cannot be enlarged",
        rule="axe/meta-viewport",
        faulty=page(f"<h1>Sencha</h1>{BREWING}").replace(
            "initial-scale=1", "maximum-scale=1, user-scalable=no"
        ),
        clean=page(f"<h1>Sencha</h1>{BREWING}").replace(
            "initial-scale=1", "initial-scale=1, viewport-fit=cover"
        ),
    ),
    Fault(
        name="a page that is turned back to portrait",
        rule="axe/css-orientation-lock",
        faulty=page(
            f"<h1>Sencha</h1>{BREWING}",
            head="<style>@media (orientation: landscape) { body { transform: rotate(90deg); } }</style>",
        ),
        clean=page(
            f"<h1>Sencha</h1>{BREWING}",
            head="<style>@media (orientation: landscape) { body { transform: rotate(0deg); } }</style>",
        ),
    ),
    Fault(
        name="a main part that is turned in landscape",
        rule="axe/css-orientation-lock",
        faulty=page(
            f"<h1>Sencha</h1>{BREWING}",
            head="<style>@media (orientation: landscape) { main { transform: rotate(-90deg); } }</style>",
        ),
        clean=page(
            f"<h1>Sencha</h1>{BREWING}",
            head="<style>@media (orientation: landscape) { main { padding-left: 2rem; } }</style>",
        ),
    ),
    Fault(
        name="a title that is the name of a file",
        rule="outline/title-says-nothing",
        faulty=page(f"<h1>Sencha</h1>{BREWING}", title="index.html"),
        clean=page(f"<h1>Sencha</h1>{BREWING}", title="Index of all teas"),
    ),
    Fault(
        name="an Arabic paragraph from left to right",
        rule="outline/wrong-direction",
        faulty=page(f'<h1>Sencha</h1>{BREWING}<p lang="ar">{ARABIC}</p>'),
        clean=page(f'<h1>Sencha</h1>{BREWING}<p lang="ar" dir="rtl">{ARABIC}</p>'),
    ),
    Fault(
        name="quotation marks in a wrong encoding",
        rule="outline/garbled-text",
        faulty=page("<h1>Our growers</h1><p>Itâ€™s the first flush, and Marta calls it â€œearlyâ€\x9d.</p>"),
        clean=page("<h1>Our growers</h1><p>It’s the first flush of <span lang='pt'>SÃO TOMÉ</span>.</p>"),
    ),
    Fault(
        name="an object in place of a price",
        rule="outline/left-over-text",
        faulty=page("<h1>Your basket</h1><p>Together: [object Object]</p>"),
        clean=page("<h1>Your basket</h1><p>Together: €14 [including tax]</p>"),
    ),
    Fault(
        name="a list of drawn bullets in one paragraph",
        rule="outline/drawn-list",
        faulty=render_list("<p>✓ by post, in three days<br>✓ by courier, the next day<br>✓ to our shop</p>"),
        clean=render_list("<p>Mill Lane 12<br>Hebden<br>Open from nine to five ✓</p>"),
    ),
)
