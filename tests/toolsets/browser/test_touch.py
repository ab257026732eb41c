"""The touch screen: tap and swipe, by selector, by ref and by coordinates."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.conftest import ENGINE, SessionBrowser
from tests.tiers import sample_parameters

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="holding and swiping need Chromium"),
]

PAGE = """<meta name=viewport content='width=device-width'><style>body { margin: 0 } button { display: block;
  width: 200px; height: 50px } #map { width: 300px;
  height: 300px; touch-action: none }</style>
<button id=go>Go</button><button id=ask onclick="confirm('Sure?')">Ask</button><div id=map></div>
<p>none</p><div style='height: 3000px'></div><script>
  const log = [];
  const say = (it) => { document.querySelector('p').textContent = it };
  go.onclick = () => say('gone');
  let held;
  go.ontouchstart = () => { held = setTimeout(() => { held = 0; say('held') }, 600) };
  go.ontouchend = (event) => { if (!held) event.preventDefault(); clearTimeout(held) };
  for (const type of ['touchstart', 'touchmove', 'touchend', 'touchcancel', 'click'])
    addEventListener(type, (event) => {
      const { clientX: x, clientY: y } = event.changedTouches?.[0] ?? event;
      log.push([type, Math.round(x), Math.round(y)]);
    }, { passive: true, capture: true });
  let from;
  map.ontouchstart = (event) => { from = event.touches[0].clientX };
  map.ontouchend = (event) => { say(event.changedTouches[0].clientX < from ? 'next' : 'previous') };
</script>"""


@pytest.fixture(
    params=sample_parameters(["a device of the session", "an emulated device"], "a device of the session")
)
async def phone(browser: SessionBrowser, request: pytest.FixtureRequest) -> AsyncGenerator[SessionBrowser]:
    """A page in a session with a touch screen, which the context has or which is emulated later."""
    if request.param == "an emulated device":
        await browser.call("emulate", device="iPhone 13")
        await browser.show(PAGE)
        yield browser
        return
    session_id = (await browser.call("create_session", device="iPhone 13"))["sessionId"]
    phone = SessionBrowser(browser, session_id)
    phone.root = browser.root
    await phone.show(PAGE)
    yield phone
    await phone.call("close_session")


async def effect_of(browser: SessionBrowser, tool: str, **arguments: Any) -> dict[str, Any]:
    content = (await browser.answer(tool, observe="diff", **arguments)).structured_content
    assert content is not None
    assert content["success"], content["error"]
    return content


async def test_tap_sends_touch_events_to_an_element(phone: SessionBrowser) -> None:
    answer = await effect_of(phone, "tap", selector="#go")

    assert answer["effect"] == "page"
    assert "gone" in str(answer["observation"])
    assert [event[0] for event in await phone.evaluate("log")] == ["touchstart", "touchend", "click"]


async def test_tap_accepts_a_ref(phone: SessionBrowser) -> None:
    snapshot = (await phone.answer("snapshot")).model_dump_json()
    ref = re.findall(r"(e\d+) button \\*\"Go", snapshot)[0]

    await phone.call("tap", selector=ref)

    assert await phone.evaluate("document.querySelector('p').textContent") == "gone"


async def test_tap_accepts_coordinates(phone: SessionBrowser) -> None:
    await phone.call("tap", x=30, y=20)

    assert await phone.evaluate("log") == [["touchstart", 30, 20], ["touchend", 30, 20], ["click", 30, 20]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("where", [{"selector": "#go"}, {"x": 30, "y": 20}])
async def test_tap_with_hold_is_a_long_press(phone: SessionBrowser, where: dict[str, Any]) -> None:
    await phone.call("tap", **where, hold=1_000)

    assert await phone.evaluate("document.querySelector('p').textContent") == "held"


async def test_tap_and_swipe_scroll_to_an_element_below_the_screen(phone: SessionBrowser) -> None:
    await phone.call(
        "evaluate",
        script="document.body.append(Object.assign(document.createElement('b'), {id: 'end', "
        "textContent: 'end', style: 'touch-action: none', onclick() { this.textContent = 'tapped' }, "
        "ontouchmove() { this.textContent = 'swiped' }}))",
    )

    await phone.call("tap", selector="#end")

    assert await phone.evaluate("document.querySelector('#end').textContent") == "tapped"
    await phone.evaluate("scrollTo(0, 0)")
    await phone.call("swipe", selector="#end", direction="left")

    assert await phone.evaluate("document.querySelector('#end').textContent") == "swiped"


async def test_a_tap_may_open_a_dialog(phone: SessionBrowser) -> None:
    answer = await effect_of(phone, "tap", selector="#ask")

    assert answer["effect"] == "dialog"
    assert "Sure?" in str(answer)


async def test_swipe_over_an_element_moves_its_content(phone: SessionBrowser) -> None:
    answer = await effect_of(phone, "swipe", selector="#map", direction="left", distance=100)

    assert answer["effect"] == "page"
    assert await phone.evaluate("document.querySelector('p').textContent") == "next"
    events = await phone.evaluate("log")
    assert events[0] == ["touchstart", 150, 250]
    assert events[-1] == ["touchend", 50, 250]
    assert len(events) > 4


async def test_a_swipe_upwards_scrolls_the_page_down(phone: SessionBrowser) -> None:
    answer = await effect_of(phone, "swipe", direction="up", fromX=200, fromY=600)

    assert answer["effect"] == "page"
    assert await phone.evaluate("scrollY") > 100


async def test_a_swipe_goes_from_point_to_point(phone: SessionBrowser) -> None:
    await phone.call("swipe", fromX=50, fromY=200, toX=250, toY=220)

    assert await phone.evaluate("document.querySelector('p').textContent") == "previous"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("tap", {}, "tap takes either selector, or x and y"),
        ("tap", {"selector": "#go", "x": 1, "y": 1}, "tap takes either selector, or x and y"),
        ("tap", {"x": 1}, "x and y must be given together"),
        ("tap", {"x": 9_000, "y": 1}, "x: 9000 is outside of the viewport"),
        ("swipe", {}, "swipe takes either direction, or toX and toY"),
        ("swipe", {"direction": "up", "toX": 1, "toY": 1}, "swipe takes either direction, or toX and toY"),
        (
            "swipe",
            {"direction": "up", "selector": "#map", "fromX": 1, "fromY": 1},
            "selector and fromX, fromY both say where the swipe starts",
        ),
        (
            "swipe",
            {"toX": 1, "toY": 1, "distance": 5},
            "distance and toX, toY both say where the swipe ends",
        ),
        ("swipe", {"toX": 1, "toY": 9_000}, "toY: 9000 is outside of the viewport"),
    ],
)
async def test_invalid_touch_arguments_are_refused(
    browser: SessionBrowser, tool: str, arguments: dict[str, Any], message: str
) -> None:
    await browser.call("emulate", device="iPhone 13")
    await browser.show(PAGE)

    error = await browser.refused(tool, **arguments)

    assert error["message"].startswith(message)
    assert await browser.evaluate("log") == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("tap", {"selector": "#go"}), ("tap", {"x": 5, "y": 5}), ("swipe", {"direction": "up"})],
)
async def test_error_without_touch_screen_suggests_how_to_get_one(
    browser: SessionBrowser, tool: str, arguments: dict[str, Any]
) -> None:
    await browser.show(PAGE)

    error = await browser.refused(tool, **arguments)

    assert (error["code"], error["message"]) == ("INVALID_PARAMETER", "this session has no touch screen")
    assert "create_session" in error["suggestion"]
    assert "emulate" in error["suggestion"]
    assert await browser.evaluate("log") == []


@pytest.mark.sampled(2)
async def test_a_covered_element_is_not_tapped(phone: SessionBrowser) -> None:
    await phone.call(
        "evaluate",
        script="document.body.insertAdjacentHTML('beforeend', "
        "'<div id=veil style=\"position:fixed;inset:0\">wait</div>')",
    )

    error = await phone.refused("tap", selector="#go", timeout=2_000)

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert "veil" in error["message"]
    assert await phone.evaluate("log") == []
