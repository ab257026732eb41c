"""Finding elements and reading their state."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

PAGE = """<!doctype html><body style='margin:0;font:16px/20px monospace'>
<button id=save style='width:80px;height:20px;padding:0;border:0;display:block'>Save</button>
<button id=draft disabled style='width:80px;height:20px;padding:0;border:0;display:block'>Draft</button>
<p id=hint hidden>Hint</p>"""

SAVE = {
    "tagName": "button",
    "selector": "#save",
    "text": "Save",
    "attributes": {
        "id": "save",
        "style": "width:80px;height:20px;padding:0;border:0;display:block",
    },
    "boundingBox": {"x": 0, "y": 0, "width": 80, "height": 20},
    "visible": True,
    "enabled": True,
    "role": "button",
    "name": "Save",
}
DRAFT = {
    **SAVE,
    "selector": "#draft",
    "text": "Draft",
    "attributes": {
        "id": "draft",
        "disabled": "",
        "style": "width:80px;height:20px;padding:0;border:0;display:block",
    },
    "boundingBox": {"x": 0, "y": 20, "width": 80, "height": 20},
    "enabled": False,
    "name": "Draft",
}


async def test_find_element_describes_the_element(browser: SessionBrowser) -> None:
    await browser.show(PAGE)

    assert await browser.call("find_element", selector="button") == {
        "element": {**SAVE, "elementId": "element-1"}
    }


async def test_find_element_waits_for_the_element(browser: SessionBrowser) -> None:
    await browser.show(f"<script>setTimeout(() => document.body.innerHTML = `{PAGE}`, 150)</script>")

    found = await browser.call("find_element", selector="#draft", timeout=3000)

    assert found["element"]["name"] == "Draft"


async def test_find_elements_describes_all_matches_up_to_a_limit(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    save, draft = {**SAVE, "elementId": "element-1"}, {**DRAFT, "elementId": "element-2"}

    assert await browser.call("find_elements", selector="button") == {"elements": [save, draft], "count": 2}
    assert await browser.call("find_elements", selector="button", limit=1) == {"elements": [save], "count": 2}
    assert await browser.call("find_elements", selector="h1") == {"elements": [], "count": 0}


async def test_many_elements_of_a_large_page_are_described_in_time(browser: SessionBrowser) -> None:
    await browser.show("<ul>" + "<li><div><span><a>x</a></span></div></li>" * 10_000 + "</ul>")

    found = await browser.call("find_elements", selector="a", limit=300, timeout=20_000)  # It took 90 s.

    links = [
        f"li:nth-of-type({at}) > div:nth-of-type(1) > span:nth-of-type(1) > a:nth-of-type(1)"
        for at in range(1, 301)
    ]
    assert [each["selector"] for each in found["elements"]] == links


async def test_reported_selector_leads_to_the_found_element(browser: SessionBrowser) -> None:
    inner = browser.site.page("<ul><li>three<li>four</ul>")
    await browser.show(
        f"""<ul><li>one<li>two</ul><iframe name=inner src="{inner}"></iframe><div id=host></div>
        <script>host.attachShadow({{mode: 'open'}}).innerHTML = '<ul><li>five<li>six</ul>'</script>"""
    )

    for selector, texts in (("li", ["one", "two", "five", "six"]), ("iframe >> li", ["three", "four"])):
        found = (await browser.call("find_elements", selector=selector))["elements"]
        read = [await browser.call("get_text", selector=element["selector"]) for element in found]
        assert read == [{"text": text} for text in texts]


async def test_element_exists_answers_without_waiting(browser: SessionBrowser) -> None:
    await browser.show("<h1>Here</h1>")

    assert await browser.call("element_exists", selector="h1") == {"exists": True}
    assert await browser.call("element_exists", selector="h2") == {"exists": False}


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("element_exists", {"exists": False}),
        ("is_visible", {"visible": False}),
        ("find_elements", {"elements": [], "count": 0}),
        ("get_all_text", {"texts": []}),
    ],
)
async def test_selector_into_a_missing_frame_matches_nothing(
    browser: SessionBrowser, tool: str, answer: dict[str, Any]
) -> None:
    await browser.show("<h1>No frame</h1>")

    assert await browser.call(tool, selector="#frame >> h1", timeout=2000) == answer


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("selector", "visible", "enabled"),
    [
        ("#shown", True, True),
        ("#empty", False, True),
        ("#hidden", False, True),
        ("#invisible", False, True),
        ("#disabled", True, False),
        ("#grouped", True, False),
        ("#aria", True, False),
        ("#below", True, True),
    ],
)
async def test_is_visible_and_is_enabled_report_the_element_state(
    browser: SessionBrowser, selector: str, visible: bool, enabled: bool
) -> None:
    await browser.show(
        """<p id=shown>x</p><p id=empty></p><p id=hidden hidden>x</p>
        <p id=invisible style="visibility:hidden">x</p>
        <button id=disabled disabled>x</button><fieldset disabled><input id=grouped></fieldset>
        <button id=aria aria-disabled=true>x</button><p id=below style="margin-top:5000px">x</p>"""
    )

    assert await browser.call("is_visible", selector=selector) == {"visible": visible}
    assert await browser.call("is_enabled", selector=selector) == {"enabled": enabled}


async def test_missing_element_is_not_visible_and_is_enabled_fails(
    browser: SessionBrowser,
) -> None:
    await browser.show("<p>x</p>")

    assert await browser.call("is_visible", selector="h1") == {"visible": False}
    error = await browser.refused("is_enabled", selector="h1", timeout=2_000)
    assert error["code"] == "ELEMENT_NOT_FOUND"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("state", "script"),
    [
        ("attached", "document.body.append(document.createElement('i'))"),
        ("visible", "document.body.innerHTML = '<i>x</i>'"),
        ("hidden", "document.querySelector('i').hidden = true"),
        ("detached", "document.querySelector('i').remove()"),
    ],
)
async def test_wait_for_selector_waits_for_the_state(
    browser: SessionBrowser, state: str, script: str
) -> None:
    before = "<i>x</i>" if state in ("hidden", "detached") else ""
    await browser.show(
        f"<body>{before}<script>window.go = () => setTimeout(() => {{ {script} }}, 100)</script>"
    )
    await browser.call("evaluate", script="go()")

    waited = await browser.call("wait_for_selector", selector="i", state=state, timeout=3000)

    assert waited == {"selector": "i", "state": state}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("state", ["visible", "attached", "hidden", "detached"])
async def test_unreached_state_is_a_timeout(browser: SessionBrowser, state: str) -> None:
    url = (await browser.show("<p>x</p>"))["url"]
    selector, now = ("p", "visible") if state in ("hidden", "detached") else ("i", "detached")

    error = await browser.refused("wait_for_selector", selector=selector, state=state, timeout=1_000)

    assert error["code"] == "TIMEOUT"
    assert error["message"] == f'"{selector}" was not {state} after 1000ms; it is {now}'
    assert error["details"] == {
        "selector": selector,
        "state": state,
        "now": now,
        "page": url,
        "timeout": 1000,
    }


async def test_wait_for_selector_waits_for_visible_by_default(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p><i hidden>y</i>")

    assert await browser.call("wait_for_selector", selector="p") == {"selector": "p", "state": "visible"}
    gone = await browser.call("wait_for_selector", selector="i", state="hidden")
    assert gone == {"selector": "i", "state": "hidden"}
    never = await browser.call("wait_for_selector", selector="#frame >> i", state="detached", timeout=2000)
    assert never == {"selector": "#frame >> i", "state": "detached"}


# Selectors


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "selector",
    [
        "#pay",
        "form > button.main",
        "button:has-text('Pay')",
        "//button",
        "//form/button[contains(., 'Pay')]",
        "(//button)[1]",
        "testid=pay",
        "testid='pay'",
        "form >> button",
        "//form >> testid=pay",
        "text=Pay now",
        "role=button[name='Pay now']",
    ],
)
async def test_a_selector_is_css_xpath_or_a_test_id(browser: SessionBrowser, selector: str) -> None:
    await browser.show("<p>before</p><form><button id=pay class=main data-testid=pay>Pay now</button></form>")

    assert await browser.call("get_text", selector=selector, timeout=2000) == {"text": "Pay now"}


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("li >> nth=2", "three"),
        ("role=listitem >> nth=-1", "four"),
        ("li >> visible=true", "two"),
        ("li >> visible=true >> nth=1 >> b", "three"),
        ("testid=entry >> nth=1", "four"),
    ],
)
async def test_selector_can_choose_one_of_several_matches(
    browser: SessionBrowser, selector: str, text: str
) -> None:
    await browser.show(
        "<ul><li hidden>one<li>two<li data-testid=entry><b>three</b><li data-testid=entry>four</ul>"
    )

    assert await browser.call("get_text", selector=selector, timeout=2000) == {"text": text}


async def test_a_selector_reaches_into_shadow_roots_and_frames(browser: SessionBrowser) -> None:
    inner = browser.site.page("<button>Pay</button>")
    await browser.show(
        f"""<div id=host></div><iframe id=frame src="{inner}"></iframe>
        <script>host.attachShadow({{mode: 'open'}}).innerHTML = '<b class=deep>shadow</b>'</script>"""
    )

    assert await browser.call("get_text", selector=".deep") == {"text": "shadow"}
    assert await browser.call("get_text", selector="#frame >> button") == {"text": "Pay"}


async def test_cross_origin_frame_can_be_read_and_acted_on(browser: SessionBrowser) -> None:
    path = browser.site.page("<input><button onclick='this.textContent = 1'>Pay</button>")
    other = path.replace(browser.site.url, browser.site.at("localhost"))
    await browser.show(f'<p>outside</p><iframe src="{other}"></iframe>')

    await browser.call("fill", selector="iframe >> input", value="inside")
    await browser.call("click", selector="iframe >> button")

    assert await browser.call("get_value", selector="iframe >> input") == {"value": "inside"}
    assert await browser.call("get_text", selector="iframe >> button") == {"text": "1"}
    assert await browser.call("get_all_text", selector="iframe >> button") == {"texts": ["1"]}
    assert await browser.call("is_visible", selector="iframe >> p") == {"visible": False}


async def test_selector_enters_nested_frames_and_shadow_roots(browser: SessionBrowser) -> None:
    deepest = browser.site.page("<button onclick='this.textContent += 1'>frame</button>")
    middle = browser.site.page(f'<iframe id=in src="{deepest}"></iframe>')
    await browser.show(
        f"""<iframe id=out src="{middle}"></iframe><div id=a></div><script>
        const inner = a.attachShadow({{mode: 'open'}}).appendChild(document.createElement('div'));
        inner.attachShadow({{mode: 'open'}}).innerHTML = '<i onclick="this.textContent += 1">shadow</i>';
        </script>"""
    )

    for selector, text in (("#out >> #in >> button", "frame1"), ("i", "shadow1"), ("#a >> i", "shadow11")):
        await browser.call("click", selector=selector)
        assert await browser.call("get_text", selector=selector) == {"text": text}


async def test_a_frame_in_a_shadow_root_can_be_entered(browser: SessionBrowser) -> None:
    inner = browser.site.page("<b>inside</b>")
    await browser.show(
        f"""<div id=a></div><script>
        a.attachShadow({{mode: 'open'}}).innerHTML = '<iframe src="{inner}"></iframe>'</script>"""
    )

    assert await browser.call("get_text", selector="#a >> iframe >> b") == {"text": "inside"}
    found = (await browser.call("find_element", selector="#a >> iframe >> b"))["element"]
    assert await browser.call("get_text", selector=found["selector"]) == {"text": "inside"}
