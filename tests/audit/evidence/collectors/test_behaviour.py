"""Behaviour without interaction: motion, media and overlays."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.collectors.behaviour import Behaviour
from footlight.audit.page.page import AuditedPage
from tests.audit.evidence.seen import collect_at, summarize
from tests.site import Site

pytestmark = pytest.mark.anyio

ABOUT = "<p>Our teas come from small gardens that we have known for years.</p>" * 6
SWAY = (
    "div { width: 200px; height: 90px; animation: sway 1s infinite } @keyframes sway { to { rotate: 9deg } }"
)
NO_SELECTION = "p { user-select: none }"


def document(body: str, css: str = "") -> str:
    head = f"<!doctype html><html lang=en><title>Teas</title><style>{css}</style>"
    return f"{head}<body><h1>Teas</h1>{ABOUT}{body}"


@pytest.mark.parametrize(
    ("body", "css", "found"),
    [
        ("<div>Sale</div>", SWAY, {"page/endless-motion": [("div", "the animation sway never ends")]}),
        ("<div>Sale</div>", SWAY.replace("infinite", "2"), {}),
        ("<div>Sale</div>", SWAY + "@media (prefers-reduced-motion) { div { animation: none } }", {}),
        ("<div>Sale</div><button>Stop</button>", SWAY, {}),
        ("<div role=status>Loading</div>", SWAY, {}),
        (
            "<div id=news role=dialog style='position: fixed; inset: 0; background: #fff'>Our letter</div>",
            "",
            {"page/overlay": [("#news", "covers 100 % of the screen as soon as the page is there")]},
        ),
        ("<div style='position: fixed; inset: auto 0 0; height: 60px'>Cookies</div>", "", {}),
        (
            "",
            NO_SELECTION,
            {"page/no-selection": [("body", "99 % of the text cannot be selected")]},
        ),
        (
            "<script>oncontextmenu = event => { event.preventDefault(); }</script>",
            "",
            {"page/no-context-menu": [("body", "the menu of the browser does not open")]},
        ),
        ("<script>oncontextmenu = event => { event.preventDefault(); show(event); }</script>", "", {}),
    ],
)
async def test_only_unrequested_page_behaviour_is_reported(
    page: AuditedPage, site: Site, body: str, css: str, found: object
) -> None:
    collected = await collect_at(site.page(document(body, css)), page, Behaviour())

    assert summarize(collected) == found


async def test_full_screen_application_is_not_an_overlay(any_page: AuditedPage, site: Site) -> None:
    shell = f"<div style='position: fixed; inset: 0'>{ABOUT}</div>"
    url = site.page(f"<!doctype html><html lang=en><title>Teas</title>{shell}")

    assert summarize(await collect_at(url, any_page, Behaviour())) == {}
