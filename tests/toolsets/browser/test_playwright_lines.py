"""An action reports its element as a line of Playwright for Python, which finds it elsewhere."""

from __future__ import annotations

import re
from typing import Any

import playwright.async_api
import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

INSIDE = "<button data-mark=framed>Pay</button>"
PAGE = f"""<title>Orders</title><h1>Orders</h1>
<form aria-label=Delivery><label>Name <input data-mark=name></label>
<button type=button data-mark=save>Save</button>
<button type=button data-testid=save-all data-mark=all>Save all</button></form>
<form aria-label=Billing><button type=button data-mark=billing>Save</button></form>
<button data-mark=quoted>Say "hi" \\ >> it's go</button>
<div tabindex=0 data-mark=bare style="height: 9px"></div>
<iframe name=card srcdoc='{INSIDE}'></iframe>"""


async def lines(browser: SessionBrowser, tool: str, /, **arguments: Any) -> Any:
    content: Any = (await browser.answer(tool, locator=True, **arguments)).structured_content
    assert content["success"], content
    return content["locator"]


async def ref(browser: SessionBrowser, words: str) -> str:
    seen = (await browser.call("snapshot"))["snapshot"]
    found = re.search(rf"\b(e\d+) {words}", seen)
    assert found, seen
    return found[1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("words", "mark", "expected"),
    [
        ('textbox "Name"', "name", 'page.get_by_role("textbox", name="Name", exact=True)'),
        ('button "Save all"', "all", 'page.get_by_test_id("save-all")'),
        (
            'button "Save"\n e\\d+ button "Save all',
            "save",
            'page.get_by_role("form", name="Delivery", exact=True)'
            '.get_by_role("button", name="Save", exact=True)',
        ),
        (
            'button "Say',
            "quoted",
            r'page.get_by_role("button", name="Say \"hi\" \\ >> it' "'" 's go", exact=True)',
        ),
        ("generic", "bare", None),
        (
            'button "Pay"',
            "framed",
            'page.frame_locator(":is(iframe, frame):is([name=\\"card\\"], [id=\\"card\\"])")'
            '.get_by_role("button", name="Pay", exact=True)',
        ),
    ],
    ids=str,
)
async def test_playwright_line_of_an_action_finds_its_element(
    browser: SessionBrowser,
    chromium: playwright.async_api.Browser,
    words: str,
    mark: str,
    expected: str | None,
) -> None:
    await browser.show(PAGE)

    line = await lines(browser, "click", selector=await ref(browser, words))

    assert expected in (None, line)
    async with await chromium.new_context() as context:
        page = await context.new_page()
        await page.goto(browser.site.page(PAGE))
        assert await eval(line, {"page": page}).get_attribute("data-mark", timeout=10_000) == mark


TWO_SHADES = """<div id=host><button data-mark=light>Shade</button></div><x-b></x-b><script>
for (const host of [document.querySelector('#host'), document.querySelector('x-b')]) {
  const shade = host.attachShadow({ mode: 'open' });
  shade.innerHTML = `<button data-mark=${host.localName}>Shade</button><p></p><slot></slot>`;
  const inner = shade.querySelector('p').attachShadow({ mode: 'open' });
  inner.innerHTML = `<button data-mark=${host.localName}-inner>Shade</button>`;
}</script>"""
CONFUSING = f"""<title>Places</title>
<details><summary data-mark=summary>More</summary></details>
<button data-mark=picture><img alt=Pay><span>now</span></button>
<figure><figcaption tabindex=0 data-mark=caption aria-label=Figure>x</figcaption></figure>
<iframe srcdoc='<iframe srcdoc="<button data-mark=deep>Pay</button>"></iframe>'></iframe>
<iframe srcdoc='<button data-mark=second>Pay</button>'></iframe>
<iframe name=same srcdoc='<button data-mark=third>Pay</button>'></iframe>
<p><iframe name=same srcdoc='<button data-mark=fourth>Pay</button>'></iframe></p>{TWO_SHADES}"""


async def test_playwright_finds_elements_that_are_alike_or_named_otherwise(
    browser: SessionBrowser, chromium: playwright.async_api.Browser
) -> None:
    await browser.show(CONFUSING)
    seen = (await browser.call("snapshot"))["snapshot"]
    refs = re.findall(r"\b(e\d+) (?:button|caption)\b", seen)
    quickly = {"observe": "none", "settle": "none"}
    # The first match is hovered over; the parts before it may be frames, whatever their selectors say.
    selectors = [
        *refs,
        "button",
        "p > iframe >> button",
        "[name=same] >> button",
        "iframe >> nth=1 >> button",
    ]

    found: list[str | None] = []
    async with await chromium.new_context() as context:
        page = await context.new_page()
        await page.goto(browser.site.page(CONFUSING))
        for each in selectors:
            line = await lines(browser, "hover", selector=each, **quickly)
            found.append(await eval(line, {"page": page}).get_attribute("data-mark", timeout=10_000))

    read = [await browser.call("get_attribute", selector=each, attribute="data-mark") for each in selectors]
    assert found == [each["value"] for each in read]
    assert len(set(found[: len(refs)])) == len(refs) == 12


async def test_each_element_of_a_call_has_its_playwright_line(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    name, save_all = await ref(browser, 'textbox "Name"'), await ref(browser, 'button "Save all"')
    name_line = 'page.get_by_role("textbox", name="Name", exact=True)'

    assert await lines(browser, "click", selector="testid=save-all") == 'page.get_by_test_id("save-all")'
    assert await lines(browser, "click", selector="iframe >> button") == (
        'page.frame_locator("iframe").locator("button")'
    )
    fields = {name: "Ada", "h1 + form input": "Bob"}
    assert await lines(browser, "fill_form", fields=fields) == {
        name: name_line,
        "h1 + form input": 'page.locator("h1 + form input")',
    }
    steps = [
        {"tool": "fill", "arguments": {"selector": name, "value": "Eve"}},
        {"tool": "click", "arguments": {"selector": save_all}},
        {"tool": "press", "arguments": {"key": "Tab"}},
    ]
    assert await lines(browser, "run_steps", steps=steps) == [
        name_line,
        'page.get_by_test_id("save-all")',
        None,
    ]


async def test_playwright_line_is_marked_as_untrusted(browser: SessionBrowser) -> None:
    await browser.show(PAGE)

    asked = await browser.answer("click", selector="testid=save-all", locator=True)
    not_asked: Any = (await browser.answer("click", selector="testid=save-all")).structured_content

    assert "/locator" in (asked.content[0].meta or {})["footlight/untrusted"]
    assert "locator" not in not_asked
