"""A call with a ref reports a locator for the same element in another run."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from footlight.demo.shop.site import serve_shop
from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

META = "footlight/locator"


async def refs(browser: SessionBrowser) -> list[str]:
    seen = (await browser.call("snapshot"))["snapshot"]
    return re.findall(r"^ *(e\d+) ", seen, re.MULTILINE)


async def ref(browser: SessionBrowser, words: str, number: int = 0) -> str:
    """Return the ref of the line of the page's snapshot that has these words in it."""
    seen = (await browser.call("snapshot"))["snapshot"]
    return re.findall(rf"\b(e\d+) (?:(?!\be\d+ )[^\n])*{re.escape(words)}", seen)[number]


async def locator(browser: SessionBrowser, tool: str, /, **arguments: Any) -> Any:
    result = await browser.answer(tool, **arguments)
    assert not result.is_error, result.content
    return (result.meta or {}).get(META)


async def mark(browser: SessionBrowser, selector: str) -> str | None:
    """Return what the test wrote at the element."""
    return (await browser.call("get_attribute", selector=selector, attribute="data-mark"))["value"]


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("html", "words", "expected"),
    [
        ("<button data-testid=save data-mark=x>Save</button>", "Save", "testid=save"),
        ("<button data-mark=x>Save</button><button>Save all</button>", '"Save"', 'role=button[name="Save"]'),
        (
            "<button data-testid=b>One</button><button data-testid=b data-mark=x>Two</button>",
            "Two",
            'role=button[name="Two"]',
        ),
        (
            """<button data-mark=x>Say "hi" \\ >> go</button>""",
            "button",
            'role=button[name="Say \\"hi\\" \\\\ >> go"]',
        ),
        (
            "<nav aria-label=Main><a href=#a>Go</a></nav>"
            "<nav aria-label=Foot><a href=#b data-mark=x>Go</a></nav>",
            "#b",
            'role=navigation[name="Foot"] >> role=link[name="Go"]',
        ),
        (
            "<div role=group data-testid=one><input aria-label=Name></div>"
            "<div role=group data-testid=two><input aria-label=Name data-mark=x></div>",
            "Name",
            '[data-testid="two"] > input:nth-of-type(1)',
        ),
        ("<p><button>Go</button><button data-mark=x>Go</button>", "Go", "button:nth-of-type(2)"),
        (
            "<div id=a><button>Go</button></div><div id=b><button data-mark=x>Go</button></div>",
            "Go",
            "#b > button:nth-of-type(1)",
        ),
    ],
)
async def test_locator_is_the_most_stable_one_that_matches(
    browser: SessionBrowser, html: str, words: str, expected: str
) -> None:
    await browser.show(html)
    found = await ref(browser, words, -1)

    reported = await locator(browser, "hover", selector=found)

    assert reported == expected
    assert await mark(browser, reported) == "x"


async def test_locator_leads_into_frames_and_shadow_roots(browser: SessionBrowser) -> None:
    inner = browser.site.page("<button data-mark=inner>Inner</button>")
    await browser.show(
        f"""<iframe name="pay" src="{inner}"></iframe><iframe name="other"></iframe>
        <div id=host><template shadowrootmode=open><button>Go</button>
        <button data-mark=shadow>Go</button></template></div>"""
    )
    await browser.call("wait_for_selector", selector='iframe[name="pay"] >> button')

    framed = await locator(browser, "click", selector=await ref(browser, "Inner"))
    shadowed = await locator(browser, "click", selector=await ref(browser, '"Go"', 1))

    assert framed == ':is(iframe, frame):is([name="pay"], [id="pay"]) >> role=button[name="Inner"]'
    assert await mark(browser, framed) == "inner"
    assert shadowed == "button:nth-of-type(2)"
    assert await mark(browser, shadowed) == "shadow"


async def test_locator_of_a_single_frame_needs_no_name(browser: SessionBrowser) -> None:
    await browser.show(f'<iframe src="{browser.site.page("<button data-mark=x>Inner</button>")}"></iframe>')
    await browser.call("wait_for_selector", selector="iframe >> button")

    reported = await locator(browser, "click", selector=await ref(browser, "Inner"))

    assert reported == 'iframe >> role=button[name="Inner"]'
    assert await mark(browser, reported) == "x"


async def test_multiple_locators_are_keyed_by_ref_and_steps_are_listed(browser: SessionBrowser) -> None:
    await browser.show("<button>One</button><button>Two</button><ul aria-label=Basket><li>Tea</li></ul>")
    one, two, basket = [await ref(browser, words) for words in ("One", "Two", "Basket")]

    dragged = await locator(browser, "drag_and_drop", source=one, target=two)
    below = await locator(browser, "get_text", selector=f"{basket} >> li")
    stepped = await locator(
        browser,
        "run_steps",
        steps=[
            {"tool": "click", "arguments": {"selector": one}},
            {"tool": "click", "arguments": {"selector": "button"}},
            {"tool": "drag_and_drop", "arguments": {"source": two, "target": one}},
        ],
    )

    first, second = 'role=button[name="One"]', 'role=button[name="Two"]'
    assert dragged == {one: first, two: second}
    assert below == 'role=list[name="Basket"] >> li'
    assert stepped == [first, None, {two: second, one: first}]


async def test_no_locator_is_reported_for_selectors_or_failures(browser: SessionBrowser) -> None:
    await browser.show("<button>One</button>")
    found = await ref(browser, "One")

    given = await locator(browser, "click", selector="button")
    refused = await browser.answer("click", selector=f"{found} >> a", timeout=1_000)
    after = await locator(browser, "press", key="a")

    assert refused.is_error
    assert META not in (refused.meta or {})
    assert (given, after) == (None, None)


async def test_locator_is_in_metadata_and_not_in_model_content(browser: SessionBrowser) -> None:
    await browser.show("<button data-testid=save>Save</button>")

    result = await browser.answer("click", selector=await ref(browser, "Save"))

    assert (result.meta or {})[META] == "testid=save"
    assert "testid=save" not in json.dumps([part.model_dump() for part in result.content])
    assert "testid=save" not in json.dumps(result.structured_content)


async def test_locator_of_a_healed_ref_leads_to_its_successor(browser: SessionBrowser) -> None:
    await browser.show("<main><button>Save</button></main>")
    found = await ref(browser, "Save")
    await browser.call(
        "evaluate", script="document.querySelector('main').innerHTML = '<button>Save</button>'"
    )

    assert await locator(browser, "click", selector=found) == 'role=button[name="Save"]'


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", ["/", "/products", "/order?product=LX-101", "/upload"])
async def test_locators_of_all_shop_elements_match_again(browser: SessionBrowser, path: str) -> None:
    async with serve_shop() as site:
        await browser.call("navigate", url=f"{site.url}/login?next={path}")
        await browser.call("fill", selector="#user", value="stage.manager")
        await browser.call("fill", selector="#password", value="curtain-up-at-eight")
        await browser.call("click", selector="main button")
        wrong = []
        for each in await refs(browser):
            result = await browser.answer("find_element", selector=each)
            answer = (result.meta or {}).get(META)
            element = result.structured_content["data"]["element"]
            again = (await browser.call("find_element", selector=answer))["element"] if answer else None
            if again is None or again["selector"] != element["selector"]:
                wrong.append((answer, element["selector"], again and again["selector"]))

    assert wrong == []
