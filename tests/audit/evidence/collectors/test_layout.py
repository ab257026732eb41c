"""The layout at each width: overflow and legibility."""

from __future__ import annotations

import time

import pytest

from footlight.audit.evidence.collectors.layout import Layout
from footlight.audit.findings import Element, ElementBox, Fact, Finding
from footlight.audit.page.page import DESKTOP, PHONE, AuditedPage
from tests.audit.evidence.seen import collect_at, summarize
from tests.site import Site

pytestmark = pytest.mark.anyio

VIEWPORT = "<meta name=viewport content='width=device-width'>"


def document(body: str) -> str:
    head = f"<!doctype html><html lang=en>{VIEWPORT}<title>Teas</title>"
    return f"{head}<body style='margin: 0'><main>{body}</main>"


async def test_overflow_finding_names_the_overflowing_element(any_page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<div id=wide style='width: 900px; height: 40px'>Teas</div>"
            "<div style='overflow: auto'><p style='width: 2000px'>This scrolls by itself</p></div>"
        )
    )
    await any_page.open(url, PHONE)

    collected = await Layout().collect(any_page, PHONE)

    assert collected.findings == [
        Finding(
            rule="layout/overflow",
            severity="high",
            title="The page is wider than the screen",
            advice="Let it shrink: max-width: 100% for images and tables, wrapping for rows, no fixed widths "
            "in pixels; and a place of its own to scroll for what must stay wide.",
            measured_by="the boxes of elements and their lines at 360 px",
            elements=(
                Element(
                    selector="#wide",
                    html='<div id="wide" style="width: 900px; height: 40px">Teas</div>',
                    text="Teas",
                    note="its right edge is at 900 px, the screen's at 360 px",
                    box=ElementBox(0, 0, 900, 40),
                    width=360,
                ),
            ),
            count=1,
            help_url="https://www.w3.org/WAI/WCAG22/Understanding/reflow.html",
            wcag=("1.4.10 AA",),
        )
    ]
    assert collected.facts == [
        Fact(topic="layout", text="At 360 px the page is 1 screens high, its smallest text 16 px.")
    ]


async def test_unintentionally_clipped_text_is_found(page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<style>p, button { font: 16px/20px monospace; width: 100px; overflow: hidden }"
            "p { white-space: nowrap } button { height: 22px; padding: 0; border: 0 }</style>"
            "<p id=cut>twenty letters of it</p>"
            "<p style='text-overflow: ellipsis'>twenty letters of it</p>"
            "<p title='twenty letters of it'>twenty letters of it</p>"
            "<p style='overflow: auto'>twenty letters of it</p>"
            "<p style='text-indent: -99rem'>twenty letters of it</p>"
            "<div style='width: 100px; overflow: hidden'><div style='width: 900px'>"
            "a slide of a gallery, one of many</div></div><button id=low>two lines of it</button>"
        )
    )

    collected = await collect_at(url, page, Layout())

    assert {
        rule: [selector for selector, _ in elements] for rule, elements in summarize(collected).items()
    } == {"layout/cut-off": ["#cut", "#low"]}


async def test_only_visible_overlapping_texts_are_found(page: AuditedPage, site: Site) -> None:
    at = "position: absolute; margin: 0; left: 0; top:"
    url = site.page(
        document(
            f"<p style='{at} 0'>First line</p><p id=second style='{at} 4px'>Second line</p>"
            f"<p style='{at} 100px'>A page</p><p style='{at} 104px; background: #fff'>A menu that is open</p>"
            f"<p style='{at} 200px'>A slide</p><p style='{at} 204px; opacity: 0'>The next slide</p>"
            f"<p style='{at} 300px'>A list</p><p style='{at} 304px; height: 0; overflow: hidden'>Folded</p>"
            f"<p style='{at} 400px'>Glow</p><p style='{at} 400px'>Glow</p>"
        )
    )

    collected = await collect_at(url, page, Layout())

    assert summarize(collected) == {"layout/overlap": [("#second", "over “First line”")]}


async def test_size_limits_depend_on_text_and_screen(page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<p id=tiny style='font-size: 9px'>With leaves</p><p id=small style='font-size: 11px'>Per cup</p>"
            "<p>Tea<sup style='font-size: 8px'>new</sup></p><p style='font-size: 8px'>·</p>"
            "<input id=q aria-label=Name style='font-size: 14px'><input type=checkbox aria-label=Yes>"
        )
    )

    wide = await collect_at(url, page, Layout())
    await page.open(url, PHONE)
    narrow = await Layout().collect(page, PHONE)

    texts = {
        "layout/tiny-text": [("#tiny", "9 px, readable from 12 px")],
        "layout/small-text": [("#small", "11 px, readable from 12 px")],
    }
    assert summarize(wide) == texts
    assert summarize(narrow) == {**texts, "layout/field-zoom": [("#q", "14 px, phones zoom in below 16 px")]}


@pytest.mark.slow
async def test_large_page_layout_is_measured_within_a_minute(page: AuditedPage, site: Site) -> None:
    url = site.page(document("<div><p>Assam <b>and</b> Ceylon</p></div>" * 5000))
    await page.open(url, DESKTOP)
    began = time.monotonic()

    collected = await Layout().collect(page, DESKTOP)

    assert summarize(collected) == {}
    assert time.monotonic() - began < 60
