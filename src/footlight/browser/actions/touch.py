"""Touch an element or a point, and swipe over the page, in a session with a touch screen."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Literal

from footlight.browser.actions.mouse import Point, check_inside, viewport_size
from footlight.browser.page.element_operations import act_on_element, read_element
from footlight.browser.page.page_operations import send_input, undo
from footlight.errors import InvalidParameterError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["Direction", "check_swipe", "find_goal", "find_start", "swipe", "tap_element", "tap_point"]

Direction = Literal["up", "down", "left", "right"]

SWIPE_STEPS = 12
STEP_SECONDS = 0.016
"""The time between two touch events, one per frame. Without pauses a page would see a single jump."""

_DIRECTIONS: dict[Direction, tuple[int, int]] = {
    "up": (0, -1),
    "down": (0, 1),
    "left": (-1, 0),
    "right": (1, 0),
}


async def tap_element(page: Page, selector: str, deadline: Deadline, *, hold_ms: float) -> None:
    """Tap an element when it is ready. The finger stays on it for `hold_ms`.

    Raises:
        InvalidParameterError: the session has no touch screen, or the browser cannot hold a finger down.
    """
    _check_touch(page)
    plain = _is_plain(page, hold_ms)

    async def tap(element: Locator, timeout_ms: float) -> None:
        if plain:
            await page.act_through_dialog(element.tap(timeout=timeout_ms))
            return
        await element.hover(trial=True, timeout=timeout_ms)
        at = await _find_center(page, element, timeout_ms)
        await page.act_through_dialog(_tap(page, at, hold_ms))

    await act_on_element(page, selector, deadline, tap)


async def tap_point(page: Page, at: Point, deadline: Deadline, *, hold_ms: float) -> None:
    """Tap a point of the viewport.

    Raises:
        InvalidParameterError: the point is outside of the viewport, or the session has no touch screen.
    """
    _check_touch(page)
    plain = _is_plain(page, hold_ms)
    check_inside(at, *await viewport_size(page, deadline))
    async with send_input(page, lambda: _no_answer(deadline), deadline):
        if plain:
            await page.act_through_dialog(page.playwright.touchscreen.tap(at.x, at.y))
        else:
            await page.act_through_dialog(_tap(page, at, hold_ms))


def check_swipe(page: Page) -> None:
    """Raise InvalidParameterError if the session has no touch screen, or the browser cannot swipe."""
    _check_touch(page)
    _check_chromium(page, "swipe")


async def swipe(page: Page, start: Point, goal: Point, deadline: Deadline) -> None:
    """Put a finger down at one point, move it, and lift it at another.

    Raises:
        InvalidParameterError: a point is outside of the viewport.
    """
    size = await viewport_size(page, deadline)
    for point in (start, goal):
        check_inside(point, *size)
    async with send_input(page, lambda: _no_answer(deadline), deadline):
        await page.act_through_dialog(_swipe(page, start, goal))


async def find_start(page: Page, selector: str | None, deadline: Deadline) -> Point:
    """Return the start of a swipe: the middle of the element, or of the viewport without a selector."""
    if selector is None:
        width, height = await viewport_size(page, deadline)
        return Point(width / 2, height / 2)

    async def find(element: Locator, timeout_ms: float) -> Point:
        await element.scroll_into_view_if_needed(timeout=timeout_ms)
        return await _find_center(page, element, timeout_ms)

    return await read_element(page, selector, deadline, find, acts=True)


async def find_goal(
    page: Page, start: Point, direction: Direction, distance: float | None, deadline: Deadline
) -> Point:
    """Return the end of a swipe, within the viewport. The default distance is half of the viewport."""
    width, height = await viewport_size(page, deadline)
    x, y = _DIRECTIONS[direction]
    length = distance if distance is not None else (width if x else height) / 2
    return Point(_clamp(start.x + x * length, width), _clamp(start.y + y * length, height))


def _clamp(value: float, size: float) -> float:
    return min(max(value, 1.0), size - 1)


async def _find_center(page: Page, element: Locator, timeout_ms: float) -> Point:
    """Return the middle of the part of an element that is inside the viewport."""
    box = await element.bounding_box(timeout=timeout_ms)
    size = page.playwright.viewport_size
    if box is None:
        raise InvalidParameterError("selector: the element has no box to touch", parameter="selector")
    left, top = max(box["x"], 0.0), max(box["y"], 0.0)
    right, bottom = box["x"] + box["width"], box["y"] + box["height"]
    if size is not None:
        right, bottom = min(right, size["width"]), min(bottom, size["height"])
    return Point((left + right) / 2, (top + bottom) / 2)


class _Finger:
    """A finger on Chromium's emulated touch screen."""

    def __init__(self, cdp: CDPSession) -> None:
        self._cdp = cdp

    async def put_down(self, at: Point) -> None:
        await self._report("touchStart", at)

    async def move(self, to: Point) -> None:
        await self._report("touchMove", to)

    async def lift(self) -> None:
        await self._report("touchEnd")

    async def cancel(self) -> None:
        await self._report("touchCancel")

    async def _report(self, type: str, *at: Point) -> None:
        points = [{"x": point.x, "y": point.y} for point in at]
        await self._cdp.send("Input.dispatchTouchEvent", {"type": type, "touchPoints": points})


@contextlib.asynccontextmanager
async def _use_finger(page: Page) -> AsyncGenerator[_Finger]:
    """Yield a finger. If the block fails, the page receives `touchcancel`."""
    cdp = await page.playwright.context.new_cdp_session(page.playwright)
    finger = _Finger(cdp)
    try:
        yield finger
    except BaseException:
        await undo(finger.cancel)
        raise
    finally:
        await undo(cdp.detach)


async def _tap(page: Page, at: Point, hold_ms: float) -> None:
    async with _use_finger(page) as finger:
        await finger.put_down(at)
        if hold_ms:
            await asyncio.sleep(hold_ms / 1000)
        await finger.lift()


async def _swipe(page: Page, start: Point, goal: Point) -> None:
    async with _use_finger(page) as finger:
        await finger.put_down(start)
        for step in range(1, SWIPE_STEPS + 1):
            share = step / SWIPE_STEPS
            x, y = start.x + (goal.x - start.x) * share, start.y + (goal.y - start.y) * share
            await finger.move(Point(x, y))
            await asyncio.sleep(STEP_SECONDS)
        await finger.lift()


def _check_touch(page: Page) -> None:
    if page.session.touch_source is None:
        raise InvalidParameterError(
            "this session has no touch screen",
            suggestion="Create a session with create_session and a device such as iPhone 15, or give this "
            "one a device with emulate (group devtools). Without touch, use click and scroll.",
        )


def _is_plain(page: Page, hold_ms: float) -> bool:
    """Return whether Playwright itself can do the tap.

    It needs a touch context, and cannot hold a finger down.
    """
    if hold_ms == 0 and page.session.touch_source == "context":
        return True
    _check_chromium(page, "hold")
    return False


def _check_chromium(page: Page, what: str) -> None:
    if page.session.engine != "chromium":
        engine = page.session.engine
        raise InvalidParameterError(f"{what}: needs Chromium; this session runs {engine}", engine=engine)


def _no_answer(deadline: Deadline) -> str:
    return f"The page had no answer to the touch after {deadline.elapsed}; it had been sent"
