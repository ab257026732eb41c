"""Using the mouse by coordinates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

CANVAS = """<style>body { margin: 0 } canvas { display: block; background: #eee }</style>
<canvas width=600 height=400></canvas><div style="height: 3000px"></div><script>
  const log = [];
  for (const type of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'wheel'])
    addEventListener(type, event => {
      if (type === 'contextmenu') event.preventDefault();
      log.push(`${type} ${event.button} ${event.clientX},${event.clientY}`);
    }, {passive: true, capture: true, once: type === 'wheel'});
  addEventListener('mousemove', event => window.last = [event.clientX, event.clientY, event.buttons]);
</script>"""


@pytest.fixture
async def canvas(browser: SessionBrowser) -> SessionBrowser:
    await browser.show(CANVAS)
    return browser


@pytest.mark.parametrize(
    ("arguments", "events"),
    [
        ({}, ["mousedown 0", "mouseup 0", "click 0"]),
        (
            {"clickCount": 2},
            ["mousedown 0", "mouseup 0", "click 0", "mousedown 0", "mouseup 0", "click 0", "dblclick 0"],
        ),
        ({"button": "right"}, ["mousedown 2", "contextmenu 2", "mouseup 2"]),
    ],
)
async def test_mouse_click_arrives_at_the_given_point(
    canvas: SessionBrowser, arguments: dict[str, Any], events: list[str]
) -> None:
    clicked = await canvas.call("mouse_click", x=120, y=80, **arguments)

    assert clicked == await canvas.call("wait_for_load")
    assert await canvas.evaluate("log") == [f"{event} 120,80" for event in events]


async def test_mouse_move_arrives_at_the_given_point(canvas: SessionBrowser) -> None:
    await canvas.call("mouse_move", x=33, y=44)

    assert await canvas.evaluate("last") == [33, 44, 0]


async def test_mouse_drag_holds_the_button(canvas: SessionBrowser) -> None:
    await canvas.call(
        "evaluate", script="addEventListener('mousemove', it => log.push(`move ${it.buttons}`))"
    )

    await canvas.call("mouse_drag", fromX=10, fromY=20, toX=110, toY=220)

    assert await canvas.evaluate("log") == [
        "move 0",
        "mousedown 0 10,20",
        *["move 1"] * 10,
        "mouseup 0 110,220",
        "click 0 110,220",
    ]


async def test_mouse_wheel_scrolls_the_element_under_the_mouse(canvas: SessionBrowser) -> None:
    await canvas.call("mouse_wheel", x=50, y=60, deltaY=300)

    assert await canvas.evaluate("log") == ["wheel 0 50,60"]
    await canvas.call("evaluate", script="new Promise(done => scrollY ? done() : onscroll = () => done())")
    await canvas.call(
        "evaluate",
        script="(async () => { while (scrollY < 300) await new Promise(requestAnimationFrame) })()",
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "parameter"),
    [
        ("mouse_click", {"x": 1280, "y": 5}, "x"),
        ("mouse_click", {"x": 5, "y": 720}, "y"),
        ("mouse_move", {"x": -1, "y": 5}, "x"),
        ("mouse_drag", {"fromX": 5, "fromY": 5, "toX": 5, "toY": 9000}, "toY"),
        ("mouse_wheel", {"x": 5, "y": -5, "deltaY": 10}, "y"),
    ],
)
async def test_point_outside_the_viewport_is_refused_with_its_size(
    canvas: SessionBrowser, tool: str, arguments: dict[str, Any], parameter: str
) -> None:
    error = await canvas.refused(tool, **arguments)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == (
        f"{parameter}: {arguments[parameter]} is outside of the viewport, which has 1280 x 720 CSS pixels"
    )
    assert error["details"] == {"parameter": parameter, "width": 1280, "height": 720}
    assert await canvas.evaluate("log") == []


async def test_wheel_that_the_page_handles_itself_is_no_scroll(browser: SessionBrowser) -> None:
    await browser.show(
        """<div id=box style="height: 100px; overflow: auto"><p style="height: 900px">Map</p></div><script>
        box.addEventListener('wheel', event => event.preventDefault(), {passive: false});</script>"""
    )

    kept = (await browser.answer("mouse_wheel", x=50, y=50, deltaY=200)).structured_content

    assert kept is not None
    assert (kept["effect"], kept["reason"]) == ("none", "the page kept the wheel from scrolling")
