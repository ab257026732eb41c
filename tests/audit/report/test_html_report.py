"""The HTML report in a browser."""

from __future__ import annotations

import itertools
import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from footlight.audit.evidence.collectors.axe import AxeRules
from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.page.page import VIEWPORTS, AuditedPage, AuditViewport
from footlight.audit.report.html_report import render_html
from tests.audit.conftest import WALL_CLOCK
from tests.audit.report.audits import (
    HOSTILE,
    audit,
    element,
    evidence,
    finding,
    order_page,
    page,
    picture,
    shop,
    three_pages,
)
from tests.audit.report.verdicts import FAILED, HOSTILE_VERDICT
from tests.chromium import open_report
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio

WIDTHS = [view.width for view in VIEWPORTS]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "audit.html"
    path.write_text(render_html(shop(), verdict=FAILED), "utf-8")
    return path


@pytest.fixture
async def tab(chromium: Browser, file: Path) -> AsyncGenerator[Page]:
    async with open_report(chromium, file) as tab:
        yield tab


async def words(tab: Page, selector: str) -> str:
    return " ".join((await tab.locator(selector).inner_text()).split())


async def list_visible_findings(tab: Page) -> list[str]:
    """Return the ids of the findings that are to be seen."""
    return await tab.locator(".finding:visible").evaluate_all("all => all.map((each) => each.id)")


async def test_header_summarises_the_audit(tab: Page) -> None:
    head = await words(tab, "header")

    assert await tab.title() == (
        "UX audit: 1 critical, 1 high, 1 medium and 1 low findings on 2 pages, of which 1 failed"
        " · Order · Prompt Corner"
    )
    for part in (
        "1 critical, 1 high, 1 medium and 1 low findings on 2 pages, of which 1 failed",
        "Not passed: over 1 critical finding, at most 0 allowed",
        "1 critical blocks the reader 1 high causes great difficulty",
        "Pages 2 Goals reached 1 of 2 Judged by some-model, 1 finding Began 2026-01-15 12:00:00 UTC",
        "Findings Pages Walks Analysis Not done Made by",
    ):
        assert part.lower() in head.lower()


async def test_each_page_shows_state_and_metrics_with_limits(tab: Page) -> None:
    order = await words(tab, "#page-1")

    assert "1. Order · Prompt Corner https://shop.test/order partial HTTP 200 1 critical" in order
    for figure in (
        "Largest paint (LCP) 2.1 s good good up to 2.5 s",
        "Layout shift (CLS) 0.31 poor good up to 0.1",
        "First byte (TTFB) 900 ms fair good up to 800 ms",
        "Transferred 812 kB good good up to 3.0 MB Requests 23",
    ):
        assert figure in order
    assert await words(tab, "#page-2") == (
        "2. https://shop.test/gone https://shop.test/gone failed in 40 ms net::ERR_CONNECTION_REFUSED"
    )
    rows = [" ".join(row.split()) for row in await tab.locator("tbody tr").all_inner_texts()]
    assert rows == [
        "1. Order · Prompt Corner partial 1 1 1 1 9.1 s",
        "2. https://shop.test/gone failed 0 0 0 0 40 ms",
    ]


async def test_screenshots_are_shown_per_width_with_and_without_marks(tab: Page) -> None:
    def describe_pictures(yes: bool) -> list[str]:
        reported = ", elements with findings framed" if yes else ""
        return [f"The page at {width} px{reported}" for width in WIDTHS]

    screens = tab.locator(".screen img:visible")
    alts = "all => all.map((each) => each.alt)"
    with_marks = await screens.evaluate_all(alts)
    await tab.get_by_label("Frame elements with findings").uncheck()

    assert (with_marks, await screens.evaluate_all(alts)) == (
        describe_pictures(True),
        describe_pictures(False),
    )
    sizes = await screens.evaluate_all("all => all.map((each) => [each.naturalWidth, each.naturalHeight])")
    assert sizes == [[view.width, view.height] for view in VIEWPORTS]


@pytest.mark.slow
async def test_screenshot_can_be_enlarged_and_reduced(tab: Page) -> None:
    first = tab.locator("#page-1-at-1280")
    image = first.locator("img:visible")
    small = await image.bounding_box()
    await first.locator("a").first.click()
    large = await image.bounding_box()
    await first.get_by_role("link", name="Back to small size").click()

    assert small is not None
    assert large is not None
    assert large["width"] > small["width"] > 500
    assert await image.bounding_box() is not None
    assert await first.get_by_role("link", name="Back to small size").is_hidden()


async def test_findings_are_grouped_by_severity(tab: Page) -> None:
    headings = await tab.locator("#findings h3, #findings h4").all_inner_texts()

    assert [" ".join(each.split()) for each in headings] == [
        "critical blocks the reader",
        "1:F1 Images must have alternative text",
        "high causes great difficulty",
        "1:J1 The total is told only after paying",
        "medium slows the reader down",
        "1:F2 What is to be touched is too small",
        "low is a nuisance",
        "1:F3 The page reports an error",
    ]


async def test_finding_shows_rule_measurement_advice_and_elements(tab: Page) -> None:
    reported = await words(tab, "#page-1-F1")
    await tab.locator("#page-1-F1 summary").click()

    assert reported == (
        "1:F1 Images must have alternative text critical axe/image-alt no WCAG criterion 8 elements page 1 "
        "What to do Give each image an alt that says what it shows. More about this rule "
        "Measured axe-core 4.12.1 at 1280 px "
        'Element does not have an alt attribute main > img at 1280 px <img src="/soup.jpg"> '
        'Element does not have an alt attribute #soup-2 at 1280 px <img src="/soup.jpg"> '
        'Element does not have an alt attribute #soup-3 at 1280 px <img src="/soup.jpg"> '
        "2 elements more and 3 elements that are not listed."
    )
    assert await tab.get_by_text("#soup-5").is_visible()
    assert await tab.locator("#page-1-F1 img").get_attribute("alt") == "main > img, framed"


async def test_judged_finding_is_distinct_and_links_to_its_evidence(tab: Page) -> None:
    judged = tab.locator("#page-1-J1")
    targets = await judged.locator("a.cite").evaluate_all("all => all.map((each) => each.hash)")
    outlines = await tab.locator(".finding").evaluate_all(
        "all => all.map((each) => getComputedStyle(each).outlineStyle)"
    )

    assert "judged by a model for Ana judged/wording" in await words(tab, "#page-1-J1")
    assert targets == ["#page-1-F2", "#page-1-W3", "#page-1-P1"]
    assert outlines == ["none", "dashed", "none", "none"]
    for target in targets:
        await judged.locator(f"a[href='{target}']").click()
        await tab.locator(target).wait_for(state="visible")
        assert await tab.locator(":target").get_attribute("id") == target[1:]


async def test_walks_show_steps_and_where_they_stopped(tab: Page) -> None:
    walks = " ".join(" ".join((await tab.locator("#walks").inner_text()).split()).split())

    assert walks == (
        "Walks 1 of 2 goals reached Ana Pay for a soup stopped page 1 in 12.3 s "
        "Where https://shop.test/order Why Enter on the button does nothing. 3 steps "
        "W1 navigateToPage https://shop.test/order Order "
        "W2 pressKey Tab focus: button Pay [e7] "
        "W3 pressKey Enter failed nothing happened "
        "Ben Find the opening hours reached page 1 in 3.1 s"
    )


async def test_the_analysis_is_prose_with_the_evidence_as_links(tab: Page) -> None:
    prose = tab.locator(".prose")

    assert await prose.locator("> *").evaluate_all("all => all.map((each) => each.tagName)") == [
        *("H4", "P", "UL", "OL")
    ]
    assert await prose.locator("a").evaluate_all("all => all.map((each) => each.hash)") == [
        *("#page-1-P1", "#page-1-F2", "#page-1-W3")
    ]
    assert await words(tab, ".prose li:nth-child(2) >> nth=0") == "W3 fails, as F9 does"


async def test_skipped_work_and_provenance_are_shown(tab: Page) -> None:
    assert await words(tab, "#not-done") == (
        "Not done 3 page 1 axe-core's rules at 768 px timed out after 60 s "
        "page 1 a finding of the model: The colours are sad it cites F9, which does not exist "
        "page 2 the whole page net::ERR_CONNECTION_REFUSED"
    )
    assert await words(tab, "#made-by") == (
        "Made by Footlight 1.0.0 Server footlight 1.0.0 axe-core 4.12.1 Provider anthropic Model some-model "
        "Cost 7 requests, 22,900 tokens Personas Ana, Ben Focus checkout "
        "Began 2026-01-15 12:00:00 UTC Ended 2026-01-15 12:01:35 UTC Took 1 min 35 s"
    )


async def test_findings_can_be_filtered(tab: Page) -> None:
    """The script runs under the page's own policy."""
    every = await list_visible_findings(tab)
    chosen: dict[str, list[str]] = {}
    for label, value in (("Severity", "low (1)"), ("Found by", "a model (1)"), ("Persona", "nobody's (3)")):
        choice = tab.locator("label", has_text=label).locator("select")
        await choice.select_option(label=value)
        chosen[label] = await list_visible_findings(tab)
        await choice.select_option(label="all")
    await tab.get_by_label("Text").fill("TOUCHED")
    chosen["Text"] = await list_visible_findings(tab)
    said = await words(tab, "output")
    await tab.get_by_label("Text").fill("no such thing")

    assert every == ["page-1-F1", "page-1-J1", "page-1-F2", "page-1-F3"]
    assert chosen == {
        "Severity": ["page-1-F3"],
        "Found by": ["page-1-J1"],
        "Persona": ["page-1-F1", "page-1-F2", "page-1-F3"],
        "Text": ["page-1-F2"],
    }
    assert said == "1 of 4 shown"
    assert await tab.get_by_text("No finding matches the filter.").is_visible()
    assert await tab.locator("#findings .group:visible").count() == 0


async def test_a_rule_has_one_card_with_its_pages(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "audit.html"
    path.write_text(render_html(three_pages()), "utf-8")
    tab = await chromium.new_page()
    await tab.goto(path.as_uri())

    headings = await tab.locator("h2, #findings h4, summary:visible").all_inner_texts()
    line = await words(tab, ".finding.critical > .line")
    await tab.goto(f"{path.as_uri()}#page-3-F1")
    opened = await words(tab, "#page-3-F1 .elements")
    choice = tab.locator("[data-by=page]")
    await choice.select_option("=2")
    of_second = await words(tab, ".place:visible summary")
    await choice.select_option("=3")

    assert [" ".join(each.split()) for each in headings] == [
        "Findings 4 of 2 rules",
        "Images must have alternative text",
        *(f"{number}:F1 Order · Prompt Corner · 1 element" for number in (1, 2, 3)),
        "2:F2 Too wide",
        "Pages",
        "Made by",
    ]
    assert line == "critical axe/image-alt WCAG 1.1.1 A 3 elements on 3 pages"
    assert opened.startswith("Element does not have an alt attribute #soup-3")
    assert of_second.startswith("2:F1")
    assert await words(tab, "output") == "1 of 2 shown"
    await tab.close()


async def test_link_shows_a_finding_hidden_by_the_filter(tab: Page) -> None:
    await tab.locator("[data-by=severity]").select_option(label="low (1)")
    await tab.locator("#analysis a", has_text="F2").click()

    await tab.locator("#page-1-F2").wait_for(state="visible")
    assert len(await list_visible_findings(tab)) == 4


async def test_report_is_complete_without_scripts(chromium: Browser, file: Path) -> None:
    context = await chromium.new_context(java_script_enabled=False)
    tab = await context.new_page()
    await tab.goto(file.as_uri())

    assert await tab.locator(".finding:visible").count() == 4
    assert await tab.locator(".toolbar").is_hidden()
    await context.close()


@pytest.mark.slow
async def test_audit_of_the_report_has_no_findings(page: AuditedPage, site: Site) -> None:
    """Of no rule up to level AA, but that this server does not compress what it sends."""
    found = await collect_evidence(page, site.page(render_html(shop(), verdict=FAILED)))
    expected = {"speed/uncompressed", *WALL_CLOCK}
    others = [each for each in found.findings if each.rule not in expected and not each.is_only_aaa]

    assert [(each.rule, each.measured_by, [one.html for one in each.elements]) for each in others] == []
    assert found.skipped == []


@pytest.mark.slow
@pytest.mark.parametrize("view", sample_parameters(VIEWPORTS, VIEWPORTS[-1]), ids=lambda view: view.name)
async def test_axe_has_no_findings_in_the_report_at_any_width(
    page: AuditedPage, site: Site, view: AuditViewport
) -> None:
    html = render_html(shop(), verdict=FAILED)

    found = await collect_evidence(page, site.page(html), views=[view], collectors=[AxeRules()])

    others = [each for each in found.findings if not each.is_only_aaa]
    assert [(each.rule, [one.html for one in each.elements]) for each in others] == []
    assert (found.skipped, found.title[:8]) == ([], "UX audit")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", sample_parameters(WIDTHS, WIDTHS[0]))
async def test_report_is_readable_in_light_and_dark_scheme(tab: Page, scheme: str, width: int) -> None:
    """What is folded away too."""
    await tab.set_viewport_size({"width": width, "height": 900})
    await tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    await tab.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    await tab.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))

    violations = await tab.evaluate(
        "async () => (await axe.run(document)).violations"
        ".flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.html}`))"
    )

    assert violations == []
    assert await tab.evaluate("document.documentElement.scrollWidth") == width


async def test_report_is_usable_by_keyboard_alone(tab: Page) -> None:
    focused = "document.activeElement.textContent"
    await tab.keyboard.press("Tab")
    skip = await tab.evaluate(focused)
    await tab.keyboard.press("Tab")
    count = await tab.evaluate(focused)
    await tab.keyboard.press("Enter")

    assert (skip, count) == ("Skip to the report", "1 critical")
    assert await tab.locator(":target").get_attribute("id") == "critical"


async def test_report_has_landmarks_and_ordered_headings(tab: Page) -> None:
    levels = await tab.locator("h1, h2, h3, h4").evaluate_all(
        "all => all.map((each) => Number(each.tagName[1]))"
    )
    ids = await tab.locator("[id]").evaluate_all("all => all.map((each) => each.id)")

    assert [await tab.locator(each).count() for each in ("h1", "header", "nav", "main", "footer")] == [1] * 5
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    assert len(ids) == len({*ids})


async def test_report_has_only_known_html_elements(tab: Page) -> None:
    unknown = "all => all.filter((each) => each instanceof HTMLUnknownElement).map((each) => each.localName)"

    assert await tab.locator("*").evaluate_all(unknown) == []


async def test_printing_opens_all_details(tab: Page) -> None:
    await tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    await tab.emulate_media(media="print")

    assert await tab.get_by_text("#soup-5").is_visible()
    assert await tab.locator(".toolbar").is_hidden()


async def test_hostile_text_does_not_become_markup(chromium: Browser, tmp_path: Path) -> None:
    """Each text of an audit is hostile. What would steer a terminal is spelt out: somebody may `cat` it."""
    order = order_page()
    found = finding(
        HOSTILE,
        id=HOSTILE,
        title=HOSTILE,
        advice=HOSTILE,
        measured_by=HOSTILE,
        persona=HOSTILE,
        source="judged",
        cites=[HOSTILE, "F1"],
        help_url="javascript:alert(1)",
        elements=[element(HOSTILE, html=HOSTILE, note=HOSTILE, text=HOSTILE, picture=picture())],
    )
    hostile = audit(
        replace(
            order,
            url=f"javascript:{HOSTILE}",
            error=HOSTILE,
            evidence=evidence([found], url=HOSTILE, title=HOSTILE, metrics={HOSTILE: 1}),
            walks=[
                replace(
                    walk,
                    persona=HOSTILE,
                    goal=HOSTILE,
                    where=HOSTILE,
                    why=HOSTILE,
                    steps=[
                        replace(step, id=HOSTILE, tool=HOSTILE, input=HOSTILE, answer=HOSTILE)
                        for step in walk.steps
                    ],
                )
                for walk in order.walks
            ],
            analysis_text=f"{HOSTILE}\n\n# {HOSTILE}\n\n- `{HOSTILE}` **{HOSTILE}**",
        ),
        provenance=replace(shop().provenance, server=HOSTILE, model=HOSTILE, personas=[HOSTILE]),
    )
    html = render_html(hostile, verdict=HOSTILE_VERDICT)
    (tmp_path / "x.html").write_text(html, "utf-8")
    tab = await chromium.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))

    await tab.goto((tmp_path / "x.html").as_uri())

    assert [url for url in asked if not url.startswith("data:")] == [(tmp_path / "x.html").as_uri()]
    assert await tab.evaluate("document.title.startsWith('UX audit: 2 critical')") is False
    assert (await tab.title()).startswith("UX audit: ")
    assert [await tab.locator(each).count() for each in ("script", "style", "img")] == [1, 1, 1]
    assert await tab.locator("[href^=javascript]").count() == 0
    assert await tab.locator("h1").inner_text() == "1 critical and 1 high findings"
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html)
    await tab.close()


def test_code_in_advice_is_shown_as_code() -> None:
    found = finding(advice="Put a `<label>` above the field. A ` alone stays.")

    html = render_html(audit(replace(order_page(), evidence=evidence([found]))))

    assert "Put a <code>&lt;label&gt;</code> above the field. A ` alone stays." in html


def test_content_security_policy_allows_only_own_script_and_style(file: Path) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', file.read_text("utf-8"))

    assert policy is not None
    assert re.sub(r"sha256-[\w+/]{43}=", "HASH", policy[1]) == (
        "default-src 'none'; style-src 'HASH'; script-src 'HASH'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def test_unfinished_audit_is_marked() -> None:
    reported = "This audit is not finished. It shows the results so far."

    assert reported in render_html(replace(shop(), finished_ms=None))
    assert reported not in render_html(shop())


def test_empty_audit_still_renders_a_page() -> None:
    assert "No findings." in render_html(audit(page()))
    assert "No page was measured" in render_html(audit())


def test_large_audit_omits_pictures_and_counts_them() -> None:
    """300 findings, 500 pictures."""
    many = [
        finding(
            id=f"F{number}",
            severity="critical" if number < 10 else "low",
            count=10,
            elements=[
                element(f"#e{number}-{place}", picture=replace(picture(noise=60_000)) if place < 2 else None)
                for place in range(10)
            ],
        )
        for number in range(250)
    ]

    html = render_html(audit(page(many), page([finding()] * 50)))

    assert len(html.encode()) < 15_000_000
    displayed = html.count("data:image/jpeg")
    assert displayed > 100
    assert f"{500 - displayed} pictures of elements or screens" in html
    assert html.count("Its picture is omitted, because there are too many.") == 500 - displayed
