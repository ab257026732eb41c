"""The focus order, by really pressing Tab: visible focus, traps, and unreachable controls."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.collectors.focus import FocusOrder
from footlight.audit.findings import Element, ElementBox, Fact, Finding
from footlight.audit.page.page import AuditedPage
from tests.audit.evidence.seen import collect_at, summarize
from tests.site import Site

pytestmark = pytest.mark.anyio

LINKS = "<a href=/1>one</a> <button>two</button> <input aria-label=three> <a href=/4>four</a>"


def document(body: str) -> str:
    return f"<!doctype html><html lang=en><title>Teas</title><body style='margin: 0'><main>{body}</main>"


def order_of(text: str) -> list[Fact]:
    return [Fact(topic="focus", text=text)]


async def test_focus_order_is_reported(any_page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            f"{LINKS}<label>Day <input type=date></label>"
            "<input type=radio name=a aria-label=Small checked><input type=radio name=a aria-label=Large>"
            "<button autofocus>next</button><iframe title=Map srcdoc='<a href=/>x</a><a href=/>y</a>'>"
            "</iframe>"
        )
    )

    collected = await collect_at(url, any_page, FocusOrder())

    assert summarize(collected) == {}
    assert collected.facts == order_of(
        "Tab stops (8): 1 link “one”, 2 button “two”, 3 text field “three”, 4 link “four”, "
        "5 text field “Day”, 6 radio “Small”, 7 button “next”, 8 frame “Map”; then it comes round."
    )
    assert collected.metrics == {"focus_stops": 8}


async def test_focus_finding_describes_its_measurement(page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<style>a { outline: none; position: absolute; left: 10px; top: 20px; width: 90px; height: 30px }"
            "</style><a href=/1>one</a>"
        )
    )

    collected = await collect_at(url, page, FocusOrder())

    assert collected.findings == [
        Finding(
            rule="focus/not-visible",
            severity="high",
            title="Nothing shows that an element has the focus",
            advice="Give :focus-visible an outline of at least 2 px that stands out from what is around it. "
            "Do not take the browser's away without one of your own.",
            measured_by="4 presses of Tab at 1280 px",
            elements=(
                Element(
                    selector="a",
                    html='<a href="/1">one</a>',
                    text="one",
                    note="looks the same with the focus as without",
                    box=ElementBox(10, 20, 90, 30),
                    width=1280,
                ),
            ),
            count=1,
            help_url="https://www.w3.org/WAI/WCAG22/Understanding/focus-visible.html",
            wcag=("2.4.7 AA",),
            act=("oj04fd",),
        )
    ]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "shown_by",
    [
        "<style>button { outline: none; transition: 9s } button:focus { box-shadow: 0 0 0 3px }</style>"
        "<button>one</button>",
        "<style>input { position: absolute; opacity: 0 } input:focus + span { outline: 2px solid }</style>"
        "<label><input type=checkbox><span>one</span></label>",
        "<style>a { outline: none } p:focus-within { background: yellow }</style><p><a href=/1>one</a></p>",
        "<style>a { outline: none } a:focus::before { content: '▸' }</style><a href=/1>one</a>",
        "<style>input { outline: none }</style><input aria-label=one>",
        "<style>a { position: absolute; left: -99rem } a:focus { left: 0 }</style><a href='#one'>skip</a>",
        "<dialog id=d><button>yes</button><button>no</button></dialog><script>d.showModal()</script>",
    ],
    ids=["shadow", "neighbour", "parent", "before", "caret", "skip link", "dialog"],
)
async def test_various_focus_indicators_are_accepted(page: AuditedPage, site: Site, shown_by: str) -> None:
    collected = await collect_at(site.page(document(shown_by)), page, FocusOrder())

    assert summarize(collected) == {}


@pytest.mark.slow
async def test_focus_trap_is_one_that_escape_does_not_leave(page: AuditedPage, site: Site) -> None:
    kept = (
        "<textarea aria-label=Code onkeydown=\"if (event.key == 'Tab') event.preventDefault()\"></textarea>"
    )
    left = kept.replace("'Tab'", "'Tab' && !window.left").replace(
        ')"', "); window.left ||= event.key == 'Escape'\""
    )

    trapped = await collect_at(site.page(document(f"{LINKS}{kept}<button>Save</button>")), page, FocusOrder())
    opened = await collect_at(site.page(document(f"{LINKS}{left}<button>Save</button>")), page, FocusOrder())

    assert summarize(trapped) == {
        "focus/trap": [("textarea", "Tab and Escape do not leave it; not reached: 1")]
    }
    assert [each.severity for each in trapped.findings] == ["critical"]
    assert summarize(opened) == {}
    assert opened.metrics == {"focus_stops": 6}


async def test_open_shadow_roots_are_entered(page: AuditedPage, site: Site) -> None:
    shadow = "<style>button { outline: none }</style><button>one</button><button>two</button>"
    url = site.page(
        document(
            f"<tea-card><template shadowrootmode=open>{shadow}</template></tea-card>"
            f"<tea-pot><template shadowrootmode=closed>{shadow}</template></tea-pot>"
        )
    )

    collected = await collect_at(url, page, FocusOrder())

    same = "looks the same with the focus as without"
    assert summarize(collected) == {
        "focus/not-visible": [
            ("tea-card button:nth-of-type(1)", same),
            ("tea-card button:nth-of-type(2)", same),
        ]
    }


async def test_only_clearly_clickable_elements_are_unreachable(page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<div id=buy onclick='buy()'>Buy</div><div onclick='open()'><a href=/1>inside</a></div>"
            "<div onclick='event.stopPropagation()'>a dialog</div><div role=tablist><b role=tab>Tea</b></div>"
            "<span id=pay role=button>Pay</span><label style='cursor: pointer'>Name <input></label>"
            "<a href=/2><b style='cursor: pointer'>More</b></a><i id=less style='cursor: pointer'>Less</i>"
        )
    )

    collected = await collect_at(url, page, FocusOrder())

    assert summarize(collected) == {
        "focus/unreachable": [
            ("#buy", "answers to a click, but Tab does not stop there"),
            ("#pay", "has the role button, but Tab does not stop there"),
            ("#less", "shows the pointer of a link, but Tab does not stop there"),
        ]
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h1>Teas</h1>", "Tab: nothing on the page takes the focus."),
        (
            "<button onfocus='this.remove()'>one</button><a href=/2>two</a>",
            "Tab stops (1): 1 link “two”; then it comes round.",
        ),
        (
            f"<script>onkeydown = event => event.stopImmediatePropagation()</script>{LINKS}",
            "Tab stops (4): 1 link “one”, 2 button “two”, 3 text field “three”, 4 link “four”; "
            "then it comes round.",
        ),
    ],
    ids=["nothing", "removes itself", "keeps keys"],
)
async def test_focus_is_followed_on_a_changing_page(
    page: AuditedPage, site: Site, body: str, expected: str
) -> None:
    collected = await collect_at(site.page(document(body)), page, FocusOrder())

    assert collected.facts == order_of(expected)


@pytest.mark.slow
async def test_focus_stops_are_limited_on_an_endless_page(page: AuditedPage, site: Site) -> None:
    more = "document.body.insertAdjacentHTML('beforeend', '<p><a href=/>more</a></p>')"
    url = site.page(document(f"<script>addEventListener('focusin', () => {more})</script><a href=/1>one</a>"))

    collected = await collect_at(url, page, FocusOrder())

    assert collected.metrics == {"focus_stops": 80}


async def test_focus_collector_leaves_nothing_on_the_page(page: AuditedPage, site: Site) -> None:
    await collect_at(site.page(document(LINKS)), page, FocusOrder())

    left = await page.evaluate(
        "() => [document.adoptedStyleSheets.length, Object.getOwnPropertySymbols(window)"
        ".filter(each => String(each).includes('footlight.focus')).length, document.body.children.length]"
    )

    assert left == [0, 0, 1]


BUTTONS = "<button id=one>one</button><button id=two>two</button><button id=three>three</button>"


@pytest.mark.slow
@pytest.mark.parametrize("pause_ms", [0, 10, 80])
async def test_focus_trap_is_found_at_any_timer_delay(page: AuditedPage, site: Site, pause_ms: int) -> None:
    script = f"<script>two.onblur = () => setTimeout(() => one.focus(), {pause_ms})</script>"

    collected = await collect_at(site.page(document(f"{BUTTONS}{script}")), page, FocusOrder())

    [trap] = [each for each in collected.findings if each.rule == "focus/trap"]
    assert (trap.severity, trap.wcag, trap.act) == ("critical", ("2.1.2 A",), ("80af7b", "a1b64e", "ebe86a"))
    assert [each.note for each in trap.elements] == ["Tab and Escape do not leave it; not reached: 1"]


@pytest.mark.slow
async def test_focus_trap_with_documented_exit_key_is_not_reported(page: AuditedPage, site: Site) -> None:
    leaving = (
        "<p>Press the M-key to exit.</p>"
        f"{BUTTONS}<script>let isOpen = false;"
        "two.onkeydown = event => { if (event.key === 'm') isOpen = true;"
        " if (event.key === 'Tab' && !isOpen) { event.preventDefault(); one.focus(); } };"
        "one.onkeydown = event => { if (event.key === 'm') isOpen = true; };</script>"
    )

    left = await collect_at(site.page(document(leaving)), page, FocusOrder())
    kept = await collect_at(
        site.page(document(leaving.replace("isOpen = true", "isOpen = false"))), page, FocusOrder()
    )

    assert "focus/trap" not in summarize(left)
    assert [each.severity for each in kept.findings if each.rule == "focus/trap"] == ["high"]


async def test_an_area_of_an_image_map_is_not_hidden(page: AuditedPage, site: Site) -> None:
    image = "<img alt=Map usemap=#m width=90 height=90 src='data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22/>'>"
    areas = "<map name=m><area href=/1 shape=rect coords='0,0,40,40' alt=North></map>"

    collected = await collect_at(site.page(document(f"{image}{areas}")), page, FocusOrder())

    assert "focus/hidden" not in summarize(collected)


KEEPS = "addEventListener('keydown', (event) => event.key === 'Tab' && event.preventDefault())"


@pytest.mark.slow
async def test_a_frame_that_keeps_the_focus_is_a_trap(page: AuditedPage, site: Site) -> None:
    frame = f"<iframe title=Map srcdoc='<a href=/>x</a><script>{KEEPS.replace(chr(39), '&quot;')}</script>'>"

    collected = await collect_at(site.page(document(f"{frame}</iframe>{LINKS}")), page, FocusOrder())

    assert summarize(collected) == {
        "focus/trap": [("iframe", "Tab and Escape do not leave it; not reached: 4")]
    }


@pytest.mark.slow
async def test_closed_shadow_root_is_listed_for_manual_check(page: AuditedPage, site: Site) -> None:
    define = f"""customElements.define('x-map', class extends HTMLElement {{
      connectedCallback() {{
        this.attachShadow({{mode: 'closed'}}).innerHTML = '<button>x</button>';
        this.{KEEPS};
      }}
    }})"""

    collected = await collect_at(
        site.page(document(f"<x-map></x-map>{LINKS}<script>{define}</script>")), page, FocusOrder()
    )

    assert collected.findings == []
    assert [(each.rule, each.elements[0].selector) for each in collected.to_check] == [
        ("focus/inside", "x-map")
    ]


async def test_page_that_blocks_tab_is_found(page: AuditedPage, site: Site) -> None:
    collected = await collect_at(
        site.page(document(f"<p>Teas</p><button>one</button><script>{KEEPS}</script>")), page, FocusOrder()
    )

    assert summarize(collected) == {"focus/no-tab": [("button", "did not get the focus")]}


@pytest.mark.slow
async def test_focus_trap_by_late_timer_is_found_repeatedly(page: AuditedPage, site: Site) -> None:
    script = "two.onblur = () => setTimeout(() => two.focus(), 300)"
    url = site.page(document(f"{LINKS.replace('<button', '<button id=two')}<script>{script}</script>"))

    for _ in range(2):
        assert [*summarize(await collect_at(url, page, FocusOrder()))] == ["focus/trap"]
