"""axe-core: in frames, in shadow roots, on large pages, and beside an axe-core of the page's own."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.collectors.axe import AxeRules
from footlight.audit.findings import Element, ElementBox, Fact, Finding
from footlight.audit.page.page import AuditedPage
from tests.audit.evidence.seen import collect_at, summarize
from tests.site import Site

pytestmark = pytest.mark.anyio


def document(body: str) -> str:
    head = "<!doctype html><html lang=en><title>Teas</title>"
    return f"{head}<body style='margin: 0'><main><h1>Teas</h1>{body}</main>"


async def test_finding_explains_how_to_satisfy_its_rule(any_page: AuditedPage, site: Site) -> None:
    axe = AxeRules()
    url = site.page(
        document(
            "<p id=grey style='position: absolute; margin: 0; left: 10px; top: 90px; width: 200px; "
            "height: 20px;"
            " color: #aaa; background: #fff; font: 16px/20px Arial'>Sold out</p>"
        )
    )

    collected = await collect_at(url, any_page, axe)
    version = (axe.version or "").rpartition(".")[0]

    contrast = (
        "Element has insufficient color contrast of 2.32 (foreground color: #aaaaaa, background color: "
        "#ffffff,"
        " font size: 12.0pt (16px), font weight: normal). Expected contrast ratio of 4.5:1"
    )
    assert collected.findings == [
        Finding(
            rule="axe/color-contrast",
            severity="high",
            title="Elements must meet minimum color contrast ratio thresholds",
            advice="Ensure the contrast between foreground and background colors meets WCAG 2 AA "
            "minimum contrast"
            f" ratio thresholds. Fix any of the following: {contrast}.",
            measured_by=f"axe-core {axe.version} at 1280 px",
            elements=(
                Element(
                    selector="#grey",
                    html='<p id="grey" style="position: absolute; margin: 0; left: 10px; top: 90px; '
                    "width: 200px; height: 20px;"
                    ' color: #aaa; background: #fff; font: 16px/20px Arial">Sold out</p>',
                    text="Sold out",
                    note=contrast,
                    box=ElementBox(10, 90, 200, 20),
                    width=1280,
                ),
            ),
            count=1,
            help_url=f"https://dequeuniversity.com/rules/axe/{version}/color-contrast?application=axeAPI",
            wcag=["1.4.3 AA"],
            act=["09o5cg", "afw4f7"],
        )
    ]


async def test_advice_names_no_measures_of_single_elements(page: AuditedPage, site: Site) -> None:
    greys = "".join(f"<p style='background: #fff; color: {each}'>Sold out</p>" for each in ("#aaa", "#bbb"))

    [found] = (await collect_at(site.page(document(greys)), page, AxeRules())).findings

    assert found.advice == (
        "Ensure the contrast between foreground and background colors meets WCAG 2 AA minimum contrast ratio "
        "thresholds."
    )
    assert ["contrast of 2.32" in each.note for each in found.elements] == [True, False]


async def test_note_names_no_more_ways_than_the_advice(page: AuditedPage, site: Site) -> None:
    [found] = (await collect_at(site.page(document("<img src='data:,'>")), page, AxeRules())).findings

    assert found.elements[0].note.count(";") == 2
    assert found.elements[0].note in found.advice


async def test_same_origin_frames_and_shadow_roots_are_checked(any_page: AuditedPage, site: Site) -> None:
    inner = site.page(
        "<!doctype html><html lang=en><title>Map</title><body style='margin: 0'><p>Map</p><img src='data:,'>"
    )
    foreign = inner.replace("127.0.0.1", "localhost")
    url = site.page(
        document(
            "<tea-card><template shadowrootmode=open><img id=leaf src='data:,'></template></tea-card>"
            f"<iframe id=map title=Map src='{inner}' style='position: absolute; left: 100px; top: "
            f"200px; border: 5px solid'>"
            f"</iframe><iframe title=Road src='{foreign}'></iframe>"
        )
    )

    collected = await collect_at(url, any_page, AxeRules())

    assert [(finding.rule, finding.count) for finding in collected.findings] == [("axe/image-alt", 2)]
    assert [each.selector for each in collected.findings[0].elements] == ["tea-card #leaf", "#map >> img"]
    framed = collected.findings[0].elements[1].box
    assert framed is not None
    assert framed.x == 105
    assert framed.y > 205
    assert collected.facts == [
        Fact(topic="page", text="1 frame of other sites, or closed by their policy, was not looked into.")
    ]


async def test_axe_of_the_page_is_preserved_and_ours_removed(page: AuditedPage, site: Site) -> None:
    inner = site.page(document("<img src='data:,'>"))
    url = site.page(
        document(
            "<script>window.axe = {run() { throw new Error('not this one') }}; window.define = () => amd = 1;"
            "define.amd = {}; window.module = {exports: 'its own'}</script>"
            f"<iframe title=Inner src='{inner}'></iframe>"
        )
    )

    collected = await collect_at(url, page, AxeRules())

    assert "axe/image-alt" in summarize(collected)
    assert await page.evaluate(
        "() => [Object.keys(axe), typeof amd, module.exports, 'axe' in frames[0], "
        "Object.keys(window).filter(key => /^(axe|doT)/.test(key))]"
    ) == [["run"], "undefined", "its own", False, ["axe"]]


@pytest.mark.slow
async def test_large_page_is_sampled_by_slow_rules(page: AuditedPage, site: Site) -> None:
    item = "<li><img src='data:,'><span style='color: #ccc'>tea</span> <a href='/teas'>buy</a></li>"
    url = site.page(document(f"<ul>{item * 2500}</ul>"))

    collected = await collect_at(url, page, AxeRules())

    assert [(finding.rule, finding.count) for finding in collected.findings] == [
        ("axe/image-alt", 2500),
        ("axe/color-contrast", 3),
    ]
    assert collected.facts == [
        Fact(
            topic="page",
            text="The page is large, so contrast was measured at 8 places, some for each look of text.",
        )
    ]


async def test_undecided_elements_are_listed_for_manual_check(page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<div style='background: linear-gradient(#fff, #000)'>"
            "<p id=over style='color: #777'>Teas</p></div>"
        )
    )

    collected = await collect_at(url, page, AxeRules())

    assert [(each.rule, [one.selector for one in each.elements]) for each in collected.to_check] == [
        ("axe/color-contrast", ["#over"])
    ]
    assert collected.findings == []


async def test_ignored_aria_attribute_has_medium_severity(page: AuditedPage, site: Site) -> None:
    url = site.page(document("<label aria-expanded=true>Name <input name=n autocomplete=off></label>"))

    collected = await collect_at(url, page, AxeRules())

    assert [(each.rule, each.severity) for each in collected.findings] == [
        ("axe/aria-allowed-attr", "medium")
    ]


async def test_frame_offset_does_not_depend_on_page_functions(page: AuditedPage, site: Site) -> None:
    inside = "<body style=margin:0><img src=x>"
    frame = f"<iframe id=map title=Map style='border: 2px solid' srcdoc='{inside}'></iframe>"
    script = "map.getBoundingClientRect = () => ({ x: 5000, y: 5000 })"
    url = site.page(
        "<!doctype html><html lang=en><title>Map</title><body style='margin: 40px'>"
        f"{frame}<script>{script}</script>"
    )

    collected = await collect_at(url, page, AxeRules(rule="image-alt"))

    box = collected.findings[0].elements[0].box
    assert box is not None
    assert (box.x, box.y) == (42, 42)
