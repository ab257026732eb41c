"""Scroll, and use the mouse at a point of the viewport, for content without selectors: a canvas or a map."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import run_about
from footlight.browser.page.element_operations import read_element
from footlight.browser.page.page_operations import evaluate, send_input, undo_on_cancel
from footlight.browser.page.refs import locate_now
from footlight.errors import FootlightError, InvalidParameterError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Locator, Mouse

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "BUTTON_DOWN_MS",
    "Button",
    "Point",
    "cancel_drag_steps",
    "check_inside",
    "click",
    "click_at",
    "drag",
    "drag_over",
    "find_middle",
    "find_place",
    "find_scroll_position",
    "move",
    "press_at_once",
    "release_at_once",
    "scroll_by",
    "viewport_size",
    "wheel",
]

_SCROLL = page_function(Path(__file__).parent, ["scroll"], "scroll")

Button = Literal["left", "middle", "right"]

POSITION_MS = 1_000.0
"""How long a page may take to return its scroll position after a scroll."""
EVENT_SECONDS = 0.5
EVENT_POLL_SECONDS = 0.02
"""How long and how often to ask whether a page has received the event of a scroll, on a busy machine."""
BUTTON_DOWN_MS = 1
"""Makes Playwright release the button only after the page has handled the press. It would send both at once
otherwise, and a browser drops a release that arrives while a dialog is open."""
BUTTONS: dict[Button, int] = {"left": 1, "right": 2, "middle": 4}
"""The bit of each button in `MouseEvent.buttons`."""
DRAG_STEPS = 10
"""The number of moves between press and release. Pages distinguish a drag from a click by them."""
DRAG_START = 12.0
"""The distance in CSS pixels after which a drag has certainly begun. Pages may show their targets then."""
HOLD_SECONDS = 0.15
"""The pause after each move over the target. Many pages rearrange a list while the mouse rests there, and
ignore it while an animation runs."""
HOLD_OFFSETS = (1, 0)
"""The distances of these moves from the middle of the target."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the viewport in CSS pixels. `names` are the tool parameters for `x` and `y`."""

    x: float
    y: float
    names: tuple[str, str] = ("x", "y")


async def click(page: Page, at: Point, deadline: Deadline, *, button: Button, count: int) -> None:
    """Click at a point of the viewport."""
    async with _use_mouse(page, deadline, at) as mouse:
        await page.act_through_dialog(click_at(mouse, at, button=button, count=count))


async def click_at(mouse: Mouse, at: Point, *, button: Button, count: int) -> None:
    """Click with presses and releases in sequence. A browser drops input that arrives during a dialog."""
    await mouse.move(at.x, at.y)
    for number in range(1, count + 1):
        await mouse.down(button=button, click_count=number)
        await mouse.up(button=button, click_count=number)


async def press_at_once(cdp: CDPSession, at: Point, *, button: Button, number: int) -> None:
    """Press and release the button for the `number`-th time; the first time move there before. Chromium only.

    All events are sent together, as by Playwright's own click, so that the page draws one frame for them.
    """
    events = [] if number > 1 else [_send_mouse(cdp, at, "mouseMoved", button="none", buttons=0)]
    down = {"button": button, "buttons": BUTTONS[button], "clickCount": number, "force": 0.5}
    events.append(_send_mouse(cdp, at, "mousePressed", **down))
    events.append(release_at_once(cdp, at, button=button, number=number))
    await asyncio.gather(*events)


async def release_at_once(cdp: CDPSession, at: Point, *, button: Button, number: int) -> None:
    """Release the button that was pressed for the `number`-th time. Chromium only."""
    await _send_mouse(cdp, at, "mouseReleased", button=button, buttons=0, clickCount=number)


async def _send_mouse(cdp: CDPSession, at: Point, kind: str, **event: Any) -> None:
    await cdp.send("Input.dispatchMouseEvent", {"type": kind, "x": at.x, "y": at.y, **event})


async def move(page: Page, to: Point, deadline: Deadline) -> None:
    """Move the mouse to a point."""
    async with _use_mouse(page, deadline, to) as mouse:
        await mouse.move(to.x, to.y)


async def drag(page: Page, start: Point, goal: Point, deadline: Deadline) -> None:
    """Press the button at one point, and release it at another."""
    async with _use_mouse(page, deadline, start, goal) as mouse:
        await mouse.move(start.x, start.y)
        async with undo_on_cancel(*cancel_drag_steps(page)):
            await mouse.down()
            await mouse.move(goal.x, goal.y, steps=DRAG_STEPS)
            await mouse.up()


async def drag_over(
    mouse: Mouse, start: Point, goal: Point, find_goal: Callable[[], Awaitable[Point]]
) -> None:
    """Press the button at a point, hold the mouse over the goal, and release it.

    The drag begins towards `goal`. Then the goal is searched again, because a page may move or show its
    targets. Before that nothing may scroll, because the press would hit another element.
    """
    await mouse.down()
    distance = math.hypot(goal.x - start.x, goal.y - start.y)
    part = min(DRAG_START / distance, 1) if distance else 0
    await mouse.move(start.x + (goal.x - start.x) * part, start.y + (goal.y - start.y) * part, steps=2)
    goal = await find_goal()
    await mouse.move(goal.x, goal.y, steps=DRAG_STEPS)
    for offset in HOLD_OFFSETS:
        await asyncio.sleep(HOLD_SECONDS)
        await mouse.move(goal.x + offset, goal.y)
    await mouse.up()


async def find_middle(
    element: Locator, timeout_ms: float, size: tuple[float, float], *, scrolls: bool = True
) -> Point:
    """Scroll an element into view if necessary. Return the middle of its part in a viewport of this size.

    If it is outside without `scrolls`, this is a point at the edge.

    Raises:
        Error: the element has no box.
    """
    if scrolls:
        await element.scroll_into_view_if_needed(timeout=timeout_ms)
    box = await element.bounding_box(timeout=timeout_ms)
    if box is None:
        raise Error("Element is not visible")

    def middle(begin: float, length: float, limit: float) -> float:
        return (min(max(begin, 0), limit) + min(max(begin + length, 0), limit)) / 2

    return Point(middle(box["x"], box["width"], size[0]), middle(box["y"], box["height"], size[1]))


async def find_place(page: Page, selector: str, offset: Point | None, deadline: Deadline) -> Point:
    """Scroll an element into view. Return the point at an offset from its top left corner, or its middle.

    Raises:
        FootlightError: the element does not exist, or has no box.
    """
    size = await viewport_size(page, deadline)

    async def find(element: Locator, timeout_ms: float) -> Point:
        middle = await find_middle(element, timeout_ms, size)
        box = await element.bounding_box(timeout=timeout_ms)
        if box is None or offset is None:
            return middle
        return Point(box["x"] + offset.x, box["y"] + offset.y, offset.names)

    return await read_element(page, selector, deadline, find, acts=True)


def cancel_drag_steps(page: Page) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return the steps that end a drag without a drop.

    The second step follows even if the first one fails.
    """
    return lambda: page.playwright.keyboard.press("Escape"), page.playwright.mouse.up


async def wheel(page: Page, at: Point, x: float, y: float, deadline: Deadline) -> None:
    """Turn the wheel at a point, by `x` and `y` CSS pixels."""
    async with _use_mouse(page, deadline, at) as mouse:
        await mouse.move(at.x, at.y)
        await mouse.wheel(x, y)


async def scroll_by(
    page: Page, x: float, y: float, deadline: Deadline, *, selector: str | None = None
) -> dict[str, float]:
    """Scroll by `x` and `y` CSS pixels. Return the new position and its limits: `x`, `y`, `maxX`, `maxY`.

    `moved` is 1 if the position has changed, and `isPending` is 1 if the page has not received the event of
    the scroll yet, otherwise 0. An element with distances of 0 is scrolled into view.
    """
    if selector is None:
        return await evaluate(page, _SCROLL, [x, y], deadline)
    return await read_element(
        page,
        selector,
        deadline,
        lambda element, timeout_ms: run_about(element, _SCROLL, [x, y], timeout_ms=timeout_ms),
    )


async def find_scroll_position(
    page: Page, deadline: Deadline, *, selector: str | None = None
) -> dict[str, float] | None:
    """Return the position of the box that `scroll_by` scrolls, or None if the page or the element is gone.

    This waits until the page has received the event of the last scroll, because its listeners may scroll.
    """

    async def find() -> dict[str, float]:
        if selector is None:
            return await evaluate(page, _SCROLL, None, deadline)
        element = (await locate_now(page, selector, deadline)).first
        return await run_about(element, _SCROLL, None, timeout_ms=min(POSITION_MS, deadline.remaining_ms))

    with contextlib.suppress(Error, FootlightError):
        position = await find()
        until = time.monotonic() + min(EVENT_SECONDS, deadline.remaining_ms / 1000)
        while position["isPending"] and time.monotonic() < until:
            await asyncio.sleep(EVENT_POLL_SECONDS)
            position = await find()
        return position
    return None


@contextlib.asynccontextmanager
async def _use_mouse(page: Page, deadline: Deadline, *points: Point) -> AsyncGenerator[Mouse]:
    """Yield the mouse, limited by the deadline.

    Raises:
        InvalidParameterError: a point is outside of the viewport.
    """
    width, height = await viewport_size(page, deadline)
    for point in points:
        check_inside(point, width, height)

    def message() -> str:
        return f"The mouse had no answer after {deadline.elapsed}; its events had been sent"

    async with send_input(page, message, deadline):
        yield page.playwright.mouse


async def viewport_size(page: Page, deadline: Deadline) -> tuple[float, float]:
    """Return the width and height of the viewport, in CSS pixels."""
    if size := page.playwright.viewport_size:
        return size["width"], size["height"]
    width, height = await evaluate(page, "() => [innerWidth, innerHeight]", None, deadline)
    return width, height


def check_inside(point: Point, width: float, height: float) -> None:
    """Raise InvalidParameterError if the point is outside of a viewport of this size."""
    for name, value, size in ((point.names[0], point.x, width), (point.names[1], point.y, height)):
        if not 0 <= value < size:
            raise InvalidParameterError(
                f"{name}: {value:g} is outside of the viewport, which has {width:g} x {height:g} CSS pixels",
                parameter=name,
                suggestion="Bring the place into view with scroll, then take a new screenshot.",
                width=width,
                height=height,
            )
