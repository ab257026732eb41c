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


BOXES = """<style>body { margin: 0; user-select: none }
div { position: absolute; width: 100px; height: 40px }</style>
<div id=a style="left: 20px; top: 900px" role=img aria-label=First></div>
<div id=b style="left: 300px; top: 1100px"></div><p style="height: 3000px"></p><script>
  const log = [];
  for (const type of ['mousedown', 'mouseup', 'click', 'mousemove', 'wheel'])
    addEventListener(type, ({ target, pageX, pageY }) => {
      const { offsetLeft = 0, offsetTop = 0, id = '' } = target;
      log.push(`${type} ${id} ${pageX - offsetLeft},${pageY - offsetTop}`);
    });
</script>"""


async def test_mouse_reaches_points_of_elements(browser: SessionBrowser) -> None:
    await browser.show(BOXES)
    ref = (await browser.call("find", text="First"))["matches"].split()[0]

    for tool, arguments, events in (
        ("mouse_click", {"selector": ref}, ["mousemove a 50,20", "mousedown a 50,20", "mouseup a 50,20"]),
        (
            "mouse_click",
            {"selector": "#a", "x": 3, "y": 4},
            ["mousedown a 3,4", "mouseup a 3,4", "click a 3,4"],
        ),
        ("mouse_move", {"selector": "#b", "x": 90, "y": 5}, ["mousemove b 90,5"]),
        ("mouse_drag", {"source": ref, "target": "#b"}, ["mousedown a 50,20", "mouseup b 50,20"]),
        (
            "mouse_drag",
            {"source": "#a", "fromX": 5, "fromY": 6, "target": "#b", "toX": 7, "toY": 8},
            ["mousedown a 5,6", "mouseup b 7,8"],
        ),
        ("mouse_wheel", {"selector": "#b", "deltaY": 10}, ["mousemove b 50,20"]),
    ):
        await browser.evaluate("log.length = 0")
        await browser.call(tool, **arguments)
        seen = await browser.evaluate("log")
        assert [each for each in events if each not in seen] == [], seen


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message"),
    [
        ("mouse_click", {}, "MISSING_PARAMETER", "give x and y, or selector"),
        ("mouse_move", {"selector": "#a", "y": 1}, "MISSING_PARAMETER", "x and y must be given together"),
        ("mouse_drag", {"source": "#a"}, "MISSING_PARAMETER", "give toX and toY, or target"),
        ("mouse_click", {"selector": "#a", "x": 1, "y": 9000}, "INVALID_PARAMETER", "y: "),
        ("mouse_click", {"selector": "#none", "timeout": 300}, "ELEMENT_NOT_FOUND", "No element found"),
    ],
)
async def test_incomplete_mouse_point_is_refused(
    browser: SessionBrowser, tool: str, arguments: dict[str, Any], code: str, message: str
) -> None:
    await browser.show(BOXES)

    error = await browser.refused(tool, **arguments)

    assert error["code"] == code
    assert error["message"].startswith(message)
    assert "mousedown" not in str(await browser.evaluate("log"))


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
