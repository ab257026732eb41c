"""Clicking and waiting: targets, effects, and errors."""

from __future__ import annotations

import html
import time
from typing import Any

import pytest

from tests.tiers import sample_parameters
from tests.toolsets.metamask.conftest import Server

pytestmark = pytest.mark.anyio

PAGE = """
    <h1>Page</h1>
    <button data-testid=go onclick="log.textContent += 'go '">Go</button>
    <button data-testid=off disabled>Off</button>
    <button data-testid=hidden hidden>Hidden</button>
    <div style="position:relative;width:200px"><button data-testid=under>Under</button>
      <div id=cover style="position:absolute;inset:0;background:#ccc"></div></div>
    <p hidden><button data-testid=twice>Not this</button></p>
    <p><button data-testid=twice onclick="log.textContent += 'twice '">This</button></p>
    <section id=one data-testid=one><button onclick="log.textContent += 'one '">Same</button></section>
    <section id=two data-testid=two><button onclick="log.textContent += 'two '">Same</button></section>
    <p data-testid=log id=log>-</p>"""


@pytest.fixture
async def page(app: Server) -> Server:
    await app.show(PAGE)
    return app


TARGETS: list[dict[str, Any]] = [
    {},
    {"testId": "go", "selector": "button"},
    {"testId": "go", "a11yRef": "e1"},
    {"testId": "go", "a11yRef": "e1", "selector": "button"},
    {"selector": "<<<"},
    {"testId": "go", "within": {}},
    {"testId": "go", "within": {"testId": "one", "selector": "#one"}},
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", TARGETS, ids=str)
async def test_exactly_one_target_must_be_given(page: Server, target: dict[str, Any]) -> None:
    codes = [
        await page.code("mm_click", **target),
        await page.code("mm_type", text="x", **target),
        await page.code("mm_wait_for", timeoutMs=100, **target),
    ]

    assert codes == ["MM_INVALID_INPUT"] * 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("timeout_ms", [0, 300])
async def test_missing_target_is_not_found(page: Server, timeout_ms: int) -> None:
    began = time.monotonic()
    target: dict[str, Any] = {"testId": "nowhere", "timeoutMs": timeout_ms}

    codes = [await page.code("mm_click", **target), await page.code("mm_type", text="x", **target)]

    assert codes == ["MM_TARGET_NOT_FOUND"] * 2
    assert time.monotonic() - began < 25


@pytest.mark.sampled(3)
@pytest.mark.parametrize("timeout_ms", sample_parameters([0, 300], 0))
@pytest.mark.parametrize(
    ("test_id", "why"), [("off", "disabled"), ("hidden", "hidden"), ("under", "covered")]
)
async def test_unclickable_element_is_reported_with_the_reason(
    page: Server, test_id: str, why: str, timeout_ms: int
) -> None:
    """The element is there, and the message says what keeps the click from it."""
    error = await page.refused("mm_click", testId=test_id, timeoutMs=timeout_ms)

    assert (error["code"], why in error["message"]) == ("MM_CLICK_FAILED", True), error


async def test_visible_element_is_chosen_among_equal_test_ids(page: Server) -> None:
    await page.call("mm_wait_for", testId="twice", timeoutMs=5000)
    await page.call("mm_click", testId="twice", timeoutMs=0)

    assert await page.text("log") == "-twice"
    assert await page.text("twice") == "This"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("around", [{"testId": "two"}, {"selector": "#two"}])
async def test_within_limits_the_search_to_another_element(page: Server, around: dict[str, str]) -> None:
    """Beyond the document: `within`."""
    await page.call("mm_click", selector="button", within=around)

    assert await page.text("log") == "-two"


async def test_within_accepts_a_ref(page: Server) -> None:
    await page.show(
        "<div role=dialog aria-label=A><b>no</b></div><div role=dialog aria-label=B><b>yes</b></div>"
    )
    refs = await page.refs()

    answer = await page.call("mm_get_text", selector="b", within={"a11yRef": refs["dialog:B"]})

    assert answer == {"text": "yes", "target": "selector:b"}
    error = await page.refused("mm_click", a11yRef=refs["dialog:A"], within={"selector": "div"})
    assert (error["code"], error["details"]["parameter"]) == ("MM_INVALID_INPUT", "within")


async def test_a_click_reports_its_changes_unless_observation_is_off(page: Server) -> None:
    """Beyond the document: `observe`."""
    await page.show(
        "<button onclick=\"this.insertAdjacentHTML('afterend', '<i data-testid=new>x</i>')\">Add</button>"
    )
    where = await page.call("mm_get_state")
    ref = (await page.refs())["button:Add"]

    assert await page.call("mm_click", a11yRef=ref, observe="none") == {
        "clicked": True,
        "target": f"a11yRef:{ref}",
    }
    assert await page.call("mm_click", a11yRef=ref) == {
        "clicked": True,
        "target": f"a11yRef:{ref}",
        "observation": {
            "kind": "diff",
            "screen": "unknown",
            "currentUrl": where["state"]["currentUrl"],
            "testIds": {"added": ["new"]},
        },
    }


@pytest.mark.slow
async def test_click_may_close_its_own_page(page: Server) -> None:
    """Lessons 2.2: that is a success, and calls go on where they were before."""
    other = page.site.page("<button data-testid=close onclick='window.close()'>Close</button>")
    url = await page.show(f"<button data-testid=open onclick=\"window.open('{other}')\">Open</button>")
    await page.call("mm_click", testId="open", observe="none")
    await page.call("mm_switch_tab", url=other)

    answer = await page.call("mm_click", testId="close")

    assert answer == {
        "clicked": True,
        "target": "testId:close",
        "observation": {"kind": "page-closed", "currentUrl": url},
        "pageClosed": True,
    } | {key: answer[key] for key in ("closedPages",) if key in answer}
    assert (await page.call("mm_get_state"))["state"]["currentUrl"] == url


async def test_wait_ends_when_the_element_is_visible(page: Server) -> None:
    await page.show("""<p data-testid=late hidden>Late</p>
        <script>setTimeout(() => document.querySelector("p").hidden = false, 300)</script>""")

    assert await page.call("mm_wait_for", testId="late") == {"found": True, "target": "testId:late"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("test_id", ["nowhere", "hidden"])
async def test_wait_without_match_times_out(page: Server, test_id: str) -> None:
    error = await page.refused("mm_wait_for", testId=test_id, timeoutMs=200)

    assert error["code"] == "MM_WAIT_TIMEOUT"


async def test_test_id_is_not_interpreted_as_a_selector(page: Server) -> None:
    odd = 'a"] , button, [x="\\ \'é'
    await page.show(f"<button data-testid='{html.escape(odd)}'>Odd</button><button>No</button>")

    answer = await page.call("mm_click", testId=odd, timeoutMs=0)

    assert answer["target"] == f"testId:{odd}"
    assert await page.text(odd) == "Odd"


async def test_invalid_or_unreachable_url_cannot_be_navigated_to(app: Server) -> None:
    gone = app.site.url.replace(str(app.site.port), "1")
    assert await app.code("mm_navigate", screen="url", url=gone) == "MM_NAVIGATION_FAILED"
    assert await app.code("mm_navigate", screen="url") == "MM_INVALID_INPUT"
    assert await app.code("mm_navigate", screen="home", url="http://127.0.0.1/") == "MM_INVALID_INPUT"
    assert await app.code("mm_navigate", screen="url", url="file:///etc/passwd") == "MM_INVALID_INPUT"
    assert await app.code("mm_navigate", screen="url", url="no address") == "MM_INVALID_INPUT"


async def test_screenshot_is_taken_on_request(page: Server) -> None:
    """A file, its size in pixels, and its bytes if wanted."""
    described = await page.call("mm_describe_screen", includeScreenshot=True, screenshotName="../a b")
    shot = described["screenshot"]
    assert (shot["base64"], shot["width"], shot["height"]) == (None, 1280, 800)
    assert "/screenshots/" in shot["path"]
    assert ".." not in shot["path"]

    answer = await page.call("mm_screenshot", name="part", selector="#two", includeBase64=True)
    assert answer["height"] < 100
    assert answer["base64"].startswith("iVBORw0KGgo")

    assert await page.code("mm_screenshot", name="x", selector="#nowhere") == "MM_TARGET_NOT_FOUND"
    assert (
        await page.code("mm_screenshot", name="x", selector="[data-testid=hidden]") == "MM_SCREENSHOT_FAILED"
    )


async def test_errors_name_the_ref_that_the_caller_gave(page: Server) -> None:
    """The engine's own refs are others as soon as a second look has numbered the page anew."""
    await page.show("<h1>First</h1>" + "<button>x</button>" * 5)
    await page.refs()
    await page.show("<button disabled>Off</button>")
    ref = (await page.refs())["button:Off"]

    error = await page.refused("mm_click", a11yRef=ref, timeoutMs=300)

    assert ref == "e1"
    assert error["message"].startswith('"e1" cannot be used: ')


async def test_hidden_toggle_input_is_clicked_by_its_ref(page: Server) -> None:
    """As wallets draw theirs: an input of one clipped pixel in a label."""
    await page.show(
        """<style>input { position: absolute; width: 1px; height: 1px; margin: -1px; clip: rect(0 0 0 0) }
        div { width: 52px; height: 24px; background: grey }</style><label><div><input type=checkbox
        aria-label=Nonce onchange="on.textContent = this.checked"></div></label>
        <p data-testid=on id=on></p>"""
    )
    ref = (await page.refs())["checkbox:Nonce"]

    await page.call("mm_click", a11yRef=ref)

    assert (await page.call("mm_get_text", testId="on"))["text"] == "true"
