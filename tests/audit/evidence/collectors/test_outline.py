"""The outline of a page: headings, landmarks, language and texts."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.collectors.outline import Outline
from footlight.audit.findings import Element, ElementBox, Fact, Finding
from footlight.audit.page.page import AuditedPage
from tests.audit.evidence.seen import collect_at, summarize
from tests.site import Site

pytestmark = pytest.mark.anyio

SHOP = """<!doctype html>
<html lang="en"><head><title>Green teas – Brook &amp; Leaf</title></head><body>
<header><nav aria-label="Shop"><a href="/">Brook &amp; Leaf</a></nav></header>
<main>
  <h1>Green   teas</h1>
  <section aria-labelledby="spring"><h2 id="spring">From this spring</h2>
    <img alt="Leaves"><img alt=""></section>
  <section><h3 hidden>Not yet</h3><div role="heading" aria-level="4">By the pot</div></section>
  <article><header><h2><img alt=""></h2></header></article>
</main>
<form aria-label="Newsletter"></form><search></search>
<div id="host"></div>
<script>host.attachShadow({mode: "open"}).innerHTML = "<aside><h2>From a component</h2></aside>"</script>
</body></html>"""


async def test_the_outline_is_reported_as_facts(any_page: AuditedPage, site: Site) -> None:
    collected = await collect_at(site.page(SHOP), any_page, Outline())

    assert collected.findings == []
    assert collected.facts == [
        Fact(
            topic="outline",
            text="Title “Green teas – Brook & Leaf”; language en; 14 words; "
            "3 images, 1 of them with a text; 26 elements.",
        ),
        Fact(
            topic="outline",
            text="Headings in order (5): h1 Green teas · h2 From this spring · h4 By the pot · h2 (empty)"
            " · h2 From a component.",
        ),
        Fact(
            topic="outline",
            text="Landmarks in order: banner · navigation “Shop” · main · region “From this spring”"
            " · form “Newsletter” · search · complementary.",
        ),
    ]


async def test_outline_finding_is_complete(page: AuditedPage, site: Site) -> None:
    url = site.page(
        "<!doctype html><html lang=en><title>Teas</title><body style='margin: 0'>"
        "<p style='height: 20px; width: 300px; margin: 0'>Hello {{ name }}, welcome"
    )

    collected = await collect_at(url, page, Outline())

    assert collected.findings == [
        Finding(
            rule="outline/left-over-text",
            severity="high",
            title="Text is shown that was meant to be replaced",
            advice="Find out why the value is missing, and say so, or show nothing, where there is none.",
            measured_by="the document as it is at 1280 px",
            elements=(
                Element(
                    selector="p",
                    html='<p style="height: 20px; width: 300px; margin: 0">Hello {{ name }}, welcome</p>',
                    text="Hello {{ name }}, welcome",
                    note="Hello {{ name }}, welcome",
                    box=ElementBox(0, 0, 300, 20),
                    width=1280,
                ),
            ),
            count=1,
        )
    ]


@pytest.mark.parametrize("title", ["Untitled", "Document", "React App", "Vite + Vue", "index.html", "Home"])
async def test_meaningless_title_is_found(page: AuditedPage, site: Site, title: str) -> None:
    url = site.page(f"<!doctype html><html lang=en><title>{title}</title><h1>Green teas</h1>")

    collected = await collect_at(url, page, Outline())

    assert summarize(collected) == {"outline/title-says-nothing": [("title", f"title “{title}”")]}


@pytest.mark.parametrize("title", ["Home – Brook & Leaf", "Documents", "Indexes", "Reactions", "Home fires"])
async def test_meaningful_title_is_not_reported(page: AuditedPage, site: Site, title: str) -> None:
    url = site.page(f"<!doctype html><html lang=en><title>{title}</title><h1>Green teas</h1>")

    assert summarize(await collect_at(url, page, Outline())) == {}


ENGLISH = (
    "The tea is picked in the spring and it is steamed, so that the leaves are green and fresh for you. "
)
DUTCH = "De thee wordt in het voorjaar geplukt en met stoom verhit, zodat het blad een frisse smaak heeft. "
RUSSIAN = "Чай собирают весной и обрабатывают паром, чтобы листья оставались зелёными и свежими. "


@pytest.mark.parametrize(
    ("lang", "text", "note"),
    [
        ("nl", ENGLISH, 'lang="nl", but the text is in the language “en”'),
        ("en-GB", DUTCH, 'lang="en-GB", but the text is in the language “nl”'),
        ("en", RUSSIAN, 'lang="en", but the text is in the language “ru”'),
        ("en", ENGLISH, None),
        ("ru", RUSSIAN, None),
        ("fi", DUTCH, 'lang="fi", but the text is in the language “nl”'),
        ("fi", "Sencha, Gyokuro und Bancha", None),
        ("en", f"{ENGLISH} <q lang=nl>{DUTCH * 9}</q>", None),
    ],
)
async def test_wrong_language_is_reported_only_when_certain(
    page: AuditedPage, site: Site, lang: str, text: str, note: str | None
) -> None:
    url = site.page(f"<!doctype html><html lang={lang}><title>Thee</title><p>{text}")

    expected = {} if note is None else {"outline/wrong-language": [("html", note)]}
    assert summarize(await collect_at(url, page, Outline())) == expected


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<p>Total: <b id=x>NaN</b> €</p>", True),
        ("<p>Sold on <span id=x>Invalid Date</span></p>", True),
        ("<p id=x>Owner: [object Object]</p>", True),
        ("<p id=x>Lorem ipsum dolor sit amet, consectetur</p>", True),
        ("<p>It answers with <i>NaN</i> for whatever is no number at all.</p>", False),
        ("<p><tt>NaN</tt> <code>{{ name }}</code> <kbd>${HOME}</kbd></p>", False),
        ("<p>Nan Shan, and Nancy. Prices in {EUR}.</p>", False),
    ],
)
async def test_placeholder_text_is_distinguished_from_text_about_it(
    page: AuditedPage, site: Site, body: str, found: bool
) -> None:
    url = site.page(f"<!doctype html><html lang=en><title>Teas</title>{body}")

    findings = (await collect_at(url, page, Outline())).findings

    expected = [("outline/left-over-text", "#x")] if found else []
    assert [(each.rule, each.elements[0].selector) for each in findings] == expected


async def test_meaningless_image_texts_are_found(page: AuditedPage, site: Site) -> None:
    url = site.page(
        "<!doctype html><html lang=en><title>Teas</title><img id=a alt='DSC_0042'><img id=b alt=image>"
        "<img id=c alt='sencha.webp'><img id=d alt=''><img id=e alt='A bowl of sencha'><a href=/><img "
        "id=f alt=Logo></a>"
    )

    assert summarize(await collect_at(url, page, Outline())) == {
        "outline/alt-says-nothing": [
            ("#a", 'alt="DSC_0042"'),
            ("#b", 'alt="image"'),
            ("#c", 'alt="sencha.webp"'),
        ]
    }


async def test_snippet_equals_the_page_source(page: AuditedPage, site: Site) -> None:
    long = "{{ name }} " + "<b>tea</b> " * 60
    url = site.page(
        f"<!doctype html><html lang=en><title>Teas</title><h1>Sale {{{{ x }}}}</h1><p id=p>{long}</p>"
    )

    collected = await collect_at(url, page, Outline())

    elements = [element for finding in collected.findings for element in finding.elements]
    assert [element.html for element in elements] == ["<h1>Sale {{ x }}</h1>", '<p id="p">…</p>']
